// SPDX-License-Identifier: GPL-3.0-or-later
#include <epoxy/gl.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/run.h"
#include "render/offscreen.h"
#include "render/picture.h"
#include "render/raster.h"
#include "render/renderer.h"
#include "tests/render_fixture.h"
#include "tests/common.h"

enum { W = 320, H = 240 };

// One off-screen context for the whole program; NULL = no EGL here, with the reason.
static LithoOffscreen *screen;
static LithoRenderer *renderer;
static char why_not[300];
static const LithoTarget target = {W, H, 1};

static gboolean no_gl(void)
{
    if (!screen) {
        g_test_skip(why_not);
        return TRUE;
    }
    g_autoptr(GError) error = NULL;
    g_assert_true(litho_offscreen_bind(screen, &error));
    return FALSE;
}

static cairo_surface_t *shoot(const LithoSliceDraw *draw)
{
    litho_renderer_clear(renderer, &target, (double[]){0, 1, 0});
    litho_renderer_draw_slice(renderer, &target, draw);
    g_assert_cmpuint(glGetError(), ==, GL_NO_ERROR);
    return litho_offscreen_read(screen);
}

static LithoVolume *volume_with(LithoCube *cube)
{
    LithoVolume *volume = litho_volume_new();
    litho_volume_put(volume, cube);
    g_assert_true(litho_volume_update(volume, NULL, 0, -1));
    return volume;
}

static LithoSliceDraw draw_of(const LithoVolume *in, const LithoVolume *out, const LithoGrid *grid,
                              int axis, gint64 index, LithoShow show)
{
    return (LithoSliceDraw){.input = in,
                            .output = out,
                            .grid = grid,
                            .view = litho_slice_view(grid, axis, index),
                            .look = litho_look_default(),
                            .show = show,
                            .rect = {0, 0, W, H}};
}

// --- OpenGL against the CPU ---------------------------------------------------------------------

// Both paths draw the same picture: every mode, axis, zoom and wiggle form. 2 of 255 is float32
// against double and 8-bit rounding; 0.2 % of pixels may fall on the other side of a cell border,
// where float32 rounds differently. A rule changed on one side only differs on whole cells.
static void test_like_cpu(void)
{
    if (no_gl())
        return;
    g_autoptr(LithoCube) in = fixture_events(30, 40, 90, 0.3), out = fixture_events(30, 40, 90, 0);
    g_autoptr(GError) error = NULL;
    for (int n = 0; n < 40; n++)
        fixture_kill(in, (n * 7) % 30, (n * 11) % 40);
    litho_cube_trace(in, 12, 20)[30] = NAN;
    LithoVolume *a = volume_with(in), *b = volume_with(out);
    static const double windows[][4] = {{-0.5, 39.5, -0.5, 89.5},
                                        {3.2, 11.9, 20.3, 41.1},
                                        {-30, 70, -80, 170},
                                        {10.5, 39, 60, 130}};
    for (int axis = 0; axis < 3; axis++)
        for (guint w = 0; w < G_N_ELEMENTS(windows); w++)
            for (int mode = 0; mode < 8; mode++) {
                LithoSliceDraw d = draw_of(a, b, &in->grid, axis, 12, (LithoShow)(mode % 4));
                d.view.lo[1] = d.view.lo[0] = windows[w][0];
                d.view.hi[1] = d.view.hi[0] = windows[w][1];
                d.view.lo[2] = windows[w][2];
                d.view.hi[2] = windows[w][3];
                d.look.nearest = mode >= 4 && w % 2;
                d.look.wiggle = mode >= 4 ? LITHO_WIGGLE_FILL : LITHO_WIGGLE_OFF;
                d.look.no_density = mode == 5;
                d.look.removed_gain = 2;
                d.look.reversed = w == 1;
                d.look.agc = w == 2 ? 30 : 0;
                d.look.time_power = w == 3 ? 1.5 : 0;
                d.look.split = 0; // the divider itself is not in the raster
                d.look.grid_lines = FALSE;
                cairo_surface_t *gl = shoot(&d);
                LithoRaster r = {in, out, &in->grid, d.view, d.look, d.show, 1};
                cairo_surface_t *cpu = litho_raster_slice(&r, W, H, &error);
                g_assert_no_error(error);
                LithoRect inner = {6, 0, W - 6, H}; // right of the divider's halo
                double bad = fixture_differing(gl, cpu, &inner, 2);
                if (bad > 0.002)
                    g_test_message("axis %d window %u mode %d: %.3f %%", axis, w, mode, bad * 100);
                g_assert_cmpfloat(bad, <=, 0.002);
                cairo_surface_destroy(gl);
                cairo_surface_destroy(cpu);
            }
    litho_volume_free(a);
    litho_volume_free(b);
}

