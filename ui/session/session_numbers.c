// SPDX-License-Identifier: GPL-3.0-or-later
//
// Numbers of the input and of the result: percentiles, histogram, spectrum, each in a thread.
#include "ui/session/session_private.h"

#include <math.h>

enum { BINS = 4096, SPECTRUM_TRACES = 2000, SETTLE_MS = 200 };

typedef struct Question {
    LithoSession *session;
    LithoCube *cube;
    LithoCube *from; // the input, where `cube` is a result that can be taken from it; or NULL
    int which;
} Question;

static void numbers_free(LithoCubeNumbers *numbers)
{
    if (!numbers)
        return;
    litho_spectrum_clear(&numbers->spectrum);
    litho_spectrum_clear(&numbers->removed);
    g_free(numbers->histogram);
    g_free(numbers);
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

static gpointer compute(LithoRun *run, gpointer data, GError **error)
{
    Question *question = data;
    LithoCubeNumbers *n = g_new0(LithoCubeNumbers, 1);
    if (!litho_qc_stats(question->cube, run, &n->stats, error) ||
        !litho_qc_spectrum(question->cube, NULL, SPECTRUM_TRACES, run, &n->spectrum, error)) {
        numbers_free(n);
        return NULL;
    }
    g_autoptr(LithoCube) line =
        question->from ? difference_of(question->from, question->cube, NULL) : NULL;
    if (line && !litho_qc_spectrum(line, NULL, 0, run, &n->removed, error)) {
        numbers_free(n);
        return NULL;
    }
    n->range = litho_qc_range(question->cube, &n->stats, 99);
    n->histogram_max = MAX(fabs(n->stats.min), fabs(n->stats.max));
    n->histogram_min = n->range.is_unsigned ? n->stats.min : -n->histogram_max;
    n->bins = BINS;
    n->histogram = g_new0(double, BINS);
    litho_qc_histogram(question->cube, n->histogram_min, n->histogram_max, BINS, n->histogram);
    return n;
}

static void question_free(gpointer data)
{
    Question *question = data;
    litho_cube_unref(question->cube);
    litho_cube_unref(question->from);
    g_object_unref(question->session);
    g_free(question);
}

// --- a percentile that was asked for ------------------------------------------------------------

typedef struct PercentQuestion {
    LithoSession *session;
    LithoCube *cube;
    LithoStats stats;
    int which;
    double percent;
} PercentQuestion;

static gpointer find_range(LithoRun *run, gpointer data, GError **error)
{
    (void)run;
    (void)error;
    PercentQuestion *q = data;
    LithoRange range = litho_qc_range(q->cube, &q->stats, q->percent);
    return g_memdup2(&range, sizeof range);
}

static void range_found(gpointer result, const GError *error, gpointer data)
{
    (void)error;
    PercentQuestion *q = data;
    g_autofree LithoRange *range = result;
    if (range && q->session->worker && q->cube->serial == q->session->numbers_serial[q->which] &&
        q->which == litho_session_numbers_shown(q->session))
        litho_session_set_range(q->session, range->lo, range->hi);
}

static void percent_free(gpointer data)
{
    PercentQuestion *q = data;
    litho_cube_unref(q->cube);
    g_object_unref(q->session);
    g_free(q);
}

gboolean litho_session_set_clip_percent(LithoSession *self, double percent)
{
    int which = litho_session_numbers_shown(self);
    LithoCube *cube = which == LITHO_NUMBERS_IN ? self->input : litho_session_output(self);
    if (!self->numbers[which] || !cube || !(percent >= 50 && percent <= 100))
        return FALSE;
    PercentQuestion *q = g_new(PercentQuestion, 1);
    *q = (PercentQuestion){g_object_ref(self), litho_cube_ref(cube), self->numbers[which]->stats,
                           which, percent};
    litho_job_start(&(LithoJobFuncs){find_range, NULL, range_found, percent_free}, q);
    return TRUE;
}

// Which numbers belong to what is shown: a result of another shape has amplitudes of its own.
int litho_session_numbers_shown(LithoSession *self)
{
    gboolean output = litho_session_shown(self) != LITHO_SHOW_INPUT;
    return output && !litho_session_comparable(self) ? LITHO_NUMBERS_OUT : LITHO_NUMBERS_IN;
}

void litho_session_apply_range(LithoSession *self, const LithoRange *range, LithoLook *look)
{
    look->lo = range->lo;
    look->hi = range->hi;
    look->map = self->colours[range->is_unsigned];
}

// Until the user touches it, the range is that of the 99th percentile.
void litho_session_auto_clip(LithoSession *self)
{
    int which = litho_session_numbers_shown(self);
    const LithoCubeNumbers *numbers = self->numbers[which];
    LithoRange *range = &self->range[which];
    if (numbers) {
        // A symmetric clip of data that turn out to have one sign is nobody's choice.
        if (!self->clip_touched[which] || (numbers->range.is_unsigned && range->lo < 0)) {
            *range = numbers->range;
            self->clip_touched[which] = FALSE;
        }
        range->is_unsigned = numbers->range.is_unsigned;
        range->unit = numbers->range.unit;
    }
    LithoLook look = self->display.look;
    if (!(range->hi > range->lo))
        return;
    litho_session_apply_range(self, range, &look);
    if (look.lo == self->display.look.lo && look.hi == self->display.look.hi &&
        look.map == self->display.look.map)
        return;
    self->display.look = look;
    litho_session_emit(self, SIGNAL_DISPLAY);
}

static void start(LithoSession *self, int which);

static void done(gpointer result, const GError *error, gpointer data)
{
    Question *question = data;
    LithoSession *self = question->session;
    (void)error; // without numbers the panel says that there are none
    self->numbers_job[question->which] = NULL;
    LithoCube *newest = self->numbers_next[question->which];
    if (self->worker && result && question->cube->serial == self->numbers_serial[question->which]) {
        numbers_free(self->numbers[question->which]);
        self->numbers[question->which] = g_steal_pointer(&result);
        litho_session_auto_clip(self);
        litho_session_emit(self, SIGNAL_STATS);
    }
    numbers_free(result);
    if (self->worker && newest)
        start(self, question->which);
}

static void start(LithoSession *self, int which)
{
    Question *question = g_new(Question, 1);
    *question = (Question){.session = g_object_ref(self),
                           .cube = g_steal_pointer(&self->numbers_next[which]),
                           .which = which};
    if (which == LITHO_NUMBERS_OUT && self->input &&
        litho_grid_same_shape(&self->input->grid, &question->cube->grid) &&
        self->input->grid.is_depth == question->cube->grid.is_depth)
        question->from = litho_cube_ref(self->input);
    self->numbers_job[which] =
        litho_job_start(&(LithoJobFuncs){compute, NULL, done, question_free}, question);
}

static gboolean settled(gpointer data)
{
    LithoSession *self = data;
    self->numbers_timeout = 0;
    for (int which = 0; which < LITHO_N_NUMBERS; which++)
        if (self->numbers_next[which] && !self->numbers_job[which])
            start(self, which);
    return G_SOURCE_REMOVE;
}

void litho_session_numbers_want(LithoSession *self, int which, LithoCube *cube)
{
    g_clear_pointer(&self->numbers_next[which], litho_cube_unref);
    self->numbers_next[which] = litho_cube_ref(cube);
    self->numbers_serial[which] = cube->serial;
    if (which == LITHO_NUMBERS_IN) {
        if (!self->numbers_job[which])
            start(self, which);
        return;
    }
    // During a drag results come faster than anyone reads their numbers, and the worker needs the
    // processors: wait until it has settled.
    g_clear_handle_id(&self->numbers_timeout, g_source_remove);
    self->numbers_timeout = g_timeout_add(SETTLE_MS, settled, self);
}

void litho_session_numbers_forget(LithoSession *self, int which)
{
    litho_job_cancel(self->numbers_job[which]);
    self->numbers_serial[which] = 0;
    g_clear_pointer(&self->numbers_next[which], litho_cube_unref);
    g_clear_pointer(&self->numbers[which], numbers_free);
}

void litho_session_numbers_clear(LithoSession *self)
{
    g_clear_handle_id(&self->numbers_timeout, g_source_remove);
    for (int which = 0; which < LITHO_N_NUMBERS; which++)
        litho_session_numbers_forget(self, which);
}

const LithoCubeNumbers *litho_session_numbers(LithoSession *self, int which)
{
    return self->preview ? NULL : self->numbers[which]; // the others are not of the file on screen
}
