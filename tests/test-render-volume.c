// SPDX-License-Identifier: GPL-3.0-or-later
//
// Textures of cubes: filled from parts, within a budget, and shared with a device's memory.
#include <epoxy/gl.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/run.h"
#include "tests/common.h"
#include "tests/render_gl.h"

// --- filling ------------------------------------------------------------------------------------

static double differs_from(const LithoVolume *volume, const LithoVolume *reference,
                           const LithoGrid *grid)
{
    double worst = 0;
    for (int axis = 0; axis < 3; axis++)
        for (gint64 index = 0; index < grid->axis[axis].n; index += 5) {
            LithoSliceDraw d = gl_draw_of(volume, NULL, grid, axis, index, LITHO_SHOW_INPUT);
            d.look.nearest = TRUE;
            cairo_surface_t *a = gl_shoot(&d);
            d.input = reference;
            cairo_surface_t *b = gl_shoot(&d);
            worst = MAX(worst, fixture_differing(a, b, NULL, 0));
            cairo_surface_destroy(a);
            cairo_surface_destroy(b);
        }
    return worst;
}

// A cube put together from random boxes, some replaced by later ones, equals the cube put whole, to
// the last pixel, however the updates were interleaved.
static void test_boxes(void)
{
    if (gl_missing())
        return;
    g_autoptr(LithoCube) old = fixture_events(16, 20, 30, 0.5),
                         now = fixture_events(16, 20, 30, 0.1);
    fixture_kill(now, 3, 4);
    LithoVolume *whole = gl_volume_with(now), *parts = gl_volume_with(old);
    g_autoptr(GRand) rand = g_rand_new_with_seed(9);
    litho_volume_begin(parts);
    LithoBox full = litho_box_full(&now->grid);
    g_assert_cmpfloat(differs_from(parts, whole, &now->grid), >, 0.3); // or the test says nothing
    for (gint64 i = 0; i < 16; i++) {
        LithoBox box = litho_box_slice(&now->grid, LITHO_INLINE, i);
        g_autoptr(LithoCube) stale = litho_cube_copy_box(old, box, NULL);
        g_autoptr(LithoCube) part = litho_cube_copy_box(now, box, NULL);
        litho_volume_put(parts, stale);
        if (g_rand_boolean(rand)) {
            LithoBox thin = litho_box_slice(&now->grid, LITHO_XLINE, i);
            g_autoptr(LithoCube) crossing = litho_cube_copy_box(now, thin, NULL);
            litho_volume_put(parts, crossing);
            litho_volume_update(parts, &thin, 1, 0);
        }
        litho_volume_put(parts, part);
        if (g_rand_boolean(rand))
            litho_volume_update(parts, &box, 1, 0);
        g_assert_true(litho_volume_has(parts, full)); // the old result stays until replaced
    }
    g_assert_true(litho_volume_update(parts, NULL, 0, -1));
    g_assert_cmpfloat(differs_from(parts, whole, &now->grid), ==, 0);
    g_assert_true(litho_volume_is_fresh(parts, full));
    litho_volume_begin(parts);
    g_assert_false(litho_volume_is_fresh(parts, full));
    litho_volume_free(whole);
    litho_volume_free(parts);
}

static void *map_nothing(GLenum target, GLintptr offset, GLsizeiptr bytes, GLbitfield access)
{
    (void)target, (void)offset, (void)bytes, (void)access;
    return NULL;
}

static void *(*true_map)(GLenum target, GLintptr offset, GLsizeiptr bytes, GLbitfield access);
static GLboolean (*true_unmap)(GLenum target);

static GLboolean unmap_and_lose(GLenum target)
{
    glBufferData(target, 4, NULL, GL_STREAM_DRAW); // what was written is gone
    return GL_FALSE;
}

// Where GL has no memory to map, or loses what was written to it, the samples go without a pixel
// buffer: a box that counts as filled shows them.
static void test_no_pixel_buffers(void)
{
    if (gl_missing())
        return;
    g_autoptr(LithoCube) now = fixture_events(16, 20, 30, 0.1);
    LithoVolume *whole = gl_volume_with(now);
    true_map = epoxy_glMapBufferRange;
    true_unmap = epoxy_glUnmapBuffer;
    for (int k = 0; k < 2; k++) {
        LithoVolume *volume = litho_volume_new();
        epoxy_glMapBufferRange = k == 0 ? map_nothing : true_map;
        epoxy_glUnmapBuffer = k == 1 ? unmap_and_lose : true_unmap;
        litho_volume_put(volume, now);
        g_assert_true(litho_volume_update(volume, NULL, 0, -1));
        epoxy_glMapBufferRange = true_map;
        epoxy_glUnmapBuffer = true_unmap;
        g_assert_cmpfloat(differs_from(volume, whole, &now->grid), ==, 0);
        litho_volume_free(volume);
    }
    litho_volume_free(whole);
}

