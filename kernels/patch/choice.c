// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/patch/choice.h"

#include <fftw3.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "core/error.h"
#include "kernels/common/select.h"
#include "kernels/patch/choice_dense.h"
#include "kernels/patch/choice_fill.h"
#include "kernels/patch/choice_lines.h"
#include "kernels/patch/levels.h"

enum {
    SMALL = LITHO_PATCH_WINDOW,
    WIDE = LITHO_PATCH_WIDE,
    TRACES = WIDE * WIDE,      // of a place
    STEP = (WIDE - SMALL) / 2, // from one small window of a place to the next
    ACROSS = 3,                // places along an axis of traces, at most
    DOWN = 6,                  // along time
    FEWEST = 8,                // places that tell
    FOLDS = 3,                 // small windows along an axis of a place
    RULED = 4,                 // of so many of them one is asked for the rule
    EVERY = 5,                 // of so many coefficients one is asked for the level
};
#define WIDE_PAYS 1.85
#define ENERGY_PAYS 1.25
// The power that a share of coefficients does not exceed, where there is noise alone, is
// -log(1 - share) times its mean.
#define QUIETER 0.3
#define MIDDLE 0.5
// Means that follow from both shares are alike within 5 % where noise comes to all wavenumbers
// alike. Mixed noise has 2.5 to 6 times as much by the larger one: its wide windows gain nothing.
#define MOST_UNEVEN 1.3
// Events are seen where this share of the noise is kept with them; noise alone keeps none.
#define LEAST_KEPT 3e-4
// A place tells nothing where more of its samples are zero, as in mutes and between traces.
#define MOST_ZEROS 0.25
#define NO_MEMORY "there is no memory for a few windows"

// Power of what a rule keeps less twice that of the noise in it, and the noise in it.
typedef struct Kept {
    double power, noise;
} Kept;

// A place as windows of one size see it.
typedef struct Seen {
    double kept;  // power of what the threshold keeps, less twice that of the noise in it
    double noise; // of the noise in it
    double all;
    double quiet, middle; // of all noise, by QUIETER and MIDDLE
    Kept single, energy;  // by the rules
} Seen;

// Windows of one size, and a thread's room for those of a place.
typedef struct Size {
    int n, nt, nf;             // traces, samples, frequencies
    int place;                 // samples of a place along time
    int along[3];              // windows of a place,
    int step[3];               // so far apart,
    int windows;               // and all together
    float limit, energy_limit; // squares of the rules' thresholds
    double energy;
    float taper[WIDE], taper_t[LITHO_PATCH_MAX_WINDOW];
    fftwf_plan plan; // shared by the threads
} Size;

typedef struct Room {
    float *in;
    fftwf_complex *out;
    float *power;  // [frequency][window][wavenumber]
    float *sorted; // of one frequency
    float noise[LITHO_PATCH_MAX_WINDOW / 2 + 1];
} Room;

// --- a place -------------------------------------------------------------------------------------

static gsize coefficients(const Size *s)
{
    return (gsize)s->windows * s->n * s->n;
}

// Windows of n traces, of samples that are `dense` times as close together as they need be.
static gboolean size_begin(Size *s, int n, int dense)
{
    const int nt = litho_patch_dense_length(n, dense);
    const int place = litho_patch_dense_length(WIDE, dense);
    LithoPatchParams params = {
        .mode = LITHO_PATCH_DENOISE, .window = n, .window_t = nt, .overlap = 4};
    const LithoPatchGeometry g = litho_patch_geometry((const int[3]){n, n, nt}, &params);
    const double threshold = litho_patch_threshold(&g, &params);
    params.rule = LITHO_PATCH_ENERGY;
    const double of_energy = litho_patch_threshold(&g, &params);
    float *in = fftwf_alloc_real((gsize)n * n * nt);
    fftwf_complex *out = fftwf_alloc_complex((gsize)n * n * g.bins);
    const int across = n < WIDE ? FOLDS : 1, down = nt < place ? FOLDS : 1;
    *s = (Size){.n = n,
                .nt = nt,
                .nf = g.bins,
                .place = place,
                .along = {across, across, down},
                .step = {STEP, STEP, (place - nt) / 2},
                .windows = across * across * down,
                .limit = (float)(threshold * threshold),
                .energy_limit = (float)(of_energy * of_energy),
                .energy = g.energy};
    for (int k = 0; k < n; k++)
        s->taper[k] = (float)litho_patch_taper(g.axis[0], k);
    for (int k = 0; k < nt; k++)
        s->taper_t[k] = (float)litho_patch_taper(g.axis[2], k);
    if (in && out)
        s->plan = fftwf_plan_dft_r2c_3d(n, n, nt, in, out, FFTW_ESTIMATE);
    fftwf_free(in);
    fftwf_free(out);
    return s->plan != NULL;
}

