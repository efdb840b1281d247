// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/pages.h"

#include "core/text.h"
#include "core/walk.h"

// Shares of the memory that may be taken: slices kept, and the input of one view. A slice that
// needs more is computed in strips, if they are not too many, and read no more than so many times
// that memory in all: a minute from a disk, not an hour.
enum { KEEP_SHARE = 4, READ_SHARE = 8, MOST_READ = 2 };

struct LithoPages {
    LithoPager *pager;
    LithoSurvey *survey;
    guint64 memory; // bytes that may be taken in all
};

LithoPages *litho_pages_new(LithoSurvey *survey, guint64 memory, void (*arrived)(gpointer data),
                            gpointer data)
{
    LithoPages *pages = g_new0(LithoPages, 1);
    pages->survey = litho_survey_ref(survey);
    pages->memory = memory;
    pages->pager = litho_pager_new(survey, memory / KEEP_SHARE, arrived, data);
    return pages;
}

void litho_pages_free(LithoPages *pages)
{
    if (!pages)
        return;
    litho_pager_free(pages->pager);
    litho_survey_unref(pages->survey);
    g_free(pages);
}

LithoSurvey *litho_pages_survey(const LithoPages *pages)
{
    return pages->survey;
}

LithoPager *litho_pages_pager(const LithoPages *pages)
{
    return pages->pager;
}

// --- strips -------------------------------------------------------------------------------------

static guint64 need_bytes(const LithoFlow *flow, const LithoGrid *in, LithoBox view, LithoBox *need)
{
    g_autoptr(LithoWalk) walk = litho_walk_look(flow, in, NULL);
    if (!walk || walk->waits)
        return G_MAXUINT64;
    walk->measured = TRUE; // by the worker, before the first view
    *need = litho_walk_want(walk, &view);
    return 4 * (guint64)litho_box_count(*need);
}

// Divides a slice into `n` strips along inlines, an inline along crosslines. FALSE when the input
// of one of them does not fit, or that of all is more than there is patience for.
static gboolean divide(const LithoPages *pages, const LithoFlow *flow, const LithoGrid *in,
                       LithoBox view, guint n, LithoBox *strips, LithoBox *needs)
{
    const int along = litho_box_size(view, LITHO_INLINE) > 1 ? LITHO_INLINE : LITHO_XLINE;
    const gint64 lo = view.lo[along], size = litho_box_size(view, along);
    const guint64 most = MOST_READ * pages->memory;
    guint64 total = 0;
    for (guint k = 0; k < n; k++) {
        strips[k] = view;
        strips[k].lo[along] = lo + size * k / n;
        strips[k].hi[along] = lo + size * (k + 1) / n;
        guint64 bytes = need_bytes(flow, in, strips[k], &needs[k]);
        if (bytes > pages->memory / READ_SHARE || bytes > most - total)
            return FALSE;
        total += bytes;
    }
    return TRUE;
}

guint litho_pages_strips(const LithoPages *pages, const LithoFlow *flow, const LithoGrid *in,
                         LithoBox view, LithoBox strips[LITHO_PAGES_STRIPS],
                         LithoBox needs[LITHO_PAGES_STRIPS])
{
    if (!litho_flow_is_local(flow))
        return 0;
    const gint64 longest =
        MAX(litho_box_size(view, LITHO_INLINE), litho_box_size(view, LITHO_XLINE));
    for (guint n = 1; n <= MIN(LITHO_PAGES_STRIPS, longest); n++)
        if (divide(pages, flow, in, view, n, strips, needs))
            return n;
    return 0;
}

// The first step that takes all or nothing; NULL = there is none.
static const LithoOperator *greedy_step(const LithoFlow *flow)
{
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        if (step->enabled && !litho_operator_is_local(step->op, step->params))
            return step->op;
    }
    return NULL;
}

char *litho_pages_refusal(const LithoFlow *flow)
{
    const LithoOperator *greedy = greedy_step(flow);
    if (!greedy)
        return g_strdup(
            _("The sections on screen need more of the cube at once than memory holds; look at an "
              "inline or a crossline, or save the result, which is computed piece by piece."));
    return g_strdup_printf(
        _("%s works on the whole cube at once, which is larger than the memory: the input "
          "is shown."),
        litho_text(greedy->title));
}
