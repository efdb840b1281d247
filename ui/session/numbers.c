// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/numbers.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "ui/session/newest.h"

enum { BINS = LITHO_HISTOGRAM_BINS, SPECTRUM_TRACES = 2000, SETTLE_MS = 200 };
static const double near_ranges = 8; // half width of the near histogram, in those of the range

struct LithoNumbers {
    const LithoNumbersFuncs *funcs;
    gpointer owner;
    struct {
        LithoCubeNumbers *known;
        LithoCube *next, *from;   // to be asked about when the worker has settled; or NULL
        guint64 serial;           // of the cube last asked about; 0 = none
        LithoNewest *all, *range; // questions
    } of[LITHO_N_NUMBERS];
    LithoNewest *glance;
    guint timeout; // until the worker has settled
};

typedef struct Question {
    LithoCube *cube;
    LithoCube *from; // the input, where `cube` is a result that can be taken from it; or NULL
    LithoStats stats;
    double percent;
    int which;
} Question;

static void numbers_free(LithoCubeNumbers *numbers)
{
    if (!numbers)
        return;
    litho_spectrum_clear(&numbers->spectrum);
    litho_spectrum_clear(&numbers->removed);
    g_free(numbers->whole.count);
    g_free(numbers->near.count);
    g_free(numbers);
}

// --- histograms ---------------------------------------------------------------------------------

// Samples of `h` between lo and hi.
static double count_between(const LithoHistogram *h, double lo, double hi)
{
    const double bin = (h->hi - h->lo) / BINS;
    const double from = CLAMP((lo - h->lo) / bin, 0, BINS), to = CLAMP((hi - h->lo) / bin, 0, BINS);
    double sum = 0;
    for (guint k = (guint)from; k < BINS && k < to; k++)
        sum += h->count[k] * (MIN(to, k + 1.0) - MAX(from, k));
    return sum;
}

double litho_cube_numbers_share(const LithoCubeNumbers *numbers, double lo, double hi)
{
    const LithoHistogram *near = &numbers->near;
    const gboolean is_near = near->count && lo >= near->lo && hi <= near->hi;
    if (!numbers->whole.count || !(numbers->counted > 0))
        return 0;
    return count_between(is_near ? near : &numbers->whole, lo, hi) / numbers->counted;
}

static void count(LithoHistogram *h, const LithoCube *cube)
{
    h->count = g_new0(double, BINS);
    litho_qc_histogram(cube, h->lo, h->hi, BINS, h->count);
}

// Traces of `in` less those of `out`, spread evenly over the cube, as one line of a grid.
static LithoCube *difference_of(const LithoCube *in, const LithoCube *out, GError **error)
{
    LithoBox both = litho_box_intersect(in->held, out->held);
    const gint64 nx = litho_box_size(both, 1), total = litho_box_size(both, 0) * nx;
    if (litho_box_empty(both) || !litho_cube_host(in, error) || !litho_cube_host(out, error))
        return NULL;
    gint64 stride = (total + SPECTRUM_TRACES - 1) / SPECTRUM_TRACES;
    stride += stride > 1 && stride % 2 == 0; // not down the same crosslines of every inline
    LithoGrid grid = in->grid;
    grid.axis[0].n = 1;
    grid.axis[1].n = (total + stride - 1) / stride;
    LithoBox held = {{0, 0, both.lo[2]}, {1, grid.axis[1].n, both.hi[2]}};
    LithoCube *line = litho_cube_new_box(&grid, held, error);
    for (gint64 k = 0; line && k < grid.axis[1].n; k++) {
        gint64 i = both.lo[0] + k * stride / nx, j = both.lo[1] + k * stride % nx;
        line->live[k] = litho_cube_is_live(in, i, j) && litho_cube_is_live(out, i, j);
        const float *a = litho_cube_trace(in, i, j) - in->held.lo[2];
        const float *b = litho_cube_trace(out, i, j) - out->held.lo[2];
        float *to = litho_cube_trace(line, 0, k) - both.lo[2];
        for (gint64 t = both.lo[2]; t < both.hi[2]; t++)
            to[t] = a[t] - b[t];
    }
    return line;
}

static double sum_of(const double *counts)
{
    double sum = 0;
    for (guint k = 0; k < BINS; k++)
        sum += counts[k];
    return sum;
}

// From the smallest to the largest sample, signed data about zero; and a second one where a spike
// leaves the range of the colours few of its bins.
static void count_all(LithoCubeNumbers *n, const LithoCube *cube)
{
    const LithoRange *range = &n->range;
    const double largest = MAX(fabs(n->stats.min), fabs(n->stats.max));
    const double middle = (range->lo + range->hi) / 2, half = (range->hi - range->lo) / 2;
    n->whole = (LithoHistogram){.lo = range->is_unsigned ? n->stats.min : -largest, .hi = largest};
    if (!(n->whole.hi > n->whole.lo))
        return;
    count(&n->whole, cube);
    n->counted = sum_of(n->whole.count);
    n->near = (LithoHistogram){.lo = MAX(middle - near_ranges * half, n->whole.lo),
                               .hi = MIN(middle + near_ranges * half, n->whole.hi)};
    if (n->near.hi - n->near.lo < 0.75 * (n->whole.hi - n->whole.lo))
        count(&n->near, cube);
}

