// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/pager.h"

#include <string.h>

#include "core/error.h"

enum {
    AHEAD = 3,  // neighbours read in advance
    THICK = 16, // samples read with a time slice: one costs what a few cost
    MAX_WANTED = 3 + 3 * (AHEAD + 1),
};

struct LithoPager {
    LithoSurvey *survey;
    guint64 budget;
    void (*arrived)(gpointer data);
    gpointer data;
    GPtrArray *parts; // of LithoCube, least recently wanted first
    guint64 stamp, dropped;
    gint64 last[3]; // slices of the last want, -1 = none
    char *problem;

    GThread *thread;
    GMutex lock; // guards the rest
    GCond cond;
    LithoBox wanted[MAX_WANTED]; // not yet read, most important first
    guint n_wanted;
    LithoBox reading;
    gboolean busy, quit, posted;
    GCancellable *cancel; // of the read under way; NULL = none is
    GPtrArray *fresh;     // of LithoCube: read, not yet fetched
    GError *error;        // of a failed read, not yet fetched
};

static guint64 bytes_of(const LithoCube *cube)
{
    return 4 * (guint64)litho_cube_held_samples(cube);
}

// --- the thread ---------------------------------------------------------------------------------

static gboolean fetch(gpointer data)
{
    LithoPager *self = data;
    g_mutex_lock(&self->lock);
    self->posted = FALSE;
    for (guint k = 0; k < self->fresh->len; k++)
        g_ptr_array_add(self->parts, litho_cube_ref(g_ptr_array_index(self->fresh, k)));
    self->stamp += self->fresh->len;
    g_ptr_array_set_size(self->fresh, 0);
    g_autoptr(GError) error = g_steal_pointer(&self->error);
    g_mutex_unlock(&self->lock);
    g_free(self->problem);
    self->problem = error ? g_strdup(error->message) : NULL;
    // The slice wanted longest ago goes first; the newest always stays.
    guint64 kept = litho_pager_bytes(self);
    while (kept > self->budget && self->parts->len > 3) {
        kept -= bytes_of(g_ptr_array_index(self->parts, 0));
        g_ptr_array_remove_index(self->parts, 0);
        self->dropped++;
    }
    self->arrived(self->data);
    return G_SOURCE_REMOVE;
}

// Call with the lock held.
static void post(LithoPager *self)
{
    if (!self->posted && !self->quit)
        g_idle_add_full(G_PRIORITY_DEFAULT, fetch, self, NULL);
    self->posted = TRUE;
}

static void read_one(LithoPager *self, LithoBox box, GCancellable *cancel)
{
    LithoRun run = {.cancel = cancel};
    GError *error = NULL;
    LithoCube *cube = litho_survey_read(self->survey, &box, &run, &error);
    g_mutex_lock(&self->lock);
    if (cube)
        g_ptr_array_add(self->fresh, cube);
    else if (!litho_error_is_cancelled(error) && !self->error)
        self->error = g_steal_pointer(&error);
    post(self);
    g_mutex_unlock(&self->lock);
    g_clear_error(&error);
}

static gpointer pager_main(gpointer data)
{
    LithoPager *self = data;
    g_mutex_lock(&self->lock);
    while (!self->quit) {
        if (self->n_wanted == 0) {
            self->busy = FALSE;
            g_cond_wait(&self->cond, &self->lock);
            continue;
        }
        self->reading = self->wanted[0];
        memmove(self->wanted, self->wanted + 1, --self->n_wanted * sizeof *self->wanted);
        self->busy = TRUE;
        self->cancel = g_cancellable_new();
        GCancellable *cancel = g_object_ref(self->cancel);
        g_mutex_unlock(&self->lock);
        read_one(self, self->reading, cancel);
        g_object_unref(cancel);
        g_mutex_lock(&self->lock);
        g_clear_object(&self->cancel);
    }
    self->busy = FALSE;
    g_mutex_unlock(&self->lock);
    return NULL;
}

// --- wanting ------------------------------------------------------------------------------------

static gboolean is_there(LithoPager *self, LithoBox box)
{
    for (guint k = 0; k < self->parts->len; k++)
        if (litho_box_contains(((LithoCube *)g_ptr_array_index(self->parts, k))->held, box))
            return TRUE;
    return FALSE;
}

// A time slice brings its neighbours along, as far as they fit.
static LithoBox box_to_read(LithoPager *self, int axis, gint64 index)
{
    const LithoGrid *grid = litho_survey_grid(self->survey);
    LithoBox box = litho_box_slice(grid, axis, index);
    if (axis != LITHO_SAMPLE)
        return box;
    gint64 fits = (gint64)(self->budget / 8 / MAX(4 * litho_box_count(box), 1));
    gint64 thick = CLAMP(fits, 1, THICK), from = index / thick * thick;
    box.lo[2] = from;
    box.hi[2] = MIN(from + thick, grid->axis[2].n);
    return box;
}

static void add_wanted(LithoPager *self, GArray *list, int axis, gint64 index)
{
    const LithoGrid *grid = litho_survey_grid(self->survey);
    if (index < 0 || index >= grid->axis[axis].n ||
        is_there(self, litho_box_slice(grid, axis, index)))
        return;
    LithoBox box = box_to_read(self, axis, index);
    for (guint k = 0; k < list->len; k++)
        if (litho_box_equal(g_array_index(list, LithoBox, k), box))
            return;
    if (list->len < MAX_WANTED)
        g_array_append_val(list, box);
}