// An inline of a newer result in a filled volume: the other slices on screen are the same but for a
// line, which alone is copied (a slice sent again is 16 or 24 KiB) and counts as a change when
// somebody asks; the picture is that of the whole newer cube all the same.
static void test_lines(void)
{
    if (gl_missing())
        return;
    g_autoptr(LithoCube) old = fixture_events(40, 48, 100, 1),
                         whole = fixture_events(40, 48, 100, 2);
    g_autoptr(GError) error = NULL;
    const LithoBox views[3] = {litho_box_slice(&old->grid, 0, 20),
                               litho_box_slice(&old->grid, 1, 30),
                               litho_box_slice(&old->grid, 2, 50)};
    g_autoptr(LithoCube) section = litho_cube_copy_box(whole, views[0], &error);
    LithoVolume *volume = litho_volume_new(), *mixed = litho_volume_new();
    LithoVolumeInfo before, after;
    guint64 stamps[3];
    litho_volume_put(volume, old);
    litho_volume_update(volume, views, 3, -1);
    litho_volume_count_lines(volume);
    litho_volume_info(volume, &before);
    for (int a = 0; a < 3; a++)
        stamps[a] = litho_volume_stamp(volume, a);
    litho_volume_begin(volume);
    litho_volume_put(volume, section);
    litho_volume_update(volume, views, 3, -1);
    litho_volume_info(volume, &after);
    g_assert_cmpuint(litho_volume_stamp(volume, 0), >, stamps[0]);
    g_assert_cmpuint(litho_volume_stamp(volume, 1), ==, stamps[1]);
    g_assert_cmpuint(litho_volume_stamp(volume, 2), ==, stamps[2]);
    g_assert_cmpuint(after.host_bytes - before.host_bytes, >=, 4 * 48 * 100);
    g_assert_cmpuint(after.host_bytes - before.host_bytes, <=, 4 * (48 * 100 + 100 + 48));
    litho_volume_count_lines(volume);
    g_assert_cmpuint(litho_volume_stamp(volume, 1), >, stamps[1]);
    g_assert_cmpuint(litho_volume_stamp(volume, 2), >, stamps[2]);

    g_autoptr(LithoCube) cube = litho_cube_copy_box(old, litho_box_full(&old->grid), &error);
    memcpy(litho_cube_trace(cube, 20, 0), section->samples, 4 * 48 * 100);
    litho_volume_put(mixed, cube);
    litho_volume_update(mixed, NULL, 0, -1);
    g_assert_cmpfloat(differs_from(volume, mixed, &old->grid), ==, 0);
    litho_volume_free(volume);
    litho_volume_free(mixed);
}

// A cube that is flat along one axis, with one of its slices alone on screen: a new result counts for
// the axis of that slice, whichever it is. On a line a crossline is flat along inlines, too.
static void test_flat(void)
{
    if (gl_missing())
        return;
    static const gint64 sizes[][3] = {{1, 20, 30}, {20, 1, 30}, {20, 16, 1}, {1, 1, 30}};
    for (guint s = 0; s < G_N_ELEMENTS(sizes); s++)
        for (int axis = 0; axis < 3; axis++) {
            const gint64 *n = sizes[s];
            g_autoptr(LithoCube) old = fixture_events(n[0], n[1], n[2], 1),
                                 now = fixture_events(n[0], n[1], n[2], 2);
            const LithoBox view = litho_box_slice(&old->grid, axis, n[axis] / 2);
            LithoVolume *volume = litho_volume_new();
            litho_volume_put(volume, old);
            litho_volume_update(volume, &view, 1, -1);
            const guint64 stamp = litho_volume_stamp(volume, axis);
            litho_volume_begin(volume);
            litho_volume_put(volume, now);
            litho_volume_update(volume, &view, 1, -1);
            g_test_message("%d x %d x %d, axis %d", (int)n[0], (int)n[1], (int)n[2], axis);
            g_assert_cmpuint(litho_volume_stamp(volume, axis), >, stamp);
            litho_volume_free(volume);
        }
}

