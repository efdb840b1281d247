// SPDX-License-Identifier: GPL-3.0-or-later
//
// The objects a session is made of, without a window, a display or an operator at work.
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "core/json.h"
#include "core/phases.h"
#include "core/report.h"
#include "kernels/kernels.h"
#include "kernels/template/template.h"
#include "ui/session/area.h"
#include "ui/session/device_choice.h"
#include "ui/session/figures.h"
#include "ui/session/flow_check.h"
#include "ui/session/memory_plan.h"
#include "ui/session/newest.h"
#include "ui/session/numbers.h"
#include "ui/session/places.h"
#include "ui/session/ranges.h"
#include "ui/session/results.h"
#include "ui/session/state_store.h"
#include "ui/session/state_writer.h"

// Answers of one object, as its owner sees them.
typedef struct Heard {
    guint n;
    int last;
    LithoRange range;
} Heard;

static gboolean give_up(gpointer data)
{
    *(gboolean *)data = TRUE;
    return G_SOURCE_REMOVE;
}

// Until `n` answers have come; fails after a minute without them.
static void wait_for(const Heard *heard, guint n)
{
    gboolean late = FALSE;
    guint timeout = g_timeout_add_seconds(60, give_up, &late);
    while (heard->n < n && !late)
        g_main_context_iteration(NULL, TRUE);
    g_assert_cmpuint(heard->n, ==, n);
    if (!late)
        g_source_remove(timeout);
}

// Nothing comes for as long as a job of no work takes, many times over.
static void stay_quiet(const Heard *heard)
{
    const guint n = heard->n;
    for (int k = 0; k < 50; k++) {
        g_usleep(1000);
        while (g_main_context_iteration(NULL, FALSE))
            ;
    }
    g_assert_cmpuint(heard->n, ==, n);
}

static void hear(gpointer owner)
{
    ((Heard *)owner)->n++;
}

static LithoCube *ramp(gint64 inlines, gint64 xlines, gint64 samples, double offset)
{
    LithoGrid grid = litho_grid_new(inlines, xlines, samples);
    LithoCube *cube = litho_cube_new(&grid, NULL);
    g_assert_nonnull(cube);
    for (gint64 k = 0; k < litho_grid_samples(&grid); k++)
        cube->samples[k] = (float)(offset + (k % 7) - 3);
    return cube;
}

// --- newest question ----------------------------------------------------------------------------

static GMutex gate; // holds the thread of a question

static gpointer answer_after_gate(LithoRun *run, gpointer question, GError **error)
{
    (void)error;
    g_mutex_lock(&gate);
    g_mutex_unlock(&gate);
    return litho_run_checkpoint(run) ? g_memdup2(question, sizeof(int)) : NULL;
}

static void hear_answer(gpointer answer, const GError *error, gpointer question, gpointer owner)
{
    Heard *heard = owner;
    (void)error;
    g_assert_cmpint(*(int *)answer, ==, *(int *)question);
    heard->last = *(int *)answer;
    heard->n++;
    g_free(answer);
}

static int questions_alive;

static void question_gone(gpointer question)
{
    questions_alive--;
    g_free(question);
}

static void wait_until_freed(void)
{
    gboolean late = FALSE;
    guint timeout = g_timeout_add_seconds(60, give_up, &late);
    while (questions_alive > 0 && !late)
        g_main_context_iteration(NULL, TRUE);
    g_assert_cmpint(questions_alive, ==, 0);
    if (!late)
        g_source_remove(timeout);
}

static const LithoNewestFuncs funcs = {answer_after_gate, hear_answer, question_gone, g_free};

static void ask(LithoNewest *newest, int k)
{
    questions_alive++;
    litho_newest_ask(newest, g_memdup2(&k, sizeof k));
}

// Property: of four questions asked while none is answered, the one under way and the newest are
// answered, and every one is freed once. A queue in place of the one waiting question gives four
// answers.
static void test_newest(void)
{
    Heard heard = {0};
    LithoNewest *newest = litho_newest_new(&funcs, &heard);
    g_mutex_lock(&gate);
    for (int k = 1; k <= 4; k++)
        ask(newest, k);
    g_mutex_unlock(&gate);
    wait_for(&heard, 1);
    g_assert_cmpint(heard.last, ==, 1);
    wait_for(&heard, 2);
    g_assert_cmpint(heard.last, ==, 4);
    wait_until_freed();
    stay_quiet(&heard);
    litho_newest_free(newest);
}

