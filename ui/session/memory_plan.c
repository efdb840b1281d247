// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/memory_plan.h"

#include <stdio.h>
#include <unistd.h>

#include "core/engine/engine.h"
#include "ui/session/newest.h"

struct LithoMemoryQuestion {
    void (*changed)(gpointer owner);
    gpointer owner;
    LithoNewest *newest;
    LithoMemoryPlan plan; // need 0 = not known
};

// --- in the thread ------------------------------------------------------------------------------

typedef struct Question {
    LithoFlow *flow;
    LithoDevice device;
    LithoGrid in;
    gboolean has_in;
} Question;

static void question_free(gpointer data)
{
    Question *q = data;
    litho_flow_free(q->flow);
    g_free(q);
}

// Bytes that this process holds already: they belong to what it may take.
static guint64 own_bytes(void)
{
    g_autofree char *text = NULL;
    unsigned long long all = 0, resident = 0;
    if (!g_file_get_contents("/proc/self/statm", &text, NULL, NULL) ||
        sscanf(text, "%llu %llu", &all, &resident) != 2)
        return 0;
    return resident * (guint64)sysconf(_SC_PAGESIZE);
}

static gpointer ask(LithoRun *run, gpointer data, GError **error)
{
    (void)run;
    Question *q = data;
    guint64 free_bytes;
    LithoMemoryPlan *plan = g_new0(LithoMemoryPlan, 1);
    LithoEngine *engine = litho_engine_new(q->device);
    // Asked again when files that are not read yet have been.
    g_autoptr(LithoWalk) walk = litho_walk_look(q->flow, q->has_in ? &q->in : NULL, NULL);
    if (walk && !walk->waits) {
        litho_walk_want(walk, NULL);
        plan->need = litho_engine_memory(engine, walk);
    }
    litho_engine_free(engine);
    if (!litho_device_memory(q->device, &free_bytes, &plan->total, error)) {
        g_free(plan);
        return NULL;
    }
    if (q->device.backend == litho_device_cpu().backend) // others use the machine's memory, too
        plan->total = free_bytes + own_bytes();
    return plan;
}

// --- asking -------------------------------------------------------------------------------------

static void known(gpointer answer, const GError *error, gpointer data, gpointer owner)
{
    LithoMemoryQuestion *question = owner;
    g_autofree LithoMemoryPlan *plan = answer;
    (void)data, (void)error; // not known is an answer
    question->plan = plan ? *plan : (LithoMemoryPlan){0};
    question->changed(question->owner);
}

void litho_memory_question_ask(LithoMemoryQuestion *question, const LithoFlow *flow,
                               LithoDevice device, const LithoGrid *in)
{
    Question *q = g_new0(Question, 1);
    q->flow = litho_flow_copy(flow);
    q->device = device;
    q->has_in = in != NULL;
    if (in)
        q->in = *in;
    litho_newest_ask(question->newest, q);
}

void litho_memory_question_forget(LithoMemoryQuestion *question)
{
    litho_newest_forget(question->newest);
    if (question->plan.need == 0)
        return;
    question->plan = (LithoMemoryPlan){0};
    question->changed(question->owner);
}

const LithoMemoryPlan *litho_memory_question_plan(const LithoMemoryQuestion *question)
{
    return question->plan.need > 0 && question->plan.total > 0 ? &question->plan : NULL;
}

// --- life ---------------------------------------------------------------------------------------

LithoMemoryQuestion *litho_memory_question_new(void (*changed)(gpointer owner), gpointer owner)
{
    static const LithoNewestFuncs funcs = {ask, known, question_free, g_free};
    LithoMemoryQuestion *question = g_new0(LithoMemoryQuestion, 1);
    question->changed = changed;
    question->owner = owner;
    question->newest = litho_newest_new(&funcs, question);
    return question;
}

void litho_memory_question_free(LithoMemoryQuestion *question)
{
    if (!question)
        return;
    litho_newest_free(question->newest);
    g_free(question);
}