// A large upload is spread over frames: visible slices at the first, the rest in small steps, each
// within a few times its budget (one chunk of 2 MiB may overrun it), and the count of pending bytes
// falls to 0. What has not arrived is background, not zero and not noise.
static void test_budget(void)
{
    if (gl_missing())
        return;
    g_autoptr(LithoCube) cube = fixture_events(128, 128, 256, 0); // 16 MiB
    LithoVolume *volume = litho_volume_new();
    litho_volume_put(volume, cube);
    LithoBox views[3];
    for (int k = 0; k < 3; k++)
        views[k] = litho_box_slice(&cube->grid, k, 64);
    LithoVolumeInfo info;
    gboolean done = litho_volume_update(volume, views, 3, 0);
    litho_volume_info(volume, &info);
    g_assert_false(done);
    g_assert_cmpint(info.layout, ==, LITHO_LAYOUT_VOLUME);
    g_assert_cmpuint(info.pending_bytes, >, 15 << 20);
    for (int k = 0; k < 3; k++)
        g_assert_true(litho_volume_has(volume, views[k]));
    LithoBox other = litho_box_slice(&cube->grid, LITHO_INLINE, 10);
    g_assert_false(litho_volume_has(volume, other));

    LithoSliceDraw d = gl_draw_of(volume, NULL, &cube->grid, LITHO_INLINE, 10, LITHO_SHOW_INPUT);
    d.look.nearest = TRUE;
    cairo_surface_t *s = gl_shoot(&d);
    guint32 ground = 0;
    for (int k = 0; k < 3; k++)
        ground = ground << 8 | (guint32)lrint(d.look.background[k] * 255);
    gint64 background = 0;
    for (int y = 0; y < GL_HEIGHT; y++)
        for (int x = 0; x < GL_WIDTH; x++)
            background += fixture_pixel(s, x, y) == ground;
    // Only where the other two slices cross: one trace in 128 and one sample in 256 at most.
    g_assert_cmpint(background, >, GL_WIDTH * GL_HEIGHT * 97 / 100);
    g_assert_cmpint(background, <, GL_WIDTH * GL_HEIGHT);
    cairo_surface_destroy(s);

    int frames = 0;
    for (guint64 before = info.pending_bytes; !done; frames++, before = info.pending_bytes) {
        done = litho_volume_update(volume, views, 3, 1);
        litho_volume_info(volume, &info);
        g_assert_cmpuint(info.pending_bytes, <, before);
    }
    g_test_message("16 MiB in %d frames of 1 ms", frames);
    g_assert_cmpint(frames, >, 1);
    g_assert_cmpuint(info.pending_bytes, ==, 0);
    g_assert_cmpuint(info.host_bytes, >=, 16 << 20);
    g_assert_cmpuint(info.host_bytes, <, 17 << 20); // visible slices are not sent twice
    // The slices that came first leave no seams in others: neither in the interpolation between
    // traces nor in wiggles, which would be cut where two pieces of the upload meet.
    LithoVolume *at_once = gl_volume_with(cube);
    for (int axis = 0; axis < 3; axis++) {
        LithoVolume *const from[2] = {volume, at_once};
        cairo_surface_t *pictures[2];
        for (int k = 0; k < 2; k++) {
            LithoSliceDraw other_slice =
                gl_draw_of(from[k], NULL, &cube->grid, axis, 70, LITHO_SHOW_INPUT);
            for (int a = 0; a < 3; a++) {
                other_slice.view.lo[a] = 58.3;
                other_slice.view.hi[a] = 69.8;
            }
            other_slice.look.wiggle = LITHO_WIGGLE_FILL;
            pictures[k] = gl_shoot(&other_slice);
        }
        g_assert_cmpfloat(fixture_differing(pictures[0], pictures[1], NULL, 0), ==, 0);
        cairo_surface_destroy(pictures[0]);
        cairo_surface_destroy(pictures[1]);
    }
    litho_volume_free(at_once);
    litho_volume_free(volume);
}

