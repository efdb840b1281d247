// SPDX-License-Identifier: GPL-3.0-or-later
//
// The levels as numbers of the recipe.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "kernels/patch/choice_fill.h"
#include "kernels/patch/gains.h"
#include "kernels/patch/levels_cells.h"

enum {
    VERSION = 1,
    WITH_SHAPE = 2,
    WITH_GAINS = 4,
    WITH_SHARES = 8,
    FINE = 16,
    WITH_ENERGY = 32, // the rule that was found
    OF_LINES = 64,    // behind the head: a Chosen, also of surveys whose samples are dense
    WITH_SWELL = 128, // then a Swell
    HALVING = 256,    // so many times as the floor of filling is halved
};

// Lengths, and the threshold in hundredths, that lines have chosen; 0 = by the window's size, as
// where windows are longer than they have traces (choice_dense.h).
typedef struct Chosen {
    gint32 length[3], threshold;
} Chosen;

// Mean powers of most traces where there is swell.
typedef struct Swell {
    float low[PATCH_SWELL_LOW], above[PATCH_SWELL_ABOVE];
} Swell;

// With FINE the numbers of cells that the survey has by itself, three gint32. Then bins x cells
// floats; with a shape, its bins x wavenumbers; with gains, or with shares, one a trace of the
// survey. WITH_GAINS, WITH_SHARES, FINE, WITH_ENERGY, OF_LINES, WITH_SWELL and
// HALVING are added to the version.
typedef struct Head {
    guint32 version, bins;
    gint32 n[3], absent;
    double total, low, high;
} Head;

char *litho_patch_measure_key(const void *params)
{
    const LithoPatchParams *p = params;
    if (p->sigma > 0)
        return NULL;
    char erratic[G_ASCII_DTOSTR_BUF_SIZE];
    g_autofree char *window =
        litho_patch_is_automatic(p)
            ? g_strdup("automatic")
            : g_strdup_printf("%d x %d x %d", litho_patch_window_length(p, 0),
                              litho_patch_window_length(p, 1), litho_patch_window_length(p, 2));
    g_autofree char *key = g_strdup_printf("%s, %s, bursts %s", window,
                                           p->level == LITHO_PATCH_LOCAL ? "local" : "whole",
                                           g_ascii_dtostr(erratic, sizeof erratic, p->erratic));
    return g_strconcat(key, patch_gains_asked(p) ? ", balanced" : "",
                       p->mode == LITHO_PATCH_FILL   ? ", for filling"
                       : p->mode == LITHO_PATCH_BOTH ? ", filled"
                                                     : "",
                       p->swell == LITHO_PATCH_SWELL_OFF ? ", with swell" : NULL, NULL);
}

PatchSwell patch_swell_from_measured(const LithoMeasured *measured)
{
    gsize n;
    Head head = {0};
    Swell swell;
    PatchSwell s = {.found = TRUE};
    const guint8 *bytes = litho_measured_bytes(measured, &n);
    if (n >= sizeof head)
        memcpy(&head, bytes, sizeof head);
    const gsize at = sizeof head + (head.version & OF_LINES ? sizeof(Chosen) : 0);
    if (!(head.version & WITH_SWELL) || n < at + sizeof swell)
        return (PatchSwell){0};
    memcpy(&swell, bytes + at, sizeof swell);
    for (int f = 0; f < PATCH_SWELL_LOW; f++)
        s.found &= isfinite(swell.low[f]) && swell.low[f] > 0;
    for (int f = 0; f < PATCH_SWELL_ABOVE; f++)
        s.found &= isfinite(swell.above[f]) && swell.above[f] > 0;
    memcpy(s.low, swell.low, sizeof s.low);
    memcpy(s.above, swell.above, sizeof s.above);
    return s.found ? s : (PatchSwell){0};
}

static gsize traces_of(const LithoPatchGeometry *g)
{
    return (gsize)g->axis[0].n * (gsize)g->axis[1].n;
}

LithoUneven patch_gains_from_measured(const LithoGrid *grid, const LithoMeasured *measured)
{
    gsize n;
    Head head;
    LithoUneven of = {0};
    const guint8 *bytes = litho_measured_bytes(measured, &n);
    const gsize traces = (gsize)litho_grid_traces(grid);
    if (n < sizeof head + traces * sizeof(float))
        return of;
    memcpy(&head, bytes, sizeof head);
    if (!(head.version & (WITH_GAINS | WITH_SHARES)))
        return of;
    float *number = g_new(float, traces);
    memcpy(number, bytes + n - traces * sizeof *number, traces * sizeof *number);
    for (gsize k = 0; k < traces; k++)
        if (!isfinite(number[k]) || number[k] == 0 ||
            (number[k] < 0 && !(head.version & WITH_GAINS)))
            number[k] = 1;
    *(head.version & WITH_GAINS ? &of.gain : &of.share) = number;
    return of;
}

