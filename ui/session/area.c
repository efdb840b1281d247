// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/area.h"

#include <math.h>

#include "core/qc_noise.h"
#include "ui/session/newest.h"

struct LithoAreaTool {
    void (*changed)(gpointer owner);
    gpointer owner;
    LithoArea area;
    LithoAreaNumbers *numbers;
    LithoNewest *question;
};

typedef struct Question {
    LithoCube *cube[2]; // input, output; NULL = none
    LithoBox box;
    guint traces, samples;
} Question;

static void numbers_free(LithoAreaNumbers *numbers)
{
    if (!numbers)
        return;
    for (int w = 0; w < 3; w++)
        litho_fk_clear(&numbers->fk[w]);
    g_free(numbers);
}

static void free_answer(gpointer numbers)
{
    numbers_free(numbers);
}

static void question_free(gpointer data)
{
    Question *q = data;
    for (int w = 0; w < 2; w++)
        litho_cube_unref(q->cube[w]);
    g_free(q);
}

// --- in the thread ------------------------------------------------------------------------------

// The box of a cube that holds it as traces of samples, dead ones as NaN.
static float *section_of(const Question *q, const LithoCube *cube)
{
    LithoBox box = q->box;
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

// Missing traces would spread the events of the others over all wavenumbers, as no filter does: the
// f-k picture has guesses in their place. Traces one by one, and their spectrum, are as they are.
static gboolean add_fk(const Question *q, const LithoCube *cube, const float *section,
                       LithoRun *run, LithoFk *fk, GError **error)
{
    enum { AROUND = 4 }; // sections on either side that guesses are made from
    LithoFk whole = {0};
    if (!litho_qc_fk(section, q->traces, q->samples, fk, error))
        return FALSE;
    g_autoptr(LithoCube) guessed =
        litho_qc_without_gaps(cube, q->box, litho_box_size(q->box, 0) == 1 ? 0 : 1, AROUND, run);
    g_autofree float *guesses = guessed ? section_of(q, guessed) : NULL;
    if (guesses && litho_qc_fk(guesses, q->traces, q->samples, &whole, NULL)) {
        float *with_gaps = fk->amplitude;
        fk->amplitude = whole.amplitude;
        whole.amplitude = with_gaps;
    }
    litho_fk_clear(&whole);
    return TRUE;
}

static gpointer compute(LithoRun *run, gpointer data, GError **error)
{
    Question *q = data;
    LithoAreaNumbers *numbers = g_new0(LithoAreaNumbers, 1);
    float *section[2] = {NULL, NULL};
    gboolean ok = TRUE;
    for (int w = 0; w < 2; w++) {
        const LithoCube *cube = q->cube[w];
        if (!cube || !litho_box_contains(cube->held, q->box) || !litho_cube_host(q->cube[w], error))
            continue;
        section[w] = section_of(q, cube);
        ok = ok && add_fk(q, cube, section[w], run, &numbers->fk[w], error);
    }
    ok = ok && (section[0] || section[1]);
    if (ok && section[0] && section[1]) {
        for (gsize k = 0; k < (gsize)q->traces * q->samples; k++)
            section[0][k] -= section[1][k];
        ok = litho_qc_fk(section[0], q->traces, q->samples, &numbers->fk[2], error);
    }
    g_free(section[0]);
    g_free(section[1]);
    if (!ok)
        g_clear_pointer(&numbers, numbers_free);
    return numbers;
}

// --- asking -------------------------------------------------------------------------------------

static void done(gpointer answer, const GError *error, gpointer data, gpointer owner)
{
    LithoAreaTool *tool = owner;
    (void)data;
    (void)error; // too small an area, or not computed yet: the panel says that there is nothing
    numbers_free(tool->numbers);
    tool->numbers = answer;
    tool->changed(tool->owner);
}

LithoBox litho_area_tool_box(const LithoAreaTool *tool, const LithoGrid *grid, gint64 slice)
{
    LithoBox box = tool->area.box;
    box.lo[tool->area.axis] = slice;
    box.hi[tool->area.axis] = slice + 1;
    return litho_box_intersect(box, litho_box_full(grid));
}

void litho_area_tool_ask(LithoAreaTool *tool, LithoCube *in, LithoCube *out, LithoBox box)
{
    Question *q = g_new0(Question, 1);
    q->cube[0] = in ? litho_cube_ref(in) : NULL;
    q->cube[1] = out ? litho_cube_ref(out) : NULL;
    q->box = box;
    q->traces = (guint)(litho_box_size(box, 0) * litho_box_size(box, 1));
    q->samples = (guint)litho_box_size(box, 2);
    litho_newest_ask(tool->question, q);
}

gboolean litho_area_tool_forget(LithoAreaTool *tool)
{
    const gboolean any = tool->numbers != NULL;
    litho_newest_forget(tool->question);
    g_clear_pointer(&tool->numbers, numbers_free);
    return any;
}

const LithoArea *litho_area_tool_area(const LithoAreaTool *tool)
{
    return &tool->area;
}

void litho_area_tool_set(LithoAreaTool *tool, const LithoArea *area)
{
    tool->area = area ? *area : (LithoArea){0};
    if (!tool->area.on)
        g_clear_pointer(&tool->numbers, numbers_free);
}

const LithoAreaNumbers *litho_area_tool_numbers(const LithoAreaTool *tool)
{
    return tool->numbers;
}

// --- life ---------------------------------------------------------------------------------------

LithoAreaTool *litho_area_tool_new(void (*changed)(gpointer owner), gpointer owner)
{
    static const LithoNewestFuncs funcs = {compute, done, question_free, free_answer};
    LithoAreaTool *tool = g_new0(LithoAreaTool, 1);
    tool->changed = changed;
    tool->owner = owner;
    tool->question = litho_newest_new(&funcs, tool);
    return tool;
}

void litho_area_tool_free(LithoAreaTool *tool)
{
    if (!tool)
        return;
    litho_newest_free(tool->question);
    numbers_free(tool->numbers);
    g_free(tool);
}
