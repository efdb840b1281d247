// SPDX-License-Identifier: GPL-3.0-or-later
//
// Design of the filter for one window and a batch of frequencies, and the passes that fill absent
// traces: rules 3 and 4 of geometry.h.

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/fx/cpu/batch.h"

static int count_present(const FxWindow *w, FxRect r)
{
    int n = 0;
    for (int il = r.il0; il < r.il1; il++) {
        const uint8_t *row =
            w->present + (ptrdiff_t)(il - w->held.il0) * (w->held.xl1 - w->held.xl0) - w->held.xl0;
        for (int xl = r.xl0; xl < r.xl1; xl++)
            n += row[xl];
    }
    return n;
}

// Largest block that leaves at least as many design points as it has taps. FALSE: none.
static int choose_shape(const FxWindow *w, FxShape *shape, int *points)
{
    int il = w->params->half_width, xl = il;
    il = il < (w->n_il - 1) / 2 ? il : (w->n_il - 1) / 2;
    xl = xl < (w->n_xl - 1) / 2 ? xl : (w->n_xl - 1) / 2;
    while (il > 0 || xl > 0) {
        *shape = fx_shape(il, xl);
        *points = count_present(w, fx_rect_inside(w->window, w->n_il, w->n_xl, il, xl));
        if (*points >= shape->taps)
            return 1;
        if (il >= xl)
            il--;
        else
            xl--;
    }
    return 0;
}

// --- the tile ------------------------------------------------------------------------------------

// Copies the traces within reach; returns the largest absolute value per lane.
static FxV load_tile(FxBatch *b)
{
    const FxWindow *w = b->w;
    const ptrdiff_t held = w->held.xl1 - w->held.xl0;
    FxV largest = {0};
    for (int y = 0; y < b->height; y++)
        for (int x = 0; x < b->width; x++) {
            int il = b->il0 + y, xl = b->xl0 + x, at = y * b->width + x;
            if (il < 0 || il >= w->n_il || xl < 0 || xl >= w->n_xl) {
                b->s->tile[at] = (FxC){{0}, {0}};
                b->s->state[at] = OUTSIDE;
                continue;
            }
            ptrdiff_t from = (il - w->held.il0) * held + xl - w->held.xl0;
            FxC value = ((const FxC *)w->spectra)[from];
            b->s->tile[at] = value;
            b->s->state[at] = w->present[from] ? LIVE : ABSENT;
            largest = fx_max(largest, fx_max(fx_abs(value.re), fx_abs(value.im)));
        }
    return largest;
}

// Scaling by powers of two is exact; with it squares neither overflow nor vanish.
static void scale_tile(FxBatch *b, FxV largest)
{
    b->alive = largest > 1e-30f;
    largest = fx_select(b->alive, largest, fx_splat(1));
    b->scale = (FxV)((254 << 23) - ((FxMask)largest & 0x7f800000));
    for (int k = 0; k < b->height * b->width; k++) {
        b->s->tile[k].re *= b->scale;
        b->s->tile[k].im *= b->scale;
    }
}

static void open_tile(FxBatch *b, int fills)
{
    int reach_il = (fills ? 2 : 1) * b->shape.il, reach_xl = (fills ? 2 : 1) * b->shape.xl;
    FxRect w = b->w->window;
    b->il0 = w.il0 - reach_il;
    b->xl0 = w.xl0 - reach_xl;
    b->height = w.il1 - w.il0 + 2 * reach_il;
    b->width = w.xl1 - w.xl0 + 2 * reach_xl;
    FxRect wide = {w.il0 - b->shape.il, w.il1 + b->shape.il, w.xl0 - b->shape.xl,
                   w.xl1 + b->shape.xl};
    b->window = fx_rect_move(w, -b->il0, -b->xl0);
    b->box = fx_rect_move(fx_rect_inside(wide, b->w->n_il, b->w->n_xl, 0, 0), -b->il0, -b->xl0);
    scale_tile(b, load_tile(b));
}

// --- design --------------------------------------------------------------------------------------

static double covariance_flops(FxRect r, FxShape s)
{
    double products = 0;
    for (int il = 0; il <= 2 * s.il; il++)
        for (int xl = il == 0 ? 0 : -2 * s.xl; xl <= 2 * s.xl; xl++)
            products +=
                (double)(r.il1 - r.il0 + 2 * s.il - il) * (r.xl1 - r.xl0 + 2 * s.xl - abs(xl));
    return 8 * products + 2.5 * s.size * s.size;
}