// Beyond the budget, and beyond the texture limit, slices are drawn from textures of their own; the
// picture is the same.
static void test_slice_layout(void)
{
    if (gl_missing())
        return;
    g_autoptr(LithoCube) cube = fixture_events(16, 20, 30, 0.5);
    LithoVolume *whole = gl_volume_with(cube);
    for (int folded = 0; folded < 2; folded++) {
        LithoVolume *slices = litho_volume_new();
        litho_volume_set_budget(slices, 1000);
        litho_volume_set_texture_limit(slices, folded ? 8 : 0);
        litho_volume_put(slices, cube);
        for (int axis = 0; axis < 3; axis++)
            for (gint64 index = 0; index < 16; index += 3) {
                LithoBox view = litho_box_slice(&cube->grid, axis, index);
                g_assert_true(litho_volume_update(slices, &view, 1, 0));
                LithoSliceDraw d =
                    gl_draw_of(slices, NULL, &cube->grid, axis, index, LITHO_SHOW_INPUT);
                cairo_surface_t *a = gl_shoot(&d);
                d.input = whole;
                cairo_surface_t *b = gl_shoot(&d);
                g_assert_cmpfloat(fixture_differing(a, b, NULL, 0), ==, 0);
                cairo_surface_destroy(a);
                cairo_surface_destroy(b);
            }
        LithoVolumeInfo info;
        litho_volume_info(slices, &info);
        g_assert_cmpint(info.layout, ==, LITHO_LAYOUT_SLICES);
        g_assert_cmpuint(info.texture_bytes, <, 24 * 20 * 30 * 4);
        litho_volume_free(slices);
    }
    litho_volume_free(whole);
}

// --- sharing with a device ----------------------------------------------------------------------

// A "device" whose memory is the host's; it counts what is asked of it.
static struct {
    gboolean refuse, fail, mapped;
    int index; // of the last handle
    int acquired, released, filled, flushed, downloaded;
} device;

static gpointer fake_acquire(int index, guint texture, GError **error)
{
    device.index = index;
    if (device.refuse) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_DEVICE, "this context is not on the device");
        return NULL;
    }
    device.acquired++;
    return GUINT_TO_POINTER(texture);
}

static gboolean fake_fill(gpointer handle, const LithoBuffer *buffer, const gint64 at[3],
                          const gint64 count[3], GError **error)
{
    if (device.fail || buffer->device != device.index) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_DEVICE, "the copy failed");
        return FALSE;
    }
    g_assert_cmpint(count[0] * count[1] * count[2], ==, buffer->count); // the whole dense buffer
    glBindTexture(GL_TEXTURE_3D, GPOINTER_TO_UINT(handle));
    glTexSubImage3D(GL_TEXTURE_3D, 0, (GLint)at[0], (GLint)at[1], (GLint)at[2], (GLint)count[0],
                    (GLint)count[1], (GLint)count[2], GL_RED, GL_FLOAT, buffer->data);
    device.filled++;
    device.mapped = TRUE;
    return TRUE;
}

static gboolean fake_flush(gpointer handle, GError **error)
{
    (void)handle, (void)error;
    device.flushed += device.mapped;
    device.mapped = FALSE;
    return TRUE;
}

static void fake_release(gpointer handle)
{
    (void)handle;
    device.released++;
}

static gboolean fake_download(const LithoBuffer *buffer, gint64 at, float *to, gint64 count,
                              GError **error)
{
    (void)error;
    memcpy(to, (const float *)buffer->data + at, (gsize)count * sizeof *to);
    device.downloaded++;
    return TRUE;
}

static void fake_free(LithoBuffer *buffer)
{
    g_free(buffer->data);
    g_free(buffer);
}

static const LithoGlShare fake_share = {fake_acquire, fake_fill, fake_flush, fake_release};
static const LithoBackend fake = {.abi = LITHO_BACKEND_ABI,
                                  .key = "fake",
                                  .free = fake_free,
                                  .download = fake_download,
                                  .gl = &fake_share};

static LithoCube *on_device(const LithoCube *host, LithoBox box)
{
    g_autoptr(LithoCube) part = litho_cube_copy_box(host, box, NULL);
    LithoBuffer *buffer = g_new0(LithoBuffer, 1);
    buffer->backend = &fake;
    buffer->count = litho_box_count(box);
    buffer->data = g_memdup2(part->samples, (gsize)buffer->count * sizeof(float));
    LithoCube *cube = litho_cube_new_device(&host->grid, box, buffer, NULL);
    litho_cube_inherit(cube, host);
    return cube;
}