// Property: a forgotten question is not answered, one asked behind it is; a freed object answers
// nothing although its thread is still at work.
static void test_newest_forget(void)
{
    Heard heard = {0};
    LithoNewest *newest = litho_newest_new(&funcs, &heard);
    g_mutex_lock(&gate);
    ask(newest, 1);
    litho_newest_forget(newest);
    ask(newest, 2);
    g_mutex_unlock(&gate);
    wait_for(&heard, 1);
    g_assert_cmpint(heard.last, ==, 2);
    g_mutex_lock(&gate);
    ask(newest, 3);
    ask(newest, 4);
    litho_newest_free(newest);
    g_mutex_unlock(&gate);
    wait_until_freed();
    stay_quiet(&heard);
}

// --- numbers and ranges -------------------------------------------------------------------------

static void hear_numbers(int which, gpointer owner)
{
    Heard *heard = owner;
    heard->last = which;
    heard->n++;
}

static void hear_range(int which, const LithoRange *range, gpointer owner)
{
    Heard *heard = owner;
    heard->range = *range;
    hear_numbers(which, owner);
}

static const LithoNumbersFuncs number_funcs = {hear_numbers, hear_range};

// Property: numbers are those of the cube asked about last, of a result also what was removed; a
// percentile is found for a cube whose numbers are there, and for no other.
static void test_numbers(void)
{
    Heard heard = {0};
    LithoNumbers *numbers = litho_numbers_new(&number_funcs, &heard);
    g_autoptr(LithoCube) in = ramp(6, 5, 64, 0), first = ramp(6, 5, 64, 1), out = ramp(6, 5, 64, 2);
    g_assert_false(litho_numbers_find_range(numbers, LITHO_NUMBERS_IN, in, 90));
    litho_numbers_want(numbers, LITHO_NUMBERS_IN, in, NULL);
    wait_for(&heard, 1);
    g_assert_cmpint(heard.last, ==, LITHO_NUMBERS_IN);
    const LithoCubeNumbers *known = litho_numbers_get(numbers, LITHO_NUMBERS_IN);
    g_assert_cmpfloat(known->stats.max, ==, 3);
    g_assert_cmpuint(known->removed.n, ==, 0);
    g_assert_null(litho_numbers_get(numbers, LITHO_NUMBERS_OUT));

    litho_numbers_want(numbers, LITHO_NUMBERS_OUT, first, in);
    litho_numbers_want(numbers, LITHO_NUMBERS_OUT, out, in);
    wait_for(&heard, 2);
    known = litho_numbers_get(numbers, LITHO_NUMBERS_OUT);
    g_assert_cmpfloat(known->stats.max, ==, 5); // of `out`, not of `first`
    g_assert_cmpuint(known->removed.n, >, 0);

    g_assert_false(litho_numbers_find_range(numbers, LITHO_NUMBERS_IN, in, 49));
    g_assert_true(litho_numbers_find_range(numbers, LITHO_NUMBERS_IN, in, 100));
    wait_for(&heard, 3);
    g_assert_cmpfloat(heard.range.hi, ==, 3);

    litho_numbers_want(numbers, LITHO_NUMBERS_IN, out, NULL);
    litho_numbers_forget(numbers, LITHO_NUMBERS_IN);
    g_assert_null(litho_numbers_get(numbers, LITHO_NUMBERS_IN));
    stay_quiet(&heard);
    litho_numbers_free(numbers);
}

// Property: the colours follow the percentile until somebody sets them, and a symmetric clip of
// data that turn out to have one sign is given up.
static void test_ranges(void)
{
    LithoRanges *ranges = litho_ranges_new();
    LithoLook look = litho_look_default();
    LithoCubeNumbers numbers = {.range = {.lo = -2, .hi = 2}};
    g_assert_false(litho_ranges_follow(ranges, LITHO_NUMBERS_IN, NULL, &look)); // not known
    g_assert_true(litho_ranges_follow(ranges, LITHO_NUMBERS_IN, &numbers, &look));
    g_assert_cmpfloat(look.hi, ==, 2);
    g_assert_false(litho_ranges_follow(ranges, LITHO_NUMBERS_IN, &numbers, &look));
    litho_ranges_set(ranges, LITHO_NUMBERS_IN, -5, 5, &look);
    g_assert_true(litho_ranges_is_set(ranges, LITHO_NUMBERS_IN));
    g_assert_false(litho_ranges_is_set(ranges, LITHO_NUMBERS_OUT));
    litho_ranges_follow(ranges, LITHO_NUMBERS_IN, &numbers, &look);
    g_assert_cmpfloat(look.hi, ==, 5);
    numbers.range = (LithoRange){.lo = 1500, .hi = 4500, .is_unsigned = TRUE, .unit = "m/s"};
    g_assert_true(litho_ranges_follow(ranges, LITHO_NUMBERS_IN, &numbers, &look));
    g_assert_cmpfloat(look.lo, ==, 1500);
    g_assert_true(look.map == litho_colormap_unsigned());
    g_assert_false(litho_ranges_is_set(ranges, LITHO_NUMBERS_IN));
    litho_ranges_free(ranges);
}

