// SPDX-License-Identifier: GPL-3.0-or-later
//
// Whether a survey's noise keeps to some wavenumbers, and its covariance. Linked into the program
// and into the CUDA module.
#include "kernels/fx/shared.h"

#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "kernels/common/noise.h"
#include "kernels/fx/fx.h"
#include "kernels/fx/gains.h"

// Windows tell a shape by their quietest tenth, and a few of them where there can be none.
enum { WINDOW = 16, WINDOWS = 1024, FEW_WINDOWS = 128 };
// Columns along an axis and their traces. Surveys of no more traces than they hold are one column.
enum { ACROSS = 3, COLUMN = 32 };

static const int window[3] = {WINDOW, WINDOW, WINDOW};

// --- columns -------------------------------------------------------------------------------------

static gboolean is_small(const LithoGrid *grid)
{
    return litho_grid_traces(grid) <= (gint64)ACROSS * COLUMN * ACROSS * COLUMN;
}

static int columns_along(const LithoGrid *grid, int axis)
{
    return is_small(grid) || grid->axis[axis].n <= ACROSS * COLUMN ? 1 : ACROSS;
}

static LithoBox column_at(const LithoGrid *grid, const int place[2])
{
    LithoBox box = litho_box_full(grid);
    for (int a = 0; a < 2; a++) {
        const int n = columns_along(grid, a);
        if (n == 1)
            continue;
        box.lo[a] = (grid->axis[a].n - COLUMN) * place[a] / (n - 1);
        box.hi[a] = box.lo[a] + COLUMN;
    }
    return box;
}

// The columns side by side: windows across their seams are left out.
static LithoGrid mosaic_of(const LithoGrid *grid)
{
    LithoGrid mosaic = *grid;
    for (int a = 0; a < 2; a++)
        if (columns_along(grid, a) > 1)
            mosaic.axis[a].n = (gint64)ACROSS * COLUMN;
    return mosaic;
}

static LithoBox place_in(const LithoGrid *grid, const int place[2])
{
    LithoBox box = column_at(grid, place);
    for (int a = 0; a < 2; a++) {
        const gint64 n = litho_box_size(box, a);
        box.lo[a] = n * place[a];
        box.hi[a] = box.lo[a] + n;
    }
    return box;
}

static LithoCube *move(const LithoCube *from, LithoBox box, const LithoGrid *mosaic, LithoBox to,
                       GError **error)
{
    LithoCube *cube = litho_cube_new_box(mosaic, to, error);
    const gsize samples = litho_box_size(box, 2);
    for (gint64 i = 0; cube && i < litho_box_size(box, 0); i++)
        for (gint64 j = 0; j < litho_box_size(box, 1); j++) {
            const gint64 il = box.lo[0] + i, xl = box.lo[1] + j;
            const gint64 trace = i * litho_box_size(box, 1) + j;
            memcpy(cube->samples + trace * samples, litho_cube_trace(from, il, xl),
                   samples * sizeof(float));
            cube->live[trace] = litho_cube_is_live(from, il, xl);
        }
    return cube;
}

static gboolean add_column(LithoNoiseWindows *windows, const FxColumns *columns,
                           const LithoGrid *mosaic, const int place[2], LithoRun *run,
                           GError **error)
{
    const LithoBox box = column_at(columns->grid, place), to = place_in(columns->grid, place);
    g_autofree guint8 *recorded = NULL;
    g_autoptr(LithoCube) column = columns->read(&box, run, columns->data, &recorded, error);
    g_autoptr(LithoCube) moved = column ? move(column, box, mosaic, to, error) : NULL;
    return moved && litho_noise_windows_add(windows, moved, recorded, to, run, error);
}

// Windows of every column, `most` of them; of every `step`th the part that lies there. NULL with
// the error.
static LithoNoiseWindows *windows_of(const FxColumns *columns, int most, int step, LithoRun *run,
                                     GError **error)
{
    const LithoGrid mosaic = mosaic_of(columns->grid);
    const int n[2] = {columns_along(columns->grid, 0), columns_along(columns->grid, 1)};
    LithoNoiseWindows *windows = litho_noise_windows_new(&mosaic, NULL, window, most, error);
    gboolean ok = windows != NULL;
    for (int c = 0; ok && c < n[0] * n[1]; c += step)
        ok = add_column(windows, columns, &mosaic, (const int[2]){c / n[1], c % n[1]}, run, error);
    if (!ok)
        g_clear_pointer(&windows, litho_noise_windows_free);
    return windows;
}