// Whole cubes and thin parts on the device reach the texture without the host; a refused or failing
// device falls back to pixel buffers with the same picture and tells why. Handles are released with
// the textures. However many parts an update brings, the texture is handed over once.
static void test_share(void)
{
    if (gl_missing())
        return;
    g_autoptr(LithoCube) old = fixture_events(16, 20, 30, 0.5), now = fixture_events(16, 20, 30, 0);
    LithoVolume *reference = gl_volume_with(now);
    for (int mode = 0; mode < 3; mode++) { // works, refused, fails later
        memset(&device, 0, sizeof device);
        device.refuse = mode == 1;
        LithoVolume *volume = litho_volume_new();
        g_autoptr(LithoCube) first = on_device(old, litho_box_full(&old->grid));
        litho_volume_put(volume, first);
        g_assert_true(litho_volume_update(volume, NULL, 0, -1));
        device.fail = mode == 2;
        for (gint64 i = 0; i < 16; i++) {
            g_autoptr(LithoCube) part = on_device(now, litho_box_slice(&now->grid, 0, i));
            litho_volume_put(volume, part);
            if (i % 3 == 0)
                litho_volume_update(volume, &part->held, 1, 0);
            g_assert_false(device.mapped);
        }
        g_assert_true(litho_volume_update(volume, NULL, 0, -1));
        g_assert_cmpfloat(differs_from(volume, reference, &now->grid), ==, 0);
        LithoVolumeInfo info;
        litho_volume_info(volume, &info);
        g_test_message("mode %d: shared %d, host %" G_GUINT64_FORMAT " bytes, '%s'", mode,
                       info.shared, info.host_bytes, info.why_not);
        g_assert_true(info.shared == (mode == 0));
        if (mode == 0) {
            g_assert_cmpuint(info.host_bytes, ==, 0);
            g_assert_cmpint(device.downloaded, ==, 0);
            g_assert_cmpint(device.filled, ==, 17);
            g_assert_cmpint(device.flushed, <=, 8); // updates
            g_assert_cmpuint(info.shared_bytes, ==, 2 * 16 * 20 * 30 * 4);
        } else {
            g_assert_cmpuint(info.host_bytes, >, 0);
            g_assert_nonnull(strstr(info.why_not, mode == 1 ? "not on the device" : "copy failed"));
        }
        litho_volume_free(volume);
        g_assert_cmpint(device.released, ==, device.acquired);
    }
    litho_volume_free(reference);
}

// A result of another device than the last one's reaches the texture without the host, too.
static void test_other_device(void)
{
    if (gl_missing())
        return;
    g_autoptr(LithoCube) host = fixture_events(16, 20, 30, 0);
    LithoVolume *volume = litho_volume_new();
    LithoVolumeInfo info;
    memset(&device, 0, sizeof device);
    for (int k = 0; k < 4; k++) {
        g_autoptr(LithoCube) cube = on_device(host, litho_box_full(&host->grid));
        cube->device->device = k % 2;
        device.refuse = k == 1; // a refusal is of that device at that time
        litho_volume_begin(volume);
        litho_volume_put(volume, cube);
        g_assert_true(litho_volume_update(volume, NULL, 0, -1));
        litho_volume_info(volume, &info);
        g_assert_true(info.shared == (k != 1));
    }
    g_assert_cmpint(device.acquired, ==, 3);
    litho_volume_free(volume);
    g_assert_cmpint(device.released, ==, device.acquired);
}

