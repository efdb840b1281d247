// SPDX-License-Identifier: GPL-3.0-or-later
//
// An operator's model as a picture: what lies where, that OpenGL and cairo draw the same, that
// translucent triangles are in order, and what a frame with thousands of boxes costs.
#include <epoxy/gl.h>
#include <math.h>
#include <string.h>

#include "render/model.h"
#include "render/offscreen.h"
#include "render/renderer.h"
#include "tests/render_fixture.h"
#include "tests/common.h"

enum { W = 480, H = 360, ROWS = 20, COLUMNS = 25 };

static const LithoTarget target = {W, H, 1};
static const LithoRect all = {0, 0, W, H};

static void shape_free(gpointer data)
{
    LithoShape *shape = data;
    g_free(shape->xyz);
    g_free(shape->value);
}

static LithoShape *add(GArray *shapes, const char *label, LithoSpace space, LithoShapeKind kind,
                       guint n)
{
    LithoShape shape = {.space = space, .kind = kind, .n = n};
    g_strlcpy(shape.key, label, sizeof shape.key);
    g_strlcpy(shape.label, label, sizeof shape.label);
    shape.xyz = g_new0(float, 3 * n);
    g_array_append_val(shapes, shape);
    return &g_array_index(shapes, LithoShape, shapes->len - 1);
}

static void set(LithoShape *shape, guint k, float x, float y, float z)
{
    memcpy(&shape->xyz[3 * k], (float[]){x, y, z}, 3 * sizeof(float));
}

// A source, a line of receivers, a bowl with a hole and its values, a ray down and up again.
static GArray *earth(void)
{
    GArray *shapes = g_array_new(FALSE, FALSE, sizeof(LithoShape));
    g_array_set_clear_func(shapes, shape_free);
    set(add(shapes, "Source", LITHO_SPACE_MODEL, LITHO_SHAPE_POINTS, 1), 0, 500, 400, 0);
    LithoShape *bowl =
        add(shapes, "Boundary 1", LITHO_SPACE_MODEL, LITHO_SHAPE_SHEET, ROWS * COLUMNS);
    bowl->rows = ROWS;
    bowl->columns = COLUMNS;
    bowl->value = g_new0(float, bowl->n);
    for (guint r = 0; r < ROWS; r++)
        for (guint c = 0; c < COLUMNS; c++) {
            float x = 100.0f * c, y = 100.0f * r;
            float down = (x - 1200) * (x - 1200) + (y - 950) * (y - 950);
            set(bowl, r * COLUMNS + c, x, y, 900 - down / 8000);
            bowl->value[r * COLUMNS + c] = (float)r / (ROWS - 1);
        }
    bowl->xyz[3 * (3 * COLUMNS + 4) + 2] = NAN;
    LithoShape *ray = add(shapes, "Ray", LITHO_SPACE_MODEL, LITHO_SHAPE_LINE, 3);
    set(ray, 0, 500, 400, 0);
    set(ray, 1, 1200, 950, 900);
    set(ray, 2, 2000, 1500, 0);
    return shapes;
}

// n^3 boxes that fill the band; their values grow from one corner to the other.
static GArray *band(guint n)
{
    GArray *shapes = g_array_new(FALSE, FALSE, sizeof(LithoShape));
    g_array_set_clear_func(shapes, shape_free);
    LithoShape *boxes =
        add(shapes, "Kept coefficients", LITHO_SPACE_FREQUENCY, LITHO_SHAPE_BOXES, 8 * n * n * n);
    boxes->value = g_new0(float, n *n *n);
    for (guint b = 0; b < n * n * n; b++) {
        const guint at[3] = {b / (n * n), b / n % n, b % n};
        for (guint c = 0; c < 8; c++)
            for (guint k = 0; k < 3; k++)
                boxes->xyz[3 * (8 * b + c) + k] = (float)(at[k] + (c >> k & 1)) / n - 0.5f;
        boxes->value[b] = (float)(at[0] + at[1] + at[2]) / (3 * n - 3);
    }
    return shapes;
}

static cairo_surface_t *with_cairo(const LithoModel *model, const LithoSceneView *view)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, W, H);
    cairo_t *cr = cairo_create(surface);
    litho_model_draw(cr, model, view, all, litho_look_default().background);
    cairo_destroy(cr);
    cairo_surface_flush(surface);
    return surface;
}