// Adds (sign 1) or takes away (sign -1) the equations of the traces that are live or not.
static void add_equations(FxBatch *b, FxRect r, int live, float sign)
{
    FxPatch patch = {b->s->tile, b->width};
    ptrdiff_t centres[FX_TOGETHER];
    int n = 0;
    for (int il = r.il0; il < r.il1 && !fx_batch_stopped(b); il++)
        for (int xl = r.xl0; xl < r.xl1; xl++) {
            const ptrdiff_t at = (ptrdiff_t)il * b->width + xl;
            const int last = il + 1 == r.il1 && xl + 1 == r.xl1;
            if ((b->s->state[at] == LIVE) == live)
                centres[n++] = at;
            if (n == FX_TOGETHER || (last && n > 0)) {
                fx_matrix_add(patch, centres, n, b->shape, sign, b->s->matrix, b->s->rows_of);
                b->counts->flops += 2.0 * n * b->shape.size * b->shape.size * b->lanes;
                n = 0;
            }
        }
}

static void set_damping(FxBatch *b)
{
    FxV trace = {0};
    for (int k = 0; k < b->shape.size; k++)
        trace += b->s->matrix[fx_packed(k, k)];
    const float share = litho_fx_share(b->w->params) / (float)b->shape.size;
    b->alive &= trace > 0;
    b->lanes = fx_count(b->alive);
    b->lambda = fx_select(b->alive, share * trace, fx_splat(1));
}

static void design(FxBatch *b)
{
    if (b->designed) {
        set_damping(b);
        return;
    }
    FxPatch patch = {b->s->tile, b->width};
    FxShape s = b->shape;
    FxRect r = fx_batch_centres(b, b->window);
    if (b->w->params->form == LITHO_FX_ACF) {
        fx_autocorrelation(patch, b->window, s, b->s->cov);
        fx_matrix(b->s->cov, s, 0, b->s->matrix);
        b->counts->flops += b->lanes * 8.0 * fx_rect_area(b->window) * 2 * s.size;
    } else {
        int missing = fx_rect_area(r) - count_present(b->w, fx_rect_move(r, b->il0, b->xl0));
        if (2 * missing > fx_rect_area(r)) {
            memset(b->s->matrix, 0, fx_packed(s.size, 0) * sizeof(FxV));
            add_equations(b, r, 1, 1);
        } else {
            fx_covariance(patch, r, s, b->s->cov, b->s->rows);
            fx_matrix(b->s->cov, s, 0, b->s->matrix);
            b->counts->flops += b->lanes * covariance_flops(r, s);
            if (missing > 0)
                add_equations(b, r, 0, -1);
        }
    }
    b->designed = 1;
    set_damping(b);
}

static void factorise(FxBatch *b)
{
    double n = b->shape.size;
    fx_cholesky(b->s->matrix, &b->lambda, b->shape.size, b->s->factor, &b->factored);
    b->counts->flops += b->lanes * n * n * n / 3;
}

// Automatic prewhitening: the damping of the next design after one whose centred filter is `h`, of
// each lane as a share of its mean diagonal.
static void adapt(FxBatch *b, const FxV *h, FxV mean, int third, float share[FX_LANES])
{
    const int size = b->shape.size, taps = b->shape.taps;
    const FxV *g = b->s->matrix + fx_packed(size - 1, 0);
    FxV left = g[size - 1], energy = {0};
    for (int k = 0; k < size - 1; k++) {
        left -= h[k] * g[k] + b->lambda * h[k] * h[k];
        energy += h[k] * h[k];
    }
    for (int lane = 0; lane < FX_LANES; lane++) {
        share[lane] = third ? litho_fx_third(left[lane], mean[lane], energy[lane], taps, b->points)
                            : litho_fx_second(left[lane], mean[lane], taps, b->points);
        b->lambda[lane] = share[lane] * mean[lane];
    }
    b->counts->flops += 6.0 * b->lanes * size;
}

// The damping of the last design where prewhitening is automatic.
static void find_damping(FxBatch *b, int last)
{
    const FxV mean = b->lambda * (1 / LITHO_FX_FIRST_SHARE); // of dead lanes: anything
    float share[FX_LANES];
    for (int third = 0; third < 2; third++) {
        factorise(b);
        fx_solve_centre(b->s->factor, b->shape.size, b->s->more);
        adapt(b, b->s->more, mean, third, share);
    }
    for (int lane = 0; lane < FX_LANES && last; lane++)
        if (b->alive[lane])
            b->counts->octaves += litho_fx_octaves(share[lane]);
}