static gboolean room_begin(Room *r, const Size *s)
{
    const gsize n = s->n;
    r->in = fftwf_alloc_real(n * n * s->nt);
    r->out = fftwf_alloc_complex(n * n * s->nf);
    r->power = g_try_new(float, coefficients(s) * s->nf);
    r->sorted = g_try_new(float, coefficients(s) / EVERY + 1);
    return r->in && r->out && r->power && r->sorted;
}

static void room_end(Room *r)
{
    fftwf_free(r->in);
    fftwf_free(r->out);
    g_free(r->power);
    g_free(r->sorted);
}

// Powers of the window that begins at `at` of the place x[WIDE][WIDE][place].
static void transform(const Size *s, Room *r, const float *x, const int at[3], int window)
{
    const int n = s->n;
    const gsize nk = (gsize)n * n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const float *from = x + ((at[0] + i) * WIDE + at[1] + j) * s->place + at[2];
            const float w = s->taper[i] * s->taper[j];
            float *to = r->in + ((gsize)i * n + j) * s->nt;
            for (int k = 0; k < s->nt; k++)
                to[k] = from[k] * w * s->taper_t[k];
        }
    fftwf_execute_dft_r2c(s->plan, r->in, r->out);
    for (gsize k = 0; k < nk; k++)
        for (int f = 0; f < s->nf; f++) {
            const float re = r->out[k * s->nf + f][0], im = r->out[k * s->nf + f][1];
            r->power[((gsize)f * s->windows + window) * nk + k] =
                (re * re + im * im) / (float)s->energy;
        }
}

// Mean power of the noise among `n` powers, by the one that a share of them does not exceed.
static float noise_by(double share, float *power, gsize n)
{
    return litho_select_kth(power, (gint64)n, (gint64)(share * (double)n)) / (float)-log(1 - share);
}

// A frequency and its conjugate count together. Noise alone exceeds the threshold here and there,
// and is no gain.
static void add_frequency(const Size *s, const float *power, float noise, double times, Seen *to)
{
    const gsize n = coefficients(s);
    const double by_chance = (double)n * exp(-s->limit);
    double kept = 0, all = 0;
    gsize count = 0;
    for (gsize k = 0; k < n; k++) {
        const gboolean stays = power[k] > s->limit * noise;
        all += power[k];
        kept += stays ? power[k] : 0;
        count += stays;
    }
    to->kept += times * (kept - 2 * (double)count * noise - by_chance * (s->limit - 1) * noise);
    to->noise += times * ((double)count - by_chance) * noise;
    to->all += times * all;
}

static Seen look(const Size *s, Room *r, const float *x)
{
    Seen seen = {0};
    const int *along = s->along;
    for (int w = 0; w < s->windows; w++) {
        const int at[3] = {w / along[2] / along[1] * s->step[0],
                           w / along[2] % along[1] * s->step[1], w % along[2] * s->step[2]};
        transform(s, r, x, at, w);
    }
    for (int f = 0; f < s->nf; f++) {
        const float *power = r->power + (gsize)f * coefficients(s);
        const double times = f == 0 || f == s->nf - 1 ? 1 : 2;
        gsize asked = 0;
        for (gsize k = 0; k < coefficients(s); k += EVERY)
            r->sorted[asked++] = power[k];
        const float noise = noise_by(QUIETER, r->sorted, asked);
        r->noise[f] = noise;
        add_frequency(s, power, noise, times, &seen);
        seen.quiet += times * (double)coefficients(s) * noise;
        seen.middle += times * (double)coefficients(s) * noise_by(MIDDLE, r->sorted, asked);
    }
    return seen;
}

