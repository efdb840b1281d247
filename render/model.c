// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/model.h"
#include "core/text.h"

#include <math.h>
#include <string.h>

// Bright on the dark ground, apart in luminance within each kind.
static const float point_colours[][4] = {{1.00f, 0.76f, 0.20f, 1},
                                         {0.45f, 0.78f, 1.00f, 1},
                                         {0.95f, 0.52f, 0.60f, 1},
                                         {0.70f, 0.90f, 0.45f, 1}};
static const float line_colours[][4] = {{1.00f, 0.92f, 0.60f, 1},
                                        {0.55f, 0.88f, 0.95f, 1},
                                        {0.98f, 0.62f, 0.45f, 1},
                                        {0.80f, 0.72f, 0.98f, 1}};
static const float sheet_colours[][4] = {{0.36f, 0.66f, 0.70f, 0.78f},
                                         {0.80f, 0.60f, 0.32f, 0.78f},
                                         {0.60f, 0.50f, 0.78f, 0.78f},
                                         {0.52f, 0.68f, 0.40f, 0.78f},
                                         {0.76f, 0.46f, 0.46f, 0.78f}};
static const float box_colours[][4] = {{0.45f, 0.70f, 0.90f, 0.16f}};

const LithoColormap *litho_model_colours(void)
{
    return litho_colormap_find("ember");
}

const char *litho_space_name(LithoSpace space)
{
    return space == LITHO_SPACE_MODEL ? _("Model") : _("Boxes");
}

// --- bounds -------------------------------------------------------------------------------------

static gboolean is_point(const float *p)
{
    return isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]);
}

static void widen(float lo[3], float hi[3], const float *p)
{
    for (int k = 0; k < 3; k++) {
        lo[k] = MIN(lo[k], p[k]);
        hi[k] = MAX(hi[k], p[k]);
    }
}

static gboolean shape_bounds(const LithoShape *shape, float lo[3], float hi[3])
{
    for (int k = 0; k < 3; k++) {
        lo[k] = G_MAXFLOAT;
        hi[k] = -G_MAXFLOAT;
    }
    for (guint k = 0; k < shape->n; k++)
        if (is_point(&shape->xyz[3 * (gsize)k]))
            widen(lo, hi, &shape->xyz[3 * (gsize)k]);
    return hi[0] >= lo[0];
}

// The box of the axes: the whole band in frequency, everything below the surface in a model. A
// direction without extent gets a tenth of the largest one, so that there is a box.
static gboolean model_bounds(const GArray *shapes, LithoSpace space, float lo[3], float hi[3])
{
    gboolean any = FALSE;
    for (int k = 0; k < 3; k++) {
        lo[k] = space == LITHO_SPACE_FREQUENCY ? -0.5f : k == 2 ? 0 : G_MAXFLOAT;
        hi[k] = space == LITHO_SPACE_FREQUENCY ? 0.5f : k == 2 ? 0 : -G_MAXFLOAT;
    }
    for (guint s = 0; s < shapes->len; s++) {
        const LithoShape *shape = &g_array_index(shapes, LithoShape, s);
        float from[3], to[3];
        if (shape->space != space || !shape_bounds(shape, from, to))
            continue;
        any = TRUE;
        widen(lo, hi, from);
        widen(lo, hi, to);
    }
    if (!any)
        return FALSE;
    float largest = MAX(MAX(hi[0] - lo[0], hi[1] - lo[1]), hi[2] - lo[2]);
    for (int k = 0; k < 3; k++)
        if (hi[k] - lo[k] < 0.02f * largest || largest <= 0) {
            float half = largest > 0 ? 0.05f * largest : 0.5f, middle = (lo[k] + hi[k]) / 2;
            lo[k] = middle - half;
            hi[k] = middle + half;
        }
    return TRUE;
}