// One sample has no spectrum; its other numbers are numbers all the same.
static gboolean find_spectrum(const LithoCube *cube, gint64 traces, LithoRun *run,
                              LithoSpectrum *spectrum, GError **error)
{
    g_autoptr(GError) why = NULL;
    if (litho_qc_spectrum(cube, NULL, traces, run, spectrum, &why))
        return TRUE;
    litho_spectrum_clear(spectrum);
    if (!litho_error_is_cancelled(why))
        return TRUE;
    g_propagate_error(error, g_steal_pointer(&why));
    return FALSE;
}

static gpointer compute(LithoRun *run, gpointer data, GError **error)
{
    Question *question = data;
    LithoCubeNumbers *n = g_new0(LithoCubeNumbers, 1);
    g_autoptr(LithoCube) line =
        question->from ? difference_of(question->from, question->cube, NULL) : NULL;
    if (!litho_qc_stats(question->cube, run, &n->stats, error) ||
        !find_spectrum(question->cube, SPECTRUM_TRACES, run, &n->spectrum, error) ||
        (line && !find_spectrum(line, 0, run, &n->removed, error))) {
        numbers_free(n);
        return NULL;
    }
    if (question->which == LITHO_NUMBERS_IN) {
        const LithoBand band = litho_suggest_band(&n->spectrum);
        n->events = litho_suggest_events(question->cube, &band);
    }
    n->range = litho_qc_range(question->cube, &n->stats, LITHO_CLIP_AUTO);
    count_all(n, question->cube);
    return n;
}

static gpointer find_range(LithoRun *run, gpointer data, GError **error)
{
    (void)run;
    (void)error;
    const Question *q = data;
    LithoRange range = litho_qc_range(q->cube, &q->stats, q->percent);
    return g_memdup2(&range, sizeof range);
}

// --- a glance -----------------------------------------------------------------------------------

typedef struct Glance {
    LithoCube *part[3]; // NULL = none
    LithoBox box[3];
    LithoHistogram whole, near; // ends alone; near.hi = near.lo: there is none
} Glance;

static void glance_free(gpointer data)
{
    Glance *glance = data;
    for (int a = 0; a < 3; a++)
        litho_cube_unref(glance->part[a]);
    g_free(glance);
}

// Counts of the whole histogram and behind them of the near one.
static gpointer count_glance(LithoRun *run, gpointer data, GError **error)
{
    const Glance *glance = data;
    const LithoHistogram *const histograms[] = {&glance->whole, &glance->near};
    double *counts = g_new0(double, 2 * BINS);
    g_autofree double *more = g_new(double, BINS);
    for (int a = 0; a < 3; a++) {
        LithoCube *part = glance->part[a];
        if (!part || !litho_run_step(run, a, 3, error))
            continue;
        const gboolean on_host = g_atomic_pointer_get(&part->samples) != NULL;
        g_autoptr(LithoCube) slice =
            on_host ? litho_cube_copy_box(part, glance->box[a], error) : litho_cube_ref(part);
        if (!slice)
            break;
        for (int h = 0; h < 2; h++) {
            litho_qc_histogram(slice, histograms[h]->lo, histograms[h]->hi, BINS, more);
            for (guint k = 0; k < BINS; k++)
                counts[h * BINS + k] += more[k];
        }
    }
    return counts;
}

static void glanced(gpointer answer, const GError *error, gpointer data, gpointer owner)
{
    const Glance *glance = data;
    LithoNumbers *self = owner;
    LithoCubeNumbers *known = self->of[LITHO_NUMBERS_OUT].known;
    g_autofree double *counts = answer;
    if (!counts || error || !known || known->whole.lo != glance->whole.lo ||
        known->whole.hi != glance->whole.hi || !known->whole.count)
        return;
    memcpy(known->whole.count, counts, BINS * sizeof *counts);
    if (known->near.count)
        memcpy(known->near.count, counts + BINS, BINS * sizeof *counts);
    known->counted = sum_of(counts);
    self->funcs->arrived(LITHO_NUMBERS_OUT, self->owner);
}

void litho_numbers_glance(LithoNumbers *self, LithoCube *const parts[3], const gint64 slice[3])
{
    const LithoCubeNumbers *known = self->of[LITHO_NUMBERS_OUT].known;
    if (!known)
        return;
    Glance *glance = g_new0(Glance, 1);
    glance->whole = (LithoHistogram){.lo = known->whole.lo, .hi = known->whole.hi};
    if (known->near.count)
        glance->near = (LithoHistogram){.lo = known->near.lo, .hi = known->near.hi};
    for (int a = 0; a < 3; a++) {
        // A whole cube on a device is counted as such, once.
        const gboolean whole = parts[a] && !g_atomic_pointer_get(&parts[a]->samples);
        if (!parts[a] || (whole && a > 0 && parts[a] == parts[a - 1]))
            continue;
        glance->part[a] = litho_cube_ref(parts[a]);
        glance->box[a] = litho_box_slice(&parts[a]->grid, a, slice[a]);
    }
    litho_newest_ask(self->glance, glance);
}