static void with_gl(LithoRenderer *renderer, const LithoModel *model, const LithoSceneView *view)
{
    LithoSceneDraw draw = {.grid = &model->grid,
                           .view = *view,
                           .look = litho_look_default(),
                           .rect = all,
                           .meshes = model->meshes};
    litho_renderer_draw_scene(renderer, &target, &draw);
    g_assert_cmpuint(glGetError(), ==, GL_NO_ERROR);
}

// Metres of the shapes' own space to a pixel.
static void pixel_of(const LithoModel *model, const LithoSceneView *view, const float at[3], int *x,
                     int *y)
{
    double m[16], index[3], px, py;
    for (int k = 0; k < 3; k++)
        index[k] = litho_axis_index(&model->grid.axis[k], at[k]);
    litho_scene_matrix(&model->grid, view, all, m);
    g_assert_true(litho_scene_project(m, all, index, &px, &py, NULL));
    *x = (int)px;
    *y = (int)py;
}

// The box holds everything, from the surface down; the legend keeps the operator's order; the
// sentence names every shape with its extent. Spaces do not mix, and without shapes there is
// nothing.
static void test_contents(void)
{
    g_autoptr(GArray) shapes = earth();
    g_autoptr(LithoModel) model = litho_model_new(shapes, LITHO_SPACE_MODEL);
    g_assert_nonnull(model);
    g_assert_null(litho_model_new(shapes, LITHO_SPACE_FREQUENCY));
    g_assert_null(litho_model_new(NULL, LITHO_SPACE_MODEL));
    const LithoAxis *axis = model->grid.axis;
    g_assert_cmpfloat_with_epsilon(litho_axis_value(&axis[0], -0.5), 0, 0.1);
    g_assert_cmpfloat_with_epsilon(litho_axis_value(&axis[0], 0.5), 2400, 0.1);
    g_assert_cmpfloat_with_epsilon(litho_axis_value(&axis[2], -0.5), 0, 0.1);
    g_assert_cmpuint(model->legend->len, ==, 3);
    const LithoModelEntry *sheet = &g_array_index(model->legend, LithoModelEntry, 1);
    g_assert_cmpstr(sheet->label, ==, "Boundary 1");
    g_assert_true(sheet->by_value);
    g_autofree char *text = litho_model_describe(model);
    g_test_message("%s", text);
    g_assert_nonnull(strstr(text, "Source: 1 point") ? text : strstr(text, "Source: point"));
    g_assert_nonnull(strstr(text, "Boundary 1: surface"));
    g_assert_nonnull(strstr(text, "Ray: line of 3 points"));
    g_assert_nonnull(strstr(text, "m;"));
    g_autoptr(GArray) boxes = band(4);
    g_autoptr(LithoModel) tiling = litho_model_new(boxes, LITHO_SPACE_FREQUENCY);
    g_autofree char *words = litho_model_describe(tiling);
    g_assert_cmpstr(words, ==, "Kept coefficients: 64 boxes");
}

// Property: a name wider than the picture ends with an ellipsis, not within a number, which would
// read as another one: the columns at the edge stay empty of letters.
static void test_narrow_legend(void)
{
    enum { WIDE = 400, NARROW = 150, HIGH = 100 };
    const LithoAxesStyle style = {.font_size = 11};
    g_autoptr(GArray) shapes = g_array_new(FALSE, FALSE, sizeof(LithoShape));
    g_array_set_clear_func(shapes, shape_free);
    add(shapes, "Boundary 0, 2000 over 3000 m/s", LITHO_SPACE_MODEL, LITHO_SHAPE_POINTS, 1);
    g_autoptr(LithoModel) model = litho_model_new(shapes, LITHO_SPACE_MODEL);
    for (int width = NARROW; width <= WIDE; width += WIDE - NARROW) {
        cairo_surface_t *picture = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDE, HIGH);
        cairo_t *cr = cairo_create(picture);
        litho_model_draw_legend(cr, &style, model, (LithoRect){0, 0, width, HIGH});
        cairo_destroy(cr);
        cairo_surface_flush(picture);
        const guint32 *pixels = (const guint32 *)cairo_image_surface_get_data(picture);
        int letters = 0, edge = 0;
        for (int y = 0; y < HIGH; y++)
            for (int x = 0; x < width; x++) {
                const gboolean bright = (pixels[y * WIDE + x] & 0xff) > 0x60;
                letters += bright && x > 40;
                edge += bright && x >= NARROW - 6 && x < NARROW;
            }
        cairo_surface_destroy(picture);
        g_assert_cmpint(letters, >, 200);
        g_assert_cmpint(edge > 0, ==, width == WIDE);
    }
}

