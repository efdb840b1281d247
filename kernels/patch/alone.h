// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/patch/patch.h"

// Recorded traces that stand alone among missing ones: nothing tells their events from noise, and
// they stay as they are where noise is removed.

// *alone: one byte a trace of pass->in, 1 = stands alone, and a remark tells so. NULL: none of the
// pass's region does. Where filling alone may divide traces by gains, all recorded traces take the
// input's samples. g_free(). FALSE: no memory.
gboolean patch_alone(const LithoPass *pass, guint8 **alone, LithoRun *run, GError **error);
