// SPDX-License-Identifier: GPL-3.0-or-later
//
// Whether a survey has swell, and how loud most of its traces are beside it.
#include <math.h>
#include <omp.h>
#include <string.h>

#include "core/error.h"
#include "kernels/common/select.h"
#include "kernels/patch/swell.h"
#include "kernels/patch/swell_split.h"

enum {
    ASKED = PATCH_SWELL_ASKED,
    COLUMNS = 9, // at most
    ACROSS = 3,  // along an axis, of a survey with as many along the other
    TIMES = 6,   // windows along time, at most; neighbours share half of their samples at most
    FEWEST = 3,  // that a trace is judged by
    TRACES = 64, // that tell
};
// The power that a share of values of noise does not exceed is -log(1 - share) times its mean. A
// quarter of the traces may stand for most: where swell is on most of them, they do.
static const double QUIET = 0.25;
static const float QUIET_REAL = 0.1015f; // at frequency 0, whose coefficients are real
// Swell on all traces shows beside the frequencies above: most traces have no more than so many
// times the power of these. Noise whose amplitude falls with 1 / (1 + (f / 15 Hz)^2) has up to 14
// times.
static const float CAP = 2;
// There is swell where this part of the traces has so many times the power of most at a frequency,
// and where the mean of what exceeds it is this part of white noise of the level above, all
// frequencies together, and of all power: curved events of 10 to 14 Hz 40 dB above the noise have
// 0.6 % of theirs beside what the windows hold.
static const float LOUD = 16;
static const double PART = 0.01, OF_NOISE = 0.3, OF_ALL = 0.015;
// A survey with swell has events at the frequencies above, of so much of the power beside them: in
// noise of 0 dB 0.8. Upright events, as of a section turned by 90 degrees, have none there, and
// their traces are loud at the lowest frequencies as if of swell.
static const double HAS_EVENTS = 0.2;
// Traces whose taper is less are left out.
static const float MARGIN = 0.3f;

// Powers beside the events, and of the events, [frequency][column][trace][time]; 0 where none is
// known.
typedef struct Look {
    const LithoGrid *grid;
    LithoPatchAxis axis[3];
    int n[2], times; // columns along the axes, windows along time
    PatchSplit split;
    float *power, *event;
} Look;

static gsize traces_of(const Look *l)
{
    return (gsize)l->n[0] * l->n[1] * l->split.traces;
}

static gsize at_of(const Look *l, int f, gsize trace)
{
    return ((gsize)f * traces_of(l) + trace) * l->times;
}

static gint64 spread(gint64 free, int n, int k)
{
    return n > 1 ? free * k / (n - 1) : free / 2;
}

static void count_columns(Look *l)
{
    int fit[2];
    for (int a = 0; a < 2; a++)
        fit[a] = MAX(l->axis[a].n / l->axis[a].length, 1);
    l->n[0] = MIN(fit[0], ACROSS);
    l->n[1] = MIN(fit[1], COLUMNS / l->n[0]);
    l->n[0] = MIN(fit[0], COLUMNS / l->n[1]);
    l->times = MIN(2 * l->axis[2].n / l->axis[2].length - 1, TIMES);
}

static LithoBox column_at(const Look *l, int c)
{
    LithoBox box = litho_box_full(l->grid);
    const int at[2] = {c / l->n[1], c % l->n[1]};
    for (int a = 0; a < 2; a++) {
        box.lo[a] = spread(l->axis[a].n - l->axis[a].length, l->n[a], at[a]);
        box.hi[a] = box.lo[a] + l->axis[a].length;
    }
    return box;
}

// A thread's room for one time of a column.
typedef struct Room {
    PatchSplitRoom split;
    float complex *x; // [frequency][trace]
} Room;

static void find_spectra(const Look *l, const LithoCube *column, int time, const float *waves,
                         float complex *to)
{
    const int length = l->axis[2].length, n = l->axis[1].length, traces = l->split.traces;
    const gint64 from = spread(l->axis[2].n - length, l->times, time);
    for (int k = 0; k < traces; k++) {
        const gint64 il = column->held.lo[0] + k / n, xl = column->held.lo[1] + k % n;
        float sum[2 * ASKED] = {0};
        if (litho_cube_is_live(column, il, xl))
            patch_swell_transform(litho_cube_trace(column, il, xl) + from - column->held.lo[2],
                                  length, waves, sum);
        for (int f = 0; f < ASKED; f++)
            to[f * traces + k] = sum[2 * f] + sum[2 * f + 1] * _Complex_I;
    }
}

