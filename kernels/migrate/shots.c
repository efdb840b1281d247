// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/shots.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/io/survey.h"
#include "core/memory.h"
#include "core/text.h"

static void *new_list(gsize n, gsize size, GError **error)
{
    return litho_memory_new(n, size, "places of the traces", error);
}

// `traces` is 0 where their order says which shot they are of.
static LithoShots *shots_new(guint n, gint64 traces, GError **error)
{
    LithoShots *shots = g_new0(LithoShots, 1);
    shots->n = n;
    if ((shots->shot = new_list(n, sizeof *shots->shot, error)) &&
        (traces == 0 || ((shots->first = new_list(n + 1, sizeof *shots->first, error)) &&
                         (shots->trace = new_list(traces, sizeof *shots->trace, error)) &&
                         (shots->row = new_list(traces, sizeof *shots->row, error)) &&
                         (shots->column = new_list(traces, sizeof *shots->column, error)))))
        return shots;
    litho_shots_free(shots);
    return NULL;
}

void litho_shots_free(LithoShots *shots)
{
    if (!shots)
        return;
    g_free(shots->shot);
    g_free(shots->first);
    g_free(shots->trace);
    g_free(shots->row);
    g_free(shots->column);
    litho_survey_unref(shots->source.survey);
    g_free(shots->source.live);
    g_free(shots);
}

LithoShotTraces litho_shots_traces(const LithoShots *shots, guint shot)
{
    if (!shots->trace)
        return (LithoShotTraces){0};
    const gint64 at = shots->first[shot];
    return (LithoShotTraces){shots->first[shot + 1] - at, shots->trace + at, shots->row + at,
                             shots->column + at};
}

// Every inline of the input is the record of one shot along a 2-D line; sources move one inline
// spacing a shot.
static LithoShots *line_shots(const LithoMigrateJob *job, const LithoCube *in, GError **error)
{
    const gint64 ni = in->grid.axis[0].n, nj = in->grid.axis[1].n;
    const LithoMigrateParams *p = &job->params;
    const double dx = job->cells.dx / job->ratio;
    double move = p->dy > 0 ? p->dy : litho_grid_spacing(&in->grid, LITHO_INLINE);
    LithoShots *shots = shots_new(ni, ni * nj, error);
    for (gint64 i = 0; shots && i < ni; i++) {
        shots->shot[i].x = (p->source_x + i * move) / dx;
        shots->first[i + 1] = (i + 1) * nj;
        for (gint64 j = 0; j < nj; j++) {
            shots->trace[i * nj + j] = i * nj + j;
            shots->row[i * nj + j] = 0;
            shots->column[i * nj + j] = (int)j;
        }
    }
    return shots;
}

// --- headers ----------------------------------------------------------------------------------

// Source and receiver of a trace in cells of the image. FALSE: the header has zeros for both.
static gboolean header_cells(const LithoMigrateJob *job, const LithoSurvey *survey,
                             const guint8 *header, double source[2], double receiver[2])
{
    const LithoGrid *g = &job->image;
    const double dx = job->cells.dx / job->ratio, dy = job->cells.dy / job->ratio;
    litho_survey_place(survey, header, FALSE, source);
    litho_survey_place(survey, header, TRUE, receiver);
    const gboolean told = source[0] != 0 || source[1] != 0 || receiver[0] != 0 || receiver[1] != 0;
    source[0] = (source[0] - g->origin[0]) / dx;
    source[1] = (source[1] - g->origin[1]) / dy;
    receiver[0] = (receiver[0] - g->origin[0]) / dx;
    receiver[1] = (receiver[1] - g->origin[1]) / dy;
    return told;
}

// A source's place in hundredths of a cell.
typedef struct ShotKey {
    gint64 x, y;
} ShotKey;

static guint hash_key(gconstpointer key)
{
    const ShotKey *k = key;
    return g_int64_hash(&k->x) * 31 + g_int64_hash(&k->y);
}

static gboolean equal_keys(gconstpointer a, gconstpointer b)
{
    const ShotKey *p = a, *q = b;
    return p->x == q->x && p->y == q->y;
}