// --- places -------------------------------------------------------------------------------------

static LithoGrid time_grid(gint64 n, double step)
{
    LithoGrid grid = litho_grid_new(40, 30, n);
    grid.axis[LITHO_SAMPLE].first = 0;
    grid.axis[LITHO_SAMPLE].step = step;
    return grid;
}

// Property: without a curve a time axis and a depth axis lie upon each other from end to end; with
// one, samples meet where the curve says, and there and back is the sample itself.
static void test_depth_time(void)
{
    LithoGrid time = time_grid(101, 0.01), depth = time_grid(201, 10);
    depth.is_depth = TRUE;
    LithoDepthTime *curve = litho_depth_time_new();
    g_assert_cmpfloat(litho_depth_time_convert(curve, &time, &depth, 50), ==, 100);
    // 1000 m/s down to 0.4 s, 200 m; 4000 m/s below: 0.8 s is 200 + 800 m.
    const double z[] = {0, 200, 1200}, t[] = {0, 0.4, 0.9};
    LithoReport *report = litho_report_new();
    litho_report_curve(report, "dt", "Depth and time", "m", "s", 3, z, t);
    litho_report_curve_role(report, "dt", LITHO_CURVE_DEPTH_TIME);
    g_autoptr(GArray) curves = litho_report_curves(report);
    litho_depth_time_take(curve, curves);
    const double there = litho_depth_time_convert(curve, &time, &depth, 80);
    g_assert_cmpfloat_with_epsilon(there, 100, 1e-9);
    g_assert_cmpfloat_with_epsilon(litho_depth_time_convert(curve, &depth, &time, there), 80, 1e-9);
    litho_depth_time_take(curve, NULL);
    g_assert_cmpfloat(litho_depth_time_convert(curve, &time, &depth, 50), ==, 100);
    litho_depth_time_free(curve);
    litho_report_unref(report);
}

// Property: a grid of another shape keeps the place, and the way back restores every axis that
// nobody has moved meanwhile, exactly.
static void test_places(void)
{
    const LithoGrid fine = time_grid(101, 0.004), coarse = time_grid(51, 0.008);
    LithoPlaces *places = litho_places_new();
    LithoDepthTime *curve = litho_depth_time_new();
    LithoDisplay d = {.look = litho_look_default()};
    g_assert_null(litho_places_grid(places));
    litho_places_adopt(places, &fine, curve, &d);
    g_assert_cmpint(d.slice[LITHO_INLINE], ==, 20); // the middle
    d.slice[LITHO_INLINE] = 7;
    d.slice[LITHO_SAMPLE] = 34;
    d.lo[LITHO_SAMPLE] = 10, d.hi[LITHO_SAMPLE] = 60;
    litho_places_adopt(places, &coarse, curve, &d);
    g_assert_cmpint(d.slice[LITHO_INLINE], ==, 7);  // as many lines as before
    g_assert_cmpint(d.slice[LITHO_SAMPLE], ==, 17); // 0.136 s
    d.slice[LITHO_INLINE] = 9;                      // somebody moves it
    litho_places_adopt(places, &fine, curve, &d);
    g_assert_cmpint(d.slice[LITHO_INLINE], ==, 9);
    g_assert_cmpint(d.slice[LITHO_SAMPLE], ==, 34);
    g_assert_cmpfloat(d.lo[LITHO_SAMPLE], ==, 10);
    litho_places_forget(places);
    g_assert_null(litho_places_grid(places));
    litho_places_adopt(places, &coarse, curve, &d);
    g_assert_cmpint(d.slice[LITHO_SAMPLE], ==, 25); // the middle again: nothing was kept
    litho_depth_time_free(curve);
    litho_places_free(places);
}