// FALSE with LITHO_ERROR_GEOMETRY: there is nothing to measure.
static gboolean measure(const FxColumns *columns, LithoRun *run, LithoNoise *noise, GError **error)
{
    const double start = litho_now_ms();
    LithoRun quiet = litho_run_quiet(run);
    // Reading columns takes longest: three of nine, from corner to corner.
    const gboolean square =
        columns_along(columns->grid, 0) * columns_along(columns->grid, 1) == ACROSS * ACROSS;
    LithoNoiseWindows *few =
        square ? windows_of(columns, ACROSS * FEW_WINDOWS, ACROSS + 1, &quiet, error)
               : windows_of(columns, FEW_WINDOWS, 1, &quiet, error);
    gboolean ok = few != NULL;
    const gboolean filled = ok && litho_noise_windows_fill(few, &quiet);
    litho_noise_windows_free(few);
    *noise = (LithoNoise){0};
    if (ok && !filled) {
        LithoNoiseWindows *windows = windows_of(columns, WINDOWS, 1, &quiet, error);
        ok = windows && litho_noise_windows_shape(windows, &quiet, noise, error);
        litho_noise_windows_free(windows);
    }
    litho_run_time(run, "noise level", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 0, 0);
    return ok;
}

// No windows: no shape.
static gboolean look(const FxColumns *columns, LithoRun *run, LithoNoise *noise, GError **error)
{
    g_autoptr(GError) why = NULL;
    *noise = (LithoNoise){0};
    if (measure(columns, run, noise, &why)) {
        if (noise->shape)
            return TRUE;
        litho_noise_clear(noise);
    } else if (!g_error_matches(why, LITHO_ERROR, LITHO_ERROR_GEOMETRY)) {
        g_propagate_error(error, g_steal_pointer(&why));
        return FALSE;
    }
    *noise = (LithoNoise){0};
    return TRUE;
}

guint8 *fx_shared_recorded(const LithoCube *raw, const LithoBox *box)
{
    const gint64 n = litho_box_size(*box, 1);
    guint8 *recorded = g_malloc(litho_box_size(*box, 0) * n);
    for (gint64 i = 0; i < litho_box_size(*box, 0); i++)
        memcpy(recorded + i * n,
               raw->live + litho_cube_trace_index(raw, box->lo[0] + i, box->lo[1]), n);
    return recorded;
}

// --- as numbers of the recipe --------------------------------------------------------------------

// WITH_GAINS or WITH_SHARES is added to the version.
enum { VERSION = 1, WITH_GAINS = 4, WITH_SHARES = 8, MOST = 4096 };

// Followed, where there is a shape, by n levels and n planes of window[0] x window[1] floats; with
// gains, or with shares, by one float a trace of the survey.
typedef struct Head {
    guint32 version, n;
    gint32 window[2];
    double df, total;
} Head;

static gboolean seeks(const LithoGrid *grid, const LithoFxParams *p)
{
    return p->shared && MAX(grid->axis[0].n, grid->axis[1].n) >= WINDOW / 2;
}

char *litho_fx_measure_key(const void *params)
{
    const LithoFxParams *p = params;
    char erratic[G_ASCII_DTOSTR_BUF_SIZE];
    if (!p->shared)
        return fx_gains_asked(p) ? g_strdup("gains of traces") : NULL;
    g_ascii_dtostr(erratic, sizeof erratic, p->erratic);
    return g_strdup_printf("shared noise, bursts %s, missing traces %s%s", erratic,
                           p->fill_passes == 0 ? "absent"
                           : p->fill_dead      ? "filled"
                                               : "guessed",
                           fx_gains_asked(p) ? "" : ", not balanced");
}

static gsize plane_of(const LithoNoise *noise)
{
    return (gsize)noise->window[0] * noise->window[1];
}

// Kind of the numbers that each trace has.
static guint32 of_each(LithoUneven of)
{
    return of.gain ? WITH_GAINS : of.share ? WITH_SHARES : 0;
}

static char *text_of(const LithoNoise *noise, LithoUneven of, const LithoFxParams *p)
{
    if (noise->shape)
        return litho_text_printf(_("shared noise %.4g"), noise->total);
    if (p->shared)
        return g_strdup(_("no shared noise"));
    return g_strdup(of_each(of) ? _("gains of traces") : _("traces are alike"));
}

