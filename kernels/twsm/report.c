// SPDX-License-Identifier: GPL-3.0-or-later
//
// The report of a run beside its traces: the model for the scene, and cost against the width of
// strips and the number of GPUs, with the paper's figures beside ours.
#include <math.h>
#include <string.h>

#include "core/text.h"
#include "kernels/twsm/depths.h"
#include "kernels/twsm/report.h"

enum { SIDE = 64, POINTS = 4096 };

// --- the model --------------------------------------------------------------------------------

// Depths of all boundaries lie in lo..hi.
static void depth_range(const TwsmModel *m, double *lo, double *hi)
{
    *lo = INFINITY, *hi = -INFINITY;
    for (int b = 0; b < m->n_boundaries; b++)
        for (int k = 0; k < SIDE * SIDE; k++) {
            double x = m->x[0] + (m->x[1] - m->x[0]) * (k % SIDE) / (SIDE - 1);
            double y = m->y[0] + (m->y[1] - m->y[0]) * (k / SIDE) / (SIDE - 1);
            double z = twsm_boundary_depth(&m->boundary[b], x, y);
            *lo = MIN(*lo, z), *hi = MAX(*hi, z);
        }
}

// A boundary as a sheet of 64 x 64 points, coloured by depth.
static void report_boundary(const TwsmModel *m, int b, double lo, double hi, LithoReport *r)
{
    g_autofree float *xyz = g_new(float, 3 * SIDE * SIDE), *value = g_new(float, SIDE *SIDE);
    for (int k = 0; k < SIDE * SIDE; k++) {
        double x = m->x[0] + (m->x[1] - m->x[0]) * (k % SIDE) / (SIDE - 1);
        double y = m->y[0] + (m->y[1] - m->y[0]) * (k / SIDE) / (SIDE - 1);
        double z = twsm_boundary_depth(&m->boundary[b], x, y);
        xyz[3 * k] = (float)x, xyz[3 * k + 1] = (float)y, xyz[3 * k + 2] = (float)z;
        value[k] = hi > lo ? (float)((z - lo) / (hi - lo)) : 0.5f;
    }
    LithoShape shape = {.space = LITHO_SPACE_MODEL,
                        .kind = LITHO_SHAPE_SHEET,
                        .n = SIDE * SIDE,
                        .rows = SIDE,
                        .columns = SIDE,
                        .xyz = xyz,
                        .value = value};
    g_snprintf(shape.key, sizeof shape.key, "boundary%d", b);
    litho_text_put(shape.label, sizeof shape.label, _("Boundary %d, %.0f over %.0f m/s"), b,
                   m->velocity[b], m->velocity[b + 1]);
    litho_report_shape(r, &shape);
}

static void report_points(const char *key, const char *label, guint n, float *xyz, LithoReport *r)
{
    LithoShape shape = {.space = LITHO_SPACE_MODEL, .kind = LITHO_SHAPE_POINTS, .n = n, .xyz = xyz};
    g_strlcpy(shape.key, key, sizeof shape.key);
    g_strlcpy(shape.label, label, sizeof shape.label);
    litho_report_shape(r, &shape);
}

static void report_acquisition(const TwsmModel *m, LithoReport *r)
{
    g_autofree float *xyz = g_new(float, 3 * POINTS);
    for (int s = 0; s < m->n_sources; s++)
        for (int k = 0; k < 3; k++)
            xyz[3 * s + k] = (float)m->source[s][k];
    report_points("sources", m->n_sources > 1 ? _("Sources") : _("Source"), m->n_sources, xyz, r);
    gint64 n = (gint64)m->receiver_count[0] * m->receiver_count[1],
           skip = (n + POINTS - 1) / POINTS;
    guint shown = 0;
    for (gint64 at = 0; at < n && shown < POINTS; at += skip, shown++) {
        double p[3];
        twsm_model_receiver(m, (int)(at % m->receiver_count[0]), (int)(at / m->receiver_count[0]),
                            p);
        for (int k = 0; k < 3; k++)
            xyz[3 * shown + k] = (float)p[k];
    }
    report_points("receivers", _("Receivers"), shown, xyz, r);
}