// --- results ------------------------------------------------------------------------------------

static LithoResult *result_of(LithoCube *cube, guint64 tag, gboolean complete)
{
    LithoResult *result = litho_result_of(cube, NULL, litho_device_cpu());
    result->tag = tag;
    result->complete = complete;
    return result;
}

// Property: a result is kept when it is of the present kind and shape and not older than the one
// that is there; the whole one of the newest wish is the output.
static void test_results(void)
{
    LithoResults *results = litho_results_new();
    LithoFlow *flow = litho_flow_new();
    g_autoptr(LithoCube) in = ramp(4, 4, 16, 0), out = ramp(4, 4, 16, 1), odd = ramp(4, 4, 8, 1);
    LithoCube *whole;
    litho_flow_append(flow, &litho_operator_template);
    g_assert_true(litho_results_note_kind(results, flow, in));
    g_assert_false(litho_results_note_kind(results, flow, in));
    guint64 first = litho_results_next_tag(results), second = litho_results_next_tag(results);

    g_assert_false(litho_results_take(results, result_of(odd, second, TRUE), &in->grid, &whole));
    g_assert_true(litho_results_take(results, result_of(out, second, TRUE), &in->grid, &whole));
    g_assert_true(whole == out && litho_results_whole(results) == out);
    g_assert_false(litho_results_take(results, result_of(in, first, TRUE), &in->grid, &whole));
    g_assert_true(litho_results_whole(results) == out); // the older one came late
    float value;
    const gint64 at[3] = {3, 2, 5}, outside[3] = {4, 0, 0};
    g_assert_true(litho_results_sample(results, at, &value));
    g_assert_cmpfloat(value, ==, litho_cube_trace(out, 3, 2)[5]);
    g_assert_false(litho_results_sample(results, outside, &value));
    g_assert_true(litho_results_holding(results, litho_box_slice(&in->grid, 0, 1)) == out);

    litho_results_next_tag(results);
    g_assert_null(litho_results_whole(results)); // of the wish before
    litho_flow_step(flow, 0)->enabled = FALSE;
    g_assert_true(litho_results_note_kind(results, flow, in));
    g_assert_null(litho_results_holding(results, litho_box_slice(&in->grid, 0, 1)));
    g_assert_false(litho_results_take(results, result_of(out, second, TRUE), &in->grid, &whole));

    LithoResult *known = result_of(out, 1, TRUE);
    LithoResult *again = litho_results_repeat(results, known);
    g_assert_cmpuint(again->generation, >, 1000000);
    g_assert_true(litho_results_take(results, again, &in->grid, &whole));
    g_assert_true(litho_results_whole(results) == out);
    litho_result_unref(known);
    litho_results_free(results);
    litho_flow_free(flow);
}

// Property: figures of the pass before fill in while a pass runs, and go when it has ended; reports
// of a kind that has gone are refused.
static void test_figures(void)
{
    LithoFigures *figures = litho_figures_new();
    LithoReport *before = litho_report_new(), *now = litho_report_new();
    litho_report_number(before, "a", "A", "", 1);
    litho_report_number(before, "b", "B", "", 2);
    litho_report_number(now, "a", "A", "", 3);
    litho_figures_restart(figures, 5);
    g_assert_false(litho_figures_take(figures, before, 4));
    g_assert_true(litho_figures_take(figures, before, 5));
    g_assert_true(litho_figures_take(figures, now, 6));
    g_assert_false(litho_figures_take(figures, now, 6)); // nothing new
    g_autoptr(GArray) running = litho_figures_numbers(figures, TRUE);
    g_autoptr(GArray) ended = litho_figures_numbers(figures, FALSE);
    g_assert_cmpuint(running->len, ==, 2);
    g_assert_cmpfloat(g_array_index(running, LithoNumber, 0).value, ==, 3);
    g_assert_cmpuint(ended->len, ==, 1);
    g_assert_false(litho_figures_is_newest(figures, "b"));
    litho_report_unref(before);
    litho_report_unref(now);
    litho_figures_free(figures);
}

// --- flow and device ----------------------------------------------------------------------------