static LithoMeasured *to_measured(const LithoGrid *grid, const LithoNoise *noise, LithoUneven of,
                                  const void *params)
{
    const Head head = {VERSION + of_each(of),
                       noise->shape ? noise->n : 0,
                       {noise->window[0], noise->window[1]},
                       noise->df,
                       noise->total};
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autofree char *key = litho_fx_measure_key(params), *text = text_of(noise, of, params);
    g_byte_array_append(bytes, (const guint8 *)&head, sizeof head);
    if (noise->shape) {
        g_byte_array_append(bytes, (const guint8 *)noise->sigma, noise->n * sizeof *noise->sigma);
        g_byte_array_append(bytes, (const guint8 *)noise->shape,
                            (guint)(noise->n * plane_of(noise) * sizeof *noise->shape));
    }
    if (of_each(of))
        g_byte_array_append(bytes, (const guint8 *)(of.gain ? of.gain : of.share),
                            (guint)(litho_grid_traces(grid) * sizeof(float)));
    return litho_measured_new(key, text, bytes->data, bytes->len);
}

static gboolean has_each(const Head *head)
{
    return head->version == VERSION + WITH_GAINS || head->version == VERSION + WITH_SHARES;
}

LithoUneven fx_gains_from_measured(const LithoGrid *grid, const LithoMeasured *measured)
{
    gsize n;
    Head head;
    LithoUneven of = {0};
    const guint8 *bytes = litho_measured_bytes(measured, &n);
    if (n < sizeof head)
        return of;
    memcpy(&head, bytes, sizeof head);
    if (has_each(&head))
        litho_gains_of_bytes(grid, bytes + sizeof head, n - sizeof head,
                             head.version == VERSION + WITH_GAINS, &of);
    return of;
}

static gboolean from_measured(const LithoGrid *grid, const LithoMeasured *measured,
                              LithoNoise *noise, GError **error)
{
    gsize n, traces = 0;
    const guint8 *bytes = litho_measured_bytes(measured, &n);
    Head head = {0};
    gboolean good = n >= sizeof head;
    *noise = (LithoNoise){0};
    if (good)
        memcpy(&head, bytes, sizeof head);
    if (has_each(&head))
        traces = sizeof(float) * (gsize)litho_grid_traces(grid);
    good = good && (head.version == VERSION || has_each(&head)) && head.n <= MOST &&
           n >= sizeof head + traces;
    if (good && head.n > 0) {
        for (int a = 0; a < 2; a++)
            good = good && head.window[a] > 0 && head.window[a] <= WINDOW;
        const gsize plane = good ? (gsize)head.window[0] * head.window[1] : 0;
        const gsize levels = head.n * sizeof(double), shape = head.n * plane * sizeof(float);
        good = good && head.n > 1 && isfinite(head.total) &&
               n == sizeof head + levels + shape + traces;
        if (good) {
            *noise = (LithoNoise){.n = head.n,
                                  .df = head.df,
                                  .total = head.total,
                                  .window = {head.window[0], head.window[1]},
                                  .sigma = g_memdup2(bytes + sizeof head, levels),
                                  .shape = g_memdup2(bytes + sizeof head + levels, shape)};
            for (guint k = 0; k < noise->n; k++)
                good &= isfinite(noise->sigma[k]) && noise->sigma[k] >= 0;
            for (gsize k = 0; k < head.n * plane; k++)
                good &= isfinite(noise->shape[k]) && noise->shape[k] >= 0;
        }
    }
    if (good)
        return TRUE;
    if (noise->sigma)
        litho_noise_clear(noise);
    *noise = (LithoNoise){0};
    return litho_refuse(error, LITHO_ERROR_PARAMETER,
                        "the measured noise level in the recipe cannot be read; without "
                        "\"measured\" it is measured again");
}

// A survey that is balanced and cleaned where it is read.
typedef struct Cleaner {
    const LithoReader *survey;
    LithoUneven of;
    LithoCleanRule rule;
} Cleaner;

static LithoCube *read_clean(const LithoBox *box, LithoRun *run, gpointer data, guint8 **recorded,
                             GError **error)
{
    const Cleaner *from = data;
    const LithoBox need = litho_clean_box(from->survey->grid, from->rule, *box);
    LithoClean clean = {0};
    g_autoptr(LithoCube) raw = from->survey->read(&need, run, from->survey->data, error);
    if (raw && from->of.gain) {
        LithoCube *over = litho_cube_host(raw, error)
                              ? litho_balance_divide(raw, from->of.gain, run, error)
                              : NULL;
        litho_cube_unref(raw);
        raw = over;
    }
    const LithoCube *in = raw ? litho_clean(&clean, from->rule, raw, run, error) : NULL;
    LithoCube *column = in ? litho_cube_copy_box(in, *box, error) : NULL;
    if (column && in != raw)
        *recorded = fx_shared_recorded(raw, box);
    litho_clean_clear(&clean);
    return column;
}

