// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/fx/cuda/layout.h"

// Absent traces up to which equations are brought up to date: a tenth of the widened window.
enum { FEW_SHARE = 10, MOST_FEW = 256 };

typedef struct Builder {
    const LithoFxParams *params;
    const LithoFxGeometry *g;
    LithoFxHeld held;
    const guint8 *present;
    int half[2]; // largest the survey bears
} Builder;

// A spot on its way into a group.
typedef struct Candidate {
    LithoFxSpot spot;
    int half_il, half_xl, slots;
    gboolean holed;
} Candidate;

static int count_absent(const Builder *b, int il0, int il1, int xl0, int xl1)
{
    int absent = 0;
    for (int il = il0; b->present && il < il1; il++) {
        const guint8 *row = b->present + (gsize)(il - b->held.il0) * b->held.n_xl - b->held.xl0;
        for (int xl = xl0; xl < xl1; xl++)
            absent += row[xl] == 0;
    }
    return absent;
}

// Design points of window (i, j) for a block of these half widths.
static void centre_on(const Builder *b, int i, int j, int half_il, int half_xl, LithoFxSpot *s)
{
    s->c_il0 = litho_fx_centre_lo(b->g->axis[0], i, half_il);
    s->c_il1 = MAX(litho_fx_centre_hi(b->g->axis[0], i, half_il), s->c_il0);
    s->c_xl0 = litho_fx_centre_lo(b->g->axis[1], j, half_xl);
    s->c_xl1 = MAX(litho_fx_centre_hi(b->g->axis[1], j, half_xl), s->c_xl0);
    s->missing = count_absent(b, s->c_il0, s->c_il1, s->c_xl0, s->c_xl1);
}

// Largest block that leaves at least as many design points as it has taps; 0, 0 when there is none.
static void choose_block(const Builder *b, int i, int j, Candidate *c)
{
    LithoFxSpot *s = &c->spot;
    c->half_il = b->half[0];
    c->half_xl = b->half[1];
    while (c->half_il > 0 || c->half_xl > 0) {
        centre_on(b, i, j, c->half_il, c->half_xl, s);
        int points = (s->c_il1 - s->c_il0) * (s->c_xl1 - s->c_xl0) - s->missing;
        if (points >= litho_fx_taps(c->half_il, c->half_xl))
            return;
        if (c->half_il >= c->half_xl)
            c->half_il--;
        else
            c->half_xl--;
    }
    centre_on(b, i, j, 0, 0, s);
    s->missing = 0;
}

// Places in the block that traces lo .. hi - 1 take when blocks are moved inside a survey of n.
static void places(int lo, int hi, int n, int half, int *first, int *last)
{
    *first = MIN(lo - half, 0);
    *last = MAX(hi - 1 - (n - 1 - half), 0);
}

static Candidate candidate(const Builder *b, int i, int j, int out)
{
    const LithoFxAxis *axis = b->g->axis;
    Candidate c = {.spot = {.il0 = litho_fx_start(axis[0], i),
                            .xl0 = litho_fx_start(axis[1], j),
                            .n_il = axis[0].length,
                            .n_xl = axis[1].length,
                            .tile = -1,
                            .out = out}};
    LithoFxSpot *s = &c.spot;
    choose_block(b, i, j, &c);
    const int il0 = MAX(s->il0 - c.half_il, 0), il1 = MIN(s->il0 + s->n_il + c.half_il, axis[0].n);
    const int xl0 = MAX(s->xl0 - c.half_xl, 0), xl1 = MIN(s->xl0 + s->n_xl + c.half_xl, axis[1].n);
    const gboolean any = c.half_il > 0 || c.half_xl > 0;
    const int absent = any ? count_absent(b, il0, il1, xl0, xl1) : 0;
    c.holed = absent > 0;
    s->few = absent <= MIN((il1 - il0) * (xl1 - xl0) / FEW_SHARE, MOST_FEW) ? absent : 0;
    if (any && b->params->edge == LITHO_FX_FIT && b->params->form == LITHO_FX_COV) {
        places(c.holed ? il0 : s->il0, c.holed ? il1 : s->il0 + s->n_il, axis[0].n, c.half_il,
               &s->d_il0, &s->d_il1);
        places(c.holed ? xl0 : s->xl0, c.holed ? xl1 : s->xl0 + s->n_xl, axis[1].n, c.half_xl,
               &s->d_xl0, &s->d_xl1);
    }
    c.slots = (s->d_il1 - s->d_il0 + 1) * (s->d_xl1 - s->d_xl0 + 1);
    return c;
}

