// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/grid.h"

typedef struct LithoSurvey LithoSurvey; // the opened file, survey.h
typedef struct LithoBuffer LithoBuffer; // device memory, backend.h

// A seismic cube or a part of one. Samples are float32, [inline][crossline][sample], sample
// fastest.
//
// A cube covers `held`, a box of its grid: the whole grid for a resident cube, a few inlines while
// a survey is streamed, one slice for a preview. `samples`, `live` and all strides follow `held`.
//
// Ownership: reference-counted (litho_cube_ref/unref, any thread). Once published to another thread
// a cube is read-only; only its maker writes samples before that. The device copy and the download
// are guarded inside.
typedef struct LithoCube {
    LithoGrid grid;
    LithoBox held;
    float *samples;      // host samples of `held`, or NULL while they exist on a device only
    guint8 *live;        // one byte a trace of `held`: 1 recorded, 0 missing or dead. Never NULL
    LithoBuffer *device; // device samples of `held`, or NULL; owned
    LithoSurvey *survey; // the file the traces came from (headers for writing), or NULL; owned
    GPtrArray *notes;    // sentences worth showing (assumptions, repairs); never NULL; owned
    char name[128];      // for titles: file name or synth name

    // Of the largest magnitudes of its live traces that are not zero, the largest and the median,
    // each rounded down to a power of two. 0 = not known, or all are zero.
    float loudest, loudness;

    guint64 serial;   // unique per cube; says "other data" to caches
    guint64 source; // the serial of one of several cubes that hold equal samples where their boxes
                    // overlap: parts of one input, and what a step makes of them. 0 = not known
    gint refs;        // atomic
    gboolean fetched; // `samples` came from the device: their memory serves the next result
    const struct LithoBackend *pinned; // that has pinned the memory of `samples`, or NULL
    GMutex device_lock;                // guards samples/device transitions
} LithoCube;

// A cube covering all of `grid`, samples zero, all traces live. NULL when the memory does not
// suffice or the grid is not valid. Thread-safety: any thread.
LithoCube *litho_cube_new(const LithoGrid *grid, GError **error);
// A new cube that covers `held` only.
LithoCube *litho_cube_new_box(const LithoGrid *grid, LithoBox held, GError **error);
// Without host samples: they come from `device`, which the cube takes over (may be NULL and set
// later by its maker).
LithoCube *litho_cube_new_device(const LithoGrid *grid, LithoBox held, LithoBuffer *device,
                                 GError **error);
LithoCube *litho_cube_ref(const LithoCube *cube);
void litho_cube_unref(LithoCube *cube); // NULL is fine
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoCube, litho_cube_unref)

// The name takes as many whole letters of `name` as there is room for.
void litho_cube_set_name(LithoCube *cube, const char *name);
// Copies name, notes, survey and live mask (where the boxes overlap) from `from`: what an
// operator's output inherits from its input.
void litho_cube_inherit(LithoCube *cube, const LithoCube *from);
// Copies the notes alone: for traces that are others than those of `from`, as an image's are.
void litho_cube_inherit_notes(LithoCube *cube, const LithoCube *from);
// Adds to `notes` (NULL = nobody asks) copies of the notes of `cube` that neither they nor `from`
// (may be NULL) have: what was told of a result beyond its input.
void litho_cube_tell_notes(const LithoCube *cube, const LithoCube *from, GPtrArray *notes);
void litho_cube_note(LithoCube *cube, const char *format, ...) G_GNUC_PRINTF(2, 3);

// A new serial and no source: its maker has written samples again, and caches must not take the
// cube for what it was. The device copy, if any, is left alone.
void litho_cube_touch(LithoCube *cube);

// Host samples, downloaded from the device at the first call. Stays valid as long as the cube.
// NULL on a device failure. Any thread; may block for the transfer.
const float *litho_cube_host(const LithoCube *cube, GError **error);

// Gives device memory back once the host has the samples; nothing otherwise. No pass may be using
// the cube.
void litho_cube_leave_device(LithoCube *cube);

// Traces of `held`: index of (i, j) in grid indices, and the samples of that trace (host).
gint64 litho_cube_trace_index(const LithoCube *cube, gint64 i, gint64 j);
float *litho_cube_trace(const LithoCube *cube, gint64 i, gint64 j);
gboolean litho_cube_is_live(const LithoCube *cube, gint64 i, gint64 j);
gint64 litho_cube_count_live(const LithoCube *cube);
gint64 litho_cube_held_samples(const LithoCube *cube);

// A new host cube with the samples of `box` (must lie inside `held`).
LithoCube *litho_cube_copy_box(const LithoCube *cube, LithoBox box, GError **error);
// litho_cube_copy_box() of whole traces. Of a cube that is on a device only, no more than these are
// downloaded; it stays there.
LithoCube *litho_cube_fetch_traces(const LithoCube *cube, LithoBox box, GError **error);
// Copies the overlap of the two cubes' held boxes, samples and live mask, host to host.
void litho_cube_paste(LithoCube *to, const LithoCube *from);
