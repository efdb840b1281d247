// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cube.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/backend.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/origin.h"
#include "core/text.h"

static guint64 next_serial(void)
{
    static guint64 serial;
    return __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED);
}

// Zeroed lazily by the system: pages of a large cube that nobody touches cost nothing. Large pages
// where the system has them: a cube filled at memory speed would else spend most of its time on
// page faults (356 MB are 87,000 small pages).
static float *samples_new(gint64 count)
{
    float *samples = g_try_malloc0_n(MAX(count, 1), sizeof(float));
    litho_memory_large_pages(samples, (gsize)MAX(count, 1) * sizeof(float));
    return samples;
}

// --- memory of results --------------------------------------------------------------------------

// Results that come from a device one after the other are of equal size while a slider moves or a
// survey passes slab by slab. Fresh memory would be handed out and zeroed by the system page by
// page, which takes longer than the bus does; so the memory of the last ones is kept until a result
// of another size comes. Memory that serves again is pinned: the bus then fills it alone.
enum { SPARES = 2, SPARE_LEAST = 4 << 20 }; // samples: below this nothing is kept

typedef struct Spare {
    float *samples;
    const LithoBackend *pinned; // that has pinned it, or NULL
} Spare;

static struct {
    GMutex lock;
    Spare spare[SPARES];
    gint64 count; // of each
} spares;

static void spare_free(Spare spare)
{
    if (spare.pinned)
        spare.pinned->unpin(spare.samples);
    g_free(spare.samples);
}

// Kept memory may take a thirty-second part of the machine's.
static gboolean may_keep(gint64 count)
{
    const gdouble memory = (gdouble)sysconf(_SC_PHYS_PAGES) * (gdouble)sysconf(_SC_PAGESIZE);
    return count >= SPARE_LEAST && SPARES * (gdouble)count * sizeof(float) <= memory / 32;
}

static void drop_spares(void)
{
    for (int k = 0; k < SPARES; k++) {
        spare_free(spares.spare[k]);
        spares.spare[k] = (Spare){0};
    }
}

// Memory for `count` samples, not cleared: all of them are about to be fetched.
static Spare take_spare(gint64 count, const LithoBuffer *from)
{
    const LithoBackend *backend = from->backend;
    Spare spare = {0};
    g_mutex_lock(&spares.lock);
    if (spares.count != count)
        drop_spares();
    for (int k = 0; k < SPARES && !spare.samples; k++) {
        spare = spares.spare[k];
        spares.spare[k] = (Spare){0};
    }
    g_mutex_unlock(&spares.lock);
    if (!spare.samples)
        return (Spare){.samples = samples_new(count)};
    if (!spare.pinned && backend->pin &&
        backend->pin(from->device, spare.samples, count * sizeof(float)))
        spare.pinned = backend;
    return spare;
}

static void give_spare(Spare spare, gint64 count)
{
    gboolean kept = FALSE;
    g_mutex_lock(&spares.lock);
    if (may_keep(count)) {
        if (spares.count != count)
            drop_spares();
        spares.count = count;
        for (int k = 0; k < SPARES && !kept; k++)
            if (!spares.spare[k].samples) {
                spares.spare[k] = spare;
                kept = TRUE;
            }
    }
    g_mutex_unlock(&spares.lock);
    if (!kept)
        spare_free(spare);
}

static LithoCube *cube_new(const LithoGrid *grid, LithoBox held, GError **error)
{
    if (!litho_grid_check(grid, error))
        return NULL;
    if (litho_box_empty(held) || !litho_box_contains(litho_box_full(grid), held)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                    _("the part asked for is empty or lies outside the cube"));
        return NULL;
    }
    gint64 traces = litho_box_size(held, 0) * litho_box_size(held, 1);
    guint8 *live = g_try_malloc(traces);
    if (!live) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY,
                    _("no memory for a mask of %" PRId64 " traces"), traces);
        return NULL;
    }
    memset(live, 1, traces);

    LithoCube *cube = g_new0(LithoCube, 1);
    cube->grid = *grid;
    cube->held = held;
    cube->live = live;
    cube->notes = g_ptr_array_new_with_free_func(g_free);
    cube->serial = next_serial();
    cube->refs = 1;
    g_mutex_init(&cube->device_lock);
    return cube;
}

