// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/run.h"

// OpenGL on the processor compiles a shader when it is first drawn with, in the thread that draws:
// a tenth of a second for each, and the window would stand still meanwhile. Mesa keeps what it has
// compiled in files (its shader cache), for every context of every process. This draws tiny
// pictures with the shaders that the window will need, in a context of its own, so that the window
// finds them.
//
// `device`: GL_RENDERER of the window's context; where another one answers here nothing is done.
// TRUE when all were drawn. Any thread but one that has a context current; some seconds the first
// time, half a second later on.
gboolean litho_warm_up(const char *device, LithoRun *run, GError **error);
