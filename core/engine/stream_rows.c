// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/stream_rows.h"

gboolean litho_stream_send(LithoPeers *peers, const LithoCube *slab, LithoRun *run, GError **error)
{
    const gint64 traces = litho_box_size(slab->held, 0) * litho_box_size(slab->held, 1);
    return litho_peers_send(peers, slab->samples, litho_cube_held_samples(slab) * sizeof(float), 0,
                            run, error) &&
           litho_peers_send(peers, slab->live, traces, 0, run, error);
}

gboolean litho_stream_wait_for_first(LithoPeers *peers, LithoRun *run, GError **error)
{
    char word = 0;
    if (peers->rank > 0)
        return litho_peers_receive(peers, &word, sizeof word, 0, run, error);
    for (int to = 1; to < peers->n; to++)
        if (!litho_peers_send(peers, &word, sizeof word, to, run, error))
            return FALSE;
    return TRUE;
}

LithoCube *litho_stream_receive(LithoPeers *peers, const LithoStreamPlan *plan, gint64 slab,
                                int from, LithoRun *run, GError **error)
{
    const LithoBox box = litho_stream_slab_box(plan, slab);
    const gint64 traces = litho_box_size(box, 0) * litho_box_size(box, 1);
    LithoCube *cube = litho_cube_new_box(&plan->out, box, error);
    if (cube &&
        litho_peers_receive(peers, cube->samples, litho_box_count(box) * sizeof(float), from, run,
                            error) &&
        litho_peers_receive(peers, cube->live, traces, from, run, error))
        return cube;
    litho_cube_unref(cube);
    return NULL;
}

gboolean litho_stream_put_inlines(const LithoCube *inlines, LithoWriter *writer,
                                  LithoJournal *journal, LithoRun *run, GError **error)
{
    LithoRun quiet = run ? *run : (LithoRun){0};
    quiet.on_progress = NULL; // of slabs, not of the traces of one
    quiet.threads = 0;        // as many as the file takes the blocks of
    if (!litho_writer_put(writer, inlines, &quiet, error))
        return FALSE;
    if (journal)
        litho_journal_mark(journal, writer);
    return TRUE;
}

gboolean litho_stream_put(const LithoStreamPlan *plan, gint64 slab, const LithoCube *cube,
                          LithoWriter *writer, LithoJournal *journal, LithoCube **row,
                          LithoRun *run, GError **error)
{
    if (plan->columns == 1)
        return litho_stream_put_inlines(cube, writer, journal, run, error);
    if (!*row)
        *row = litho_cube_new_box(&plan->out, litho_stream_row_box(plan, slab), error);
    if (!*row)
        return FALSE;
    litho_cube_paste(*row, cube);
    if (slab % plan->columns < plan->columns - 1) {
        if (journal)
            litho_journal_keep(journal, cube);
        return TRUE;
    }
    const gboolean ok = litho_stream_put_inlines(*row, writer, journal, run, error);
    g_clear_pointer(row, litho_cube_unref);
    return ok;
}

gint64 litho_stream_take_kept(const LithoStreamPlan *plan, LithoJournal *journal, LithoCube **row)
{
    const gint64 most = MIN((gint64)litho_journal_pieces(journal), plan->columns - 1);
    gint64 kept = 0;
    if (most > 0)
        *row = litho_cube_new_box(&plan->out, litho_stream_row_box(plan, 0), NULL);
    for (; *row && kept < most; kept++) {
        g_autoptr(LithoCube) piece = litho_journal_piece(journal, (guint)kept, &plan->out,
                                                         litho_stream_slab_box(plan, kept));
        if (!piece)
            break;
        litho_cube_paste(*row, piece);
    }
    return kept;
}
