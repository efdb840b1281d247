// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/survey_page.h"

#include "core/axis_names.h"
#include "core/io/survey.h"
#include "core/text.h"
#include "render/ticks.h"
#include "ui/panel/parts.h"
#include "ui/view/survey_map.h"
#include "ui/window/window.h"

static const char *const sources[] = {N_("assumed"), N_("from the file"), N_("given by you"),
                                      N_("computed")};

// --- rows ---------------------------------------------------------------------------------------

static GtkWidget *add_cell(GtkWidget *grid, int column, int row, const char *text, const char *css)
{
    GtkWidget *label = litho_label_new(text, css);
    gtk_label_set_wrap(GTK_LABEL(label), column == 2);
    litho_label_set_copyable(label);
    gtk_widget_set_valign(label, GTK_ALIGN_START);
    gtk_grid_attach(GTK_GRID(grid), label, column, row, 1, 1);
    return label;
}

// "from the file: trace header byte 189".
static void add_row(GtkWidget *grid, int row, const char *name, const char *value, guint source,
                    const char *evidence)
{
    g_autofree char *why =
        g_strdup_printf("%s%s%s", litho_text(sources[source]), evidence && *evidence ? ": " : "",
                        evidence ? litho_text(evidence) : "");
    add_cell(grid, 0, row, name, "dim-label");
    add_cell(grid, 1, row, value, "numeric");
    GtkWidget *label = add_cell(grid, 2, row, why, "dim-label");
    gtk_label_set_max_width_chars(GTK_LABEL(label), 48);
    gtk_widget_set_hexpand(label, TRUE);
}

static void add_axis(GtkWidget *page, int row, const LithoGrid *grid, int axis, LithoUnits units)
{
    const LithoAxis *a = &grid->axis[axis];
    // Times in the unit of the views; lines by their numbers, whatever stands at the axes.
    const LithoAxisText how = litho_axis_text(grid, axis, units & LITHO_UNITS_TIME);
    const char *space = *how.unit ? " " : "";
    const double first = a->first * how.factor, step = a->step * how.factor,
                 last = litho_axis_value(a, (double)(a->n - 1)) * how.factor;
    g_autofree char *value =
        a->n == 1 ? litho_text_printf("1: %.10g%s%s", first, space, how.unit)
                  : litho_text_printf(_("%" PRId64 ": %.10g to %.10g%s%s, step %.6g%s%s"), a->n,
                                      first, last, space, how.unit, step, space, how.unit);
    add_row(page, row, litho_axis_plural(grid, axis), value, a->source, a->evidence);
}

static int add_place(GtkWidget *page, int row, const LithoGrid *grid)
{
    g_autofree char *size =
        litho_text_printf("%.4g × %.4g m", litho_grid_spacing(grid, LITHO_INLINE),
                          litho_grid_spacing(grid, LITHO_XLINE));
    add_row(page, row++, _("Bins"), size, grid->xy_source, grid->xy_evidence);
    if (!grid->has_xy || grid->xy_source == LITHO_FROM_ASSUMED || grid->has_no_place)
        return row;
    char x[32], y[32];
    litho_format_number(x, sizeof x, grid->origin[0], 0.1);
    litho_format_number(y, sizeof y, grid->origin[1], 0.1);
    g_autofree char *first = g_strdup_printf("X %s m, Y %s m", x, y);
    add_cell(page, 0, row, _("First trace"), "dim-label");
    add_cell(page, 1, row++, first, "numeric");
    return row;
}

// Only what there is: nobody reads a row of zeros.
static void add_counts(GtkWidget *page, int row, LithoSurveyCounts c)
{
    const struct {
        gint64 n;
        const char *what;
    } odd[] = {{c.missing, _("missing")},      {c.dead, _("dead")},
               {c.zero, _("with zeros only")}, {c.flat, _("of one value repeated")},
               {c.duplicates, _("duplicate")}, {c.bad, _("with bad samples")}};
    GString *rest = g_string_new(NULL);
    char all[32], live[32], some[32];
    litho_format_number(all, sizeof all, (double)c.traces, 1);
    litho_format_number(live, sizeof live, (double)c.live, 1);
    g_autofree char *value = g_strdup_printf(_("%s in the file, %s live"), all, live);
    for (guint k = 0; k < G_N_ELEMENTS(odd); k++)
        if (odd[k].n > 0) {
            litho_format_number(some, sizeof some, (double)odd[k].n, 1);
            g_string_append_printf(rest, "%s%s %s", rest->len ? ", " : "", some, odd[k].what);
        }
    add_cell(page, 0, row, _("Traces"), "dim-label");
    add_cell(page, 1, row, value, "numeric");
    add_cell(page, 2, row, rest->str, NULL);
    g_string_free(rest, TRUE);
}

// --- the page -----------------------------------------------------------------------------------

static GtkWidget *make_rows(LithoCube *cube, LithoUnits units)
{
    GtkWidget *grid = gtk_grid_new();
    int row = 0;
    gtk_grid_set_column_spacing(GTK_GRID(grid), 18);
    gtk_grid_set_row_spacing(GTK_GRID(grid), 6);
    for (int a = 0; a < 3; a++)
        add_axis(grid, row++, &cube->grid, a, units);
    row = add_place(grid, row, &cube->grid);
    if (cube->survey)
        add_counts(grid, row, litho_survey_counts(cube->survey));
    return grid;
}

static GtkWidget *make_head(LithoCube *cube)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 18);
    GtkWidget *texts = gtk_box_new(GTK_ORIENTATION_VERTICAL, 3);
    g_autofree char *base =
        cube->survey ? g_path_get_basename(litho_survey_path(cube->survey)) : g_strdup(cube->name);
    const char *const lines[][2] = {
        {base, "title-3"},
        {cube->survey ? litho_survey_format(cube->survey) : _("not from a file"), NULL},
        {cube->survey ? litho_survey_path(cube->survey) : "", "dim-label"}};
    for (guint k = 0; k < G_N_ELEMENTS(lines); k++) {
        GtkWidget *label = litho_label_new(lines[k][0], lines[k][1]);
        litho_label_wrap_names(label);
        litho_label_set_copyable(label);
        gtk_box_append(GTK_BOX(texts), label);
    }
    gtk_widget_set_hexpand(texts, TRUE);
    gtk_box_append(GTK_BOX(line), texts);
    if (cube->survey) {
        GtkWidget *map = litho_survey_map_new();
        gtk_widget_set_size_request(map, 200, 150);
        litho_survey_map_show(LITHO_SURVEY_MAP(map), cube->survey);
        gtk_box_append(GTK_BOX(line), map);
    }
    return line;
}

GtkWidget *litho_survey_page_new(LithoCube *cube, LithoUnits units)
{
    GtkWidget *page = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18),
              *scroll = gtk_scrolled_window_new();
    gtk_widget_add_css_class(page, "litho-help");
    gtk_box_append(GTK_BOX(page), make_head(cube));
    gtk_box_append(GTK_BOX(page), make_rows(cube, units));
    for (guint k = 0; cube->notes && k < cube->notes->len; k++) {
        g_autofree char *note = litho_plain_sentence(g_ptr_array_index(cube->notes, k));
        g_autofree char *text = g_strdup_printf("• %s", note);
        GtkWidget *label = litho_label_new(text, NULL);
        gtk_label_set_wrap(GTK_LABEL(label), TRUE);
        gtk_box_append(GTK_BOX(page), label);
    }
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), page);
    gtk_widget_set_focusable(scroll, TRUE); // arrow keys scroll it
    return scroll;
}
