// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/sweep_run.h"

#include <math.h>
#include <string.h>

#include "core/engine/engine.h"
#include "core/error.h"
#include "render/raster.h"
#include "ui/panel/param_format.h"

enum { HIDE = 5 }; // percent of the traces, where nothing else tells settings apart

// --- values -------------------------------------------------------------------------------------

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static guint without_doubles(double *values, guint n)
{
    guint kept = 0;
    qsort(values, n, sizeof *values, compare_double);
    for (guint k = 0; k < n; k++)
        if (kept == 0 || values[k] != values[kept - 1])
            values[kept++] = values[k];
    return kept;
}

gboolean litho_sweep_is_named(const LithoParam *row)
{
    return row->type == LITHO_PARAM_CHOICE || row->type == LITHO_PARAM_BOOL;
}

static void fill_named(LithoSweepAxis *axis, const LithoParam *row, guint n, double now)
{
    axis->row = row;
    axis->n = MIN(row->type == LITHO_PARAM_BOOL ? 2 : litho_param_n_choices(row), n);
    for (guint k = 0; k < axis->n; k++)
        axis->value[k] = k;
    if (now >= axis->n) // the last one makes room
        axis->value[axis->n - 1] = now;
}

gboolean litho_sweep_takes(const LithoParam *row, const void *params)
{
    if (row->type == LITHO_PARAM_FLOAT || row->type == LITHO_PARAM_INT || litho_sweep_is_named(row))
        return TRUE;
    if (row->type != LITHO_PARAM_FILE || !row->unit)
        return FALSE;
    g_autofree char *text = litho_param_print(row, params);
    char *end;
    const double value = g_ascii_strtod(text, &end);
    return value > 0 && *end == '\0';
}

double litho_sweep_value(const LithoParam *row, const void *params)
{
    if (row->type != LITHO_PARAM_FILE)
        return litho_param_get(row, params);
    g_autofree char *text = litho_param_print(row, params);
    return g_ascii_strtod(text, NULL);
}

gboolean litho_sweep_put(const LithoParam *row, void *params, double value, GError **error)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    if (row->type != LITHO_PARAM_FILE)
        return litho_param_set(row, params, value, error);
    return litho_param_set_text(row, params, g_ascii_formatd(text, sizeof text, "%.6g", value),
                                error);
}

// Values of a row without limits of its own, in equal steps to six digits, as they are written.
static void fill_plain(LithoSweepAxis *axis, double from, double to, guint n)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    for (guint k = 0; k < n; k++) {
        const double value = n > 1 ? from + (to - from) * k / (n - 1) : from;
        axis->value[k] = g_ascii_strtod(g_ascii_formatd(text, sizeof text, "%.6g", value), NULL);
    }
}

void litho_sweep_axis_fill(LithoSweepAxis *axis, const LithoParam *row, double from, double to,
                           guint n, double now)
{
    n = CLAMP(n, 1, LITHO_SWEEP_SINGLE);
    if (litho_sweep_is_named(row)) {
        fill_named(axis, row, n, now);
        return;
    }
    const gboolean plain = row->type == LITHO_PARAM_FILE;
    axis->row = row;
    if (plain) {
        fill_plain(axis, MIN(from, to), MAX(from, to), n);
    } else {
        double lo = litho_param_slider_from_value(row, CLAMP(MIN(from, to), row->min, row->max));
        double hi = litho_param_slider_from_value(row, CLAMP(MAX(from, to), row->min, row->max));
        for (guint k = 0; k < n; k++)
            axis->value[k] =
                litho_param_slider_to_value(row, n > 1 ? lo + (hi - lo) * k / (n - 1) : lo);
    }
    axis->n = without_doubles(axis->value, n);
    const gboolean special = !plain && litho_param_is_special(row, now);
    if (special || (now > axis->value[0] && now < axis->value[axis->n - 1])) {
        axis->value[axis->n] = now;
        axis->n = without_doubles(axis->value, axis->n + 1);
    }
}

guint litho_sweep_task_length(const LithoSweepTask *task)
{
    return task->axis[0].n * (task->axis[1].row ? task->axis[1].n : 1);
}

void litho_sweep_task_free(LithoSweepTask *task)
{
    if (!task)
        return;
    litho_flow_free(task->flow);
    litho_cube_unref(task->in);
    litho_noise_clear(&task->noise);
    g_free(task);
}

void litho_sweep_shot_free(LithoSweepShot *shot)
{
    for (int k = 0; k < LITHO_SWEEP_PICTURES; k++)
        if (shot->picture[k])
            cairo_surface_destroy(shot->picture[k]);
    g_free(shot->refused);
    g_free(shot);
}

// --- one setting --------------------------------------------------------------------------------

