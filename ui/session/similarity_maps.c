// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/similarity_maps.h"

#include <string.h>

#include "ui/session/newest.h"

// Cubes and slice of a map.
typedef struct Subject {
    guint64 in, out; // serials of the cubes; `out` 0 where the run of `beside` has its own
    guint64 beside;  // litho_beside_serial(); 0 = noise counts
    gint64 slice;
    LithoSimilarityWidths widths;
} Subject;

struct LithoSimilarityMaps {
    void (*changed)(gpointer owner);
    gpointer owner;
    LithoNewest *question;
    LithoSimilarityWidths widths;
    LithoCube *map[3]; // across each axis, or NULL
    LithoBox whole[3]; // the slices that they are of, beyond what was judged as well
    Subject of[3];
    double wish_ms; // of the newest answer; 0 = drawn
    double last_ms;
    guint n_drawn;
};

typedef struct Question {
    LithoCube *in, *out[3]; // out: NULL = nothing is asked for
    LithoBeside *beside;    // or NULL
    Subject of[3];
    LithoBox box[3];
    double wish_ms;
} Question;

typedef struct Answer {
    LithoCube *map[3];
} Answer;

static void question_free(gpointer data)
{
    Question *q = data;
    litho_cube_unref(q->in);
    litho_beside_unref(q->beside);
    for (int a = 0; a < 3; a++)
        litho_cube_unref(q->out[a]);
    g_free(q);
}

static void answer_free(gpointer data)
{
    Answer *answer = data;
    for (int a = 0; answer && a < 3; a++)
        litho_cube_unref(answer->map[a]);
    g_free(answer);
}

static gboolean make_map(const Question *q, int a, LithoRun *run, LithoCube **map, GError **error)
{
    const LithoSimilarityWidths *widths = &q->of[a].widths;
    return q->of[a].beside ? litho_beside_map(q->beside, q->box[a], widths, run, map, error)
                           : litho_similarity(q->in, q->out[a], q->box[a], widths, run, map, error);
}

static gpointer make_maps(LithoRun *run, gpointer data, GError **error)
{
    Question *q = data;
    Answer *answer = g_new0(Answer, 1);
    gboolean ok = TRUE;
    for (int a = 0; ok && a < 3; a++)
        if (q->out[a])
            ok = make_map(q, a, run, &answer->map[a], error);
    if (ok)
        return answer;
    answer_free(answer);
    return NULL;
}

static void maps_made(gpointer result, const GError *error, gpointer data, gpointer owner)
{
    LithoSimilarityMaps *maps = owner;
    Answer *answer = result;
    const Question *q = data;
    (void)error; // without a map the section stands alone
    for (int a = 0; answer && a < 3; a++) {
        if (!answer->map[a])
            continue;
        litho_cube_unref(maps->map[a]);
        maps->map[a] = g_steal_pointer(&answer->map[a]);
        maps->of[a] = q->of[a];
        maps->whole[a] = q->box[a];
        maps->wish_ms = q->wish_ms;
    }
    answer_free(answer);
    maps->changed(maps->owner);
}

// A slice that the judged part does not reach has nothing beside which it can be told.
static Subject subject_of(const LithoSimilarityMaps *maps, const Question *q, const LithoCube *out,
                          gint64 slice, LithoBox box)
{
    const gboolean beside = !litho_box_empty(litho_beside_part(q->beside, box));
    return (Subject){.in = q->in->serial,
                     .out = beside ? 0 : out->serial,
                     .beside = beside ? litho_beside_serial(q->beside) : 0,
                     .slice = slice,
                     .widths = maps->widths};
}

void litho_similarity_maps_ask(LithoSimilarityMaps *maps, LithoCube *in, LithoCube *const out[3],
                               LithoBeside *beside, const gint64 slice[3], double wish_ms)
{
    Question *q = g_new0(Question, 1);
    gboolean any = FALSE;
    q->in = litho_cube_ref(in);
    q->beside = beside ? litho_beside_ref(beside) : NULL;
    q->wish_ms = wish_ms;
    for (int a = 0; a < 3; a++) {
        if (!out[a])
            continue;
        q->box[a] = litho_box_slice(&in->grid, a, slice[a]);
        q->of[a] = subject_of(maps, q, out[a], slice[a], q->box[a]);
        if (maps->map[a] && memcmp(&q->of[a], &maps->of[a], sizeof q->of[a]) == 0)
            continue;
        q->out[a] = litho_cube_ref(out[a]);
        any = TRUE;
    }
    if (any)
        litho_newest_ask(maps->question, q);
    else
        question_free(q);
}

void litho_similarity_maps_set_widths(LithoSimilarityMaps *maps, LithoSimilarityWidths widths)
{
    maps->widths = widths;
}

void litho_similarity_maps_drawn(LithoSimilarityMaps *maps)
{
    if (maps->wish_ms <= 0)
        return;
    maps->last_ms = litho_now_ms() - maps->wish_ms;
    maps->wish_ms = 0;
    maps->n_drawn++;
}

guint litho_similarity_maps_latency(const LithoSimilarityMaps *maps, double *last_ms)
{
    *last_ms = maps->last_ms;
    return maps->n_drawn;
}

void litho_similarity_maps_forget(LithoSimilarityMaps *maps)
{
    litho_newest_forget(maps->question);
    for (int a = 0; a < 3; a++)
        g_clear_pointer(&maps->map[a], litho_cube_unref);
}

LithoCube *litho_similarity_maps_get(const LithoSimilarityMaps *maps, int axis, LithoBox slice)
{
    LithoCube *map = maps->map[axis];
    return map && litho_box_contains(maps->whole[axis], slice) ? map : NULL;
}

gboolean litho_similarity_maps_is_beside(const LithoSimilarityMaps *maps, int axis)
{
    return maps->map[axis] && maps->of[axis].beside != 0;
}

LithoSimilarityMaps *litho_similarity_maps_new(void (*changed)(gpointer owner), gpointer owner)
{
    static const LithoNewestFuncs funcs = {make_maps, maps_made, question_free, answer_free};
    LithoSimilarityMaps *maps = g_new0(LithoSimilarityMaps, 1);
    maps->changed = changed;
    maps->owner = owner;
    maps->question = litho_newest_new(&funcs, maps);
    return maps;
}

void litho_similarity_maps_free(LithoSimilarityMaps *maps)
{
    if (!maps)
        return;
    litho_similarity_maps_forget(maps);
    litho_newest_free(maps->question);
    g_free(maps);
}