// Power at frequency f of a window, also beyond its first and its last one, in units of the noise.
static float power_at(const Size *s, const Room *r, int window, int i, int j, int f)
{
    const int n = s->n, last = s->nf - 1;
    if (f < 0 || f > last) { // the conjugate of the opposite wavenumber
        f = f < 0 ? -f : 2 * last - f;
        i = (n - i) % n;
        j = (n - j) % n;
    }
    return r->power[(((gsize)f * s->windows + window) * n + (i + n) % n) * n + (j + n) % n] /
           r->noise[f];
}

// Both rules in some of the windows that look() has transformed.
static void look_at_rules(const Size *s, const Room *r, Seen *seen)
{
    const int n = s->n;
    for (int f = 0; f < s->nf; f++) {
        const double times = (f == 0 || f == s->nf - 1 ? 1 : 2) * r->noise[f];
        for (int k = 0; k < s->windows / RULED * n * n && r->noise[f] > 0; k++) {
            const int w = k / (n * n) * RULED, i = k / n % n, j = k % n;
            const float own = power_at(s, r, w, i, j, f);
            const float near = power_at(s, r, w, i - 1, j, f) + power_at(s, r, w, i + 1, j, f) +
                               power_at(s, r, w, i, j - 1, f) + power_at(s, r, w, i, j + 1, f) +
                               power_at(s, r, w, i, j, f - 1) + power_at(s, r, w, i, j, f + 1);
            if (own > s->limit) {
                seen->single.power += times * (own - 2);
                seen->single.noise += times;
            }
            if ((own + near / 2) / 4 > s->energy_limit) {
                seen->energy.power += times * (own - 2);
                seen->energy.noise += times;
            }
        }
    }
}

// --- the survey ----------------------------------------------------------------------------------

// Places of `length` samples along an axis.
typedef struct Places {
    gint64 free; // samples that the first one may begin at, beside 0
    int n;
} Places;

static Places places_along(const LithoGrid *grid, int axis, int length)
{
    return (Places){.free = grid->axis[axis].n - length,
                    .n = (int)CLAMP(grid->axis[axis].n / length, 1, axis == 2 ? DOWN : ACROSS)};
}

// Begin of place `k`.
static gint64 place_at(Places p, int k)
{
    return p.n > 1 ? p.free * k / (p.n - 1) : p.free / 2;
}

// `length` samples of a place of a column of whole traces; FALSE where they tell nothing.
static gboolean take(const LithoCube *column, gint64 from, int length, float *x)
{
    const LithoBox held = column->held;
    int zeros = 0;
    for (gint64 i = 0; i < WIDE; i++)
        for (gint64 j = 0; j < WIDE; j++) {
            const gint64 il = held.lo[0] + i, xl = held.lo[1] + j;
            const float *trace = litho_cube_trace(column, il, xl) + from - held.lo[2];
            float *to = x + (i * WIDE + j) * length;
            const gboolean live = litho_cube_is_live(column, il, xl);
            for (int k = 0; k < length; k++) {
                to[k] = live && isfinite(trace[k]) ? trace[k] : 0;
                zeros += to[k] == 0;
            }
        }
    return zeros <= MOST_ZEROS * TRACES * length;
}

// Gain of wide windows at a place, and the noise that both keep; noise by QUIETER and MIDDLE.
typedef struct Verdict {
    double gain, noise, quiet, middle;
    double energy_gain, energy_noise; // of neighbours in small windows, likewise
    double level[LITHO_PATCH_MAX_WINDOW / 2 + 1]; // of the noise in wide windows, by frequency
    gboolean tells;
} Verdict;

static Verdict judge(const Size size[2], Room room[2], const float *x)
{
    Seen small = look(&size[0], &room[0], x);
    const Seen wide = look(&size[1], &room[1], x);
    look_at_rules(&size[0], &room[0], &small);
    if (!(small.all > 0 && wide.all > 0))
        return (Verdict){0};
    const double to_small =
        wide.all / small.all; // windows weigh the samples of a place differently
    Verdict v = {.gain = wide.kept - small.kept * to_small,
                 .noise = (wide.noise + small.noise * to_small) / 2,
                 .quiet = wide.quiet,
                 .middle = wide.middle,
                 .energy_gain = small.energy.power - small.single.power,
                 .energy_noise = (small.energy.noise + small.single.noise) / 2,
                 .tells = TRUE};
    for (int f = 0; f < size[1].nf; f++)
        v.level[f] = room[1].noise[f];
    return v;
}