static double removed_energy(const LithoCube *in, const LithoCube *out, LithoBox box)
{
    double all = 0, gone = 0;
    for (gint64 i = box.lo[0]; i < box.hi[0]; i++)
        for (gint64 j = box.lo[1]; j < box.hi[1]; j++) {
            if (!litho_cube_is_live(in, i, j))
                continue;
            const float *a = litho_cube_trace(in, i, j) - in->held.lo[2];
            const float *b = litho_cube_trace(out, i, j) - out->held.lo[2];
            for (gint64 t = box.lo[2]; t < box.hi[2]; t++) {
                all += (double)a[t] * a[t];
                gone += ((double)a[t] - b[t]) * ((double)a[t] - b[t]);
            }
        }
    return all > 0 ? gone / all : NAN;
}

// The task's view on the grid of one setting's output: of the same times or depths, however far its
// samples lie apart.
static LithoSliceView view_of(const LithoSweepTask *task, const LithoGrid *grid)
{
    const LithoAxis *from = &task->grid.axis[LITHO_SAMPLE], *to = &grid->axis[LITHO_SAMPLE];
    LithoSliceView view = task->view;
    if (task->grid.is_depth == grid->is_depth && from->step > 0 && to->step > 0) {
        double *const at[] = {&view.lo[LITHO_SAMPLE], &view.hi[LITHO_SAMPLE]};
        for (guint k = 0; k < G_N_ELEMENTS(at); k++)
            *at[k] = litho_axis_index(to, litho_axis_value(from, *at[k]));
        if (view.axis == LITHO_SAMPLE)
            view.index = llround(litho_axis_index(to, litho_axis_value(from, (double)view.index)));
    }
    // Another setting may give fewer depths than the one that the slice was chosen in.
    view.index = CLAMP(view.index, 0, grid->axis[view.axis].n - 1);
    return view;
}

static cairo_surface_t *draw(const LithoSweepTask *task, const LithoCube *in, const LithoCube *out,
                             const LithoLook *look, LithoShow show, GError **error)
{
    const LithoGrid *grid = out ? &out->grid : &in->grid;
    LithoRaster raster = {.input = in,
                          .output = out,
                          .grid = grid,
                          .view = view_of(task, grid),
                          .look = *look,
                          .show = show,
                          .scale = 1};
    return litho_raster_slice(&raster, task->width, task->height, error);
}

// The similarity of the slice: beside the noise where the question that `judge` has answered tells
// it there, else as it is.
static LithoCube *similarity_of(const LithoSweepTask *task, const LithoCube *out, LithoBox slice,
                                const LithoJudge *judge, LithoRun *run, LithoSweepShot *shot,
                                GError **error)
{
    LithoCube *map = NULL;
    g_autoptr(LithoBeside) beside = shot->judged ? litho_judge_beside(judge) : NULL;
    shot->is_beside = !litho_box_empty(litho_beside_part(beside, slice));
    const gboolean ok =
        shot->is_beside ? litho_beside_map(beside, slice, &task->widths, run, &map, error)
                        : litho_similarity(task->in, out, slice, &task->widths, run, &map, error);
    return ok ? map : NULL;
}

// Draws the output; on the input's grid there is a removed part, too, and its similarity.
static gboolean draw_all(const LithoSweepTask *task, const LithoCube *out, LithoBox slice,
                         const LithoJudge *judge, LithoRun *run, LithoSweepShot *shot,
                         GError **error)
{
    shot->picture[LITHO_SWEEP_OUTPUT] =
        draw(task, task->in, out, &task->look, LITHO_SHOW_OUTPUT, error);
    if (!shot->picture[LITHO_SWEEP_OUTPUT])
        return FALSE;
    if (!task->in || !litho_grid_matches(&task->in->grid, &out->grid))
        return TRUE;
    if (!shot->judged) // beside the leakage: of the same samples
        shot->removed = removed_energy(task->in, out, slice);
    shot->picture[LITHO_SWEEP_REMOVED] =
        draw(task, task->in, out, &task->look, LITHO_SHOW_REMOVED, error);
    g_autoptr(LithoCube) map = shot->picture[LITHO_SWEEP_REMOVED]
                                   ? similarity_of(task, out, slice, judge, run, shot, error)
                                   : NULL;
    if (!map)
        return FALSE;
    LithoLook look = task->look;
    const LithoRange range = {.lo = 0, .hi = 1, .is_unsigned = TRUE};
    litho_look_set_range(&look, &range);
    look.wiggle = LITHO_WIGGLE_OFF;
    look.no_density = FALSE;
    shot->picture[LITHO_SWEEP_SIMILARITY] = draw(task, map, NULL, &look, LITHO_SHOW_INPUT, error);
    return shot->picture[LITHO_SWEEP_SIMILARITY] != NULL;
}