LithoMeasured *litho_fx_measure(const void *params, const LithoReader *reader, LithoRun *run,
                                GError **error)
{
    Cleaner cleaner = {.survey = reader};
    const FxColumns columns = {reader->grid, read_clean, &cleaner};
    LithoNoise noise = {0};
    LithoMeasured *measured = NULL;
    if (fx_gains_asked(params) && !litho_gains_read(reader, run, &cleaner.of, error))
        return NULL;
    litho_run_begin(run, "noise level", "columns");
    cleaner.rule = fx_gains_clean_rule(cleaner.of, 1, params);
    if (!seeks(reader->grid, params) || look(&columns, run, &noise, error))
        measured = to_measured(reader->grid, &noise, cleaner.of, params);
    if (noise.shape)
        litho_noise_clear(&noise);
    litho_uneven_clear(&cleaner.of);
    return measured;
}

// --- keeping -------------------------------------------------------------------------------------

static guint64 next_version(void)
{
    static gint last;
    return (guint64)(guint)g_atomic_int_add(&last, 1) + 1;
}

static void forget(FxShared *s)
{
    if (s->noise.shape)
        litho_noise_clear(&s->noise);
    s->noise = (LithoNoise){0};
    s->serial = 0;
    s->version = 0;
    g_clear_pointer(&s->from, litho_measured_unref);
}

void fx_shared_clear(FxShared *s)
{
    forget(s);
}

static void take(FxShared *s, LithoNoise noise)
{
    forget(s);
    s->noise = noise;
    s->version = noise.shape ? next_version() : 0;
}

// The last measurements: other plans and other parameters of the filter find them, too.
typedef struct Kept {
    guint64 serial; // of the cube as it came, 0 = none
    char *key;
    LithoNoise noise;
} Kept;

enum { KEPT = 8 };
static GMutex kept_lock;
static Kept kept[KEPT];
static int next_kept;

static gboolean recall(guint64 serial, const char *key, LithoNoise *noise)
{
    gboolean known = FALSE;
    g_mutex_lock(&kept_lock);
    for (int k = 0; k < KEPT && !known; k++) {
        known = kept[k].serial == serial && g_strcmp0(kept[k].key, key) == 0;
        if (known)
            *noise = kept[k].noise.shape ? litho_noise_copy(&kept[k].noise) : (LithoNoise){0};
    }
    g_mutex_unlock(&kept_lock);
    return known;
}

static void remember(guint64 serial, const char *key, const LithoNoise *noise)
{
    g_mutex_lock(&kept_lock);
    Kept *k = &kept[next_kept];
    next_kept = (next_kept + 1) % KEPT;
    if (k->noise.shape)
        litho_noise_clear(&k->noise);
    g_free(k->key);
    *k = (Kept){serial, g_strdup(key), noise->shape ? litho_noise_copy(noise) : (LithoNoise){0}};
    g_mutex_unlock(&kept_lock);
}

gboolean fx_shared_known(FxShared *s, const LithoPass *pass, GError **error)
{
    const LithoFxParams *p = pass->params;
    LithoNoise noise = {0};
    if (!seeks(&pass->in->grid, p)) {
        forget(s);
        return TRUE;
    }
    if (pass->measured) {
        if (s->from == pass->measured)
            return TRUE;
        if (!from_measured(&pass->in->grid, pass->measured, &noise, error))
            return FALSE;
        take(s, noise);
        s->from = litho_measured_ref(pass->measured);
        return TRUE;
    }
    g_autofree char *key = litho_fx_measure_key(p), *last = litho_fx_measure_key(&s->params);
    if (!s->from && s->serial == pass->in->serial && g_strcmp0(key, last) == 0)
        return TRUE;
    if (!recall(pass->in->serial, key, &noise))
        return FALSE;
    take(s, noise);
    s->serial = pass->in->serial;
    s->params = *p;
    return TRUE;
}

gboolean fx_shared_find(FxShared *s, const LithoPass *pass, const FxColumns *columns, LithoRun *run,
                        GError **error)
{
    LithoNoise noise = {0};
    // A part of a survey, which no engine gives without the survey's measurement, tells nothing.
    if (litho_box_equal(pass->in->held, litho_box_full(columns->grid)) &&
        !look(columns, run, &noise, error))
        return FALSE;
    g_autofree char *key = litho_fx_measure_key(pass->params);
    take(s, noise);
    s->serial = pass->in->serial;
    s->params = *(const LithoFxParams *)pass->params;
    remember(s->serial, key, &s->noise);
    return TRUE;
}

