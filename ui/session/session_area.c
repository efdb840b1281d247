// SPDX-License-Identifier: GPL-3.0-or-later
//
// An area of a section, chosen by a person: its spectra and f-k pictures of input, output and what
// was removed, computed in a thread whenever one of them changes; the newest wins.
#include "ui/session/session_private.h"

#include <math.h>
#include <string.h>

typedef struct Question {
    LithoCube *cube[2]; // input, output; NULL = none
    LithoBox box[2];
    guint traces, samples;
} Question;

void litho_area_numbers_free(LithoAreaNumbers *numbers)
{
    if (!numbers)
        return;
    for (int w = 0; w < 3; w++)
        litho_fk_clear(&numbers->fk[w]);
    g_free(numbers);
}

static void question_free(gpointer data)
{
    Question *q = data;
    for (int w = 0; w < 2; w++)
        litho_cube_unref(q->cube[w]);
    g_free(q);
}

// --- in the thread ------------------------------------------------------------------------------

// The box as traces of samples, dead ones as NaN; NULL when the cube does not hold it.
static float *section_of(const Question *q, int which, GError **error)
{
    const LithoCube *cube = q->cube[which];
    LithoBox box = q->box[which];
    if (!cube || !litho_box_contains(cube->held, box) || !litho_cube_host(cube, error))
        return NULL;
    float *section = g_new(float, (gsize)q->traces * q->samples), *to = section;
    for (gint64 i = box.lo[0]; i < box.hi[0]; i++)
        for (gint64 j = box.lo[1]; j < box.hi[1]; j++, to += q->samples) {
            gboolean live = litho_cube_is_live(cube, i, j);
            const float *from = litho_cube_trace(cube, i, j) + (box.lo[2] - cube->held.lo[2]);
            for (guint k = 0; k < q->samples; k++)
                to[k] = live ? from[k] : NAN;
        }
    return section;
}

static gpointer compute(LithoRun *run, gpointer data, GError **error)
{
    (void)run;
    Question *q = data;
    LithoAreaNumbers *numbers = g_new0(LithoAreaNumbers, 1);
    g_autofree float *in = section_of(q, 0, error), *out = section_of(q, 1, error);
    gboolean ok = in || out;
    if (in)
        ok = litho_qc_fk(in, q->traces, q->samples, &numbers->fk[0], error);
    if (ok && out)
        ok = litho_qc_fk(out, q->traces, q->samples, &numbers->fk[1], error);
    if (ok && in && out) {
        for (gsize k = 0; k < (gsize)q->traces * q->samples; k++)
            in[k] -= out[k];
        ok = litho_qc_fk(in, q->traces, q->samples, &numbers->fk[2], error);
    }
    if (!ok)
        g_clear_pointer(&numbers, litho_area_numbers_free);
    return numbers;
}

// --- asking -------------------------------------------------------------------------------------

// Not of another operator, mode or file, which is shown until the next result has come.
static gboolean is_own(LithoSession *self, const LithoResult *result)
{
    return result && result->tag >= self->first_tag;
}

// The newest part of the result that holds the box.
static LithoCube *result_with(LithoSession *self, LithoBox box)
{
    const LithoResult *newest[] = {self->result, self->backdrop};
    for (guint r = 0; r < G_N_ELEMENTS(newest); r++)
        for (guint k = is_own(self, newest[r]) ? newest[r]->parts->len : 0; k-- > 0;) {
            LithoCube *part = g_ptr_array_index(newest[r]->parts, k);
            if (litho_box_contains(part->held, box))
                return part;
        }
    return NULL;
}

// The input, or the slice of a cube beyond memory that has been read.
static LithoCube *input_with(LithoSession *self, LithoBox box)
{
    guint64 stamp, dropped;
    const GPtrArray *pages = litho_session_pages(self, &stamp, &dropped);
    for (guint k = 0; pages && k < pages->len; k++) {
        LithoCube *page = g_ptr_array_index(pages, k);
        if (litho_box_contains(page->held, box))
            return page;
    }
    return self->input;
}

static LithoBox area_box(LithoSession *self)
{
    LithoBox box = self->area.box;
    box.lo[self->area.axis] = self->display.slice[self->area.axis];
    box.hi[self->area.axis] = box.lo[self->area.axis] + 1;
    return litho_box_intersect(box, litho_box_full(&self->grid));
}

static void done(gpointer result, const GError *error, gpointer data, gpointer owner)
{
    LithoSession *self = owner;
    (void)data;
    (void)error; // too small an area, or not computed yet: the panel says that there is nothing
    litho_area_numbers_free(self->area_numbers);
    self->area_numbers = result;
    litho_session_emit(self, SIGNAL_AREA);
}

static void free_answer(gpointer numbers)
{
    litho_area_numbers_free(numbers);
}

void litho_session_area_look(LithoSession *self)
{
    if (!self->area.on || !self->has_grid)
        return;
    static const LithoNewestFuncs funcs = {compute, done, question_free, free_answer};
    if (!self->area_question)
        self->area_question = litho_newest_new(&funcs, self);
    Question *q = g_new0(Question, 1);
    LithoBox box = area_box(self);
    gboolean same = litho_session_comparable(self);
    gboolean shows_input = litho_session_shown(self) == LITHO_SHOW_INPUT;
    LithoCube *in = same || shows_input ? input_with(self, box) : NULL;
    LithoCube *out = same || !shows_input ? result_with(self, box) : NULL;
    q->cube[0] = in ? litho_cube_ref(in) : NULL;
    q->cube[1] = out ? litho_cube_ref(out) : NULL;
    q->box[0] = q->box[1] = box;
    q->traces = (guint)(litho_box_size(box, 0) * litho_box_size(box, 1));
    q->samples = (guint)litho_box_size(box, 2);
    litho_newest_ask(self->area_question, q);
}

void litho_session_area_forget(LithoSession *self)
{
    if (self->area_question)
        litho_newest_forget(self->area_question);
    if (self->area_numbers) {
        g_clear_pointer(&self->area_numbers, litho_area_numbers_free);
        litho_session_emit(self, SIGNAL_AREA);
    }
    litho_session_area_look(self);
}

const LithoArea *litho_session_area(LithoSession *self)
{
    static const LithoArea none = {0};
    return self->preview ? &none : &self->area; // it lies in the file that is open
}

const LithoAreaNumbers *litho_session_area_numbers(LithoSession *self)
{
    return self->preview ? NULL : self->area_numbers;
}

void litho_session_set_area(LithoSession *self, const LithoArea *area)
{
    self->area = area ? *area : (LithoArea){0};
    if (!self->area.on)
        g_clear_pointer(&self->area_numbers, litho_area_numbers_free);
    litho_session_emit(self, SIGNAL_AREA);
    litho_session_area_look(self);
}
