// SPDX-License-Identifier: GPL-3.0-or-later
//
// When the memory of the whole result is asked for: ui/session/memory_plan.h.
#include "ui/session/session_private.h"

static void changed(gpointer owner)
{
    litho_session_emit(owner, SIGNAL_MEMORY);
}

void litho_session_memory_init(LithoSession *self)
{
    self->memory = litho_memory_question_new(changed, self);
}

void litho_session_memory_want(LithoSession *self)
{
    litho_memory_question_ask(self->memory, self->flow, litho_session_device(self),
                              self->input ? &self->input->grid : NULL);
}

const LithoMemoryPlan *litho_session_memory(LithoSession *self)
{
    return litho_memory_question_plan(self->memory);
}