// --- asking -------------------------------------------------------------------------------------

static void question_free(gpointer data)
{
    Question *question = data;
    litho_cube_unref(question->cube);
    litho_cube_unref(question->from);
    g_free(question);
}

static void answer_free(gpointer numbers)
{
    numbers_free(numbers);
}

static void done(gpointer answer, const GError *error, gpointer data, gpointer owner)
{
    const Question *question = data;
    LithoNumbers *self = owner;
    const int which = question->which;
    (void)error; // without numbers the panel says that there are none
    if (!answer || question->cube->serial != self->of[which].serial) {
        numbers_free(answer); // another cube has come meanwhile
        return;
    }
    if (which == LITHO_NUMBERS_OUT)
        litho_newest_forget(self->glance); // of an earlier result
    numbers_free(self->of[which].known);
    self->of[which].known = answer;
    self->funcs->arrived(which, self->owner);
}

static void range_done(gpointer answer, const GError *error, gpointer data, gpointer owner)
{
    const Question *question = data;
    LithoNumbers *self = owner;
    g_autofree LithoRange *range = answer;
    (void)error; // the search cannot fail
    if (range)
        self->funcs->found(question->which, range, self->owner);
}

static void start(LithoNumbers *self, int which)
{
    Question *question = g_new0(Question, 1);
    question->cube = g_steal_pointer(&self->of[which].next);
    question->from = g_steal_pointer(&self->of[which].from);
    question->which = which;
    litho_newest_ask(self->of[which].all, question);
}

static gboolean settled(gpointer data)
{
    LithoNumbers *self = data;
    self->timeout = 0;
    if (self->of[LITHO_NUMBERS_OUT].next)
        start(self, LITHO_NUMBERS_OUT);
    return G_SOURCE_REMOVE;
}

void litho_numbers_want(LithoNumbers *self, int which, LithoCube *cube, LithoCube *from)
{
    litho_cube_unref(self->of[which].next);
    litho_cube_unref(self->of[which].from);
    self->of[which].next = litho_cube_ref(cube);
    self->of[which].serial = cube->serial;
    self->of[which].from = from ? litho_cube_ref(from) : NULL;
    litho_newest_forget(self->of[which].range);
    if (which == LITHO_NUMBERS_IN) {
        start(self, which);
        return;
    }
    g_clear_handle_id(&self->timeout, g_source_remove);
    self->timeout = g_timeout_add(SETTLE_MS, settled, self);
}

void litho_numbers_forget(LithoNumbers *self, int which)
{
    litho_newest_forget(self->of[which].all);
    litho_newest_forget(self->of[which].range);
    if (which == LITHO_NUMBERS_OUT)
        litho_newest_forget(self->glance);
    self->of[which].serial = 0;
    g_clear_pointer(&self->of[which].next, litho_cube_unref);
    g_clear_pointer(&self->of[which].from, litho_cube_unref);
    g_clear_pointer(&self->of[which].known, numbers_free);
}

const LithoCubeNumbers *litho_numbers_get(const LithoNumbers *self, int which)
{
    return self->of[which].known;
}

gboolean litho_numbers_find_range(LithoNumbers *self, int which, LithoCube *cube, double percent)
{
    if (!self->of[which].known || !(percent >= 50 && percent <= 100))
        return FALSE;
    Question *question = g_new0(Question, 1);
    question->cube = litho_cube_ref(cube);
    question->stats = self->of[which].known->stats;
    question->percent = percent;
    question->which = which;
    litho_newest_ask(self->of[which].range, question);
    return TRUE;
}

// --- life ---------------------------------------------------------------------------------------

LithoNumbers *litho_numbers_new(const LithoNumbersFuncs *funcs, gpointer owner)
{
    static const LithoNewestFuncs all = {compute, done, question_free, answer_free};
    static const LithoNewestFuncs range = {find_range, range_done, question_free, g_free};
    static const LithoNewestFuncs glance = {count_glance, glanced, glance_free, g_free};
    LithoNumbers *self = g_new0(LithoNumbers, 1);
    self->funcs = funcs;
    self->owner = owner;
    self->glance = litho_newest_new(&glance, self);
    for (int which = 0; which < LITHO_N_NUMBERS; which++) {
        self->of[which].all = litho_newest_new(&all, self);
        self->of[which].range = litho_newest_new(&range, self);
    }
    return self;
}

void litho_numbers_free(LithoNumbers *self)
{
    if (!self)
        return;
    g_clear_handle_id(&self->timeout, g_source_remove);
    for (int which = 0; which < LITHO_N_NUMBERS; which++) {
        litho_numbers_forget(self, which);
        litho_newest_free(self->of[which].all);
        litho_newest_free(self->of[which].range);
    }
    litho_newest_free(self->glance);
    g_free(self);
}