// The centred filter in s->beta; what solved it is counted when `last`.
static void solve(FxBatch *b, int last)
{
    if (b->w->shared) {
        fx_shared_solve(b, last);
        return;
    }
    const int solver = b->w->params->solver, size = b->shape.size;
    FxV *beta = b->s->beta, *direct = b->s->more;
    FxMask done = {0};
    if (!(b->w->params->prewhitening > 0))
        find_damping(b, last);
    if (solver == LITHO_FX_JACOBI)
        fx_jacobi(b->s->matrix, &b->lambda, size, beta, b->s->more, &done);
    factorise(b);
    fx_solve_centre(b->s->factor, size, direct);
    for (int k = 0; k < size - 1; k++)
        beta[k] = solver == LITHO_FX_CHOLESKY ? direct[k] : fx_select(done, beta[k], direct[k]);
    b->good = b->alive & b->factored;
    b->counts->flops += 2.0 * b->lanes * size * size;
    if (last) {
        b->counts->systems += b->lanes;
        b->counts->fallbacks += solver == LITHO_FX_CHOLESKY ? 0 : fx_count(b->alive & ~done);
        b->counts->failed += fx_count(b->alive & ~b->good);
    }
    if (!b->w->params->post)
        return;
    const FxV *g = b->s->matrix + fx_packed(size - 1, 0);
    FxV hb = {0}, hh = {0};
    for (int k = 0; k < size - 1; k++) {
        hb += beta[k] * g[k];
        hh += beta[k] * beta[k];
    }
    FxV alpha = fx_stretch(hb, hh, b->lambda);
    for (int k = 0; k < size - 1; k++)
        beta[k] *= alpha;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Equations, filter, and predictions of the targets.
static void design_and_predict(FxBatch *b, const FxTargets *t, int holes, int last)
{
    double at[FX_STEPS + 1];
    at[FX_MATRIX] = now_s();
    design(b);
    at[FX_SOLVE] = now_s();
    solve(b, last);
    at[FX_APPLY] = now_s();
    fx_predict(b, t, holes);
    at[FX_STEPS] = now_s();
    for (int k = 0; k < FX_STEPS; k++)
        b->counts->seconds[k] += at[k + 1] - at[k];
}

// --- one window ----------------------------------------------------------------------------------

// Changes up to which the equations are brought up to date instead of formed again.
static int few_changes(int tile)
{
    return tile / 8;
}

// The equations after the traces in s->changes took the values in s->guess.
static void update(FxBatch *b, int n)
{
    const FxShape s = b->shape;
    const FxRect r = fx_batch_centres(b, b->window);
    if (!b->designed || n == 0)
        return;
    fx_covariance_update((FxPatch){b->s->tile, b->width}, b->height, r, s, b->s->state,
                         b->s->changes, n, b->s->update, b->s->cov);
    fx_matrix(b->s->cov, s, 1, b->s->matrix);
    b->counts->flops += b->lanes * n * 40.0 * s.size;
}

// Absent traces of the box take their prediction.
static void fill(FxBatch *b)
{
    FxTargets t = {b->box, 1, b->s->guess, b->s->done};
    const int most = few_changes(b->height * b->width);
    int n = 0;
    memset(t.done, 0, fx_rect_area(b->box));
    design_and_predict(b, &t, 1, 0);
    b->designed = b->w->params->form == LITHO_FX_COV && !b->w->anew;
    for (int xl = b->box.xl0; xl < b->box.xl1; xl++)
        for (int il = b->box.il0; il < b->box.il1; il++) {
            const int at = il * b->width + xl, from = fx_target_index(&t, il, xl);
            if (!t.done[from])
                continue;
            FxC *guess = &t.out[from], *old = &b->s->tile[at];
            guess->re = fx_select(b->good, guess->re, (FxV){0});
            guess->im = fx_select(b->good, guess->im, (FxV){0});
            b->s->state[at] = FILLED;
            if (n == most)
                b->designed = 0;
            if (!b->designed)
                continue;
            b->s->changes[n++] = (FxChange){{guess->re - old->re, guess->im - old->im}, il, xl};
            old->re = 0.5f * (old->re + guess->re);
            old->im = 0.5f * (old->im + guess->im);
        }
    update(b, n);
    for (int il = b->box.il0; il < b->box.il1; il++)
        for (int xl = b->box.xl0; xl < b->box.xl1; xl++)
            if (t.done[fx_target_index(&t, il, xl)])
                b->s->tile[il * b->width + xl] = t.out[fx_target_index(&t, il, xl)];
}

// From predictions in the tile's scale to what FxWindow.out is documented to hold.
static void finish(FxBatch *b, const FxTargets *t)
{
    const int mute = b->w->params->outband == LITHO_FX_MUTE;
    const FxV back = 1.0f / b->scale;
    for (int il = b->window.il0; il < b->window.il1; il++)
        for (int xl = b->window.xl0; xl < b->window.xl1; xl++) {
            int at = fx_target_index(t, il, xl), from = il * b->width + xl;
            FxC *out = &t->out[at], s = b->s->tile[from];
            if (b->s->state[from] != LIVE)
                s = (FxC){{0}, {0}};
            FxMask use = t->done[at] ? b->good : (FxMask){0};
            out->re = fx_select(use, out->re, s.re) - (mute ? (FxV){0} : s.re);
            out->im = fx_select(use, out->im, s.im) - (mute ? (FxV){0} : s.im);
            out->re *= back;
            out->im *= back;
        }
}

static int has_holes(const FxBatch *b)
{
    for (int il = b->box.il0; il < b->box.il1; il++)
        for (int xl = b->box.xl0; xl < b->box.xl1; xl++)
            if (b->s->state[il * b->width + xl] == ABSENT)
                return 1;
    return 0;
}

static void pass_unchanged(const FxWindow *w)
{
    FxRect r = w->window;
    const ptrdiff_t held = w->held.xl1 - w->held.xl0;
    FxC *out = (FxC *)w->out;
    for (int il = r.il0; il < r.il1; il++)
        for (int xl = r.xl0; xl < r.xl1; xl++)
            *out++ = w->params->outband == LITHO_FX_MUTE
                         ? ((const FxC *)w->spectra)[(il - w->held.il0) * held + xl - w->held.xl0]
                         : (FxC){{0}, {0}};
}

// Divides `memory`; returns the bytes it takes.
static size_t divide(FxScratch *s, char *memory, int length_il, int length_xl, int half)
{
    const size_t width = 2 * half + 1, size = width * width;
    const size_t tile = (size_t)(length_il + 4 * half) * (length_xl + 4 * half);
    char *at = memory;
#define TAKE(what, count) (s->what = (void *)at, at += (count) * sizeof *s->what)
    TAKE(tile, tile);
    TAKE(guess, tile);
    TAKE(cov, size * size);
    TAKE(rows, 2 * width * size);
    TAKE(taps, size);
    TAKE(matrix, fx_packed((int)size, 0));
    TAKE(factor, fx_packed((int)size, 0));
    TAKE(beta, size);
    TAKE(more, 2 * size);
    TAKE(magnitude, size);
    TAKE(rows_of, 2 * FX_TOGETHER * size);
    TAKE(noise, fx_packed((int)size, 0));
    TAKE(changes, few_changes((int)tile));
    TAKE(update, fx_update_scratch(few_changes((int)tile)));
    TAKE(state, tile);
    TAKE(done, tile);
#undef TAKE
    return at - memory;
}

static size_t scratch_bytes(int length_il, int length_xl, int half)
{
    static char nowhere[64] __attribute__((aligned(64)));
    FxScratch s;
    const size_t own = divide(&s, nowhere, length_il, length_xl, half);
    const size_t keep = fx_keep_scratch(length_il, length_xl);
    return own > keep ? own : keep;
}

static int filter(const FxWindow *w, void *scratch, FxCounts *counts)
{
    FxScratch s;
    FxBatch b = {.w = w, .s = &s, .counts = counts};
    divide(&s, scratch, w->window.il1 - w->window.il0, w->window.xl1 - w->window.xl0,
           w->params->half_width);
    *counts = (FxCounts){0};
    if (!choose_shape(w, &b.shape, &b.points)) {
        pass_unchanged(w);
        counts->empty = 1;
        return 1;
    }
    FxRect wide = {w->window.il0 - b.shape.il, w->window.il1 + b.shape.il,
                   w->window.xl0 - b.shape.xl, w->window.xl1 + b.shape.xl};
    wide = fx_rect_inside(wide, w->n_il, w->n_xl, 0, 0);
    int fills = count_present(w, wide) < fx_rect_area(wide) ? w->params->fill_passes : 0;
    open_tile(&b, fills > 0);
    b.lanes = fx_count(b.alive);
    if (b.lanes == 0) {
        pass_unchanged(w);
        return 1;
    }
    if (w->shared)
        fx_shared_open(&b);
    for (int k = 0; k < fills && !fx_batch_stopped(&b); k++)
        fill(&b);
    if (fx_batch_stopped(&b))
        return 0;
    FxTargets t = {b.window, 0, (FxC *)w->out, s.done};
    memset(t.done, 0, fx_rect_area(b.window));
    design_and_predict(&b, &t, has_holes(&b), 1);
    finish(&b, &t);
    return !b.stopped;
}

#ifdef LITHO_ISA
const FxIsa LITHO_ISA_NAME(fx_isa) = {FX_LANES, scratch_bytes, filter, fx_keep};
#else
const FxIsa fx_isa = {FX_LANES, scratch_bytes, filter, fx_keep};
#endif
