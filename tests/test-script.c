// SPDX-License-Identifier: GPL-3.0-or-later
//
// Scripts of demonstrations: what is read, what is refused, and that the writer and the reader
// agree.
#include <string.h>

#include "core/show/script.h"
#include "kernels/kernels.h"
#include "tests/common.h"

#define HEAD "{\"lithoscope-demo\": 1, \"title\": \"t\", \"steps\": ["
#define CUBE "{\"cube\": {\"generate\": \"mix\"}, "

static LithoScript *parse(const char *text)
{
    g_autoptr(GError) error = NULL;
    LithoScript *script = litho_script_parse(text, NULL, &error);
    g_assert_no_error(error);
    return script;
}

static const LithoScriptStep *step_of(const LithoScript *script, guint k)
{
    return g_ptr_array_index(script->steps, k);
}

static double value_at(const LithoScriptStep *step, double part, const char *key)
{
    g_autoptr(LithoFlow) flow = litho_script_flow_at(step, part);
    const LithoStep *first = litho_flow_step(flow, 0);
    return litho_param_get(litho_param_find(&first->op->params, key), first->params);
}

// Property: a step takes what it does not say from the step before, at its end; a ramp of a row
// with a slider of ratios moves in ratios, the divider and slices evenly, all ends exactly.
static void test_state(void)
{
    g_autoptr(LithoScript) script = parse(
        HEAD CUBE "\"flow\": [{\"operator\": \"fx\"}], \"show\": \"split\", \"split\": [0.2, 0.6],"
                  "\"ramps\": [{\"parameter\": \"prewhitening\", \"from\": 1, \"to\": 100}],"
                  "\"slices\": {\"crossline\": [0, 1]}, \"dwell\": 8},"
                  "{\"caption\": \"later\", \"view\": \"scene\"}]}");
    const LithoScriptStep *first = step_of(script, 0), *second = step_of(script, 1);
    g_assert_cmpfloat(value_at(first, 0, "prewhitening"), ==, 1);
    g_assert_cmpfloat(value_at(first, 0.5, "prewhitening"), ==, 10);
    g_assert_cmpfloat(value_at(first, 1, "prewhitening"), ==, 100);
    g_assert_cmpfloat(value_at(second, 0, "prewhitening"), ==, 100);
    g_assert_cmpfloat_with_epsilon(litho_script_split_at(first, 0.5), 0.4, 1e-12);
    g_assert_cmpfloat(litho_script_split_at(second, 0), ==, 0.6);
    const LithoGrid grid = litho_grid_new(11, 21, 31);
    g_assert_cmpint(litho_script_slice_at(first, &grid, LITHO_INLINE, 0.3), ==, 5);
    g_assert_cmpint(litho_script_slice_at(first, &grid, LITHO_XLINE, 0.5), ==, 10);
    g_assert_cmpint(litho_script_slice_at(second, &grid, LITHO_XLINE, 0), ==, 20);
    g_assert_cmpint(second->show, ==, LITHO_SCRIPT_SPLIT);
    g_assert_cmpint(second->view, ==, LITHO_SCRIPT_SCENE);
    g_assert_cmpfloat(second->dwell, ==, 8);
    g_assert_cmpuint(second->ramps->len, ==, 0);
    g_assert_true(litho_script_cube_equal(&first->cube, &second->cube));
}

// Property: every refusal names the member.
static void test_refusals(void)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{\"lithoscope-demo\": 2, \"title\": \"t\", \"steps\": []}", "version 1"},
        {"{\"lithoscope-demo\": 1, \"title\": \"t\", \"steps\": []}", "steps must be"},
        {HEAD "{\"captoin\": \"x\", \"cube\": {\"generate\": \"mix\"}}]}", "captoin"},
        {HEAD "{\"caption\": \"x\"}]}", "steps[0].cube is missing"},
        {HEAD "{\"cube\": {\"generate\": \"mux\"}}]}", "'mux'"},
        {HEAD "{\"cube\": {\"generate\": \"mix\", \"params\": {\"inlines\": -1}}}]}", "inlines"},
        {HEAD CUBE "\"flow\": [{\"operator\": \"none\"}]}]}", "'none'"},
        {HEAD CUBE "\"flow\": [{\"operator\": \"fx\", \"params\": {\"window\": 1e9}}]}]}",
         "window"},
        {HEAD CUBE "\"show\": \"outptu\"}]}", "steps[0].show"},
        {HEAD CUBE "\"split\": 1.5}]}", "split"},
        {HEAD CUBE "\"slices\": {\"inlines\": 0}}]}", "slices.inlines"},
        {HEAD CUBE "\"dwell\": 1e6}]}", "dwell"},
        {HEAD CUBE "\"act\": \"race\"}]}", "needs a flow"},
        {HEAD CUBE "\"ramps\": [{\"parameter\": \"window\", \"from\": 10, \"to\": 20}]}]}", "step"},
        {HEAD CUBE "\"flow\": [{\"operator\": \"fx\"}], \"ramps\": [{\"parameter\": \"windwo\", "
                   "\"from\": 10, \"to\": 20}]}]}",
         "'windwo'"},
        {HEAD CUBE "\"flow\": [{\"operator\": \"fx\"}], \"ramps\": [{\"parameter\": \"window\", "
                   "\"from\": 10, \"to\": 1e9}]}]}",
         "window"},
        {HEAD CUBE
         "\"flow\": [{\"operator\": \"fx\"}], \"act\": \"race\", \"lanes\": [{\"device\": "
         "\"cpu\"}, {\"device\": \"cpu\", \"settings\": \"solvre=jacobi\"}]}]}",
         "solvre"},
    };
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(litho_script_parse(cases[k].text, NULL, &error));
        g_assert_nonnull(error);
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, cases[k].says));
    }
}

// Property: printing what was parsed and parsing what was printed gives the same bytes, for every
// script that comes with the program.
static void test_shipped(void)
{
    static const char *const wanted[] = {"tour",    "kiosk", "fx",   "wavepacket",
                                         "migrate", "twsm",  "patch"};
    g_auto(GStrv) names = litho_script_names();
    for (guint k = 0; k < G_N_ELEMENTS(wanted); k++)
        g_assert_true(g_strv_contains((const char *const *)names, wanted[k]));
    for (char **name = names; *name; name++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *path = litho_script_find(*name, &error);
        g_assert_no_error(error);
        g_autoptr(LithoScript) script = litho_script_load(path, &error);
        g_assert_no_error(error);
        g_autofree char *text = litho_script_print(script);
        g_autoptr(LithoScript) again = parse(text);
        g_autofree char *twice = litho_script_print(again);
        g_assert_cmpstr(text, ==, twice);
        g_assert_cmpuint(again->steps->len, ==, script->steps->len);
        for (guint k = 0; k < script->steps->len; k++) {
            const LithoScriptStep *a = step_of(script, k), *b = step_of(again, k);
            g_assert_true(litho_flow_equal(a->flow, b->flow));
            g_assert_true(litho_script_cube_equal(&a->cube, &b->cube));
            g_assert_cmpint(a->act, ==, b->act);
            g_assert_cmpstr(a->caption, ==, b->caption);
        }
    }
    g_autoptr(GError) error = NULL;
    g_assert_null(litho_script_find("turo", &error));
    g_assert_nonnull(strstr(error->message, "tour"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/script/state", test_state);
    g_test_add_func("/script/refusals", test_refusals);
    g_test_add_func("/script/shipped", test_shipped);
    return g_test_run();
}