// --- rays -------------------------------------------------------------------------------------

// Travel time along straight legs from point to point.
static double ray_time(const TwsmModel *m, const TwsmCode *code, double (*p)[3])
{
    double time = 0;
    for (int h = 0; h <= code->n; h++) {
        double d[3];
        for (int k = 0; k < 3; k++)
            d[k] = p[h + 1][k] - p[h][k];
        time += sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / m->velocity[code->layer[h]];
    }
    return time;
}

static void set_hit(const TwsmModel *m, const TwsmCode *code, int h, int axis, double at,
                    double (*p)[3])
{
    const double *range = axis ? m->y : m->x;
    p[h + 1][axis] = CLAMP(at, range[0], range[1]);
    p[h + 1][2] =
        twsm_boundary_depth(&m->boundary[code->hit[h].boundary], p[h + 1][0], p[h + 1][1]);
}

// One coordinate of one hit towards the nearest stationary time: Newton's step from differences
// over a metre where the time is curved upward, else downhill; halved until it helps.
static double relax(const TwsmModel *m, const TwsmCode *code, int h, int axis, double (*p)[3])
{
    double at = p[h + 1][axis], t[3];
    for (int k = 0; k < 3; k++) {
        set_hit(m, code, h, axis, at + k - 1, p);
        t[k] = ray_time(m, code, p);
    }
    double slope = (t[2] - t[0]) / 2, bend = t[2] - 2 * t[1] + t[0];
    double step = bend > 0 ? -slope / bend : slope < 0 ? 50 : -50;
    step = CLAMP(step, -200, 200);
    for (int halving = 0; halving < 12; halving++, step /= 2) {
        set_hit(m, code, h, axis, at + step, p);
        if (ray_time(m, code, p) < t[1])
            return fabs(step);
    }
    set_hit(m, code, h, axis, at, p);
    return 0;
}

void twsm_normal_ray(const TwsmModel *m, const TwsmCode *code, double (*p)[3])
{
    memcpy(p[0], m->source[0], sizeof p[0]);
    memcpy(p[code->n + 1], m->source[0], sizeof p[0]);
    p[code->n + 1][2] = m->receiver_z;
    for (int h = 0; h < code->n; h++) {
        set_hit(m, code, h, 0, m->source[0][0], p);
        set_hit(m, code, h, 1, m->source[0][1], p);
    }
    double moved = 1;
    for (int sweep = 0; sweep < 500 && moved > 0.01; sweep++) {
        moved = 0;
        for (int h = 0; h < code->n; h++)
            for (int axis = 0; axis < 2; axis++) {
                const double step = relax(m, code, h, axis, p);
                moved = MAX(moved, step);
            }
    }
}

static void report_ray(const TwsmModel *m, int c, LithoReport *r)
{
    const TwsmCode *code = &m->code[c];
    double p[TWSM_MAX_HITS + 2][3];
    float xyz[3 * (TWSM_MAX_HITS + 2)];
    twsm_normal_ray(m, code, p);
    for (int k = 0; k < 3 * (code->n + 2); k++)
        xyz[k] = (float)p[k / 3][k % 3];
    LithoShape shape = {
        .space = LITHO_SPACE_MODEL, .kind = LITHO_SHAPE_LINE, .n = (guint)code->n + 2, .xyz = xyz};
    char key[32], label[64];
    g_snprintf(key, sizeof key, "ray%d", c);
    g_snprintf(label, sizeof label, _("Arrival of %.40s at the source"), code->text);
    litho_report_number(r, key, label, "s", ray_time(m, code, p) + m->delay);
    g_strlcpy(shape.key, key, sizeof shape.key);
    g_snprintf(shape.label, sizeof shape.label, _("Ray %.56s"), code->text);
    litho_report_shape(r, &shape);
}