// Property: the grid of the last flow that could run stays while one is refused; a problem of a
// file is no reason to give up, one of the flow is.
static void test_flow_check(void)
{
    LithoFlowCheck *check = litho_flow_check_new();
    LithoFlow *flow = litho_flow_new();
    LithoGrid in = litho_grid_new(4, 5, 6), larger = litho_grid_new(4, 5, 7);
    litho_flow_append(flow, &litho_operator_template);
    g_assert_true(litho_flow_has_work(flow));
    g_assert_true(litho_flow_check_look(check, flow, &in));
    g_assert_null(litho_flow_check_problem(check));
    g_assert_cmpint(litho_flow_check_out(check)->axis[2].n, ==, 6);
    g_assert_false(litho_flow_check_look(check, flow, &in));  // the shape it was
    g_assert_false(litho_flow_check_look(check, flow, NULL)); // a filter without an input
    g_assert_true(litho_flow_check_is_hopeless(check));
    g_assert_cmpint(litho_flow_check_out(check)->axis[2].n, ==, 6);
    g_assert_true(litho_flow_check_look(check, flow, &larger));
    g_assert_null(litho_flow_check_problem(check));
    g_autoptr(GError) error = g_error_new(G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "v.sgy is not there");
    litho_flow_check_refuse(check, error);
    g_assert_cmpstr(litho_flow_check_problem(check), ==, "v.sgy is not there");
    g_assert_false(litho_flow_check_is_hopeless(check));
    litho_flow_step(flow, 0)->enabled = FALSE;
    g_assert_false(litho_flow_has_work(flow));
    litho_flow_free(flow);
    litho_flow_check_free(check);
}

// Property: of devices asked for in a row the last is told; one that is not there leaves the CPU,
// with the reason, also in the label of the flow that is computed.
static void test_device_choice(void)
{
    Heard heard = {0};
    LithoDeviceChoice *choice = litho_device_choice_new(hear, &heard);
    LithoFlow *flow = litho_flow_new();
    const char *why;
    gboolean changed;
    litho_device_choice_ask(choice, "cpu");
    litho_device_choice_ask(choice, "cuda:99");
    g_assert_cmpstr(litho_device_choice_wanted(choice), ==, "cuda:99");
    wait_for(&heard, 1);
    g_assert_nonnull(strstr(litho_device_choice_label(choice, &why), "CPU"));
    g_assert_nonnull(why);
    LithoDevice device = litho_device_choice_take(choice, flow, &changed);
    g_assert_true(litho_device_is_same(device, litho_device_cpu()));
    g_assert_false(changed);
    litho_device_choice_ask(choice, "cpu");
    wait_for(&heard, 2);
    litho_device_choice_label(choice, &why);
    g_assert_null(why);
    stay_quiet(&heard);
    litho_flow_free(flow);
    litho_device_choice_free(choice);
}

// Property: the memory of a flow is known after a while, at least input and output, and not any
// more when there is nothing to compute.
static void test_memory(void)
{
    Heard heard = {0};
    LithoMemoryQuestion *question = litho_memory_question_new(hear, &heard);
    LithoFlow *flow = litho_flow_new();
    LithoGrid in = litho_grid_new(40, 50, 60);
    litho_flow_append(flow, litho_operator_find("fx"));
    litho_memory_question_ask(question, flow, litho_device_cpu(), &in);
    g_assert_null(litho_memory_question_plan(question));
    wait_for(&heard, 1);
    const LithoMemoryPlan *plan = litho_memory_question_plan(question);
    g_assert_nonnull(plan);
    g_assert_cmpuint(plan->need, >=, 2 * 4 * 40 * 50 * 60); // input and output
    litho_memory_question_forget(question);
    g_assert_cmpuint(heard.n, ==, 2);
    g_assert_null(litho_memory_question_plan(question));
    litho_memory_question_forget(question);
    g_assert_cmpuint(heard.n, ==, 2); // there was nothing to tell
    litho_flow_free(flow);
    litho_memory_question_free(question);
}

// --- area ---------------------------------------------------------------------------------------