static void look_at(const Look *l, const LithoCube *column, int c, int time, const float *waves,
                    Room *room)
{
    const PatchSplit *s = &l->split;
    PatchSplitRoom *r = &room->split;
    find_spectra(l, column, time, waves, room->x);
    for (int f = 0; f < ASKED; f++) {
        memcpy(r->x, room->x + f * s->traces, s->traces * sizeof *r->x);
        if (!patch_split(s, r))
            continue;
        for (int k = 0; k < s->traces; k++) {
            const gsize at = at_of(l, f, (gsize)c * s->traces + k) + time;
            if (s->taper[k] <= MARGIN)
                continue;
            l->power[at] = patch_split_power(r->x[k] / s->taper[k]);
            l->event[at] = patch_split_power(r->event[k] / s->taper[k]);
        }
    }
}

static gboolean look_at_columns(const Look *l, LithoCube *const *columns, int threads)
{
    const int all = l->n[0] * l->n[1] * l->times;
    g_autofree float *waves = patch_swell_waves(l->axis[2].length);
    gint lacks = 0;
#pragma omp parallel num_threads(MIN(threads, all))
    {
        Room room;
        room.x = g_try_new(float complex, (gsize)ASKED * l->split.traces);
        if (!patch_split_room(&l->split, &room.split) || !room.x)
            g_atomic_int_set(&lacks, 1);
#pragma omp for schedule(dynamic)
        for (int k = 0; k < all; k++)
            if (!g_atomic_int_get(&lacks))
                look_at(l, columns[k / l->times], k / l->times, k % l->times, waves, &room);
        patch_split_room_end(&room.split);
        g_free(room.x);
    }
    return !lacks;
}

static gboolean look(const Look *l, const LithoReader *survey, LithoRun *run, GError **error)
{
    const int n = l->n[0] * l->n[1];
    g_autoptr(GPtrArray) columns = g_ptr_array_new_with_free_func((GDestroyNotify)litho_cube_unref);
    for (int c = 0; c < n; c++) {
        const LithoBox box = column_at(l, c);
        LithoCube *column = survey->read(&box, run, survey->data, error);
        if (!column)
            return FALSE;
        g_ptr_array_add(columns, column);
        if (!litho_run_step(run, c + 1, n, error))
            return FALSE;
    }
    return look_at_columns(l, (LithoCube **)columns->pdata, litho_run_threads(run)) ||
           litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory for a few windows");
}

// --- what it tells -------------------------------------------------------------------------------

// Mean power of most traces at frequency f; 0 where too few tell. `sorted` is scratch.
static float power_of_most(const Look *l, int f, float *sorted)
{
    const gsize all = traces_of(l) * l->times;
    const float *power = l->power + at_of(l, f, 0);
    gint64 n = 0;
    for (gsize k = 0; k < all; k++)
        if (power[k] > 0)
            sorted[n++] = power[k];
    return n < TRACES ? 0
                      : litho_select_kth(sorted, n, (gint64)(QUIET * (double)n)) /
                            (f > 0 ? (float)-log(1 - QUIET) : QUIET_REAL);
}

// Mean power at frequency f of a trace, by the median along time; 0 where too few times tell.
// *event: the median power of the events; NULL = is not asked.
static float power_of(const Look *l, int f, gsize trace, float *event)
{
    const float *power = l->power + at_of(l, f, trace), *events = l->event + at_of(l, f, trace);
    float sorted[TIMES], of_event[TIMES];
    int n = 0;
    for (int k = 0; k < l->times; k++)
        if (power[k] > 0) {
            of_event[n] = events[k];
            sorted[n++] = power[k];
        }
    if (n < FEWEST)
        return 0;
    if (event)
        *event = litho_select_kth(of_event, n, (n - 1) / 2);
    return litho_select_kth(sorted, n, (n - 1) / 2) / patch_swell_median(f);
}

// Powers of a trace, or their sums over traces.
typedef struct Told {
    double traces, loud;
    double excess; // power beyond that of most, of all coefficients of those that are loud
    double all;    // power, about
    double events, beside; // of it, at the frequencies above: of events, and beside these
} Told;

static void add_trace(const Look *l, const PatchSwell *s, gsize trace, Told *to)
{
    float louder = 1, event = 0;
    double excess = 0;
    gboolean is_loud = FALSE;
    if (!(power_of(l, PATCH_SWELL_LOW, trace, NULL) > 0))
        return;
    for (int f = 0; f < PATCH_SWELL_ABOVE; f++) {
        const float power = power_of(l, PATCH_SWELL_LOW + f, trace, &event);
        louder = fmaxf(louder, power / s->above[f]);
        to->all += 2 * PATCH_SWELL_APART * (power + event);
        to->events += 2 * PATCH_SWELL_APART * event;
        to->beside += 2 * PATCH_SWELL_APART * power;
    }
    for (int f = 0; f < PATCH_SWELL_LOW; f++) {
        const float power = power_of(l, f, trace, &event), most = louder * s->low[f];
        const double sure = power > 0 ? patch_swell_is_no_event(power, event) : 0;
        is_loud |= power > LOUD * most && sure > 0.5;
        excess += (f > 0 ? 2 : 1) * sure * fmax(power - most, 0);
        to->all += (f > 0 ? 2 : 1) * (power + event);
    }
    to->traces++;
    to->loud += is_loud;
    to->excess += is_loud ? excess : 0;
}