// By shape and holes, then those with one filter first, then as they lie.
static int compare(const void *a, const void *b)
{
    const Candidate *x = a, *y = b;
    const int keys[][2] = {{x->half_il, y->half_il},
                           {x->half_xl, y->half_xl},
                           {x->holed, y->holed},
                           {x->slots > 1, y->slots > 1},
                           {x->spot.out, y->spot.out}};
    for (gsize k = 0; k < G_N_ELEMENTS(keys); k++)
        if (keys[k][0] != keys[k][1])
            return keys[k][0] < keys[k][1] ? -1 : 1;
    return 0;
}

static void append(FxLayout *layout, Candidate *c)
{
    FxGroup *g = layout->groups->len > 0
                     ? &g_array_index(layout->groups, FxGroup, layout->groups->len - 1)
                     : NULL;
    if (!g || g->half_il != c->half_il || g->half_xl != c->half_xl || g->holed != c->holed) {
        FxGroup fresh = {.first = (int)layout->spots->len,
                         .half_il = c->half_il,
                         .half_xl = c->half_xl,
                         .holed = c->holed};
        g_array_append_val(layout->groups, fresh);
        g = &g_array_index(layout->groups, FxGroup, layout->groups->len - 1);
    }
    const int n_il = c->spot.c_il1 - c->spot.c_il0, n_xl = c->spot.c_xl1 - c->spot.c_xl0;
    c->spot.slot = g->n_slots;
    c->spot.tile = c->holed ? g->count : -1;
    g->max_il = n_il < 2 * c->half_il + 1 || g->max_il < 0 ? -1 : MAX(g->max_il, n_il);
    g->max_xl = n_xl < 2 * c->half_xl + 1 || g->max_xl < 0 ? -1 : MAX(g->max_xl, n_xl);
    g->n_slots += c->slots;
    g->edged += c->slots > 1;
    g->few = MAX(g->few, c->spot.few);
    g->count++;
    if (c->half_il == 0 && c->half_xl == 0)
        layout->empty++;
    g_array_append_val(layout->spots, c->spot);
}

FxLayout *fx_layout_new(const LithoFxParams *params, const LithoFxGeometry *g, FxWindows windows,
                        LithoFxHeld held, const guint8 *present)
{
    Builder b = {.params = params,
                 .g = g,
                 .held = held,
                 .present = present,
                 .half = {g->half[0], g->half[1]}};
    FxLayout *layout = g_new0(FxLayout, 1);
    layout->spots = g_array_new(FALSE, FALSE, sizeof(LithoFxSpot));
    layout->groups = g_array_new(FALSE, FALSE, sizeof(FxGroup));
    g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(Candidate));
    for (int i = windows.il0; i < windows.il1; i++)
        for (int j = windows.xl0; j < windows.xl1; j++) {
            Candidate c = candidate(&b, i, j, (int)list->len);
            g_array_append_val(list, c);
        }
    g_array_sort(list, compare);
    for (guint k = 0; k < list->len; k++)
        append(layout, &g_array_index(list, Candidate, k));
    return layout;
}

void fx_layout_free(FxLayout *layout)
{
    if (!layout)
        return;
    g_array_unref(layout->spots);
    g_array_unref(layout->groups);
    g_free(layout);
}
