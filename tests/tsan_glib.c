// SPDX-License-Identifier: GPL-3.0-or-later
//
// Linked into tests of the thread-sanitizer build only. GLib's locks sit on futexes, which the
// sanitizer cannot see: everything guarded by a GMutex would look like a race. These definitions
// take the place of GLib's and sit on pthreads, which it can see.
#include <dlfcn.h>
#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <sanitizer/tsan_interface.h>
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

// --- pools of threads ----------------------------------------------------------------------------
// A pool hands a task over under a lock inside GLib, which stays on a futex: the order between the
// thread that pushes a task and the thread that runs it is told to the sanitizer here.

typedef struct Pool {
    GFunc run;
    gpointer user_data;
} Pool;

static void run_task(gpointer task, gpointer data)
{
    const Pool *pool = data;
    __tsan_acquire(task);
    pool->run(task, pool->user_data);
}

GThreadPool *g_thread_pool_new(GFunc run, gpointer user_data, int threads, gboolean exclusive,
                               GError **error)
{
    GThreadPool *(*next)(GFunc, gpointer, int, gboolean, GError **);
    Pool *pool = g_new(Pool, 1); // as long as the program: pools are few
    *(void **)&next = dlsym(RTLD_NEXT, "g_thread_pool_new");
    *pool = (Pool){run, user_data};
    return next(run_task, pool, threads, exclusive, error);
}

gboolean g_thread_pool_push(GThreadPool *pool, gpointer task, GError **error)
{
    gboolean (*next)(GThreadPool *, gpointer, GError **);
    *(void **)&next = dlsym(RTLD_NEXT, "g_thread_pool_push");
    __tsan_release(task);
    return next(pool, task, error);
}

// The queue of a pool frees its links in the thread that takes a task.
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:g_queue_pop_tail\n";
}
