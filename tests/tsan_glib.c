// SPDX-License-Identifier: GPL-3.0-or-later
//
// Linked into tests of the thread-sanitizer build only. GLib's locks sit on futexes, which the
// sanitizer cannot see: everything guarded by a GMutex would look like a race. These definitions
// take the place of GLib's and sit on pthreads, which it can see.
#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <stdlib.h>

static gpointer made(gpointer *at, gpointer (*make)(void), void (*drop)(gpointer))
{
    gpointer object = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (object)
        return object;
    gpointer fresh = make();
    if (__atomic_compare_exchange_n(at, &object, fresh, FALSE, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return fresh;
    drop(fresh);
    return object;
}

static gpointer make_mutex(void)
{
    pthread_mutex_t *mutex = malloc(sizeof *mutex);
    pthread_mutex_init(mutex, NULL);
    return mutex;
}

static void drop_mutex(gpointer mutex)
{
    pthread_mutex_destroy(mutex);
    free(mutex);
}

static gpointer make_cond(void)
{
    pthread_cond_t *cond = malloc(sizeof *cond);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
    return cond;
}

static void drop_cond(gpointer cond)
{
    pthread_cond_destroy(cond);
    free(cond);
}

static pthread_mutex_t *mutex_of(GMutex *mutex)
{
    return made(&mutex->p, make_mutex, drop_mutex);
}

static pthread_cond_t *cond_of(GCond *cond)
{
    return made(&cond->p, make_cond, drop_cond);
}

void g_mutex_init(GMutex *mutex)
{
    mutex->p = make_mutex();
}

void g_mutex_clear(GMutex *mutex)
{
    if (mutex->p)
        drop_mutex(mutex->p);
    mutex->p = NULL;
}

void g_mutex_lock(GMutex *mutex)
{
    pthread_mutex_lock(mutex_of(mutex));
}

gboolean g_mutex_trylock(GMutex *mutex)
{
    return pthread_mutex_trylock(mutex_of(mutex)) == 0;
}

void g_mutex_unlock(GMutex *mutex)
{
    pthread_mutex_unlock(mutex_of(mutex));
}

void g_cond_init(GCond *cond)
{
    cond->p = make_cond();
}

void g_cond_clear(GCond *cond)
{
    if (cond->p)
        drop_cond(cond->p);
    cond->p = NULL;
}

void g_cond_signal(GCond *cond)
{
    pthread_cond_signal(cond_of(cond));
}

void g_cond_broadcast(GCond *cond)
{
    pthread_cond_broadcast(cond_of(cond));
}

void g_cond_wait(GCond *cond, GMutex *mutex)
{
    pthread_cond_wait(cond_of(cond), mutex_of(mutex));
}

gboolean g_cond_wait_until(GCond *cond, GMutex *mutex, gint64 end)
{
    struct timespec until = {.tv_sec = end / G_USEC_PER_SEC,
                             .tv_nsec = end % G_USEC_PER_SEC * 1000};
    return pthread_cond_timedwait(cond_of(cond), mutex_of(mutex), &until) != ETIMEDOUT;
}