LithoCube *litho_cube_new_box(const LithoGrid *grid, LithoBox held, GError **error)
{
    LithoCube *cube = cube_new(grid, held, error);
    if (!cube)
        return NULL;
    cube->samples = samples_new(litho_box_count(held));
    if (!cube->samples) {
        litho_refuse(error, LITHO_ERROR_MEMORY, "no memory for %.2f GiB of samples",
                     litho_box_count(held) * 4.0 / (1 << 30));
        litho_cube_unref(cube);
        return NULL;
    }
    return cube;
}

LithoCube *litho_cube_new(const LithoGrid *grid, GError **error)
{
    if (!litho_grid_check(grid, error))
        return NULL;
    return litho_cube_new_box(grid, litho_box_full(grid), error);
}

LithoCube *litho_cube_new_device(const LithoGrid *grid, LithoBox held, LithoBuffer *device,
                                 GError **error)
{
    LithoCube *cube = cube_new(grid, held, error);
    if (cube)
        cube->device = device;
    return cube;
}

LithoCube *litho_cube_ref(const LithoCube *cube)
{
    LithoCube *c = (LithoCube *)cube;
    g_atomic_int_inc(&c->refs);
    return c;
}

void litho_cube_unref(LithoCube *cube)
{
    if (!cube || !g_atomic_int_dec_and_test(&cube->refs))
        return;
    if (cube->device)
        cube->device->backend->free(cube->device);
    if (cube->survey)
        litho_origin_unref(cube->survey);
    g_mutex_clear(&cube->device_lock);
    g_ptr_array_unref(cube->notes);
    g_free(cube->live);
    if (cube->fetched)
        give_spare((Spare){cube->samples, cube->pinned}, litho_box_count(cube->held));
    else
        g_free(cube->samples);
    g_free(cube);
}

static void copy_live(LithoCube *to, const LithoCube *from)
{
    LithoBox b = litho_box_intersect(to->held, from->held);
    gint64 nj = litho_box_size(b, 1);
    if (nj == 0)
        return;
    for (gint64 i = b.lo[0]; i < b.hi[0]; i++)
        memcpy(to->live + litho_cube_trace_index(to, i, b.lo[1]),
               from->live + litho_cube_trace_index(from, i, b.lo[1]), nj);
}

void litho_cube_set_name(LithoCube *cube, const char *name)
{
    g_autofree char *valid = g_utf8_make_valid(name, -1);
    const char *end = valid + MIN(strlen(valid), sizeof cube->name - 1);
    if (*end) // a letter that is cut is none
        end = g_utf8_find_prev_char(valid, end + 1);
    g_strlcpy(cube->name, valid, (gsize)(end - valid) + 1);
}

void litho_cube_inherit(LithoCube *cube, const LithoCube *from)
{
    copy_live(cube, from);
    g_strlcpy(cube->name, from->name, sizeof cube->name);
    if (from->survey && !cube->survey)
        cube->survey = litho_origin_ref(from->survey);
    litho_cube_inherit_notes(cube, from);
}

void litho_cube_inherit_notes(LithoCube *cube, const LithoCube *from)
{
    for (guint k = 0; k < from->notes->len; k++)
        g_ptr_array_add(cube->notes, g_strdup(g_ptr_array_index(from->notes, k)));
}

static gboolean has_note(const GPtrArray *notes, const char *note)
{
    return g_ptr_array_find_with_equal_func((GPtrArray *)notes, note, g_str_equal, NULL);
}

void litho_cube_tell_notes(const LithoCube *cube, const LithoCube *from, GPtrArray *notes)
{
    for (guint k = 0; notes && k < cube->notes->len; k++) {
        const char *note = g_ptr_array_index(cube->notes, k);
        if (!(from && has_note(from->notes, note)) && !has_note(notes, note))
            g_ptr_array_add(notes, g_strdup(note));
    }
}

void litho_cube_note(LithoCube *cube, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(cube->notes, litho_text_vprintf(litho_text(format), args));
    va_end(args);
}

void litho_cube_touch(LithoCube *cube)
{
    cube->serial = next_serial();
    cube->source = 0;
}

