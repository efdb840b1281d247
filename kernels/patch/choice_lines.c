// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/patch/choice_lines.h"

#include <math.h>

#include "core/error.h"
#include "kernels/common/select.h"
#include "kernels/patch/trial.h"

enum {
    LEAST = 16,   // traces of the narrowest window,
    MOST = 48,    // and of the widest
    LONGEST = 30, // samples (geometry.c)
    TRACES = 64,  // of a piece,
    SAMPLES = 96, // and its samples
    ALONG = 5,    // pieces along an axis, at most
    SIZES = 7,    // of windows, at most
    STEPS = 5,    // of thresholds
    PIECES = ALONG * ALONG,
};
// Thresholds of `energy`; number FIRST is taken while sizes are tried.
static const double thresholds[STEPS] = {2.2, 2.6, 3, 3.4, 3.8};
enum { FIRST = 2 };
// Logarithms by which pieces differ by chance.
#define ALIKE 0.3
// Nothing is chosen where the noise varies within one of so many pieces, as thresholds would follow
// the quieter part, nor where its power changes by GROWS along time.
#define VARYING 4
#define GROWS 3
// A setting pays by so much of the noise.
#define PAYS 0.0005
// Standard errors that are taken off a gain: few pieces tell these badly.
#define DOUBT(pieces) (0.5 + 2.0 / (pieces))

typedef struct Trials {
    const LithoGrid *grid;
    GPtrArray *columns;
    PatchTrialPiece *pieces;
    int n_pieces, down; // down: so many at one place of the line
    PatchTrialSize size[SIZES];
    int sizes;
} Trials;

static void trials_end(Trials *t)
{
    for (int k = 0; k < t->n_pieces; k++)
        g_free(t->pieces[k].noise);
    g_free(t->pieces);
    for (int k = 0; k < t->sizes; k++)
        patch_trial_size_end(&t->size[k]);
    g_clear_pointer(&t->columns, g_ptr_array_unref);
}

typedef struct Setting {
    int size;
    PatchTrial trial;
} Setting;

// Errors of those of n settings that have windows of a size, on a piece.
static gboolean try_size(const Trials *t, int piece, int size, const Setting *settings, int n,
                         double (*error)[PIECES])
{
    PatchTrial list[1 + SIZES + STEPS];
    double of_list[1 + SIZES + STEPS];
    int asked = 0;
    for (int s = 0; s < n; s++)
        if (settings[s].size == size)
            list[asked++] = settings[s].trial;
    if (asked == 0 || !t->pieces[piece].tells)
        return TRUE;
    if (!patch_trial_errors(&t->size[size], &t->pieces[piece], list, asked, of_list))
        return FALSE;
    for (int s = n - 1; s >= 0; s--)
        if (settings[s].size == size)
            error[s][piece] = of_list[--asked];
    return TRUE;
}

// Errors of the settings: error[setting][piece].
static gboolean try_all(const Trials *t, const Setting *settings, int n, int threads,
                        double (*error)[PIECES])
{
    gint failed = 0;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int k = 0; k < t->n_pieces * t->sizes; k++)
        if (!g_atomic_int_get(&failed) &&
            !try_size(t, k / t->sizes, k % t->sizes, settings, n, error))
            g_atomic_int_set(&failed, 1);
    return !failed;
}

static int along_axis(const LithoGrid *grid)
{
    return grid->axis[0].n > grid->axis[1].n ? 0 : 1;
}

static int samples_as_default(const LithoGrid *grid)
{
    const LithoPatchParams automatic = {0};
    return litho_patch_grid_window(grid, &automatic, 2);
}

static int even(double x)
{
    return 2 * (int)(x / 2);
}

static gboolean add_size(Trials *t, int along, int samples)
{
    const int axis = along_axis(t->grid);
    for (int k = 0; k < t->sizes; k++)
        if (t->size[k].length == along && t->size[k].g.axis[2].length == samples)
            return TRUE;
    if (2 * along > t->grid->axis[axis].n)
        return TRUE;
    return patch_trial_size_begin(&t->size[t->sizes++], t->grid, along, samples, FALSE);
}