// Room above and below a grip: the source and receivers, and the other boundaries.
static void grip_room(const TwsmModel *m, int b, const double at[3], LithoGrip *grip)
{
    const double gap = 0.01 * MAX(m->x[1] - m->x[0], m->y[1] - m->y[0]);
    grip->lo = m->receiver_z + gap;
    grip->hi = 1e6;
    for (int s = 0; s < m->n_sources; s++)
        if (m->source[s][2] < at[2])
            grip->lo = MAX(grip->lo, m->source[s][2] + gap);
    if (m->receiver_z > at[2])
        grip->lo = gap;
    for (int other = 0; other < m->n_boundaries; other++) {
        const double z = twsm_boundary_depth(&m->boundary[other], at[0], at[1]);
        if (other < b)
            grip->lo = MAX(grip->lo, z + gap);
        else if (other > b)
            grip->hi = MIN(grip->hi, z - gap);
    }
    grip->step = pow(10, floor(log10(0.1 * gap + 1e-12)));
}

// A grip of boundary b: of its depth, at a corner of a bulge and in the middle else, or of the
// bulge's height, at its centre.
static void report_grip(const TwsmModel *m, int b, gboolean bulge, LithoReport *r)
{
    const TwsmBoundary *boundary = &m->boundary[b];
    const gboolean corner = boundary->shape == TWSM_GAUSSIAN && !bulge;
    const double at[2] = {bulge    ? boundary->centre[0]
                          : corner ? m->x[1]
                                   : 0.5 * (m->x[0] + m->x[1]),
                          bulge    ? boundary->centre[1]
                          : corner ? m->y[0]
                                   : 0.5 * (m->y[0] + m->y[1])};
    const double point[3] = {at[0], at[1], twsm_boundary_depth(boundary, at[0], at[1])};
    float xyz[3] = {(float)point[0], (float)point[1], (float)point[2]};
    LithoShape shape = {
        .space = LITHO_SPACE_MODEL, .kind = LITHO_SHAPE_POINTS, .n = 1, .xyz = xyz};
    g_snprintf(shape.key, sizeof shape.key, "grip%d%s", b, bulge ? "bulge" : "");
    g_snprintf(shape.label, sizeof shape.label, _("%s of boundary %d"),
               bulge ? _("Centre") : _("Depth"), b);
    g_strlcpy(shape.grip.operator_key, "twsm", sizeof shape.grip.operator_key);
    g_strlcpy(shape.grip.param, "depths", sizeof shape.grip.param);
    if (!twsm_depths_around(m, b, bulge, &shape.grip))
        return;
    shape.grip.offset =
        point[2] - (bulge ? boundary->amplitude : twsm_depths_number(m, boundary));
    grip_room(m, b, point, &shape.grip);
    litho_report_shape(r, &shape);
}

static void report_grips(const TwsmModel *m, LithoReport *r)
{
    for (int b = 0; b < m->n_boundaries; b++) {
        report_grip(m, b, FALSE, r);
        if (m->boundary[b].shape == TWSM_GAUSSIAN)
            report_grip(m, b, TRUE, r);
    }
}

void twsm_report_model(const TwsmModel *m, LithoReport *r)
{
    double lo, hi;
    if (!r)
        return;
    depth_range(m, &lo, &hi);
    for (int b = 0; b < m->n_boundaries; b++)
        report_boundary(m, b, lo, hi, r);
    report_acquisition(m, r);
    for (int c = 0; c < m->n_codes; c++)
        report_ray(m, c, r);
    report_grips(m, r);
}

// --- cost -------------------------------------------------------------------------------------

// Keeps the newest time of a width, ascending.
void twsm_cost_add(TwsmCost *cost, double at, double ms)
{
    guint k = 0;
    while (k < cost->n && cost->at[k] < at)
        k++;
    gboolean known = k < cost->n && cost->at[k] == at;
    if (!known) {
        if (cost->n == TWSM_COSTS)
            return;
        memmove(cost->at + k + 1, cost->at + k, (cost->n - k) * sizeof *cost->at);
        memmove(cost->ms + k + 1, cost->ms + k, (cost->n - k) * sizeof *cost->ms);
        cost->n++;
    }
    cost->at[k] = at;
    cost->ms[k] = ms;
}

