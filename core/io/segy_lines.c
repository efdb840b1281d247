// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/io/segy_geometry.h"
#include "core/sort.h"
#include "core/text.h"

// Several 2-D lines in one file, whose traces have no line numbers, are shown in file order as one
// line. Where the headers tell them apart, so does a note: filters know nothing of the joints.

enum {
    SHORTEST = 8, // traces of a line, in the mean: what changes more often numbers something else
    TOLD = 5,     // joints named one by one
};

// Times the usual distance of neighbours: no gap in a line is as wide.
static const double FAR = 20;

static gboolean follows(const LithoHeads *heads, guint k)
{
    return heads->follows[k] && !heads->foreign[k] && !heads->foreign[k - 1] &&
           !litho_head_empty(heads, k) && !litho_head_empty(heads, k - 1);
}

gboolean litho_xy_nowhere(gint32 x, gint32 y)
{
    return (x == 0 && y == 0) || x == G_MININT32 || y == G_MININT32 || x == G_MAXINT32 ||
           y == G_MAXINT32;
}

// Metres or feet from the trace before to trace k; NAN = one of the two has no place.
static double distance(const LithoHeads *heads, guint k, int x_byte, int y_byte)
{
    double at[2][2];
    for (int t = 0; t < 2; t++) {
        const int scalar = litho_head_scalar(heads, k - (guint)t);
        const gint32 x = litho_head_i32(heads, k - (guint)t, x_byte);
        const gint32 y = litho_head_i32(heads, k - (guint)t, y_byte);
        if (litho_xy_nowhere(x, y))
            return NAN;
        at[t][0] = litho_scaled(x, scalar);
        at[t][1] = litho_scaled(y, scalar);
    }
    return hypot(at[0][0] - at[1][0], at[0][1] - at[1][1]);
}

double litho_segy_far_apart(const LithoHeads *heads, int x_byte, int y_byte)
{
    g_autofree double *sorted = g_new(double, MAX(heads->n, 1));
    guint n = 0;
    for (guint k = 1; k < heads->n; k++) {
        const double d = follows(heads, k) ? distance(heads, k, x_byte, y_byte) : 0;
        if (d > 0)
            sorted[n++] = d;
    }
    qsort(sorted, n, sizeof *sorted, litho_compare_double);
    return n ? FAR * sorted[n / 2] : INFINITY;
}

// A way in which headers tell lines apart: marks the traces that begin a line and counts them.
typedef struct Joints {
    guint8 *first; // by head
    guint n;
} Joints;

static void mark(Joints *j, guint k, gboolean is_first)
{
    j->first[k] = is_first;
    j->n += is_first;
}

static void by_file(Joints *j, const LithoSurvey *survey, const LithoHeads *heads)
{
    for (guint k = 1; k < heads->n; k++)
        mark(j, k, litho_survey_file_of(survey, heads->trace[k])->base == heads->trace[k]);
}

static void by_place(Joints *j, const LithoHeads *heads, const LithoOpenOptions *options)
{
    int x, y;
    if (!litho_segy_xy_bytes(heads, options, &x, &y))
        return;
    const double far = litho_segy_far_apart(heads, x, y);
    for (guint k = 1; k < heads->n; k++)
        mark(j, k, follows(heads, k) && distance(heads, k, x, y) > far);
}

static void by_change(Joints *j, const LithoHeads *heads, int byte)
{
    for (guint k = 1; k < heads->n; k++)
        mark(j, k,
             follows(heads, k) &&
                 litho_head_i32(heads, k, byte) != litho_head_i32(heads, k - 1, byte));
}

// A count of traces that begins anew.
static void by_restart(Joints *j, const LithoHeads *heads, int byte)
{
    guint up = 0;
    for (guint k = 1; k < heads->n; k++) {
        const gint32 now = litho_head_i32(heads, k, byte);
        const gint32 before = litho_head_i32(heads, k - 1, byte);
        mark(j, k, follows(heads, k) && now < before);
        up += now > before;
    }
    if (up < heads->n - heads->n / SHORTEST)
        j->n = 0; // no count
}

// "101, 153 and 205", the numbers at byte 9 where every line has one of its own; NULL = they have
// none.
static char *numbers_of(const LithoHeads *heads, const Joints *j)
{
    g_autoptr(GString) list = g_string_new(NULL);
    gint32 number = litho_head_i32(heads, 0, 9);
    guint line = 0;
    g_string_append_printf(list, "%d", number);
    for (guint k = 1; k < heads->n; k++) {
        const gint32 now = litho_head_i32(heads, k, 9);
        if ((now == number) == (j->first[k] != 0))
            return NULL;
        number = now;
        if (j->first[k] && ++line < MIN(TOLD, j->n))
            g_string_append_printf(list, ", %d", now);
    }
    return j->n >= TOLD ? g_strdup_printf("%s, ...", list->str)
                        : g_strdup_printf(_("%s and %d"), list->str, number);
}