const float *litho_cube_host(const LithoCube *cube, GError **error)
{
    LithoCube *c = (LithoCube *)cube;
    g_mutex_lock(&c->device_lock);
    if (!c->samples && c->device) {
        gint64 count = litho_box_count(c->held);
        const Spare spare = take_spare(count, c->device);
        if (!spare.samples)
            litho_refuse(error, LITHO_ERROR_MEMORY, "no host memory for %.2f GiB of samples",
                         count * 4.0 / (1 << 30));
        else if (c->device->backend->download(c->device, 0, spare.samples, count, error))
            c->samples = spare.samples, c->pinned = spare.pinned, c->fetched = TRUE;
        else
            spare_free(spare);
    }
    const float *result = c->samples;
    g_mutex_unlock(&c->device_lock);
    return result;
}

void litho_cube_leave_device(LithoCube *cube)
{
    g_mutex_lock(&cube->device_lock);
    if (cube->samples && cube->device) {
        cube->device->backend->free(cube->device);
        cube->device = NULL;
    }
    g_mutex_unlock(&cube->device_lock);
}

gint64 litho_cube_trace_index(const LithoCube *cube, gint64 i, gint64 j)
{
    return (i - cube->held.lo[0]) * litho_box_size(cube->held, 1) + (j - cube->held.lo[1]);
}

float *litho_cube_trace(const LithoCube *cube, gint64 i, gint64 j)
{
    return cube->samples + litho_cube_trace_index(cube, i, j) * litho_box_size(cube->held, 2);
}

gboolean litho_cube_is_live(const LithoCube *cube, gint64 i, gint64 j)
{
    return cube->live[litho_cube_trace_index(cube, i, j)] != 0;
}

gint64 litho_cube_count_live(const LithoCube *cube)
{
    gint64 n = litho_box_size(cube->held, 0) * litho_box_size(cube->held, 1), live = 0;
    for (gint64 k = 0; k < n; k++)
        live += cube->live[k] != 0;
    return live;
}

gint64 litho_cube_held_samples(const LithoCube *cube)
{
    return litho_box_count(cube->held);
}

LithoCube *litho_cube_copy_box(const LithoCube *cube, LithoBox box, GError **error)
{
    if (!litho_cube_host(cube, error))
        return NULL;
    LithoCube *copy = litho_cube_new_box(&cube->grid, box, error);
    if (!copy)
        return NULL;
    litho_cube_inherit(copy, cube);
    copy->loudest = cube->loudest;
    copy->loudness = cube->loudness;
    litho_cube_paste(copy, cube);
    return copy;
}

LithoCube *litho_cube_fetch_traces(const LithoCube *cube, LithoBox box, GError **error)
{
    LithoCube *c = (LithoCube *)cube;
    const gint64 nt = litho_box_size(box, 2), row = nt * litho_box_size(box, 1);
    g_mutex_lock(&c->device_lock);
    const LithoBuffer *there = c->samples ? NULL : c->device;
    LithoCube *copy = there ? litho_cube_new_box(&cube->grid, box, error) : NULL;
    gboolean ok = copy != NULL;
    for (gint64 i = box.lo[0]; ok && i < box.hi[0]; i++)
        ok = there->backend->download(there, nt * litho_cube_trace_index(cube, i, box.lo[1]),
                                      copy->samples + row * (i - box.lo[0]), row, error);
    g_mutex_unlock(&c->device_lock);
    if (!there)
        return litho_cube_copy_box(cube, box, error);
    if (!ok) {
        litho_cube_unref(copy);
        return NULL;
    }
    litho_cube_inherit(copy, cube);
    copy_live(copy, cube);
    return copy;
}

void litho_cube_paste(LithoCube *to, const LithoCube *from)
{
    LithoBox b = litho_box_intersect(to->held, from->held);
    if (litho_box_empty(b))
        return;
    size_t bytes = litho_box_size(b, 2) * sizeof(float);
    for (gint64 i = b.lo[0]; i < b.hi[0]; i++)
        for (gint64 j = b.lo[1]; j < b.hi[1]; j++)
            memcpy(litho_cube_trace(to, i, j) + (b.lo[2] - to->held.lo[2]),
                   litho_cube_trace(from, i, j) + (b.lo[2] - from->held.lo[2]), bytes);
    copy_live(to, from);
}