// Property: the area lies on the section that is shown; its f-k pictures are of input, output and
// their difference, and one that has no cube stays empty.
static void test_area(void)
{
    Heard heard = {0};
    LithoAreaTool *tool = litho_area_tool_new(hear, &heard);
    g_autoptr(LithoCube) in = ramp(8, 32, 64, 0), out = ramp(8, 32, 64, 1);
    LithoArea area = {.on = TRUE, .axis = LITHO_INLINE, .box = {{0, 4, 8}, {0, 28, 100}}};
    litho_area_tool_set(tool, &area);
    LithoBox box = litho_area_tool_box(tool, &in->grid, 5);
    g_assert_cmpint(box.lo[0], ==, 5);
    g_assert_cmpint(box.hi[0], ==, 6);
    g_assert_cmpint(box.hi[2], ==, 64); // within the grid
    litho_area_tool_ask(tool, in, NULL, box);
    wait_for(&heard, 1);
    const LithoAreaNumbers *numbers = litho_area_tool_numbers(tool);
    g_assert_cmpuint(numbers->fk[0].n_f, >, 0);
    g_assert_cmpuint(numbers->fk[1].n_f, ==, 0);
    litho_area_tool_ask(tool, in, out, box);
    wait_for(&heard, 2);
    g_assert_cmpuint(litho_area_tool_numbers(tool)->fk[2].n_f, >, 0);
    g_assert_true(litho_area_tool_forget(tool));
    g_assert_false(litho_area_tool_forget(tool));
    g_assert_null(litho_area_tool_numbers(tool));
    litho_area_tool_free(tool);
}

// --- the session on disk ------------------------------------------------------------------------

typedef struct Desk {
    int number; // told from one session to the next
    gboolean is_open;
    guint n_failed;
} Desk;

static char *desk_text(gpointer owner)
{
    LithoFlow *flow = litho_flow_new();
    JsonNode *recipe = litho_flow_to_json(flow);
    g_autofree char *steps = litho_json_text(recipe);
    json_node_unref(recipe);
    litho_flow_free(flow);
    return g_strdup_printf("{\"lithoscope-session\": 1, \"recipe\": %s, \"selected\": %d}", steps,
                           ((Desk *)owner)->number);
}

static gboolean desk_is_open(gpointer owner)
{
    return ((Desk *)owner)->is_open;
}

static void desk_failed(const GError *error, gpointer owner)
{
    g_assert_nonnull(error);
    ((Desk *)owner)->n_failed++;
}

static int saved_number(const char *key)
{
    g_autoptr(GError) error = NULL;
    JsonNode *state = litho_state_read(key, &error);
    g_assert_no_error(error);
    int number =
        state ? (int)json_object_get_int_member(json_node_get_object(state), "selected") : -1;
    g_clear_pointer(&state, json_node_unref);
    return number;
}

static void wait_until_settled(const LithoStateWriter *writer)
{
    gboolean late = FALSE;
    guint timeout = g_timeout_add_seconds(60, give_up, &late);
    while (!litho_state_writer_is_settled(writer) && !late)
        g_main_context_iteration(NULL, TRUE);
    g_assert_false(late);
    g_source_remove(timeout);
}

// Property: phases have the time that passes in them and not what an inner one has; the one under
// way goes on after its time has been taken; more names than there is room for are left out.
static void test_phases(void)
{
    LithoPhase phases[LITHO_PHASES_MAX];
    litho_phases_take(NULL);
    const char *around = litho_phase_begin("outer");
    g_usleep(2000);
    const char *outer = litho_phase_begin("inner");
    g_assert_cmpstr(outer, ==, "outer");
    g_usleep(6000);
    litho_phase_end(outer);
    g_assert_cmpuint(litho_phases_take(phases), ==, 2);
    g_assert_cmpstr(phases[0].name, ==, "outer");
    g_assert_cmpfloat(phases[0].ms, >=, 2);
    g_assert_cmpfloat(phases[1].ms, >=, 6);
    g_assert_cmpuint(phases[1].times, ==, 1);
    g_usleep(1000);
    litho_phase_end(around);
    g_usleep(1000);
    g_assert_cmpuint(litho_phases_take(phases), ==, 1);
    g_assert_cmpstr(phases[0].name, ==, "outer");
    g_assert_cmpfloat(phases[0].ms, >=, 1);
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i",
                                        "j", "k", "l", "m", "n", "o", "p", "q"};
    G_STATIC_ASSERT(G_N_ELEMENTS(names) == LITHO_PHASES_MAX + 1);
    for (guint k = 0; k < G_N_ELEMENTS(names); k++)
        litho_phase_end((litho_phase_begin(names[k]), NULL));
    g_assert_cmpuint(litho_phases_take(phases), ==, LITHO_PHASES_MAX);
}

