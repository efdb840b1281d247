// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the whole result will take of the device's memory, known before it is computed. Asked in a
// thread: opening a driver or laying out a plan may take a while.
#include "ui/session/session_private.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/engine/engine.h"

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

static void known(gpointer result, const GError *error, gpointer data, gpointer owner)
{
    LithoSession *self = owner;
    g_autofree LithoMemoryPlan *plan = result;
    (void)data, (void)error; // not known is an answer
    LithoMemoryPlan none = {0};
    self->memory = plan ? *plan : none;
    litho_session_emit(self, SIGNAL_MEMORY);
}

void litho_session_memory_want(LithoSession *self)
{
    static const LithoNewestFuncs funcs = {ask, known, question_free, g_free};
    if (!self->memory_question)
        self->memory_question = litho_newest_new(&funcs, self);
    Question *q = g_new0(Question, 1);
    q->flow = litho_flow_copy(self->flow);
    q->device = litho_session_device(self);
    q->has_in = self->input != NULL;
    if (self->input)
        q->in = self->input->grid;
    litho_newest_ask(self->memory_question, q);
}

void litho_session_memory_forget(LithoSession *self)
{
    if (self->memory_question)
        litho_newest_forget(self->memory_question);
    if (self->memory.need == 0)
        return;
    self->memory = (LithoMemoryPlan){0};
    litho_session_emit(self, SIGNAL_MEMORY);
}

const LithoMemoryPlan *litho_session_memory(LithoSession *self)
{
    return self->memory.need > 0 && self->memory.total > 0 ? &self->memory : NULL;
}