// Number 0 is the default's.
static gboolean add_sizes(Trials *t)
{
    const LithoPatchParams automatic = {0};
    const int samples = samples_as_default(t->grid), longer = MIN(even(1.25 * samples), LONGEST);
    const int along = litho_patch_grid_window(t->grid, &automatic, along_axis(t->grid));
    return add_size(t, along, samples) &&
           add_size(t, LEAST, MAX(even(samples / 1.5), LITHO_PATCH_WINDOW)) &&
           add_size(t, LEAST, samples) && add_size(t, 2 * LEAST, samples) &&
           add_size(t, 2 * LEAST, longer) && add_size(t, MOST, samples) &&
           add_size(t, MOST, longer);
}

// One beside the other while that is three, then half as far apart again.
static int pieces_along(const LithoGrid *grid, int axis, int length)
{
    const gint64 n = grid->axis[axis].n;
    return (int)CLAMP((n + length / 2) / length, 1, CLAMP(2 * n / (3 * length), 3, ALONG));
}

// Piece k of n of `length` along an axis.
static void place(const LithoGrid *grid, int axis, int k, int n, int length, LithoBox *box)
{
    const gint64 own = MIN(grid->axis[axis].n, length), free = grid->axis[axis].n - own;
    box->lo[axis] = n > 1 ? free * k / (n - 1) : free / 2;
    box->hi[axis] = box->lo[axis] + own;
}