// FALSE where they are none that a choice may give.
static gboolean is_good(const Chosen *chosen)
{
    gboolean good = chosen->threshold >= 0 && chosen->threshold <= 1000;
    for (int a = 0; a < 3; a++)
        good &= chosen->length[a] > 0 && chosen->length[a] <= LITHO_PATCH_MAX_WINDOW &&
                (chosen->length[a] % 2 == 0 || chosen->length[a] == 1);
    return good;
}

PatchFound patch_levels_found(const LithoMeasured *measured)
{
    gsize n;
    Head head = {0};
    Chosen chosen = {0};
    PatchFound found = {.rule = LITHO_PATCH_SINGLE};
    const guint8 *bytes = litho_measured_bytes(measured, &n);
    if (n >= sizeof head)
        memcpy(&head, bytes, sizeof head);
    if (head.bins > 0 && head.bins <= LITHO_PATCH_MAX_WINDOW)
        found.window = 2 * ((int)head.bins - 1);
    found.floor_steps = (int)MIN(head.version / HALVING, PATCH_FLOOR_STEPS);
    if (head.version & WITH_ENERGY)
        found.rule = LITHO_PATCH_ENERGY;
    if (head.version & OF_LINES && n >= sizeof head + sizeof chosen)
        memcpy(&chosen, bytes + sizeof head, sizeof chosen);
    if (!is_good(&chosen))
        return found;
    for (int a = 0; a < 3; a++)
        found.lengths[a] = chosen.length[a];
    found.threshold = chosen.threshold / 100.0;
    return found;
}

LithoMeasured *patch_levels_to_measured(const PatchLevels *l, const LithoPatchGeometry *g,
                                        const LithoPatchParams *asked, PatchFound found)
{
    g_autofree char *key = litho_patch_measure_key(asked);
    const gsize floats = (gsize)patch_levels_cells(l) * l->table.bins;
    const float *of_traces = l->of.gain ? l->of.gain : l->of.share;
    const guint32 of_each = l->of.gain ? WITH_GAINS : l->of.share ? WITH_SHARES : 0;
    const Head head = {.version =
                           (l->shape ? WITH_SHAPE : VERSION) + of_each + (l->fine ? FINE : 0) +
                           (found.rule == LITHO_PATCH_ENERGY ? WITH_ENERGY : 0) +
                           (found.lengths[2] > 0 ? OF_LINES : 0) +
                           (l->swell.found ? WITH_SWELL : 0) + HALVING * (guint32)found.floor_steps,
                       .bins = (guint32)l->table.bins,
                       .n = {l->table.n[0], l->table.n[1], l->table.n[2]},
                       .absent = l->absent,
                       .total = l->total,
                       .low = l->low,
                       .high = l->high};
    const Chosen chosen = {{found.lengths[0], found.lengths[1], found.lengths[2]},
                           (gint32)lrint(100 * found.threshold)};
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_byte_array_append(bytes, (const guint8 *)&head, sizeof head);
    if (head.version & OF_LINES)
        g_byte_array_append(bytes, (const guint8 *)&chosen, sizeof chosen);
    Swell swell;
    memcpy(swell.low, l->swell.low, sizeof swell.low);
    memcpy(swell.above, l->swell.above, sizeof swell.above);
    if (head.version & WITH_SWELL)
        g_byte_array_append(bytes, (const guint8 *)&swell, sizeof swell);
    if (l->fine)
        g_byte_array_append(bytes, (const guint8 *)l->own, sizeof l->own);
    g_byte_array_append(bytes, (const guint8 *)l->sigma, (guint)(floats * sizeof(float)));
    if (l->shape)
        g_byte_array_append(bytes, (const guint8 *)l->shape,
                            (guint)(patch_levels_powers(g) * sizeof(float)));
    if (of_traces)
        g_byte_array_append(bytes, (const guint8 *)of_traces,
                            (guint)(traces_of(g) * sizeof(float)));
    g_autofree char *text = l->absent == PATCH_ALL_ZERO ? g_strdup(_("no noise: all samples are 0"))
                            : l->absent == PATCH_ALL_ALIKE
                                ? g_strdup(_("no noise: all samples are alike"))
                            : l->absent ? g_strdup(_("no noise level: too few live traces"))
                                        : litho_text_printf(_("noise level %.4g"), l->total);
    return litho_measured_new(key, text, bytes->data, bytes->len);
}

