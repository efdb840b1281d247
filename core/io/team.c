// SPDX-License-Identifier: GPL-3.0-or-later
#include <gio/gio.h>

#include "core/io/team.h"

#include "core/run.h"

gboolean litho_team_take(LithoTeam *team, gint64 step, gint64 n, gint64 *from)
{
    if (__atomic_load_n(&team->stopped, __ATOMIC_RELAXED))
        return FALSE;
    *from = __atomic_fetch_add(&team->next, step, __ATOMIC_RELAXED);
    return *from < n;
}

void litho_team_stop(LithoTeam *team)
{
    __atomic_store_n(&team->stopped, 1, __ATOMIC_RELAXED);
}

void litho_team_fail(LithoTeam *team, GError *failure)
{
    if (!failure)
        return;
    litho_team_stop(team);
    GError *none = NULL;
    if (!__atomic_compare_exchange_n(&team->failure, &none, failure, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        g_error_free(failure);
}

gboolean litho_team_end(LithoTeam *team, GError **error)
{
    if (team->failure) {
        g_propagate_error(error, g_steal_pointer(&team->failure));
        return FALSE;
    }
    // Asked once: a caller who has changed their mind since must not get half a result.
    return !team->stopped || litho_run_stopped(error);
}

// --- threads ----------------------------------------------------------------------------------

typedef struct Loop {
    int refs; // of the caller and of each thread asked for; atomic
    LithoTeamShare share;
    gpointer data;
    GMutex lock; // guards the rest
    GCond ended;
    gboolean closed; // the caller has done its share: nobody begins any more
    int running;
} Loop;

static void loop_unref(Loop *loop)
{
    if (!g_atomic_int_dec_and_test(&loop->refs))
        return;
    g_mutex_clear(&loop->lock);
    g_cond_clear(&loop->ended);
    g_free(loop);
}

static void join_loop(gpointer data, gpointer unused)
{
    Loop *loop = data;
    (void)unused;
    g_mutex_lock(&loop->lock);
    const gboolean joins = !loop->closed;
    loop->running += joins;
    g_mutex_unlock(&loop->lock);
    if (joins) {
        loop->share(loop->data, FALSE);
        g_mutex_lock(&loop->lock);
        loop->running--;
        g_cond_signal(&loop->ended);
        g_mutex_unlock(&loop->lock);
    }
    loop_unref(loop);
}

void litho_team_run(int threads, LithoTeamShare share, gpointer data)
{
    static gsize ready;
    static GThreadPool *pool; // its threads end when they have been idle for some seconds
    if (threads <= 1) {
        share(data, TRUE);
        return;
    }
    if (g_once_init_enter(&ready)) {
        pool = g_thread_pool_new(join_loop, NULL, -1, FALSE, NULL);
        g_once_init_leave(&ready, 1);
    }
    Loop *loop = g_new0(Loop, 1);
    *loop = (Loop){.refs = threads, .share = share, .data = data};
    g_mutex_init(&loop->lock);
    g_cond_init(&loop->ended);
    for (int k = 1; k < threads; k++) // where no thread can be made, the task waits for another one
        g_thread_pool_push(pool, loop, NULL);
    share(data, TRUE);
    g_mutex_lock(&loop->lock);
    loop->closed = TRUE;
    while (loop->running > 0)
        g_cond_wait(&loop->ended, &loop->lock);
    g_mutex_unlock(&loop->lock);
    loop_unref(loop);
}