static void make_grid(LithoModel *model, const float lo[3], const float hi[3])
{
    static const LithoAxisText texts[2][3] = {
        {{N_("East"), "m", 1, FALSE}, {N_("North"), "m", 1, FALSE}, {N_("Depth"), "m", 1, FALSE}},
        {{N_("Inline (cycles/trace)"), "", 1, FALSE},
         {N_("Crossline (cycles/trace)"), "", 1, FALSE},
         {N_("Time (cycles/sample)"), "", 1, FALSE}}};
    LithoGrid *grid = &model->grid;
    *grid = litho_grid_new(1, 1, 1);
    memcpy(model->axis, texts[model->space == LITHO_SPACE_FREQUENCY], sizeof model->axis);
    for (int k = 0; k < 3; k++) {
        g_strlcpy(model->axis[k].label,
                  litho_text(texts[model->space == LITHO_SPACE_FREQUENCY][k].label),
                  sizeof model->axis[k].label);
        grid->axis[k].first = (lo[k] + hi[k]) / 2;
        grid->axis[k].step = hi[k] - lo[k];
        g_strlcpy(grid->axis[k].unit, model->axis[k].unit, sizeof grid->axis[k].unit);
        grid->axis[k].source = LITHO_FROM_COMPUTED;
    }
    grid->is_depth = TRUE;
    grid->has_xy = TRUE;
    // Only a model has a north that is one.
    grid->xy_source = model->space == LITHO_SPACE_MODEL ? LITHO_FROM_COMPUTED : LITHO_FROM_ASSUMED;
    grid->origin[0] = grid->axis[0].first;
    grid->origin[1] = grid->axis[1].first;
    grid->inline_step[0] = grid->axis[0].step;
    grid->inline_step[1] = 0;
    grid->xline_step[0] = 0;
    grid->xline_step[1] = grid->axis[1].step;
}

LithoSceneView litho_model_view(const LithoModel *model)
{
    const LithoAxis *axis = model->grid.axis;
    LithoSceneView view = litho_scene_view(&model->grid);
    memset(view.visible, 0, sizeof view.visible);
    view.z_scale = CLAMP(axis[2].step / MAX(axis[0].step, axis[1].step), 0.2, 1.2);
    view.camera.yaw = -30; // north to the back, a little to the right
    view.camera.pitch = 20;
    litho_scene_fit(&model->grid, &view);
    return view;
}

// --- meshes -------------------------------------------------------------------------------------

typedef struct Builder {
    LithoModel *model;
    // All triangles together: translucent ones are drawn right in one common order only.
    GArray *position, *colour, *index; // of float, guint8, guint32
} Builder;

static void to_index(const Builder *b, const float *p, float out[3])
{
    for (int k = 0; k < 3; k++) {
        const LithoAxis *axis = &b->model->grid.axis[k];
        out[k] = is_point(p) ? (float)((p[k] - axis->first) / axis->step) : 0;
    }
}

// Colour and weight of a value in 0..1; what is not finite weighs nothing.
static void value_colour(float value, float alpha_lo, float alpha_hi, guint8 out[4])
{
    double rgb[3], v = isfinite(value) ? CLAMP(value, 0, 1) : 0;
    litho_colormap_at(litho_model_colours(), 0.25 + 0.75 * v, rgb);
    for (int c = 0; c < 3; c++)
        out[c] = (guint8)lrint(255 * rgb[c]);
    out[3] = (guint8)lrint(255 * (alpha_lo + (alpha_hi - alpha_lo) * v));
}

static void plain_colour(const float rgba[4], guint8 out[4])
{
    for (int c = 0; c < 4; c++)
        out[c] = (guint8)lrintf(255 * rgba[c]);
}

// Vertices of a shape behind those of the others; returns the number of the first.
static guint32 add_vertices(Builder *b, const LithoShape *shape, const float rgba[4],
                            float alpha_lo, float alpha_hi)
{
    guint32 first = b->position->len / 3;
    guint per_value = shape->kind == LITHO_SHAPE_BOXES ? 8 : 1;
    for (guint k = 0; k < shape->n; k++) {
        float at[3];
        guint8 colour[4];
        to_index(b, &shape->xyz[3 * (gsize)k], at);
        if (shape->value)
            value_colour(shape->value[k / per_value], alpha_lo, alpha_hi, colour);
        else
            plain_colour(rgba, colour);
        g_array_append_vals(b->position, at, 3);
        g_array_append_vals(b->colour, colour, 4);
    }
    return first;
}

static void add_sheet(Builder *b, const LithoShape *shape, const float rgba[4])
{
    guint32 first = add_vertices(b, shape, rgba, 0.8f, 0.8f);
    for (guint r = 0; r + 1 < shape->rows; r++)
        for (guint c = 0; c + 1 < shape->columns; c++) {
            guint32 at = r * shape->columns + c,
                    corner[4] = {at, at + 1, at + shape->columns, at + shape->columns + 1};
            gboolean whole = TRUE;
            for (int k = 0; k < 4; k++)
                whole = whole && is_point(&shape->xyz[3 * (gsize)corner[k]]);
            const guint32 two[6] = {corner[0], corner[2], corner[1],
                                    corner[1], corner[2], corner[3]};
            for (int k = 0; k < 6 && whole; k++)
                g_array_append_val(b->index, ((guint32){first + two[k]}));
        }
}

