// SPDX-License-Identifier: GPL-3.0-or-later
//
// Traces of a generated survey that differ in gain, polarity or noise, by their index.
#pragma once
#include <math.h>

#include "core/cube.h"
#include "core/run.h"
#include "core/synth/synth_parts.h"

typedef enum { ALIKE, SCATTERED, REVERSED, NOISIER } Traces;

static inline gboolean is_turned(gint64 trace)
{
    return litho_hash_normal(8, 1, trace) > 2.05;
}

// Factor of the events of a trace.
static inline double gain_of(Traces traces, gint64 trace)
{
    return traces == SCATTERED                      ? exp(0.3 * litho_hash_normal(3, 1, trace))
           : traces == REVERSED && is_turned(trace) ? -1
                                                    : 1;
}

// Factor of its noise.
static inline double noise_of(Traces traces, gint64 trace)
{
    return traces == NOISIER && litho_hash_normal(5, 1, trace) > 1.65 ? 5 : 1;
}

// LithoReader.read of a cube.
static inline LithoCube *read_part(const LithoBox *box, LithoRun *run, gpointer cube,
                                   GError **error)
{
    (void)run;
    return litho_cube_copy_box(cube, *box, error);
}