// FALSE where one of them is no level.
static gboolean take_levels(float *to, const guint8 *bytes, gsize n)
{
    gboolean good = TRUE;
    memcpy(to, bytes, n * sizeof *to);
    for (gsize k = 0; k < n; k++)
        good &= isfinite(to[k]) && to[k] >= 0;
    return good;
}

// Cells of earlier recipes have 64 x 64 traces in any survey, and may be four times as long.
static void divide_as_earlier(PatchLevels *l, const LithoPatchGeometry *g, const gint32 n[3])
{
    enum { TRACES = PATCH_CELL_TRACES };
    gboolean wide = TRUE;
    for (int a = 0; a < 2; a++)
        wide &= n[a] == MAX((g->axis[a].n + TRACES / 2) / TRACES, 1);
    for (int a = 0; a < 3; a++)
        if (a == 2 ? n[2] >= 1 && n[2] < l->table.n[2] : wide)
            patch_levels_divide(l, a, n[a]);
}

// Cells that are finer than the survey's own, of which they state the numbers: at most as many as
// `floats` are levels of.
static gboolean divide_fine(PatchLevels *l, const LithoPatchGeometry *g, const gint32 n[3],
                            const gint32 own[3], gsize floats)
{
    gsize cells = floats / l->table.bins;
    for (int a = 0; a < 3; a++) {
        if (own[a] != l->table.n[a] || n[a] < own[a] || n[a] > g->axis[a].n || (gsize)n[a] > cells)
            return FALSE;
        cells /= n[a];
    }
    memcpy(l->own, own, sizeof l->own);
    for (int a = 0; a < 3; a++)
        patch_levels_divide(l, a, n[a]);
    l->fine = TRUE;
    return TRUE;
}

// Divides the survey as the head says, as far as that can be; the levels follow at the byte given.
static gsize take_cells(PatchLevels *l, const LithoPatchGeometry *g, const Head *head,
                        const guint8 *bytes, gsize n)
{
    gint32 own[3] = {0};
    gsize at = sizeof *head + (head->version & OF_LINES ? sizeof(Chosen) : 0) +
               (head->version & WITH_SWELL ? sizeof(Swell) : 0);
    if (!(head->version & FINE)) {
        divide_as_earlier(l, g, head->n);
    } else if (n >= at + sizeof own) {
        memcpy(own, bytes + at, sizeof own);
        at += sizeof own;
        if (!divide_fine(l, g, head->n, own, (n - at) / sizeof(float)))
            at = n; // no levels
    }
    l->sigma = g_renew(float, l->sigma, (gsize)patch_levels_cells(l) * l->table.bins);
    l->table.sigma = l->sigma;
    return at;
}

gboolean patch_levels_from_measured(PatchLevels *l, const LithoPatchGeometry *g,
                                    LithoMeasured *measured, GError **error)
{
    gsize n, at = 0;
    Head head = {0};
    const guint8 *bytes = litho_measured_bytes(measured, &n);
    gboolean good = n >= sizeof head;
    if (good) {
        memcpy(&head, bytes, sizeof head);
        at = take_cells(l, g, &head, bytes, n);
    }
    const gsize floats = (gsize)patch_levels_cells(l) * l->table.bins;
    const guint32 of_each = head.version & (WITH_GAINS | WITH_SHARES);
    const guint32 kind =
        head.version % HALVING & ~(of_each | FINE | WITH_ENERGY | OF_LINES | WITH_SWELL);
    const gsize shape = kind == WITH_SHAPE ? patch_levels_powers(g) : 0;
    const gsize gains = of_each ? traces_of(g) : 0;
    good &= (kind == VERSION || shape > 0) && head.bins == (guint32)l->table.bins &&
            n == at + (floats + shape + gains) * sizeof(float);
    for (int a = 0; a < 3; a++)
        good &= head.n[a] == l->table.n[a];
    good = good && take_levels(l->sigma, bytes + at, floats);
    if (good && shape > 0) {
        l->table.shape = l->shape = g_new(float, shape);
        good = take_levels(l->shape, bytes + at + floats * sizeof(float), shape);
    }
    if (!good)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "the measured noise level in the recipe is of another survey; without "
                            "\"measured\" it is measured again");
    l->total = head.total;
    l->low = head.low;
    l->high = head.high;
    l->absent = CLAMP(head.absent, 0, PATCH_ALL_ALIKE);
    if (l->params.mode != LITHO_PATCH_FILL && !patch_levels_are_there(l, g, error))
        return FALSE;
    l->measured = litho_measured_ref(measured);
    return TRUE;
}