static void add_mesh(Builder *b, LithoMeshKind kind, guint n, const float *at, const GArray *index,
                     const float rgba[4], const guint8 *colour, float size, const char *name)
{
    LithoMesh *mesh = litho_mesh_new(kind, n, at, index ? index->len : 0,
                                     index ? (const guint32 *)index->data : NULL, rgba, size, name);
    if (colour)
        litho_mesh_set_colours(mesh, colour);
    g_ptr_array_add(b->model->meshes, mesh);
}

// Faces nearly transparent, edges carry the picture. What weighs next to nothing is left out: it
// would only veil the rest.
static void add_boxes(Builder *b, const LithoShape *shape, const float rgba[4])
{
    static const guint8 faces[12][3] = {{0, 1, 2}, {1, 3, 2}, {4, 6, 5}, {5, 6, 7},
                                        {0, 4, 1}, {1, 4, 5}, {2, 3, 6}, {3, 7, 6},
                                        {0, 2, 4}, {2, 6, 4}, {1, 5, 3}, {3, 5, 7}};
    static const guint8 edges[12][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3},
                                        {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
    const float faint_face = 0.1f, faint_edge = 0.02f;
    guint32 first = add_vertices(b, shape, rgba, 0, 0.55f);
    guint n = shape->n / 8;
    GArray *lines = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autofree guint8 *colour = g_new(guint8, 4 * (gsize)MAX(shape->n, 1));
    const float edge[4] = {rgba[0], rgba[1], rgba[2], 0.5f};
    for (guint k = 0; k < n; k++) {
        float value = shape->value ? shape->value[k] : 1;
        for (int f = 0; f < 12 && value > faint_face; f++)
            for (int c = 0; c < 3; c++)
                g_array_append_val(b->index, ((guint32){first + 8 * k + faces[f][c]}));
        for (int e = 0; e < 12 && value > faint_edge; e++)
            for (int c = 0; c < 2; c++)
                g_array_append_val(lines, ((guint32){8 * k + edges[e][c]}));
        for (int c = 0; c < 8; c++) {
            guint8 *out = &colour[4 * (8 * (gsize)k + c)];
            if (shape->value)
                value_colour(value, 0.05f, 0.9f, out);
            else
                plain_colour(edge, out);
        }
    }
    add_mesh(b, LITHO_MESH_LINES, 8 * n, (float *)b->position->data + 3 * (gsize)first, lines, edge,
             colour, 1, shape->label);
    g_array_unref(lines);
}

// A source is a dot to look at, a spread of receivers a texture.
static float point_size(guint n)
{
    return n <= 4 ? 9 : n <= 64 ? 5 : 3;
}

// Points and lines leave out what is not finite.
static void add_marks(Builder *b, const LithoShape *shape, const float rgba[4])
{
    g_autofree float *at = g_new(float, 3 * (gsize)MAX(shape->n, 1));
    g_autofree guint8 *colour = g_new(guint8, 4 * (gsize)MAX(shape->n, 1));
    GArray *pairs = g_array_new(FALSE, FALSE, sizeof(guint32));
    guint n = 0;
    gboolean joined = FALSE;
    for (guint k = 0; k < shape->n; k++) {
        const float *p = &shape->xyz[3 * (gsize)k];
        gboolean there = is_point(p);
        if (there && joined)
            g_array_append_vals(pairs, ((guint32[2]){n - 1, n}), 2);
        joined = there;
        if (!there)
            continue;
        to_index(b, p, &at[3 * (gsize)n]);
        if (shape->value)
            value_colour(shape->value[k], 1, 1, &colour[4 * (gsize)n]);
        n++;
    }
    gboolean line = shape->kind == LITHO_SHAPE_LINE;
    if (n > 0 && (!line || pairs->len > 0))
        add_mesh(b, line ? LITHO_MESH_LINES : LITHO_MESH_POINTS, n, at, line ? pairs : NULL, rgba,
                 shape->value ? colour : NULL, line ? 2 : point_size(n), shape->label);
    g_array_unref(pairs);
}

// A grip is drawn by the view in which it can be taken.
static gboolean is_grip(const LithoShape *shape)
{
    return *shape->grip.param != '\0';
}

static void add_shape(Builder *b, const LithoShape *shape, guint nth)
{
    static const struct {
        const float (*colours)[4];
        guint n;
        void (*add)(Builder *b, const LithoShape *shape, const float rgba[4]);
    } kinds[] = {[LITHO_SHAPE_POINTS] = {point_colours, G_N_ELEMENTS(point_colours), add_marks},
                 [LITHO_SHAPE_LINE] = {line_colours, G_N_ELEMENTS(line_colours), add_marks},
                 [LITHO_SHAPE_SHEET] = {sheet_colours, G_N_ELEMENTS(sheet_colours), add_sheet},
                 [LITHO_SHAPE_BOXES] = {box_colours, G_N_ELEMENTS(box_colours), add_boxes}};
    LithoModelEntry entry = {.kind = shape->kind,
                             .by_value = shape->value != NULL,
                             .count = shape->kind == LITHO_SHAPE_BOXES ? shape->n / 8 : shape->n};
    if (!shape_bounds(shape, entry.lo, entry.hi))
        return;
    const float *rgba = kinds[shape->kind].colours[nth % kinds[shape->kind].n];
    g_strlcpy(entry.label, *shape->label ? litho_text(shape->label) : shape->key,
              sizeof entry.label);
    memcpy(entry.rgba, rgba, sizeof entry.rgba);
    kinds[shape->kind].add(b, shape, rgba);
    g_array_append_val(b->model->legend, entry);
}

// --- the model ----------------------------------------------------------------------------------

LithoModel *litho_model_new(const GArray *shapes, LithoSpace space)
{
    return litho_model_new_down_to(shapes, space, -INFINITY);
}

LithoModel *litho_model_new_down_to(const GArray *shapes, LithoSpace space, double bottom)
{
    float lo[3], hi[3];
    guint nth[4] = {0};
    if (!shapes || !model_bounds(shapes, space, lo, hi))
        return NULL;
    hi[2] = fmaxf(hi[2], (float)bottom);
    LithoModel *model = g_new0(LithoModel, 1);
    model->space = space;
    model->refs = 1;
    model->meshes = g_ptr_array_new_with_free_func((GDestroyNotify)litho_mesh_unref);
    model->legend = g_array_new(FALSE, FALSE, sizeof(LithoModelEntry));
    make_grid(model, lo, hi);
    Builder b = {model, g_array_new(FALSE, FALSE, sizeof(float)), g_array_new(FALSE, FALSE, 1),
                 g_array_new(FALSE, FALSE, sizeof(guint32))};
    for (guint s = 0; s < shapes->len; s++) {
        const LithoShape *shape = &g_array_index(shapes, LithoShape, s);
        if (shape->space == space && !is_grip(shape))
            add_shape(&b, shape, nth[shape->kind]++);
    }
    if (b.index->len > 0)
        add_mesh(&b, LITHO_MESH_TRIANGLES, b.position->len / 3, (float *)b.position->data, b.index,
                 sheet_colours[0], (guint8 *)b.colour->data, 0, "");
    g_array_unref(b.position);
    g_array_unref(b.colour);
    g_array_unref(b.index);
    return model;
}

LithoModel *litho_model_ref(LithoModel *model)
{
    g_atomic_int_inc(&model->refs);
    return model;
}

void litho_model_unref(LithoModel *model)
{
    if (!model || !g_atomic_int_dec_and_test(&model->refs))
        return;
    g_ptr_array_unref(model->meshes);
    g_array_unref(model->legend);
    g_free(model);
}

// --- in words -----------------------------------------------------------------------------------

static void describe_range(GString *text, const LithoModel *model, const LithoModelEntry *e, int k)
{
    char lo[48], hi[48];
    double step = fabs(model->grid.axis[k].step) / 100;
    litho_format_number(lo, sizeof lo, e->lo[k], step);
    litho_format_number(hi, sizeof hi, e->hi[k], step);
    g_autofree char *name = litho_text_inside(litho_text(model->axis[k].label));
    g_string_append_printf(text, ", %s %s", name, lo);
    if (strcmp(lo, hi) != 0)
        g_string_append_printf(text, _(" to %s"), hi);
    if (*model->axis[k].unit)
        g_string_append_printf(text, " %s", model->axis[k].unit);
}

char *litho_model_describe(const LithoModel *model)
{
    static const char *const kinds[] = {N_("point"), N_("line of %u points"), N_("surface"),
                                        N_("box")};
    static const char *const many[] = {N_("%u points"), N_("line of %u points"), N_("surface"),
                                       N_("%u boxes")};
    GString *text = g_string_new(NULL);
    for (guint k = 0; k < model->legend->len; k++) {
        const LithoModelEntry *e = &g_array_index(model->legend, LithoModelEntry, k);
        g_string_append_printf(text, "%s%s: ", k ? "; " : "", e->label);
        const char *kind = litho_text(e->count == 1 ? kinds[e->kind] : many[e->kind]);
        const char *number = strstr(kind, "%u");
        if (number)
            g_string_append_printf(text, "%.*s%u%s", (int)(number - kind), kind, e->count,
                                   number + 2);
        else
            g_string_append(text, kind);
        for (int a = 0; a < 3 && model->space == LITHO_SPACE_MODEL; a++)
            describe_range(text, model, e, a);
    }
    return g_string_free(text, FALSE);
}
