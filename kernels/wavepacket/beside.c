// SPDX-License-Identifier: GPL-3.0-or-later
//
// The level of the noise, measured while the first transform is under way: of thirteen milliseconds
// a pass waits for the first two or three, which tell whether the noise is alike everywhere. Where
// it is not the transform is of samples over the noise's deviation, and comes after the level.
#include "core/error.h"
#include "kernels/wavepacket/apply.h"

struct WpBeside {
    WpJob *job; // its noise and what follows from it are the thread's until that ends
    LithoPass pass;
    LithoRun run;
    GThread *thread;
    GMutex lock; // of the lines below
    GCond changed;
    const LithoCube *clean; // NULL = not there yet
    gboolean dropped, even, done;
    gboolean ok; // the thread's result
    GError *error;
};

static gboolean wait_for_cube(gpointer data, const LithoCube **cube, const guint8 **recorded)
{
    WpBeside *b = data;
    const LithoCube *in = b->pass.in;
    g_mutex_lock(&b->lock);
    while (!b->clean && !b->dropped)
        g_cond_wait(&b->changed, &b->lock);
    const gboolean there = !b->dropped;
    *cube = b->clean;
    g_mutex_unlock(&b->lock);
    *recorded = there && *cube != in ? wp_recorded(in) : NULL;
    return there;
}

static void tell_even(gpointer data)
{
    WpBeside *b = data;
    g_mutex_lock(&b->lock);
    b->even = TRUE;
    g_cond_broadcast(&b->changed);
    g_mutex_unlock(&b->lock);
}

static gpointer measure(gpointer data)
{
    WpBeside *b = data;
    const WpLevelBeside beside = {wait_for_cube, tell_even, b};
    b->ok = wp_measure_noise(b->job, &b->pass, b->pass.in, &beside, &b->run, &b->error);
    if (b->ok)
        wp_prepare_noise(b->job, &b->run);
    g_mutex_lock(&b->lock);
    b->done = TRUE;
    g_cond_broadcast(&b->changed);
    g_mutex_unlock(&b->lock);
    return NULL;
}

void wp_beside_begin(WpJob *job, const LithoPass *pass, const LithoRun *run)
{
    const LithoWavepacketParams *p = pass->params;
    g_assert(!job->beside);
    // The transform of several blocks takes so long that the level hardly matters.
    if (!job->level || job->n_blocks > 1 || p->mode != WP_DENOISE || p->sigma > 0 ||
        pass->measured || wp_noise_is_kept(job, pass))
        return;
    WpBeside *b = job->beside = g_new0(WpBeside, 1);
    b->job = job;
    b->pass = *pass;
    b->run = litho_run_quiet(run);
    g_mutex_init(&b->lock);
    g_cond_init(&b->changed);
    b->thread = g_thread_new("wavepacket-noise", measure, b);
}

gboolean wp_beside_go_on(WpJob *job, const LithoPass *pass, gboolean *even, LithoRun *run,
                         GError **error)
{
    WpBeside *b = job->beside;
    const LithoCube *clean;
    gboolean known;
    *even = FALSE;
    if (!b)
        return TRUE;
    if (!wp_look_up_noise(job, pass, &clean, &known, run, error))
        return FALSE;
    if (known) {
        wp_beside_drop(job);
        return TRUE;
    }
    g_mutex_lock(&b->lock);
    b->clean = clean;
    g_cond_broadcast(&b->changed);
    while (!b->even && !b->done)
        g_cond_wait(&b->changed, &b->lock);
    *even = b->even;
    g_mutex_unlock(&b->lock);
    return TRUE;
}

static void finish(WpBeside *b)
{
    g_thread_join(b->thread);
    b->job->beside = NULL;
    g_mutex_clear(&b->lock);
    g_cond_clear(&b->changed);
}

gboolean wp_beside_end(WpJob *job, GError **error)
{
    g_autofree WpBeside *b = job->beside;
    finish(b);
    if (b->ok && b->even) { // a host that took over from a card without memory may see it otherwise
        litho_noise_map_clear(&job->noise.map);
        litho_noise_map_clear(&job->noise.bands);
    }
    return wp_keep_noise(job, &b->pass, b->clean, b->ok, b->error, error);
}

void wp_beside_drop(WpJob *job)
{
    g_autofree WpBeside *b = job->beside;
    if (!b)
        return;
    g_mutex_lock(&b->lock);
    b->dropped = TRUE;
    g_cond_broadcast(&b->changed);
    g_mutex_unlock(&b->lock);
    finish(b);
    g_clear_error(&b->error);
    if (b->clean) // else the job's noise was not touched
        wp_forget_noise(job);
}