// Property: the longest phase is told first, short ones are left out, repeats are counted.
static void test_phases_text(void)
{
    const LithoPhase phases[] = {{"views", 1.25, 4}, {"layout", 0.01, 1}, {"copy", 80.04, 1}};
    g_autofree char *text = litho_phases_text(phases, 3, 0.1);
    g_assert_cmpstr(text, ==, "copy 80.0 ms, views 1.2 ms (4)");
    g_autofree char *none = litho_phases_text(phases, 0, 0.1);
    g_assert_cmpstr(none, ==, "");
}

// Property: a change is on disk a while later, all changes of that while at once; flush() writes
// now; without a key nothing is written; an unreadable folder is told once, and again when writing
// has worked meanwhile; what flush() could not write is no less dirty, and is written later.
static void test_state_writer(void)
{
    static const LithoStateWriterFuncs writer_funcs = {desk_text, desk_is_open, desk_failed};
    Desk desk = {1, TRUE, 0};
    LithoStateWriter *writer = litho_state_writer_new(&writer_funcs, &desk);
    litho_state_writer_touched(writer);
    g_assert_true(litho_state_writer_is_settled(writer)); // nothing is open
    litho_state_writer_set_key(writer, "desk");
    litho_state_writer_touched(writer);
    g_assert_true(litho_state_writer_is_dirty(writer));
    desk.number = 2;
    litho_state_writer_touched(writer);
    g_assert_cmpint(saved_number("desk"), ==, -1);
    wait_until_settled(writer);
    g_assert_cmpint(saved_number("desk"), ==, 2);
    desk.number = 3;
    litho_state_writer_touched(writer);
    litho_state_writer_flush(writer);
    g_assert_cmpint(saved_number("desk"), ==, 3);

    g_autofree char *folder =
        g_build_filename(g_get_user_state_dir(), "lithoscope", "sessions", NULL);
    g_autofree char *aside = g_strconcat(folder, "-aside", NULL);
    for (int round = 1; round <= 2; round++) {
        g_assert_cmpint(g_rename(folder, aside), ==, 0);
        g_assert_true(g_file_set_contents(folder, "no folder", -1, NULL));
        for (int k = 0; k < 2; k++) {
            litho_state_writer_touched(writer);
            wait_until_settled(writer);
        }
        g_assert_cmpuint(desk.n_failed, ==, round);
        desk.number = 10 + round;
        litho_state_writer_touched(writer);
        g_test_expect_message("Lithoscope", G_LOG_LEVEL_WARNING, "*sessions*");
        litho_state_writer_flush(writer);
        g_test_assert_expected_messages();
        g_assert_true(litho_state_writer_is_dirty(writer));
        g_assert_cmpuint(desk.n_failed, ==, round);
        g_assert_cmpint(g_unlink(folder), ==, 0);
        g_assert_cmpint(g_rename(aside, folder), ==, 0);
        wait_until_settled(writer);
        g_assert_cmpint(saved_number("desk"), ==, 10 + round);
    }
    litho_state_remove("desk");
    litho_state_writer_free(writer);
}

int main(int argc, char **argv)
{
    g_autofree char *states = g_dir_make_tmp("lithoscope-session-XXXXXX", NULL);
    g_setenv("XDG_STATE_HOME", states, TRUE); // before anything asks for it
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/session/newest", test_newest);
    g_test_add_func("/session/newest-forget", test_newest_forget);
    g_test_add_func("/session/numbers", test_numbers);
    g_test_add_func("/session/ranges", test_ranges);
    g_test_add_func("/session/depth-time", test_depth_time);
    g_test_add_func("/session/places", test_places);
    g_test_add_func("/session/results", test_results);
    g_test_add_func("/session/figures", test_figures);
    g_test_add_func("/session/flow-check", test_flow_check);
    g_test_add_func("/session/device-choice", test_device_choice);
    g_test_add_func("/session/memory", test_memory);
    g_test_add_func("/session/area", test_area);
    g_test_add_func("/session/state-writer", test_state_writer);
    g_test_add_func("/session/phases", test_phases);
    g_test_add_func("/session/phases-text", test_phases_text);
    int status = g_test_run();
    g_autofree char *lithoscope = g_build_filename(states, "lithoscope", NULL);
    g_autofree char *sessions = g_build_filename(lithoscope, "sessions", NULL);
    g_rmdir(sessions);
    g_rmdir(lithoscope);
    g_rmdir(states);
    return status;
}