// Verdicts on `n` places, of which those that tell something have samples.
static gboolean judge_all(const Size size[2], float *const *places, int n, int threads, Verdict *to)
{
    gint failed = 0;
#pragma omp parallel num_threads(MIN(threads, n))
    {
        Room room[2] = {0};
        if (!room_begin(&room[0], &size[0]) || !room_begin(&room[1], &size[1]))
            g_atomic_int_set(&failed, 1);
#pragma omp for schedule(dynamic)
        for (int k = 0; k < n; k++)
            if (!g_atomic_int_get(&failed) && places[k])
                to[k] = judge(size, room, places[k]);
        room_end(&room[0]);
        room_end(&room[1]);
    }
    return !failed;
}

static LithoBox column_at(const LithoGrid *grid, const Places places[3], int i, int j)
{
    LithoBox box = litho_box_full(grid);
    box.lo[0] = place_at(places[0], i);
    box.lo[1] = place_at(places[1], j);
    box.hi[0] = box.lo[0] + WIDE;
    box.hi[1] = box.lo[1] + WIDE;
    return box;
}

static PatchFound conclude(const Verdict *verdicts, int n, int dense)
{
    Verdict sum = {0};
    int places = 0;
    for (int k = 0; k < n; k++) {
        sum.gain += verdicts[k].gain;
        sum.noise += verdicts[k].noise;
        sum.quiet += verdicts[k].quiet;
        sum.middle += verdicts[k].middle;
        sum.energy_gain += verdicts[k].energy_gain;
        sum.energy_noise += verdicts[k].energy_noise;
        places += verdicts[k].tells;
    }
    const gboolean tells = places >= FEWEST && sum.middle <= MOST_UNEVEN * sum.quiet &&
                           sum.noise > LEAST_KEPT * sum.quiet;
    const gboolean wide = tells && sum.gain > WIDE_PAYS * sum.noise;
    const gboolean energy = tells && !wide && sum.energy_gain > ENERGY_PAYS * sum.energy_noise;
    PatchFound found = {.window = wide ? WIDE : SMALL,
                        .rule = energy ? LITHO_PATCH_ENERGY : LITHO_PATCH_SINGLE};
    if (dense > 1) {
        found.lengths[0] = found.lengths[1] = found.window;
        found.lengths[2] = litho_patch_dense_length(found.window, dense);
    }
    return found;
}

// Places of one survey, and what they say.
typedef struct Survey {
    const LithoReader *clean;
    Size size[2];
    Places places[3];
    int all;
    GPtrArray *samples; // [column][place], NULL where they tell nothing
    Verdict *verdicts;
} Survey;

static void survey_end(Survey *s)
{
    for (int k = 0; k < 2; k++)
        if (s->size[k].plan)
            fftwf_destroy_plan(s->size[k].plan);
    g_clear_pointer(&s->samples, g_ptr_array_unref);
    g_free(s->verdicts);
}

// Samples of all places: columns are read one by one. `spectra`: NULL, or takes theirs.
static gboolean gather(Survey *s, PatchDense *spectra, LithoRun *run, GError **error)
{
    const Places *places = s->places;
    const int columns = places[0].n * places[1].n, down = places[2].n, length = s->size[1].place;
    for (int c = 0; c < columns; c++) {
        const LithoBox box = column_at(s->clean->grid, places, c / places[1].n, c % places[1].n);
        g_autoptr(LithoCube) column = s->clean->read(&box, run, s->clean->data, error);
        if (!column)
            return FALSE;
        for (int k = 0; k < down; k++) {
            float *x = g_new(float, TRACES *length);
            if (take(column, place_at(places[2], k), length, x))
                s->samples->pdata[c * down + k] = x;
            else
                g_free(x);
        }
        if (spectra && !patch_dense_add(spectra, column))
            return litho_refuse(error, LITHO_ERROR_MEMORY, NO_MEMORY);
        if (!litho_run_step(run, c + 1, columns, error))
            return FALSE;
    }
    return TRUE;
}