static void curve(LithoReport *r, const char *key, const char *group, const char *name,
                  const char *x_label, const char *y_label, guint n, const double *x,
                  const double *y)
{
    litho_report_curve(r, key, group, x_label, y_label, n, x, y);
    litho_report_curve_style(r, key, group, name, TRUE, TRUE, FALSE);
}

void twsm_report_strips(const TwsmCost *cost, double beams, double elements, double per_element,
                        int width, LithoReport *r)
{
    // Zyatkov et al. 2016, section 3 and 4: N = 112,000, K = 128, M = 512.
    static const double m512[] = {512}, paper_beams = 112e3 * 112e3 * 128;
    static const struct {
        const char *key, *name;
        double seconds;
    } paper[] = {{"strip_paper_alg", N_("paper: algorithms 1, 2"), 97200},
                 {"strip_paper_core", N_("mod. 2"), 57600},
                 {"strip_paper_cores", N_("8 cores"), 7200},
                 {"strip_paper_gpu", "C2070", 600}};
    // One plot, so that both are in sight while the width moves.
    const char *group = _("Time and memory against strip width"), *x = _("rows M of a strip");
    const char *y = _("ms / 1e9 beams, MB");
    double ours[TWSM_COSTS], rows[13], megabytes[13];
    for (guint k = 0; k < cost->n; k++)
        ours[k] = cost->ms[k] / (1e-9 * beams);
    curve(r, "strip_time", group, "time", x, y, cost->n, cost->at, ours);
    for (guint k = 0; k < G_N_ELEMENTS(rows); k++) {
        rows[k] = 16 << k;
        megabytes[k] = 1e-6 * MIN(rows[k], elements) * elements * per_element;
    }
    curve(r, "strip_bytes", group, "memory", x, y, G_N_ELEMENTS(rows), rows, megabytes);
    for (guint k = 0; k < G_N_ELEMENTS(paper); k++) {
        double ms = 1000 * paper[k].seconds / (1e-9 * paper_beams);
        curve(r, paper[k].key, group, paper[k].name, x, y, 1, m512, &ms);
    }
    double mark = width;
    litho_report_curve_marks(r, "strip_bytes", 1, &mark);
    litho_report_curve_marks(r, "strip_time", 1, &mark);
}

void twsm_report_gpus(const TwsmCost *cost, double beams, LithoReport *r)
{
    // The paper's table: modified algorithm 2 on a cluster of Tesla C2070, seconds.
    static const double gpus[] = {1, 2, 3, 6, 10, 12, 15, 20, 24, 30};
    static const double seconds[] = {600, 302, 204, 106, 69, 58, 47, 37, 32, 28};
    const char *group = _("Time against GPUs"), *x = "GPUs", *y = _("ms per billion beams");
    double ours[TWSM_COSTS], paper[G_N_ELEMENTS(gpus)], ideal[G_N_ELEMENTS(gpus)];
    for (guint k = 0; k < cost->n; k++)
        ours[k] = cost->ms[k] / (1e-9 * beams);
    for (guint k = 0; k < G_N_ELEMENTS(gpus); k++) {
        paper[k] = 1000 * seconds[k] / (112e3 * 112e3 * 128e-9);
        ideal[k] = paper[0] / gpus[k];
    }
    curve(r, "gpu_time", group, _("this model, measured"), x, y, cost->n, cost->at, ours);
    curve(r, "gpu_paper", group, "paper", x, y, G_N_ELEMENTS(gpus), gpus, paper);
    curve(r, "gpu_ideal", group, _("paper, ideal"), x, y, G_N_ELEMENTS(gpus), gpus, ideal);
}