// Columns are read one by one, with what the widest windows need.
static gboolean gather(Trials *t, const LithoReader *clean, LithoRun *run, GError **error)
{
    const int along = along_axis(t->grid);
    const int across = pieces_along(t->grid, along, TRACES);
    const int down = t->down = pieces_along(t->grid, 2, SAMPLES);
    gint64 around[3] = {0};
    around[along] = MOST;
    t->pieces = g_new0(PatchTrialPiece, across * down);
    t->columns = g_ptr_array_new_with_free_func((GDestroyNotify)litho_cube_unref);
    for (int c = 0; c < across; c++) {
        LithoBox box = litho_box_full(t->grid);
        place(t->grid, along, c, across, TRACES, &box);
        const LithoBox need = litho_box_grow(t->grid, box, around);
        LithoCube *column = clean->read(&need, run, clean->data, error);
        if (!column)
            return FALSE;
        g_ptr_array_add(t->columns, column);
        for (int k = 0; k < down; k++) {
            place(t->grid, 2, k, down, SAMPLES, &box);
            t->pieces[t->n_pieces++] = (PatchTrialPiece){.column = column, .box = box};
        }
        if (!litho_run_step(run, c + 1, across, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean tell_levels(Trials *t, int threads)
{
    PatchTrialSize s;
    gint failed = 0;
    const int along = (int)MIN(2 * LEAST, t->grid->axis[along_axis(t->grid)].n);
    if (patch_trial_size_begin(&s, t->grid, along, LONGEST, TRUE)) {
#pragma omp parallel for schedule(dynamic) num_threads(threads)
        for (int k = 0; k < t->n_pieces; k++)
            if (!patch_trial_level(&t->pieces[k], &s))
                g_atomic_int_set(&failed, 1);
    } else {
        failed = 1;
    }
    patch_trial_size_end(&s);
    return !failed;
}

// Levels of lines follow the noise along time (levels_lines.h), and hardly along the line: what is
// known at a time is the median of its pieces. By less than ALIKE pieces differ by chance.
// FALSE where it grows or decays too much along time.
static gboolean take_known(Trials *t)
{
    double least = G_MAXDOUBLE, most = 0;
    for (int row = 0; row < t->down; row++) {
        float power[ALONG];
        int n = 0;
        for (int k = row; k < t->n_pieces; k += t->down)
            if (t->pieces[k].tells)
                power[n++] = (float)t->pieces[k].power;
        const double known = n > 0 ? litho_select_kth(power, n, (n - 1) / 2) : 0;
        if (n > 0) {
            least = fmin(least, known);
            most = fmax(most, known);
        }
        for (int k = row; k < t->n_pieces; k += t->down)
            if (fabs(log(fmax(t->pieces[k].power, 1e-30) / fmax(known, 1e-30))) > ALIKE)
                t->pieces[k].known = known;
    }
    return most < GROWS * least;
}

// Settings that are tried, and their errors; the first one is the default.
typedef struct List {
    Setting setting[1 + SIZES + STEPS];
    double error[1 + SIZES + STEPS][PIECES];
    int n;
} List;

static gboolean try_from(const Trials *t, int first, int threads, List *list)
{
    return try_all(t, list->setting + first, list->n - first, threads, list->error + first);
}

// By how much setting k is better than the default, in units of the noise: the mean of the pieces
// that tell something, less a part of its standard error. `by_power`: a piece counts by its noise.
static double mean_gain(const Trials *t, const List *list, int k, gboolean by_power)
{
    double sum = 0, squares = 0, weights = 0;
    int n = 0;
    for (int p = 0; p < t->n_pieces; p++)
        if (t->pieces[p].tells) {
            const double weight = by_power ? t->pieces[p].power : 1;
            const double gain = weight * (list->error[0][p] - list->error[k][p]);
            sum += gain;
            squares += gain * gain;
            weights += weight;
            n++;
        }
    const double mean = sum / n, variance = fmax(squares / n - mean * mean, 0);
    return (mean - (n > 1 ? DOUBT(n) * sqrt(variance / (n - 1)) : 0)) * n / weights;
}

// In both means: where the noise varies neither its loud part nor the rest is to lose.
static double gain_of(const Trials *t, const List *list, int k)
{
    return fmin(mean_gain(t, list, k, FALSE), mean_gain(t, list, k, TRUE));
}

static int best_from(const Trials *t, const List *list, int first)
{
    int best = first;
    for (int k = first; k < list->n; k++)
        best = gain_of(t, list, k) > gain_of(t, list, best) ? k : best;
    return best;
}

// All sizes with one threshold, then the best of them with others.
static gboolean choose(const Trials *t, int threads, PatchFound *found)
{
    const LithoPatchParams automatic = {.mode = LITHO_PATCH_DENOISE, .rule = LITHO_PATCH_SINGLE};
    List list = {.n = 1};
    list.setting[0] =
        (Setting){0, {LITHO_PATCH_SINGLE, litho_patch_threshold(&t->size[0].g, &automatic)}};
    for (int k = 0; k < t->sizes; k++)
        list.setting[list.n++] = (Setting){k, {LITHO_PATCH_ENERGY, thresholds[FIRST]}};
    if (!try_from(t, 0, threads, &list))
        return FALSE;
    const int size = list.setting[best_from(t, &list, 1)].size, first = list.n;
    for (int k = 0; k < STEPS; k++)
        if (k != FIRST)
            list.setting[list.n++] = (Setting){size, {LITHO_PATCH_ENERGY, thresholds[k]}};
    if (!try_from(t, first, threads, &list))
        return FALSE;
    const int best = best_from(t, &list, 1);
    if (!(gain_of(t, &list, best) > PAYS))
        return TRUE;
    for (int a = 0; a < 3; a++)
        found->lengths[a] = t->size[list.setting[best].size].g.axis[a].length;
    found->rule = list.setting[best].trial.rule;
    found->threshold = list.setting[best].trial.threshold;
    return TRUE;
}

static gboolean find(Trials *t, const LithoReader *clean, LithoRun *run, PatchFound *found,
                     GError **error)
{
    const int threads = litho_run_threads(run);
    int pieces = 0, varying = 0;
    if (!gather(t, clean, run, error))
        return FALSE;
    if (!add_sizes(t) || !tell_levels(t, threads))
        return litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory for a few windows");
    for (int k = 0; k < t->n_pieces; k++) {
        pieces += t->pieces[k].tells;
        varying += t->pieces[k].varies;
    }
    if (pieces == 0 || t->sizes == 0 || VARYING * varying > t->n_pieces || !take_known(t))
        return TRUE;
    return choose(t, threads, found) ||
           litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory for a few windows");
}

gboolean patch_lines_find(const LithoReader *clean, LithoRun *run, PatchFound *found,
                          GError **error)
{
    Trials t = {.grid = clean->grid};
    const gboolean ok = find(&t, clean, run, found, error);
    trials_end(&t);
    return ok;
}

gboolean patch_lines_choose(const LithoGrid *grid, const LithoPatchParams *p)
{
    const gint64 least = MIN(grid->axis[0].n, grid->axis[1].n);
    const gint64 most = MAX(grid->axis[0].n, grid->axis[1].n);
    return least == 1 && most >= 3 * LEAST && grid->axis[2].n >= 2 * LONGEST &&
           litho_patch_is_automatic(p) && p->mode == LITHO_PATCH_DENOISE && !(p->sigma > 0);
}

LithoPatchParams patch_lines_at_most(const LithoGrid *grid, const LithoPatchParams *params)
{
    LithoPatchParams own = *params;
    const int along = along_axis(grid);
    *(along == 0 ? &own.window_il : &own.window_xl) = MOST;
    own.window_t = LONGEST;
    return own;
}