// Verdicts on windows of samples that are `dense` times as close together as they need be.
static gboolean ask(Survey *s, int dense, PatchDense *spectra, LithoRun *run, GError **error)
{
    s->all = 1;
    for (int a = 0; a < 3; a++) {
        const int length = a < 2 ? WIDE : litho_patch_dense_length(WIDE, dense);
        s->places[a] = places_along(s->clean->grid, a, length);
        s->all *= s->places[a].n;
    }
    s->verdicts = g_new0(Verdict, s->all);
    s->samples = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_set_size(s->samples, s->all);
    if (!size_begin(&s->size[0], SMALL, dense) || !size_begin(&s->size[1], WIDE, dense))
        return litho_refuse(error, LITHO_ERROR_MEMORY, NO_MEMORY);
    return gather(s, spectra, run, error) &&
           (judge_all(s->size, (float **)s->samples->pdata, s->all, litho_run_threads(run),
                      s->verdicts) ||
            litho_refuse(error, LITHO_ERROR_MEMORY, NO_MEMORY));
}

// By the spectra and the noise in wide windows of the places that tell.
static int dense_of(const Survey *s, const PatchDense *spectra, int most)
{
    double noise[LITHO_PATCH_MAX_WINDOW / 2 + 1] = {0};
    int n = 0;
    for (int k = 0; k < s->all; k++)
        n += s->verdicts[k].tells;
    for (int k = 0; k < s->all; k++)
        for (int f = 0; f < s->size[1].nf; f++)
            noise[f] += s->verdicts[k].level[f] / n;
    return n > 0 ? patch_dense_find(spectra, most, noise, s->size[1].nf) : 1;
}

static gboolean find(const LithoReader *clean, LithoRun *run, PatchFound *found, GError **error)
{
    const int most = patch_dense_most(clean->grid);
    PatchDense spectra = {0};
    Survey survey = {.clean = clean};
    gboolean ok = ask(&survey, 1, most > 1 ? &spectra : NULL, run, error);
    const int dense = ok && most > 1 ? dense_of(&survey, &spectra, most) : 1;
    if (dense > 1) {
        survey_end(&survey);
        survey = (Survey){.clean = clean};
        ok = ask(&survey, dense, NULL, run, error);
    }
    if (ok)
        *found = conclude(survey.verdicts, survey.all, dense);
    survey_end(&survey);
    return ok;
}

static gboolean may_hold_wide(const LithoGrid *grid)
{
    gboolean holds = TRUE;
    for (int a = 0; a < 3; a++)
        holds &= grid->axis[a].n >= WIDE + STEP;
    return holds;
}

// A part of a second, of which no progress is told.
static gboolean seek(const LithoPatchParams *asked, const LithoReader *clean, LithoRun *run,
                     PatchFound *found, GError **error)
{
    const double start = litho_now_ms();
    LithoRun quiet = litho_run_quiet(run);
    *found = (PatchFound){.window = SMALL, .rule = LITHO_PATCH_SINGLE};
    const gboolean ok =
        patch_floor_asked(asked)     ? patch_floor_find(clean, &quiet, &found->floor_steps, error)
        : may_hold_wide(clean->grid) ? find(clean, &quiet, found, error)
                                     : patch_lines_find(clean, &quiet, found, error);
    litho_run_time(run, "noise level", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 0, 0);
    return ok;
}

// --- the choice ----------------------------------------------------------------------------------

gboolean litho_patch_may_be_wide(const LithoGrid *grid, const LithoPatchParams *p)
{
    return may_hold_wide(grid) && litho_patch_is_automatic(p) && p->mode == LITHO_PATCH_DENOISE &&
           !(p->sigma > 0);
}

static gboolean chooses(const LithoGrid *grid, const LithoPatchParams *p)
{
    return litho_patch_may_be_wide(grid, p) || patch_lines_choose(grid, p) || patch_floor_asked(p);
}

LithoPatchParams patch_choice_take(const LithoPatchParams *asked, PatchFound found)
{
    LithoPatchParams own = *asked;
    if (own.window == 0)
        own.window = found.window;
    if (found.lengths[2] > 0 && litho_patch_is_automatic(asked)) {
        own.window_il = found.lengths[0];
        own.window_xl = found.lengths[1];
        own.window_t = found.lengths[2];
    }
    if (own.rule == LITHO_PATCH_AUTOMATIC)
        own.rule = found.rule;
    if (!(own.threshold > 0) && own.rule == found.rule)
        own.threshold = found.threshold;
    patch_floor_take(&own, found.floor_steps);
    return own;
}