static void tell(LithoSurvey *survey, const LithoHeads *heads, const Joints *j,
                 const char *evidence)
{
    g_autoptr(GString) list = g_string_new(NULL);
    g_autofree char *numbers = numbers_of(heads, j);
    guint told = 0;
    for (guint k = 1; k < heads->n && told < TOLD; k++)
        if (j->first[k])
            g_string_append_printf(list, "%s%" G_GINT64_FORMAT, told++ ? ", " : "",
                                   heads->trace[k] + 1);
    if (numbers)
        litho_survey_note(survey,
                          "the traces seem to be %u lines, %s, shown as one behind the other (%s "
                          "at trace %s%s); filters work across the joints, split the file there",
                          j->n + 1, numbers, evidence, list->str, j->n > TOLD ? ", ..." : "");
    else
        litho_survey_note(survey,
                          "the traces seem to be %u lines, shown as one behind the other (%s at "
                          "trace %s%s); filters work across the joints, split the file there",
                          j->n + 1, evidence, list->str, j->n > TOLD ? ", ..." : "");
    litho_survey_note_first(survey);
}

gboolean litho_segy_lines_begin_anew(const LithoHeads *heads, const LithoOpenOptions *options,
                                     int inline_byte, int xline_byte)
{
    g_autofree guint8 *first = g_malloc0(MAX(heads->n, 1));
    Joints j = {.first = first};
    by_place(&j, heads, options);
    if (j.n == 0 || (gint64)SHORTEST * (j.n + 1) > heads->n)
        return FALSE;
    gint32 low = litho_head_i32(heads, 0, xline_byte), high = low;
    gboolean anew = FALSE;
    for (guint k = 1; k < heads->n; k++) {
        const gint32 number = litho_head_i32(heads, k, xline_byte);
        if (litho_head_i32(heads, k, inline_byte) != litho_head_i32(heads, 0, inline_byte))
            return FALSE;
        anew = anew || (first[k] && number >= low && number <= high);
        low = MIN(low, number);
        high = MAX(high, number);
    }
    return anew;
}

void litho_segy_tell_apart(LithoSurvey *survey, const LithoHeads *heads,
                           const LithoOpenOptions *options)
{
    const LithoGrid *g = &survey->grid;
    const int along = g->axis[0].n <= g->axis[1].n ? LITHO_XLINE : LITHO_INLINE;
    const int across = LITHO_INLINE + LITHO_XLINE - along;
    const LithoAxis *lines = &g->axis[across];
    if (lines->n < 2 || lines->n > TOLD || g->axis[along].n < SHORTEST ||
        survey->counts.offsets > 1)
        return;
    g_autofree char *which =
        g_strdup_printf(lines->n == 2 ? _("%.10g and %.10g") : _("%.10g to %.10g"), lines->first,
                        litho_axis_value(lines, (double)(lines->n - 1)));
    const double apart = litho_grid_spacing(g, across), step = litho_grid_spacing(g, along);
    g_autofree guint8 *first = g_malloc0(MAX(heads->n, 1));
    Joints j = {.first = first};
    if (g->xy_source == LITHO_FROM_ASSUMED)
        by_place(&j, heads, options);
    if (g->xy_source == LITHO_FROM_FILE && apart > FAR * step)
        litho_survey_note(survey,
                          "lines %s are %.5g m apart and their traces %.4g m: several lines in one "
                          "file, shown as a cube; filters work across them, split the file",
                          which, apart, step);
    else if (j.n > 0 && (gint64)j.n == lines->n - 1)
        litho_survey_note(survey,
                          "lines %s do not lie side by side: several lines in one file, shown as "
                          "a cube; filters work across them, split the file",
                          which);
    else
        return;
    litho_survey_note_first(survey);
}

void litho_segy_tell_lines(LithoSurvey *survey, const LithoHeads *heads,
                           const LithoOpenOptions *options, gboolean in_order)
{
    static const struct {
        int byte;
        const char *evidence; // of how they are told apart, best first
    } ways[] = {{0, N_("a file begins")},
                {0, N_("coordinates jump")},
                {9, N_("byte 9 changes")},
                {1, N_("byte 1 counts anew")},
                {21, N_("byte 21 counts anew")}};
    g_autofree guint8 *first = g_malloc0(MAX(heads->n, 1));
    for (guint w = 0; w < G_N_ELEMENTS(ways); w++) {
        Joints j = {.first = first};
        if (w != 1 && !in_order)
            continue;
        if (w == 0)
            by_file(&j, survey, heads);
        else if (w == 1)
            by_place(&j, heads, options);
        else if (w == 2)
            by_change(&j, heads, ways[w].byte);
        else
            by_restart(&j, heads, ways[w].byte);
        if (j.n == 0 || (gint64)SHORTEST * (j.n + 1) > heads->n)
            continue;
        tell(survey, heads, &j, litho_text(ways[w].evidence));
        return;
    }
}