// A model of one point has a box with extent in every direction.
static void test_one_point(void)
{
    g_autoptr(GArray) shapes = g_array_new(FALSE, FALSE, sizeof(LithoShape));
    g_array_set_clear_func(shapes, shape_free);
    set(add(shapes, "Source", LITHO_SPACE_MODEL, LITHO_SHAPE_POINTS, 1), 0, 7000, -3000, 0);
    g_autoptr(LithoModel) model = litho_model_new(shapes, LITHO_SPACE_MODEL);
    for (int k = 0; k < 3; k++)
        g_assert_cmpfloat(model->grid.axis[k].step, >, 0);
    LithoSceneView view = litho_model_view(model);
    int x, y;
    pixel_of(model, &view, (float[]){7000, -3000, 0}, &x, &y);
    g_assert_true(litho_rect_contains(all, x, y));
}

// The triangles leave the sorter as they came, each once, never nearer before farther by more than
// one of its 4096 depths.
static void test_order(void)
{
    g_autoptr(GArray) shapes = band(6);
    g_autoptr(LithoModel) model = litho_model_new(shapes, LITHO_SPACE_FREQUENCY);
    const LithoMesh *mesh = g_ptr_array_index(model->meshes, model->meshes->len - 1);
    g_assert_cmpint(mesh->kind, ==, LITHO_MESH_TRIANGLES);
    LithoSceneView view = litho_model_view(model);
    double m[16], last = G_MAXDOUBLE, near = G_MAXDOUBLE, far = 0, step = 0;
    litho_scene_matrix(&model->grid, &view, all, m);
    g_autofree guint32 *order = g_new(guint32, mesh->n_index);
    litho_mesh_far_to_near(mesh, m, order);
    g_autofree double *depth = g_new0(double, mesh->n_index / 3);
    guint64 sum_in = 0, sum_out = 0;
    for (guint t = 0; t < mesh->n_index / 3; t++) {
        for (int c = 0; c < 3; c++) {
            const float *p = &mesh->position[3 * order[3 * t + c]];
            double x, y, d;
            litho_scene_project(m, all, (double[]){p[0], p[1], p[2]}, &x, &y, &d);
            depth[t] += d / 3;
            sum_in += (guint64)mesh->index[3 * t + c] * mesh->index[3 * t + c];
            sum_out += (guint64)order[3 * t + c] * order[3 * t + c];
        }
        near = MIN(near, depth[t]);
        far = MAX(far, depth[t]);
    }
    g_assert_cmpuint(sum_in, ==, sum_out);
    for (guint t = 0; t < mesh->n_index / 3; t++) {
        step = MAX(step, depth[t] - last);
        last = depth[t];
    }
    g_assert_cmpfloat(step, <, 1.5 * (far - near) / 4096);
}

static LithoOffscreen *screen;

static gboolean no_gl(void)
{
    g_autoptr(GError) error = NULL;
    if (!screen)
        screen = litho_offscreen_new(W, H, 0, &error);
    if (!screen)
        g_test_skip(error->message);
    return !screen;
}