static PatchSwell conclude(const Look *l)
{
    PatchSwell s = {0};
    g_autofree float *sorted = g_new(float, traces_of(l) * l->times);
    float above = 0;
    for (int f = 0; f < PATCH_SWELL_ABOVE; f++) {
        s.above[f] = power_of_most(l, PATCH_SWELL_LOW + f, sorted);
        above = fmaxf(above, s.above[f]);
        if (!(s.above[f] > 0))
            return (PatchSwell){0};
    }
    for (int f = 0; f < PATCH_SWELL_LOW; f++) {
        s.low[f] = fminf(power_of_most(l, f, sorted), CAP * above);
        if (!(s.low[f] > 0))
            return (PatchSwell){0};
    }
    Told told = {0};
    for (gsize k = 0; k < traces_of(l); k++)
        add_trace(l, &s, k, &told);
    s.found = told.traces >= TRACES && told.loud > PART * told.traces &&
              told.excess > OF_NOISE * above * l->axis[2].length * told.traces &&
              told.excess > OF_ALL * told.all && told.events > HAS_EVENTS * told.beside;
    s.level = sqrt(told.excess / fmax(l->axis[2].length * told.traces, 1));
    return s.found ? s : (PatchSwell){0};
}

gboolean patch_swell_find(const LithoReader *survey, const LithoPatchParams *params, LithoRun *run,
                          PatchSwell *found, GError **error)
{
    *found = (PatchSwell){0};
    if (!patch_swell_asked(survey->grid, params))
        return TRUE;
    const double start = litho_now_ms();
    LithoRun quiet = litho_run_quiet(run);
    Look l = {.grid = survey->grid};
    patch_swell_windows(survey->grid, l.axis);
    count_columns(&l);
    gboolean ok = patch_split_begin(&l.split, l.axis);
    if (ok)
        l.power = g_try_new0(float, traces_of(&l) * l.times * ASKED);
    if (ok)
        l.event = g_try_new0(float, traces_of(&l) * l.times * ASKED);
    ok = l.power && l.event
             ? look(&l, survey, &quiet, error)
             : litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory for a few windows");
    if (ok)
        *found = conclude(&l);
    g_free(l.power);
    g_free(l.event);
    patch_split_end(&l.split);
    litho_run_time(run, "swell", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 0, 0);
    return ok;
}

// --- of a cube -----------------------------------------------------------------------------------

// A part of a cube as a survey of its own.
typedef struct Part {
    const LithoCube *cube;
    LithoBox box;
    LithoGrid grid;
} Part;

static LithoCube *read_part(const LithoBox *box, LithoRun *run, gpointer data, GError **error)
{
    (void)run;
    const Part *p = data;
    LithoCube *to = litho_cube_new_box(&p->grid, *box, error);
    const gint64 nx = litho_box_size(*box, 1), nt = litho_box_size(*box, 2);
    for (gint64 k = 0; to && k < litho_box_size(*box, 0) * nx; k++) {
        const gint64 il = p->box.lo[0] + box->lo[0] + k / nx,
                     xl = p->box.lo[1] + box->lo[1] + k % nx;
        to->live[k] = litho_cube_is_live(p->cube, il, xl);
        memcpy(to->samples + k * nt,
               litho_cube_trace(p->cube, il, xl) + p->box.lo[2] + box->lo[2] - p->cube->held.lo[2],
               nt * sizeof(float));
    }
    return to;
}

gboolean patch_swell_level(const LithoCube *cube, const LithoBox *box, LithoRun *run, double *level,
                           GError **error)
{
    const LithoPatchParams defaults = {0};
    Part part = {.cube = cube,
                 .box = box ? litho_box_intersect(*box, cube->held) : cube->held,
                 .grid = cube->grid};
    const LithoReader reader = {.grid = &part.grid, .read = read_part, .data = &part};
    PatchSwell found;
    *level = 0;
    if (litho_box_empty(part.box))
        return TRUE;
    for (int a = 0; a < 3; a++)
        part.grid.axis[a].n = litho_box_size(part.box, a);
    if (!patch_swell_find(&reader, &defaults, run, &found, error))
        return FALSE;
    *level = found.level;
    return TRUE;
}