// Index of the shot at (x, y), added when new. Sources within a hundredth of a cell are one.
static int find_shot(GArray *list, GHashTable *known, double x, double y)
{
    const ShotKey key = {llround(x * 100), llround(y * 100)};
    gpointer index;
    if (g_hash_table_lookup_extended(known, &key, NULL, &index))
        return GPOINTER_TO_INT(index);
    LithoShot shot = {x, y};
    g_array_append_val(list, shot);
    g_hash_table_insert(known, g_memdup2(&key, sizeof key), GINT_TO_POINTER(list->len - 1));
    return (int)list->len - 1;
}

// Shot and cell of every trace, shot -1 = none, on the way to lists.
typedef struct Places {
    int *of, *row, *column;
    GArray *shots;     // LithoShot
    GHashTable *known; // place -> index into `shots`
    guint outside;
    gboolean told; // a header states a place of a source or a receiver
} Places;

// places_clear() follows, also where there is no memory.
static gboolean places_init(Places *p, gint64 traces, GError **error)
{
    *p = (Places){.shots = g_array_new(FALSE, FALSE, sizeof(LithoShot)),
                  .known = g_hash_table_new_full(hash_key, equal_keys, g_free, NULL)};
    if (!(p->of = new_list(traces, sizeof *p->of, error)) ||
        !(p->row = new_list(traces, sizeof *p->row, error)) ||
        !(p->column = new_list(traces, sizeof *p->column, error)))
        return FALSE;
    for (gint64 k = 0; k < traces; k++)
        p->of[k] = -1;
    return TRUE;
}

static void places_clear(Places *p)
{
    g_free(p->of);
    g_free(p->row);
    g_free(p->column);
    g_array_unref(p->shots);
    g_hash_table_unref(p->known);
}

static void place_trace(const LithoMigrateJob *job, const LithoSurvey *survey, gint64 trace,
                        const guint8 *header, Places *p)
{
    const LithoGrid *g = &job->image;
    double s[2], r[2];
    p->told |= header_cells(job, survey, header, s, r);
    int x = (int)lround(r[0]), y = (int)lround(r[1]);
    gboolean inside = x >= 0 && x < g->axis[1].n && y >= 0 && y < g->axis[0].n && s[0] >= 0 &&
                      s[0] <= g->axis[1].n - 1 && s[1] >= 0 && s[1] <= g->axis[0].n - 1;
    p->outside += !inside;
    if (inside)
        p->of[trace] = find_shot(p->shots, p->known, s[0], s[1]);
    p->row[trace] = y;
    p->column[trace] = x;
}

static gboolean read_places(const LithoMigrateJob *job, const LithoCube *in, Places *p,
                            LithoRun *run, GError **error)
{
    enum { TRACES = 256 }; // between two looks whether to stop
    const gint64 ni = in->grid.axis[0].n, nj = in->grid.axis[1].n;
    litho_run_begin(run, "reading", "traces");
    for (gint64 k = 0; k < ni * nj; k++) {
        guint8 header[240];
        if (k % TRACES == 0 && !litho_run_step(run, k, ni * nj, error))
            return FALSE;
        if (!litho_cube_is_live(in, k / nj, k % nj))
            continue;
        if (!litho_survey_trace_header(in->survey, k / nj, k % nj, header, error))
            return FALSE;
        place_trace(job, in->survey, k, header, p);
    }
    return TRUE;
}

static LithoShots *shots_of_places(const Places *p, gint64 traces, GError **error)
{
    LithoShots *shots = shots_new(p->shots->len, traces, error);
    if (!shots)
        return NULL;
    shots->outside = p->outside;
    memcpy(shots->shot, p->shots->data, shots->n * sizeof *shots->shot);
    for (gint64 k = 0; k < traces; k++)
        if (p->of[k] >= 0)
            shots->first[p->of[k] + 1]++;
    for (guint s = 0; s < shots->n; s++)
        shots->first[s + 1] += shots->first[s];
    g_autofree gint64 *at = g_memdup2(shots->first, (shots->n + 1) * sizeof *at);
    for (gint64 k = 0; k < traces; k++)
        if (p->of[k] >= 0) {
            const gint64 place = at[p->of[k]]++;
            shots->trace[place] = k;
            shots->row[place] = p->row[k];
            shots->column[place] = p->column[k];
        }
    return shots;
}

// Borrows the survey and the live flags.
static LithoShotsSource source_of(const LithoMigrateJob *job, const LithoCube *in)
{
    const LithoGrid *g = &job->image;
    return (LithoShotsSource){.survey = in->survey,
                              .live = in->live,
                              .traces = litho_grid_traces(&in->grid),
                              .origin = {g->origin[0], g->origin[1]},
                              .cell = {job->cells.dx / job->ratio, job->cells.dy / job->ratio},
                              .cells = {g->axis[0].n, g->axis[1].n}};
}