// A slice that is looked at moves to the end of the list: it is given up last.
static void refresh(LithoPager *self, LithoBox box)
{
    for (guint k = 0; k < self->parts->len; k++) {
        LithoCube *cube = g_ptr_array_index(self->parts, k);
        if (!litho_box_contains(cube->held, box))
            continue;
        g_ptr_array_steal_index(self->parts, k);
        g_ptr_array_add(self->parts, cube);
        return;
    }
}

void litho_pager_want(LithoPager *self, const gint64 slice[3], const int *axes, guint n)
{
    const LithoGrid *grid = litho_survey_grid(self->survey);
    g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(LithoBox));
    for (guint k = 0; k < n; k++)
        add_wanted(self, list, axes[k], slice[axes[k]]);
    for (guint k = 0; k < n; k++) // in front of the eyes last, so that they stay longest
        refresh(self, litho_box_slice(grid, axes[n - 1 - k], slice[axes[n - 1 - k]]));
    for (guint k = 0; k < n; k++) {
        int a = axes[k];
        gint64 step = slice[a] < self->last[a] ? -1 : 1;
        // Time slices are read thick as it is.
        for (int m = 1; a != LITHO_SAMPLE && self->last[a] != slice[a] && m <= AHEAD; m++)
            add_wanted(self, list, a, slice[a] + m * step);
    }
    memcpy(self->last, slice, sizeof self->last);
    g_mutex_lock(&self->lock);
    gboolean of_use = FALSE;
    // A read that has been told to stop brings nothing, even if it is wanted again by now.
    gboolean alive = self->cancel && !g_cancellable_is_cancelled(self->cancel);
    for (guint k = 0; alive && k < list->len; k++)
        if (litho_box_equal(g_array_index(list, LithoBox, k), self->reading)) {
            of_use = TRUE; // on its way already
            g_array_remove_index(list, k);
            break;
        }
    self->n_wanted = list->len;
    for (guint k = 0; k < list->len; k++) // a list of none has no data
        self->wanted[k] = g_array_index(list, LithoBox, k);
    if (self->cancel && !of_use && list->len > 0)
        g_cancellable_cancel(self->cancel);
    if (list->len > 0)
        self->busy = TRUE;
    g_cond_signal(&self->cond);
    g_mutex_unlock(&self->lock);
}

// --- asking -------------------------------------------------------------------------------------

const GPtrArray *litho_pager_parts(LithoPager *self, guint64 *stamp, guint64 *dropped)
{
    *stamp = self->stamp;
    *dropped = self->dropped;
    return self->parts;
}

LithoCube *litho_pager_find(LithoPager *self, const gint64 at[3])
{
    LithoBox one = {{at[0], at[1], at[2]}, {at[0] + 1, at[1] + 1, at[2] + 1}};
    for (guint k = self->parts->len; k-- > 0;) {
        LithoCube *cube = g_ptr_array_index(self->parts, k);
        if (litho_box_contains(cube->held, one))
            return cube;
    }
    return NULL;
}

gboolean litho_pager_is_busy(LithoPager *self)
{
    g_mutex_lock(&self->lock);
    gboolean busy = self->busy || self->posted;
    g_mutex_unlock(&self->lock);
    return busy;
}

guint64 litho_pager_bytes(LithoPager *self)
{
    guint64 sum = 0;
    for (guint k = 0; k < self->parts->len; k++)
        sum += bytes_of(g_ptr_array_index(self->parts, k));
    return sum;
}

const char *litho_pager_problem(LithoPager *self)
{
    return self->problem;
}

// --- life ---------------------------------------------------------------------------------------

LithoPager *litho_pager_new(LithoSurvey *survey, guint64 budget, void (*arrived)(gpointer data),
                            gpointer data)
{
    LithoPager *self = g_new0(LithoPager, 1);
    self->survey = litho_survey_ref(survey);
    self->budget = budget;
    self->arrived = arrived;
    self->data = data;
    self->parts = g_ptr_array_new_with_free_func((GDestroyNotify)litho_cube_unref);
    self->fresh = g_ptr_array_new_with_free_func((GDestroyNotify)litho_cube_unref);
    self->last[0] = self->last[1] = self->last[2] = -1;
    g_mutex_init(&self->lock);
    g_cond_init(&self->cond);
    self->thread = g_thread_new("litho-pager", pager_main, self);
    return self;
}

void litho_pager_free(LithoPager *self)
{
    if (!self)
        return;
    g_mutex_lock(&self->lock);
    self->quit = TRUE;
    self->n_wanted = 0;
    if (self->cancel)
        g_cancellable_cancel(self->cancel);
    g_cond_signal(&self->cond);
    g_mutex_unlock(&self->lock);
    g_thread_join(self->thread);
    while (g_source_remove_by_user_data(self)) // a fetch on its way
        ;
    g_clear_object(&self->cancel);
    g_clear_error(&self->error);
    g_ptr_array_unref(self->parts);
    g_ptr_array_unref(self->fresh);
    g_free(self->problem);
    litho_survey_unref(self->survey);
    g_mutex_clear(&self->lock);
    g_cond_clear(&self->cond);
    g_free(self);
}
