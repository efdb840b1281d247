// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Zeros of a live trace that make a mute, one after the other (core/mute.h). For device code, too.
enum { LITHO_MUTE_RUN = 16 };