gboolean litho_shots_serve(const LithoShots *shots, const LithoMigrateJob *job, const LithoCube *in)
{
    if (!shots || !shots->source.survey || job->params.geometry != LITHO_MIGRATE_HEADERS)
        return FALSE;
    const LithoShotsSource *a = &shots->source, b = source_of(job, in);
    return a->survey == b.survey && a->traces == b.traces &&
           memcmp(a->origin, b.origin, sizeof b.origin) == 0 &&
           memcmp(a->cell, b.cell, sizeof b.cell) == 0 &&
           memcmp(a->cells, b.cells, sizeof b.cells) == 0 && memcmp(a->live, b.live, b.traces) == 0;
}

// TRUE when the input has traces with headers.
static gboolean has_headers(const LithoCube *in)
{
    const gint64 nj = in->grid.axis[1].n, n = litho_grid_traces(&in->grid);
    g_autoptr(GError) trouble = NULL;
    guint8 header[240];
    gint64 k = 0;
    while (k < n - 1 && !litho_cube_is_live(in, k / nj, k % nj))
        k++;
    return in->survey && (litho_survey_trace_header(in->survey, k / nj, k % nj, header, &trouble) ||
                          !g_error_matches(trouble, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED));
}

static LithoShots *header_shots(const LithoMigrateJob *job, const LithoCube *in, LithoRun *run,
                                GError **error)
{
    const gint64 traces = litho_grid_traces(&in->grid);
    if (!has_headers(in)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                    _("geometry = headers reads source and receiver from trace headers; this input "
                      "has none (use SEG-Y or SU, or geometry = record)"));
        return NULL;
    }
    Places places;
    LithoShots *shots = NULL;
    if (places_init(&places, traces, error) && read_places(job, in, &places, run, error)) {
        if (traces > 1 && !places.told)
            litho_refuse(error, LITHO_ERROR_GEOMETRY,
                         "geometry = headers needs the places of source and receiver, and bytes 73 "
                         "to 88 of all %" PRId64 " trace headers are zero; geometry = record takes "
                         "one shot whose traces are the image's cells",
                         traces);
        else if (places.shots->len > 0)
            shots = shots_of_places(&places, traces, error);
        else
            litho_refuse(
                error, LITHO_ERROR_GEOMETRY,
                "no trace has source and receiver on the image; its corner is (%g, %g) m, its "
                "size %" PRId64 " x %" PRId64 " cells",
                job->image.origin[0], job->image.origin[1], job->image.axis[1].n,
                job->image.axis[0].n);
    }
    places_clear(&places);
    guint8 *live = shots ? new_list(traces, 1, error) : NULL;
    if (!live) {
        litho_shots_free(shots);
        return NULL;
    }
    shots->source = source_of(job, in);
    litho_survey_ref(in->survey);
    shots->source.live = memcpy(live, in->live, traces);
    return shots;
}

// FALSE with a sentence when the headers say that traces which are to be one shot are of several:
// those of the whole input, or (`line`) of an inline. Looks at some of them. Sources within a metre
// are one; cells may be as wide as shots are apart.
static gboolean is_one_source(const LithoMigrateJob *job, const LithoCube *in, gboolean line,
                              GError **error)
{
    enum { LOOKS = 256 };
    const gint64 ni = in->grid.axis[0].n, nj = in->grid.axis[1].n;
    const gint64 stride = MAX(ni * nj / LOOKS, 1);
    const double cell = job->cells.dx / job->ratio, apart = fmin(0.5 * cell, 1);
    double first[2] = {0};
    gint64 of = -1; // the inline `first` is of
    for (gint64 k = 0; k < ni * nj; k += stride) {
        guint8 header[240];
        if (!litho_cube_is_live(in, k / nj, k % nj))
            continue;
        g_autoptr(GError) trouble = NULL;
        if (!litho_survey_trace_header(in->survey, k / nj, k % nj, header, &trouble)) {
            // Files without headers, such as NumPy's, say nothing against one source.
            if (g_error_matches(trouble, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED))
                return TRUE;
            g_propagate_error(error, g_steal_pointer(&trouble));
            return FALSE;
        }
        double at[2];
        litho_survey_place(in->survey, header, FALSE, at);
        if (of < 0 || (line && of != k / nj)) {
            of = k / nj;
            first[0] = at[0];
            first[1] = at[1];
        } else if (hypot(at[0] - first[0], at[1] - first[1]) > apart) {
            litho_refuse(error, LITHO_ERROR_GEOMETRY,
                         "%s holds several shots (sources at (%g, %g) and (%g, %g) m) but "
                         "geometry = %s takes one; use geometry = headers",
                         line ? _("an inline") : _("the input"), first[0], first[1], at[0], at[1],
                         line ? "line" : "record");
            return FALSE;
        }
    }
    return TRUE;
}