// --- bins ----------------------------------------------------------------------------------------

// cos and sin of 2 pi k / n.
typedef struct Waves {
    int n;
    double re[WINDOW], im[WINDOW];
} Waves;

static Waves waves_of(int n)
{
    Waves w = {.n = n};
    for (int k = 0; k < n; k++) {
        w.re[k] = cos(2 * G_PI * k / n);
        w.im[k] = sin(2 * G_PI * k / n);
    }
    return w;
}

// The covariance at one lag; 0 beyond half a window, where it is not told.
static void covariance_at(const float *shape, const Waves w[2], int il, int xl, double to[2])
{
    to[0] = to[1] = 0;
    if (abs(il) > w[0].n / 2 || abs(xl) > w[1].n / 2)
        return;
    for (int i = 0; i < w[0].n; i++)
        for (int j = 0; j < w[1].n; j++) {
            const int a = (i * il % w[0].n + w[0].n) % w[0].n;
            const int b = (j * xl % w[1].n + w[1].n) % w[1].n;
            const double power = shape[i * w[1].n + j];
            to[0] += power * (w[0].re[a] * w[1].re[b] - w[0].im[a] * w[1].im[b]);
            to[1] += power * (w[0].re[a] * w[1].im[b] + w[0].im[a] * w[1].re[b]);
        }
    to[0] /= (double)plane_of(&(LithoNoise){.window = {w[0].n, w[1].n}});
    to[1] /= (double)plane_of(&(LithoNoise){.window = {w[0].n, w[1].n}});
}

void fx_shared_bins(const FxShared *s, const LithoFxGeometry *g, float *level, float *lags)
{
    const LithoNoise *noise = &s->noise;
    const Waves w[2] = {waves_of(noise->window[0]), waves_of(noise->window[1])};
    const int n = fx_shared_lags(g->half), across = 4 * g->half[1] + 1;
    g_autofree double *all = g_new(double, 2 * (gsize)n * noise->n);
    for (guint f = 0; f < noise->n; f++)
        for (int k = 0; k < n; k++)
            covariance_at(noise->shape + f * plane_of(noise), w, k / across,
                          k % across - 2 * g->half[1], all + 2 * ((gsize)f * n + k));
    for (int b = 0; b < g->bins; b++) {
        const double at = CLAMP(2.0 * (g->bin + b) / g->nfft, 0, 1) * (noise->n - 1);
        const int lo = MIN((int)at, (int)noise->n - 2);
        const double up = at - lo, sigma = (1 - up) * noise->sigma[lo] + up * noise->sigma[lo + 1];
        const double *low = all + 2 * (gsize)lo * n, *high = low + 2 * (gsize)n;
        const int zero = 2 * (2 * g->half[1]); // no lag
        const double one = (1 - up) * low[zero] + up * high[zero];
        level[b] = (float)(sigma * sigma * g->axis[2].length);
        for (int k = 0; k < 2 * n; k++)
            lags[(gsize)2 * n * b + k] = (float)(((1 - up) * low[k] + up * high[k]) / one);
    }
}

// The part of the noise's likeness that rule 6 leaves out: with less some noise comes back, with
// more less signal does at faults.
#define LEFT_OUT 0.6

LithoFxAlike fx_shared_alike(const FxShared *s)
{
    const LithoNoise *noise = &s->noise;
    LithoFxAlike alike = {{0}};
    if (!noise->shape)
        return alike;
    const Waves w[2] = {waves_of(noise->window[0]), waves_of(noise->window[1])};
    for (int d = 0; d < LITHO_FX_DIRECTIONS; d++) {
        double sum = 0, all = 0;
        for (guint f = 0; f < noise->n; f++) {
            const float *shape = noise->shape + f * plane_of(noise);
            const double power = noise->sigma[f] * noise->sigma[f];
            double c[2], one[2];
            covariance_at(shape, w, litho_fx_direction(d, 0), litho_fx_direction(d, 1), c);
            covariance_at(shape, w, 0, 0, one);
            sum += power * (c[0] * c[0] + c[1] * c[1]) / fmax(one[0] * one[0], 1e-30);
            all += power;
        }
        alike.of[d] = all > 0 ? (float)(LEFT_OUT * fmin(sum / all, 1)) : 0;
    }
    return alike;
}