gboolean patch_choice_known(const PatchChoice *choice, const LithoGrid *grid, const LithoPass *pass,
                            LithoPatchParams *used)
{
    const LithoPatchParams *asked = pass->params;
    PatchFound found = {.window = SMALL, .rule = LITHO_PATCH_SINGLE};
    gboolean known = TRUE;
    if (chooses(grid, asked) && pass->measured) {
        found = patch_levels_found(pass->measured);
        const int window = found.lengths[2] > 0 ? found.lengths[0] : found.window;
        found.window = may_hold_wide(grid) && window == WIDE ? WIDE : SMALL;
    } else if (chooses(grid, asked)) {
        found = choice->found;
        known = choice->serial == pass->in->serial && choice->erratic == asked->erratic &&
                choice->fills == patch_floor_asked(asked);
    }
    *used = patch_choice_take(asked, found);
    return known;
}

gboolean patch_choice_make(PatchChoice *choice, const LithoPass *pass, const LithoReader *clean,
                           LithoRun *run, LithoPatchParams *used, GError **error)
{
    const LithoPatchParams *asked = pass->params;
    choice->serial = 0;
    if (!seek(asked, clean, run, &choice->found, error))
        return FALSE;
    choice->serial = pass->in->serial;
    choice->erratic = asked->erratic;
    choice->fills = patch_floor_asked(asked);
    *used = patch_choice_take(asked, choice->found);
    return TRUE;
}

// A survey that is cleaned where it is read.
typedef struct Cleaner {
    const LithoReader *survey;
    LithoCleanRule rule;
} Cleaner;

static LithoCube *read_clean(const LithoBox *box, LithoRun *run, gpointer data, GError **error)
{
    const Cleaner *from = data;
    const LithoBox need = litho_clean_box(from->survey->grid, from->rule, *box);
    LithoClean clean = {0};
    g_autoptr(LithoCube) raw = from->survey->read(&need, run, from->survey->data, error);
    const LithoCube *in = raw ? litho_clean(&clean, from->rule, raw, run, error) : NULL;
    LithoCube *column = in ? litho_cube_copy_box(in, *box, error) : NULL;
    litho_clean_clear(&clean);
    return column;
}

gboolean patch_choice_read(const LithoPatchParams *asked, const LithoReader *survey, LithoRun *run,
                           PatchFound *found, GError **error)
{
    *found = (PatchFound){.window = SMALL, .rule = LITHO_PATCH_SINGLE};
    if (!chooses(survey->grid, asked))
        return TRUE;
    Cleaner cleaner = {survey, litho_patch_clean_rule(asked)};
    const LithoReader clean = {.grid = survey->grid, .read = read_clean, .data = &cleaner};
    return seek(asked, &clean, run, found, error);
}

void patch_choice_report(const LithoPatchParams *asked, const LithoPatchParams *used,
                         LithoReport *report)
{
    if (!report)
        return;
    if (litho_patch_is_automatic(asked))
        litho_report_used(report, "patch", "window", used->window);
    if (asked->rule == LITHO_PATCH_AUTOMATIC)
        litho_report_used(report, "patch", "rule", used->rule);
    const gboolean energy = asked->rule != used->rule && used->rule == LITHO_PATCH_ENERGY;
    const int window[3] = {used->window_il, used->window_xl, used->window_t};
    const gboolean dense = litho_patch_dense_of(window) > 1;
    if (dense && litho_patch_is_automatic(asked))
        litho_report_remark(report,
                            "patch: noise and events end well below half of the highest frequency "
                            "that the sampling allows; windows hold %d samples along time",
                            used->window_t);
    if (energy && !dense && used->window_t > 0 && asked->window_t == 0)
        litho_report_remark(report,
                            "patch: window, rule and threshold follow samples of this line: "
                            "windows of %d traces and %d samples; the energy of neighbouring "
                            "coefficients decides (rule=energy, threshold %.3g)",
                            MAX(used->window_il, used->window_xl), used->window_t, used->threshold);
    else if (energy)
        litho_report_remark(report, "patch: the noise is strong and events bend; the energy of "
                                    "neighbouring coefficients decides (rule=energy)");
}