static gboolean judge(const LithoSweepTask *task, LithoJudge *judge, LithoRun *run,
                      LithoSweepShot *shot, GError **error)
{
    const LithoQualityAsk ask = {.flow = task->flow,
                                 .in = task->in,
                                 .area = task->area,
                                 .noise = task->noise.n > 0 ? &task->noise : NULL,
                                 .hide = litho_flow_fills_alone(task->flow) ? HIDE : 0,
                                 .seed = task->seed,
                                 .similarity = TRUE,
                                 .widths = task->widths};
    shot->judged = litho_judge_run(judge, &ask, run, &shot->quality, error);
    if (shot->judged)
        shot->removed = shot->quality.removed;
    return shot->judged;
}

// The choices that the operator made for swept rows that are left to it.
static void take_used(const LithoSweepTask *task, LithoReport *report, LithoSweepShot *shot)
{
    const LithoStep *step = litho_flow_step(task->flow, task->step);
    g_autoptr(GArray) numbers = litho_report_numbers(report);
    for (int k = 0; k < 2 && task->axis[k].row; k++) {
        const LithoParam *row = task->axis[k].row;
        const double value = task->axis[k].value[shot->at[k]];
        for (guint n = 0; n < numbers->len; n++) {
            const LithoNumber *number = &g_array_index(numbers, LithoNumber, n);
            if (litho_number_is_used(number, step->op->key, row->key) &&
                (litho_param_is_special(row, value) ||
                 (row->type == LITHO_PARAM_CHOICE && number->value != value)))
                shot->used[k] = number->value;
        }
    }
}

// The flow's output, on the slice alone where that is enough, and what the operator chose for it.
static LithoCube *compute(LithoSweepTask *task, LithoEngine *engine, const LithoBox *slice,
                          LithoRun *run, LithoSweepShot *shot, GError **error)
{
    LithoReport *before = run->report;
    LithoReport *report = run->report = litho_report_new();
    const double start = litho_now_ms();
    LithoCube *out = litho_engine_run(engine, task->flow, task->in,
                                      litho_flow_is_local(task->flow) ? slice : NULL, run, error);
    shot->ms = litho_now_ms() - start;
    run->report = before;
    take_used(task, report, shot);
    litho_report_unref(report);
    return out;
}

static gboolean try_setting(LithoSweepTask *task, LithoEngine *engine, LithoJudge *judges,
                            LithoRun *run, LithoSweepShot *shot, GError **error)
{
    LithoStep *step = litho_flow_step(task->flow, task->step);
    for (int k = 0; k < 2 && task->axis[k].row; k++)
        if (!litho_sweep_put(task->axis[k].row, step->params, task->axis[k].value[shot->at[k]],
                             error))
            return FALSE;
    g_autoptr(LithoWalk) walk =
        litho_walk_resolve(task->flow, task->in ? &task->in->grid : NULL, run, error);
    if (!walk)
        return FALSE;
    const int axis = task->view.axis;
    const gint64 index = MIN(task->view.index, walk->out.axis[axis].n - 1);
    LithoBox slice = litho_box_slice(&walk->out, axis, index);
    g_autoptr(LithoCube) out = compute(task, engine, &slice, run, shot, error);
    return out && litho_cube_host(out, error) &&
           (!task->judged || judge(task, judges, run, shot, error)) &&
           draw_all(task, out, slice, judges, run, shot, error);
}

static gboolean is_now(const LithoSweepTask *task, const LithoSweepShot *shot)
{
    for (int k = 0; k < 2 && task->axis[k].row; k++)
        if (task->axis[k].value[shot->at[k]] != task->now[k])
            return FALSE;
    return TRUE;
}

gboolean litho_sweep_run(LithoSweepTask *task, LithoRun *run,
                         void (*told)(LithoSweepShot *shot, gpointer data), gpointer data,
                         GError **error)
{
    LithoEngine *engine = litho_engine_new(task->device);
    LithoJudge *judges = litho_judge_new(task->device);
    gboolean cancelled = FALSE;
    // Noise that cannot be measured leaves the expected SNR out.
    if (task->judged && task->noise.n == 0 &&
        !litho_quality_noise(task->in, &task->area, run, &task->noise, NULL))
        task->noise = (LithoNoise){0};
    for (guint k = 0; k < litho_sweep_task_length(task) && !cancelled; k++) {
        g_autoptr(GError) refused = NULL;
        LithoSweepShot *shot = g_new0(LithoSweepShot, 1);
        shot->at[0] = k % task->axis[0].n;
        shot->at[1] = k / task->axis[0].n;
        shot->removed = shot->used[0] = shot->used[1] = NAN;
        shot->is_now = is_now(task, shot);
        if (!try_setting(task, engine, judges, run, shot, &refused)) {
            shot->refused = g_strdup(refused->message);
            cancelled = litho_error_is_cancelled(refused);
        }
        told(shot, data);
    }
    litho_judge_free(judges);
    litho_engine_free(engine);
    return !cancelled || litho_run_stopped(error);
}
