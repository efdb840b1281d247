// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/similarity_maps.h"

#include <string.h>

#include "ui/session/newest.h"

// Cubes and slice of a map.
typedef struct Subject {
    guint64 in, out; // serials of the cubes
    gint64 slice;
    LithoSimilarityWidths widths;
} Subject;

struct LithoSimilarityMaps {
    void (*changed)(gpointer owner);
    gpointer owner;
    LithoNewest *question;
    LithoSimilarityWidths widths;
    LithoCube *map[3]; // across each axis, or NULL
    Subject of[3];
    double wish_ms; // of the newest answer; 0 = drawn
    double last_ms;
    guint n_drawn;
};

typedef struct Question {
    LithoCube *in, *out[3]; // out: NULL = nothing is asked for
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

static gpointer make_maps(LithoRun *run, gpointer data, GError **error)
{
    Question *q = data;
    Answer *answer = g_new0(Answer, 1);
    gboolean ok = TRUE;
    for (int a = 0; ok && a < 3; a++)
        if (q->out[a])
            ok = litho_similarity(q->in, q->out[a], q->box[a], &q->of[a].widths, run,
                                  &answer->map[a], error);
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
        maps->wish_ms = q->wish_ms;
    }
    answer_free(answer);
    maps->changed(maps->owner);
}

void litho_similarity_maps_ask(LithoSimilarityMaps *maps, LithoCube *in, LithoCube *const out[3],
                               const gint64 slice[3], double wish_ms)
{
    Question *q = g_new0(Question, 1);
    gboolean any = FALSE;
    q->in = litho_cube_ref(in);
    q->wish_ms = wish_ms;
    for (int a = 0; a < 3; a++) {
        if (!out[a])
            continue;
        q->box[a] = litho_box_slice(&in->grid, a, slice[a]);
        q->of[a] = (Subject){in->serial, out[a]->serial, slice[a], maps->widths};
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
    return map && litho_box_contains(map->held, slice) ? map : NULL;
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
