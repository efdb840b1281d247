// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/similarity_maps.h"

#include "core/similarity.h"
#include "ui/session/newest.h"

struct LithoSimilarityMaps {
    void (*changed)(gpointer owner);
    gpointer owner;
    LithoNewest *question;
    LithoCube *map[3]; // across each axis, or NULL
};

typedef struct Question {
    LithoCube *in, *out;
    LithoBox box[3];
} Question;

typedef struct Answer {
    LithoCube *map[3];
} Answer;

static void question_free(gpointer data)
{
    Question *q = data;
    litho_cube_unref(q->in);
    litho_cube_unref(q->out);
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
    gboolean ok = litho_cube_host(q->in, error) && litho_cube_host(q->out, error);
    for (int a = 0; ok && a < 3; a++)
        if (!litho_box_empty(q->box[a]))
            ok =
                litho_similarity(q->in, q->out, q->box[a], NULL, run, &answer->map[a], NULL, error);
    if (ok)
        return answer;
    answer_free(answer);
    return NULL;
}

static void maps_made(gpointer result, const GError *error, gpointer data, gpointer owner)
{
    LithoSimilarityMaps *maps = owner;
    Answer *answer = result;
    (void)data, (void)error; // without a map the section stands alone
    for (int a = 0; answer && a < 3; a++) {
        litho_cube_unref(maps->map[a]);
        maps->map[a] = g_steal_pointer(&answer->map[a]);
    }
    answer_free(answer);
    maps->changed(maps->owner);
}

void litho_similarity_maps_ask(LithoSimilarityMaps *maps, LithoCube *in, LithoCube *out,
                               const gint64 slice[3])
{
    Question *q = g_new0(Question, 1);
    q->in = litho_cube_ref(in);
    q->out = litho_cube_ref(out);
    for (int a = 0; a < 3; a++)
        q->box[a] = litho_box_slice(&in->grid, a, slice[a]);
    litho_newest_ask(maps->question, q);
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