LithoShots *litho_shots_new(const LithoMigrateJob *job, const LithoCube *in, LithoRun *run,
                            GError **error)
{
    const LithoMigrateParams *p = &job->params;
    LithoShots *shots;
    if (p->geometry == LITHO_MIGRATE_HEADERS)
        return header_shots(job, in, run, error);
    if (in->survey && !is_one_source(job, in, p->geometry == LITHO_MIGRATE_LINE, error))
        return NULL;
    if (p->geometry == LITHO_MIGRATE_LINE) {
        shots = line_shots(job, in, error);
    } else {
        shots = shots_new(1, 0, error);
        if (shots)
            shots->shot[0] = (LithoShot){p->source_x / (job->cells.dx / job->ratio),
                                         p->source_y / (job->cells.dy / job->ratio)};
    }
    for (guint k = 0; shots && k < shots->n; k++) {
        const LithoShot *s = &shots->shot[k];
        if (s->x >= 0 && s->y >= 0 && s->x <= job->image.axis[1].n - 1 &&
            s->y <= job->image.axis[0].n - 1)
            continue;
        litho_refuse(error, LITHO_ERROR_PARAMETER,
                     "shot %u at cell (%.1f, %.1f) lies off the image of %" PRId64 " x %" PRId64
                     " cells; check source_x and source_y",
                     k + 1, s->x, s->y, job->image.axis[1].n, job->image.axis[0].n);
        litho_shots_free(shots);
        return NULL;
    }
    return shots;
}

void litho_shots_wavelet(const LithoMigrateJob *job, float *spectrum)
{
    const LithoMigrateParams *p = &job->params;
    for (int f = 0; f < job->nf; f++) {
        double hz = job->omega[f] / (2 * G_PI), size = 1, q = hz / fmax(p->wavelet, 1e-9);
        if (p->wavelet > 0)
            size = 2 / sqrt(G_PI) * q * q * exp(-q * q);
        spectrum[2 * f] = (float)(size * cos(job->omega[f] * p->delay));
        spectrum[2 * f + 1] = (float)(-size * sin(job->omega[f] * p->delay));
    }
}

// One axis: the image's two cells around `at`, or what the low-pass makes of them on the job's
// cells.
static void spread(const LithoMigrateJob *job, int axis, double at, LithoSourceSpread *to)
{
    const int n = job->image.axis[axis == 1 ? 0 : 1].n,
              cell = (int)CLAMP(floor(at), 0, MAX(n - 2, 0));
    const double part = n > 1 ? at - cell : 0;
    LithoTaps taps = litho_migrate_job_decimation(job, axis);
    *to = (LithoSourceSpread){0};
    if (job->ratio == 1) {
        *to = (LithoSourceSpread){cell, MIN(n, 2), {(float)(1 - part), (float)part}};
    } else {
        for (int o = 0; o < taps.n_out; o++) {
            double weight = 0;
            for (int k = 0; k < taps.count[o]; k++) {
                const int i = taps.first[o] + k;
                weight += litho_taps_row(&taps, o)[k] * (i == cell       ? 1 - part
                                                         : i == cell + 1 ? part
                                                                         : 0);
            }
            if (weight != 0 && to->n == 0)
                to->first = o;
            if (weight != 0 && o - to->first < LITHO_SPREAD) {
                to->weight[o - to->first] = (float)weight;
                to->n = o - to->first + 1;
            }
        }
    }
    litho_taps_clear(&taps);
}

void litho_shot_spread(const LithoMigrateJob *job, const LithoShot *shot, LithoSourceSpread *x,
                       LithoSourceSpread *y)
{
    spread(job, 2, shot->x, x);
    spread(job, 1, shot->y, y);
}
