// SPDX-License-Identifier: GPL-3.0-or-later
//
// A thread for every GPU of an engine but the first, which has the caller's. A team of OpenMP of as
// many threads would be the caller's own: its next loop over all cores would make their threads
// anew, a millisecond and more every time.
#include "kernels/wavepacket/cuda/multi.h"

struct WpCrew {
    WpMulti *multi;
    GMutex lock;
    GCond begin, end;
    GThread *thread[WP_MAX_PARTS];
    guint64 call; // counts them
    WpPartFunc fn;
    gpointer data;
    int at_work;
    gboolean leaving, ok[WP_MAX_PARTS];
    GError *error[WP_MAX_PARTS];
};

typedef struct Member {
    WpCrew *crew;
    int k;
} Member;

static gpointer member_works(gpointer data)
{
    const Member member = *(Member *)data;
    WpCrew *c = member.crew;
    const int k = member.k;
    guint64 done = 0;
    g_free(data);
    g_mutex_lock(&c->lock);
    for (;;) {
        while (c->call == done && !c->leaving)
            g_cond_wait(&c->begin, &c->lock);
        if (c->leaving)
            break;
        done = c->call;
        const WpPartFunc fn = c->fn;
        gpointer what = c->data;
        g_mutex_unlock(&c->lock);
        const gboolean ok = fn(c->multi, k, what, &c->error[k]);
        g_mutex_lock(&c->lock);
        c->ok[k] = ok;
        if (--c->at_work == 0)
            g_cond_signal(&c->end);
    }
    g_mutex_unlock(&c->lock);
    return NULL;
}

static WpCrew *crew_new(WpMulti *m)
{
    WpCrew *c = g_new0(WpCrew, 1);
    c->multi = m;
    g_mutex_init(&c->lock);
    g_cond_init(&c->begin);
    g_cond_init(&c->end);
    for (int k = 1; k < m->n; k++) {
        Member *member = g_new(Member, 1);
        *member = (Member){c, k};
        c->thread[k] = g_thread_new("wavepacket-part", member_works, member);
    }
    return c;
}

gboolean wp_all_parts(WpMulti *m, WpPartFunc fn, gpointer data, GError **error)
{
    if (!m->crew)
        m->crew = crew_new(m);
    WpCrew *c = m->crew;
    g_mutex_lock(&c->lock);
    c->fn = fn;
    c->data = data;
    c->at_work = m->n - 1;
    c->call++;
    g_cond_broadcast(&c->begin);
    g_mutex_unlock(&c->lock);
    c->ok[0] = fn(m, 0, data, &c->error[0]);
    g_mutex_lock(&c->lock);
    while (c->at_work > 0)
        g_cond_wait(&c->end, &c->lock);
    g_mutex_unlock(&c->lock);
    gboolean all = TRUE;
    for (int k = 0; k < m->n; k++) {
        if (!c->ok[k] && all)
            g_propagate_error(error, g_steal_pointer(&c->error[k]));
        else
            g_clear_error(&c->error[k]);
        all &= c->ok[k];
    }
    return all;
}

void wp_multi_free_crew(WpMulti *m)
{
    WpCrew *c = m->crew;
    if (!c)
        return;
    g_mutex_lock(&c->lock);
    c->leaving = TRUE;
    g_cond_broadcast(&c->begin);
    g_mutex_unlock(&c->lock);
    for (int k = 1; k < WP_MAX_PARTS; k++)
        if (c->thread[k])
            g_thread_join(c->thread[k]);
    g_mutex_clear(&c->lock);
    g_cond_clear(&c->begin);
    g_cond_clear(&c->end);
    g_free(c);
    m->crew = NULL;
}