// Property: with a real device a result that never left it arrives in the texture bit by bit equal.
// With a software context on a machine with a GPU the share is refused and the fall-back must draw
// the same picture.
static void test_cuda(void)
{
    if (gl_missing())
        return;
    const LithoBackend *cuda = litho_backend_cuda();
    if (cuda->n_devices == 0) {
        g_test_skip(cuda->why_not);
        return;
    }
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) host = fixture_events(200, 240, 300, 0.3);
    LithoVolume *reference = gl_volume_with(host), *volume = litho_volume_new();
    gint64 count = litho_grid_samples(&host->grid);
    LithoBuffer *buffer = cuda->alloc(0, count, &error);
    g_assert_no_error(error);
    g_assert_true(cuda->upload(buffer, 0, host->samples, count, &error));
    g_autoptr(LithoCube) cube =
        litho_cube_new_device(&host->grid, litho_box_full(&host->grid), buffer, &error);
    litho_volume_put(volume, cube);
    double start = litho_now_ms();
    g_assert_true(litho_volume_update(volume, NULL, 0, -1));
    double first = litho_now_ms() - start;
    g_autoptr(LithoCube) part = litho_cube_copy_box(host, litho_box_slice(&host->grid, 1, 7), NULL);
    gint64 few = litho_box_count(part->held);
    LithoBuffer *thin = cuda->alloc(0, few, &error);
    g_assert_true(cuda->upload(thin, 0, part->samples, few, &error));
    g_autoptr(LithoCube) slice = litho_cube_new_device(&host->grid, part->held, thin, &error);
    litho_volume_put(volume, slice);
    start = litho_now_ms();
    g_assert_true(litho_volume_update(volume, &part->held, 1, -1));
    LithoVolumeInfo info;
    litho_volume_info(volume, &info);
    g_test_message("%s: shared %d (%s), %" G_GINT64_FORMAT " samples in %.2f ms, a crossline in "
                   "%.2f ms",
                   litho_renderer_name(gl_renderer), info.shared, info.why_not, count, first,
                   litho_now_ms() - start);
    g_assert_true(info.shared ? info.host_bytes == 0 : info.why_not[0] != 0);
    LithoSliceDraw d = gl_draw_of(volume, NULL, &host->grid, LITHO_XLINE, 7, LITHO_SHOW_INPUT);
    for (int axis = 0; axis < 3; axis++) {
        d.view = litho_slice_view(&host->grid, axis, 7);
        d.input = volume;
        cairo_surface_t *a = gl_shoot(&d);
        d.input = reference;
        cairo_surface_t *b = gl_shoot(&d);
        g_assert_cmpfloat(fixture_differing(a, b, NULL, 0), ==, 0);
        cairo_surface_destroy(a);
        cairo_surface_destroy(b);
    }
    litho_volume_free(volume);
    litho_volume_free(reference);
}

// A survey with more traces than rows of the usual mask hold in a texture shows its missing traces,
// and no others.
static void test_many_traces(void)
{
    if (gl_missing())
        return;
    LithoGrid grid = litho_grid_new(10000, 7000, 4);
    const LithoBox line = litho_box_slice(&grid, LITHO_INLINE, 9999);
    cairo_surface_t *shot[2];
    for (int k = 0; k < 2; k++) {
        g_autoptr(LithoCube) cube = litho_cube_new_box(&grid, line, NULL);
        g_assert_nonnull(cube);
        for (gint64 s = 0; s < litho_cube_held_samples(cube); s++)
            cube->samples[s] = (float)(s / 400 % 7) - 3;
        for (int j = 3000; j < 4000; j++)
            cube->live[j] = k == 0;
        LithoVolume *volume = litho_volume_new();
        litho_volume_set_budget(volume, 1 << 20); // slices
        litho_volume_put(volume, cube);
        g_assert_true(litho_volume_update(volume, &line, 1, 0));
        LithoSliceDraw d = gl_draw_of(volume, NULL, &grid, LITHO_INLINE, 9999, LITHO_SHOW_INPUT);
        shot[k] = gl_shoot(&d);
        litho_volume_free(volume);
    }
    const double hatched = fixture_differing(shot[0], shot[1], NULL, 0);
    g_assert_cmpfloat(hatched, >, 0.05);
    g_assert_cmpfloat(hatched, <, 0.2);
    cairo_surface_destroy(shot[0]);
    cairo_surface_destroy(shot[1]);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    gl_begin();
    g_test_add_func("/render-volume/boxes", test_boxes);
    g_test_add_func("/render-volume/no-pixel-buffers", test_no_pixel_buffers);
    g_test_add_func("/render-volume/lines", test_lines);
    g_test_add_func("/render-volume/flat", test_flat);
    g_test_add_func("/render-volume/budget", test_budget);
    g_test_add_func("/render-volume/slice-layout", test_slice_layout);
    g_test_add_func("/render-volume/many-traces", test_many_traces);
    g_test_add_func("/render-volume/share", test_share);
    g_test_add_func("/render-volume/other-device", test_other_device);
    g_test_add_func("/render-volume/cuda", test_cuda);
    const int status = test_run();
    gl_end();
    return status;
}
