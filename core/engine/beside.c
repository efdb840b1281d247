// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/beside.h"

#include <string.h>

struct LithoBeside {
    gint refs; // atomic
    LithoGrid survey;
    LithoCube *in, *out, *probe, *moved;
    LithoBox area; // of the survey
    gint64 shift[3];
    LithoSimilarityNoise noise;
};

// `box` of one grid on another one, whose first sample lies `shift` samples further.
static LithoBox moved_by(LithoBox box, const gint64 shift[3], int sign)
{
    for (int axis = 0; axis < 3; axis++) {
        box.lo[axis] += sign * shift[axis];
        box.hi[axis] += sign * shift[axis];
    }
    return box;
}

LithoBeside *litho_beside_new(const LithoBesideMaker *maker)
{
    LithoBeside *beside = g_new0(LithoBeside, 1);
    beside->refs = 1;
    beside->survey = *maker->survey;
    beside->in = litho_cube_ref(maker->in);
    beside->out = litho_cube_ref(maker->out);
    beside->probe = litho_cube_ref(maker->noise.probe);
    beside->moved = litho_cube_ref(maker->noise.moved);
    beside->area = moved_by(maker->area, maker->shift, 1);
    memcpy(beside->shift, maker->shift, sizeof beside->shift);
    beside->noise = maker->noise;
    return beside;
}

LithoBeside *litho_beside_ref(LithoBeside *beside)
{
    g_atomic_int_inc(&beside->refs);
    return beside;
}

void litho_beside_unref(LithoBeside *beside)
{
    if (!beside || !g_atomic_int_dec_and_test(&beside->refs))
        return;
    litho_cube_unref(beside->in);
    litho_cube_unref(beside->out);
    litho_cube_unref(beside->probe);
    litho_cube_unref(beside->moved);
    g_free(beside);
}

guint64 litho_beside_serial(const LithoBeside *beside)
{
    return beside->moved->serial;
}

LithoBox litho_beside_part(const LithoBeside *beside, LithoBox box)
{
    return beside ? litho_box_intersect(box, beside->area) : (LithoBox){{0}, {0}};
}

// Where the flow was given a cube of its own, the map moves to the survey's grid.
static LithoCube *on_survey(const LithoBeside *beside, const LithoCube *map, GError **error)
{
    LithoCube *cube =
        litho_cube_new_box(&beside->survey, moved_by(map->held, beside->shift, 1), error);
    if (!cube)
        return NULL;
    const gint64 traces = litho_box_size(map->held, 0) * litho_box_size(map->held, 1);
    memcpy(cube->samples, map->samples, (gsize)litho_box_count(map->held) * sizeof(float));
    memcpy(cube->live, map->live, (gsize)traces * sizeof *cube->live);
    litho_cube_set_name(cube, map->name);
    return cube;
}

gboolean litho_beside_map(const LithoBeside *beside, LithoBox box,
                          const LithoSimilarityWidths *widths, LithoRun *run, LithoCube **map,
                          GError **error)
{
    const LithoBox own = moved_by(litho_beside_part(beside, box), beside->shift, -1);
    g_autoptr(LithoCube) made = NULL;
    if (!litho_similarity_beside(beside->in, beside->out, own, widths, &beside->noise, run, &made,
                                 error))
        return FALSE;
    *map = litho_grid_same_shape(&made->grid, &beside->survey) ? g_steal_pointer(&made)
                                                               : on_survey(beside, made, error);
    return *map != NULL;
}