// The committed pictures of test-render.c, drawn by OpenGL: one truth for both.
static void test_goldens(void)
{
    if (no_gl())
        return;
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) cube = fixture_events(30, 40, 60, 0),
                         clean = fixture_events(30, 40, 60, 0);
    fixture_kill(cube, 12, 9);
    fixture_kill(cube, 12, 10);
    const LithoRect data = {70, 60, 180, 150};
    for (int k = 0; k < 2; k++) {
        LithoPicture p;
        litho_picture_init(&p, cube, k ? NULL : clean);
        p.with = LITHO_DRAW_GL;
        p.width = 340;
        p.height = 230;
        p.style.font_size = 10;
        if (k == 0) {
            p.look.grid_lines = TRUE;
            p.clip_note = "99 %";
            litho_picture_add_slice(&p, LITHO_INLINE, 12, LITHO_SHOW_SPLIT);
        } else {
            p.look.wiggle = LITHO_WIGGLE_FILL;
            p.look.no_density = TRUE;
            litho_picture_add_slice(&p, LITHO_XLINE, 9, LITHO_SHOW_INPUT);
        }
        cairo_surface_t *s = litho_picture_draw(&p, &error);
        g_assert_no_error(error);
        if (!g_getenv("LITHO_GOLDEN_UPDATE"))
            fixture_golden(s, k ? "wiggles.png" : "section.png", &data, 1);
        cairo_surface_destroy(s);
    }
    LithoPicture p; // only OpenGL draws this one
    litho_picture_init(&p, cube, NULL);
    p.with = LITHO_DRAW_GL;
    p.width = 340;
    p.height = 250;
    p.style.font_size = 10;
    litho_picture_add_scene(&p, LITHO_SHOW_INPUT);
    cairo_surface_t *s = litho_picture_draw(&p, &error);
    g_assert_no_error(error);
    fixture_golden(s, "scene.png", &data, 1);
    cairo_surface_destroy(s);
}

// --- filling ------------------------------------------------------------------------------------

