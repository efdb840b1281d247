// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/session/session.h"

// Input and output in turn, 400 ms each, for an eye that looks for differences. Main thread only.
typedef struct LithoBlink LithoBlink;

LithoBlink *litho_blink_new(LithoSession *session); // off
void litho_blink_free(LithoBlink *blink);           // before its session goes; NULL is fine
gboolean litho_blink_is_on(const LithoBlink *blink);
// Begins with the other picture at once; off: the output again. TRUE when it is on now.
gboolean litho_blink_toggle(LithoBlink *blink);
