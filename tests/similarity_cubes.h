// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <math.h>

#include "core/backend.h"
#include "core/qc.h"
#include "core/similarity.h"
#include "tests/common.h"

// An event below noise, of which a part leaves, a mute above, a tenth of the traces absent, and
// some samples that are not finite.
static inline void similarity_pair(gint64 n1, gint64 n2, gint64 n3, LithoCube **in, LithoCube **out)
{
    *in = test_random_cube(n1, n2, n3, 11, TRUE);
    *out = litho_cube_copy_box(*in, (*in)->held, NULL);
    for (gint64 i = 0; i < n1; i++)
        for (gint64 j = 0; j < n2; j++)
            for (gint64 t = 0; t < n3; t++) {
                const double event = 0.5 * sin(0.7 * t + 0.2 * i - 0.1 * j);
                const double kept = t < 12 ? 0 : event * (i > n1 / 2 ? 1 : 0.7);
                litho_cube_trace(*in, i, j)[t] =
                    t < 12 ? 0 : (float)(event + 0.3 * litho_cube_trace(*in, i, j)[t]);
                litho_cube_trace(*out, i, j)[t] = (float)kept;
            }
    (*in)->samples[n1 * n2 * n3 / 2] = NAN;
    (*out)->samples[n1 * n2 * n3 / 3] = INFINITY;
}

// The samples of `box` of `host`, in a buffer of the backend and nowhere else.
static inline LithoCube *similarity_device_cube(const LithoBackend *backend, const LithoCube *host,
                                                LithoBox box)
{
    g_autoptr(LithoCube) part = litho_cube_copy_box(host, box, NULL);
    LithoBuffer *buffer = backend->alloc(0, litho_box_count(box), NULL);
    g_assert_nonnull(buffer);
    g_assert_true(backend->upload(buffer, 0, part->samples, buffer->count, NULL));
    LithoCube *cube = litho_cube_new_device(&host->grid, box, buffer, NULL);
    litho_cube_inherit(cube, host);
    return cube;
}