static double differs_from(const LithoVolume *volume, const LithoVolume *reference,
                           const LithoGrid *grid)
{
    double worst = 0;
    for (int axis = 0; axis < 3; axis++)
        for (gint64 index = 0; index < grid->axis[axis].n; index += 5) {
            LithoSliceDraw d = draw_of(volume, NULL, grid, axis, index, LITHO_SHOW_INPUT);
            d.look.nearest = TRUE;
            cairo_surface_t *a = shoot(&d);
            d.input = reference;
            cairo_surface_t *b = shoot(&d);
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
    if (no_gl())
        return;
    g_autoptr(LithoCube) old = fixture_events(16, 20, 30, 0.5),
                         now = fixture_events(16, 20, 30, 0.1);
    fixture_kill(now, 3, 4);
    LithoVolume *whole = volume_with(now), *parts = volume_with(old);
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

// An inline of a newer result in a filled volume: the other slices on screen are the same but for a
// line, which alone is copied (a slice sent again is 16 or 24 KiB) and counts as a change when
// somebody asks; the picture is that of the whole newer cube all the same.
static void test_lines(void)
{
    if (no_gl())
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

// A large upload is spread over frames: visible slices at the first, the rest in small steps, each
// within a few times its budget (one chunk of 2 MiB may overrun it), and the count of pending bytes
// falls to 0. What has not arrived is background, not zero and not noise.
static void test_budget(void)
{
    if (no_gl())
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

    LithoSliceDraw d = draw_of(volume, NULL, &cube->grid, LITHO_INLINE, 10, LITHO_SHOW_INPUT);
    d.look.nearest = TRUE;
    cairo_surface_t *s = shoot(&d);
    guint32 ground = 0;
    for (int k = 0; k < 3; k++)
        ground = ground << 8 | (guint32)lrint(d.look.background[k] * 255);
    gint64 background = 0;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            background += fixture_pixel(s, x, y) == ground;
    // Only where the other two slices cross: one trace in 128 and one sample in 256 at most.
    g_assert_cmpint(background, >, W * H * 97 / 100);
    g_assert_cmpint(background, <, W * H);
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
    LithoVolume *at_once = volume_with(cube);
    for (int axis = 0; axis < 3; axis++) {
        LithoVolume *const from[2] = {volume, at_once};
        cairo_surface_t *pictures[2];
        for (int k = 0; k < 2; k++) {
            LithoSliceDraw other_slice =
                draw_of(from[k], NULL, &cube->grid, axis, 70, LITHO_SHOW_INPUT);
            for (int a = 0; a < 3; a++) {
                other_slice.view.lo[a] = 58.3;
                other_slice.view.hi[a] = 69.8;
            }
            other_slice.look.wiggle = LITHO_WIGGLE_FILL;
            pictures[k] = shoot(&other_slice);
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
    if (no_gl())
        return;
    g_autoptr(LithoCube) cube = fixture_events(16, 20, 30, 0.5);
    LithoVolume *whole = volume_with(cube);
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
                    draw_of(slices, NULL, &cube->grid, axis, index, LITHO_SHOW_INPUT);
                cairo_surface_t *a = shoot(&d);
                d.input = whole;
                cairo_surface_t *b = shoot(&d);
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
    gboolean refuse, fail;
    int acquired, released, filled, downloaded;
} device;

static gpointer fake_acquire(int index, guint texture, GError **error)
{
    (void)index;
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
    if (device.fail) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_DEVICE, "the copy failed");
        return FALSE;
    }
    g_assert_cmpint(count[0] * count[1] * count[2], ==, buffer->count); // the whole dense buffer
    glBindTexture(GL_TEXTURE_3D, GPOINTER_TO_UINT(handle));
    glTexSubImage3D(GL_TEXTURE_3D, 0, (GLint)at[0], (GLint)at[1], (GLint)at[2], (GLint)count[0],
                    (GLint)count[1], (GLint)count[2], GL_RED, GL_FLOAT, buffer->data);
    device.filled++;
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

static const LithoGlShare fake_share = {fake_acquire, fake_fill, fake_release};
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
// the textures.
static void test_share(void)
{
    if (no_gl())
        return;
    g_autoptr(LithoCube) old = fixture_events(16, 20, 30, 0.5), now = fixture_events(16, 20, 30, 0);
    LithoVolume *reference = volume_with(now);
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

// Property: with a real device a result that never left it arrives in the texture bit by bit equal.
// With a software context on a machine with a GPU the share is refused and the fall-back must draw
// the same picture.
static void test_cuda(void)
{
    if (no_gl())
        return;
    const LithoBackend *cuda = litho_backend_cuda();
    if (cuda->n_devices == 0) {
        g_test_skip(cuda->why_not);
        return;
    }
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) host = fixture_events(200, 240, 300, 0.3);
    LithoVolume *reference = volume_with(host), *volume = litho_volume_new();
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
                   litho_renderer_name(renderer), info.shared, info.why_not, count, first,
                   litho_now_ms() - start);
    g_assert_true(info.shared ? info.host_bytes == 0 : info.why_not[0] != 0);
    LithoSliceDraw d = draw_of(volume, NULL, &host->grid, LITHO_XLINE, 7, LITHO_SHOW_INPUT);
    for (int axis = 0; axis < 3; axis++) {
        d.view = litho_slice_view(&host->grid, axis, 7);
        d.input = volume;
        cairo_surface_t *a = shoot(&d);
        d.input = reference;
        cairo_surface_t *b = shoot(&d);
        g_assert_cmpfloat(fixture_differing(a, b, NULL, 0), ==, 0);
        cairo_surface_destroy(a);
        cairo_surface_destroy(b);
    }
    litho_volume_free(volume);
    litho_volume_free(reference);
}

// --- panels, scene ------------------------------------------------------------------------------

// SIDE is two panels of the same window; nothing is painted outside the rectangle; grid lines and
// cross-hair change a few per cent of the pixels and no more.
static void test_panels(void)
{
    if (no_gl())
        return;
    g_autoptr(LithoCube) in = fixture_events(16, 20, 30, 0.5), out = fixture_events(16, 20, 30, 0);
    LithoVolume *a = volume_with(in), *b = volume_with(out);
    LithoSliceDraw d = draw_of(a, b, &in->grid, LITHO_INLINE, 7, LITHO_SHOW_SIDE);
    d.rect = (LithoRect){20, 30, 206, 100};
    cairo_surface_t *side = shoot(&d);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            if (x < 20 || x >= 226 || y < 30 || y >= 130 || (x >= 120 && x < 126))
                g_assert_cmphex(fixture_pixel(side, x, y), ==, 0x00ff00);
    d.show = LITHO_SHOW_OUTPUT;
    d.rect = (LithoRect){126, 30, 100, 100};
    cairo_surface_t *alone = shoot(&d);
    g_assert_cmpfloat(fixture_differing(side, alone, &d.rect, 0), ==, 0);
    d.look.grid_lines = TRUE;
    d.has_cursor = TRUE;
    d.cursor[1] = 8;
    d.cursor[2] = 12;
    cairo_surface_t *marked = shoot(&d);
    double share = fixture_differing(marked, alone, &d.rect, 4);
    g_assert_cmpfloat(share, >, 0.03);
    g_assert_cmpfloat(share, <, 0.25);
    cairo_surface_destroy(side);
    cairo_surface_destroy(alone);
    cairo_surface_destroy(marked);
    litho_volume_free(a);
    litho_volume_free(b);
}

// At the pixel where a sample projects, the scene shows that sample's colour (where picking says it
// is the nearest slice). Meshes are drawn where their vertices project.
static void test_scene(void)
{
    if (no_gl())
        return;
    g_autoptr(LithoCube) cube = fixture_numbered(12, 10, 14);
    LithoVolume *volume = volume_with(cube);
    LithoSceneDraw d = {.input = volume,
                        .grid = &cube->grid,
                        .view = litho_scene_view(&cube->grid),
                        .look = litho_look_default(),
                        .rect = {0, 0, W, H}};
    d.look.lo = 0;
    d.look.hi = 12 * 10 * 14;
    d.look.nearest = TRUE;
    litho_renderer_clear(renderer, &target, d.look.background);
    litho_renderer_draw_scene(renderer, &target, &d);
    g_assert_cmpuint(glGetError(), ==, GL_NO_ERROR);
    cairo_surface_t *s = litho_offscreen_read(screen);
    double m[16];
    litho_scene_matrix(&cube->grid, &d.view, d.rect, m);
    int checked = 0, wrong = 0;
    for (int axis = 0; axis < 3; axis++)
        for (gint64 n = 0; n < 12 * 10 * 14; n++) {
            const gint64 c[3] = {n / 140, n / 14 % 10, n % 14};
            const double at[3] = {(double)c[0], (double)c[1], (double)c[2]};
            double x, y;
            LithoScenePick pick;
            if (c[axis] != d.view.index[axis] ||
                !litho_scene_project(m, d.rect, at, &x, &y, NULL) ||
                !litho_scene_pick(&cube->grid, &d.view, d.rect, x, y, &pick) || pick.axis != axis)
                continue;
            checked++;
            guint32 expected = fixture_color(&d.look, LITHO_SHOW_INPUT, (double)n);
            wrong += fixture_distance(fixture_pixel(s, (int)x, (int)y), expected) > 2;
        }
    // A few samples lie under the outlines and borders.
    g_test_message("%d samples looked at, %d under lines", checked, wrong);
    g_assert_cmpint(checked, >, 120);
    g_assert_cmpint(wrong, <, checked / 6);
    cairo_surface_destroy(s);

    const float point[3] = {2, 2, -3}, green[4] = {0, 1, 0, 1};
    g_autoptr(GPtrArray) meshes = g_ptr_array_new_with_free_func((GDestroyNotify)litho_mesh_unref);
    g_ptr_array_add(meshes, litho_mesh_new(LITHO_MESH_POINTS, 1, point, 0, NULL, green, 9, "shot"));
    float depth[12 * 10];
    for (int k = 0; k < 120; k++)
        depth[k] = 1;
    const float blue[4] = {0, 0, 1, 1};
    g_ptr_array_add(meshes, litho_mesh_new_sheet(12, 10, depth, blue, "top"));
    d.meshes = meshes;
    litho_renderer_draw_scene(renderer, &target, &d);
    g_assert_cmpuint(glGetError(), ==, GL_NO_ERROR);
    s = litho_offscreen_read(screen);
    double x, y;
    litho_scene_project(m, d.rect, (double[]){2, 2, -3}, &x, &y, NULL);
    g_assert_cmphex(fixture_pixel(s, (int)x, (int)y), ==, 0x00ff00);
    litho_scene_project(m, d.rect, (double[]){2.3, 2.6, 1}, &x, &y, NULL);
    guint32 sheet = fixture_pixel(s, (int)x, (int)y);
    g_assert_cmpuint(sheet & 255, >, 100);
    g_assert_cmpuint(sheet >> 8, ==, 0);
    cairo_surface_destroy(s);
    litho_volume_free(volume);
}

// Not a pass or fail: what a frame costs, for the reports. Four views of 1280 x 800 with textures
// resident, slices stepping as in scrubbing.
static void test_speed(void)
{
    if (no_gl())
        return;
    g_autoptr(GError) error = NULL;
    LithoOffscreen *large = litho_offscreen_new(1280, 800, 0, &error);
    g_assert_no_error(error);
    LithoRenderer *own = litho_renderer_new(&error);
    g_assert_no_error(error);
    g_autoptr(LithoCube) cube = fixture_events(100, 120, 300, 0.1);
    LithoVolume *volume = volume_with(cube);
    const LithoTarget all = {1280, 800, 1};
    double best = G_MAXDOUBLE;
    for (int frame = 0; frame < 6; frame++) {
        double start = litho_now_ms();
        for (int axis = 0; axis < 3; axis++) {
            LithoSliceDraw d =
                draw_of(volume, NULL, &cube->grid, axis, 20 + frame, LITHO_SHOW_INPUT);
            d.rect = (LithoRect){axis % 2 * 640, axis / 2 * 400, 640, 400};
            litho_renderer_draw_slice(own, &all, &d);
        }
        LithoSceneDraw d = {.input = volume,
                            .grid = &cube->grid,
                            .view = litho_scene_view(&cube->grid),
                            .look = litho_look_default(),
                            .rect = {640, 400, 640, 400}};
        litho_renderer_draw_scene(own, &all, &d);
        glFinish();
        best = MIN(best, litho_now_ms() - start);
    }
    g_test_message("four views, 1280 x 800, %s: %.1f ms a frame", litho_renderer_name(own), best);
    g_assert_cmpuint(glGetError(), ==, GL_NO_ERROR);
    litho_volume_free(volume);
    litho_renderer_free(own);
    litho_offscreen_free(large);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_autoptr(GError) error = NULL;
    screen = litho_offscreen_new(W, H, 0, &error);
    if (screen)
        renderer = litho_renderer_new(&error);
    if (!screen)
        g_strlcpy(why_not, error->message, sizeof why_not);
    else
        g_assert_no_error(error);
    g_test_add_func("/render-gl/like-cpu", test_like_cpu);
    g_test_add_func("/render-gl/goldens", test_goldens);
    g_test_add_func("/render-gl/boxes", test_boxes);
    g_test_add_func("/render-gl/lines", test_lines);
    g_test_add_func("/render-gl/budget", test_budget);
    g_test_add_func("/render-gl/slice-layout", test_slice_layout);
    g_test_add_func("/render-gl/share", test_share);
    g_test_add_func("/render-gl/cuda", test_cuda);
    g_test_add_func("/render-gl/panels", test_panels);
    g_test_add_func("/render-gl/scene", test_scene);
    g_test_add_func("/render-gl/speed", test_speed);
    int status = test_run();
    if (screen && litho_offscreen_bind(screen, NULL))
        litho_renderer_free(renderer);
    litho_offscreen_free(screen);
    return status;
}