// The source is a dot of its colour where it projects; where nothing is, there is background. cairo
// and OpenGL agree but for the smoothing of edges: with colours, order or shading of their own more
// than a tenth of the pixels would differ visibly.
static void check_pictures(GArray *shapes, LithoSpace space, const char *name, double allowed)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoModel) model = litho_model_new(shapes, space);
    LithoSceneView view = litho_model_view(model);
    LithoRenderer *renderer = litho_renderer_new(&error);
    g_assert_no_error(error);
    with_gl(renderer, model, &view);
    cairo_surface_t *gl = litho_offscreen_read(screen), *cairo = with_cairo(model, &view);
    if (g_getenv("LITHO_SCREENSHOTS")) {
        g_autofree char *a = g_strdup_printf("%s/%s-gl.png", g_getenv("LITHO_SCREENSHOTS"), name);
        g_autofree char *b =
            g_strdup_printf("%s/%s-cairo.png", g_getenv("LITHO_SCREENSHOTS"), name);
        cairo_surface_write_to_png(gl, a);
        cairo_surface_write_to_png(cairo, b);
    }
    double differing = fixture_differing(gl, cairo, NULL, 24);
    g_test_message("%s: %.2f %% of the pixels differ by more than 24", name, 100 * differing);
    g_assert_cmpfloat(differing, <, allowed);
    guint32 ground = fixture_pixel(gl, 2, 2);
    gint64 covered = 0;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            covered += fixture_pixel(gl, x, y) != ground;
    g_assert_cmpfloat((double)covered / (W * H), >, 0.15);
    cairo_surface_destroy(gl);
    cairo_surface_destroy(cairo);
    litho_renderer_free(renderer);
}

static void test_pictures(void)
{
    if (no_gl())
        return;
    g_autoptr(GArray) shapes = earth();
    check_pictures(shapes, LITHO_SPACE_MODEL, "model-earth", 0.06);
    g_autoptr(GArray) boxes = band(4);
    check_pictures(boxes, LITHO_SPACE_FREQUENCY, "model-boxes", 0.12);
}

static void test_source(void)
{
    if (no_gl())
        return;
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) shapes = earth();
    g_autoptr(LithoModel) model = litho_model_new(shapes, LITHO_SPACE_MODEL);
    LithoSceneView view = litho_model_view(model);
    LithoRenderer *renderer = litho_renderer_new(&error);
    g_assert_no_error(error);
    with_gl(renderer, model, &view);
    cairo_surface_t *gl = litho_offscreen_read(screen), *cairo = with_cairo(model, &view);
    int x, y;
    pixel_of(model, &view, (float[]){500, 400, 0}, &x, &y);
    const guint32 amber = 0xffc233;
    // One pixel beside the middle, where the ray begins.
    g_assert_cmpint(fixture_distance(fixture_pixel(gl, x - 2, y - 2), amber), <, 12);
    g_assert_cmpint(fixture_distance(fixture_pixel(cairo, x - 2, y - 2), amber), <, 12);
    cairo_surface_destroy(gl);
    cairo_surface_destroy(cairo);
    litho_renderer_free(renderer);
}

// Not a pass or fail: what a frame with thousands of boxes costs while the camera turns.
static void test_speed(void)
{
    if (no_gl())
        return;
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) shapes = band(16);
    double start = litho_now_ms();
    g_autoptr(LithoModel) model = litho_model_new(shapes, LITHO_SPACE_FREQUENCY);
    double made = litho_now_ms() - start, best = G_MAXDOUBLE, sort = G_MAXDOUBLE;
    LithoSceneView view = litho_model_view(model);
    const LithoMesh *mesh = g_ptr_array_index(model->meshes, model->meshes->len - 1);
    g_autofree guint32 *order = g_new(guint32, mesh->n_index);
    LithoRenderer *renderer = litho_renderer_new(&error);
    g_assert_no_error(error);
    for (int frame = 0; frame < 5; frame++) {
        double m[16];
        litho_camera_orbit(&view.camera, 5, 1);
        start = litho_now_ms();
        litho_scene_matrix(&model->grid, &view, all, m);
        litho_mesh_far_to_near(mesh, m, order);
        sort = MIN(sort, litho_now_ms() - start);
        start = litho_now_ms();
        with_gl(renderer, model, &view);
        glFinish();
        best = MIN(best, litho_now_ms() - start);
    }
    g_test_message("4096 boxes, %d x %d, %s: made in %.1f ms, sorted in %.2f ms, %.1f ms a frame",
                   W, H, litho_renderer_name(renderer), made, sort, best);
    g_assert_cmpuint(glGetError(), ==, GL_NO_ERROR);
    litho_renderer_free(renderer);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/model/contents", test_contents);
    g_test_add_func("/model/narrow-legend", test_narrow_legend);
    g_test_add_func("/model/one-point", test_one_point);
    g_test_add_func("/model/order", test_order);
    g_test_add_func("/model/pictures", test_pictures);
    g_test_add_func("/model/source", test_source);
    g_test_add_func("/model/speed", test_speed);
    int status = test_run();
    litho_offscreen_free(screen);
    return status;
}
