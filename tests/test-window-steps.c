// SPDX-License-Identifier: GPL-3.0-or-later
//
// Steps that come and go: what belongs to another operator, what a sweep offers.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "kernels/template/template.h"
#include "tests/gui/files.h"
#include "tests/gui/keys.h"
#include "ui/panel/sweep_axis.h"
#include "ui/window/window_private.h"

static Gui gui;

static const LithoStep *first_step(void)
{
    return litho_flow_step(litho_session_flow(gui.session), 0);
}

// In one step, as a recipe comes: at no time is the flow empty.
static void show_template(void)
{
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_template);
    litho_session_set_flow(gui.session, flow, "test");
}

static void assert_defaults(void)
{
    const LithoStep *s = first_step();
    g_autofree void *defaults = g_malloc0(s->op->params.size);
    g_assert_true(s->op == &litho_operator_template);
    litho_param_defaults(&s->op->params, defaults);
    g_assert_cmpint(litho_params_first_stage(&s->op->params, s->params, defaults), ==, G_MAXINT);
}

// Property: a field that has the keyboard goes with its operator: what was typed into it changes
// nothing of the operator that comes. The parameters of migrate are larger than the template's.
static void test_field_goes(void)
{
    g_autofree char *path = gui_write_cube(&gui, "steps.sgy", 20, 20, 60);
    const LithoOperator *op = litho_operator_find("migrate");
    const LithoParam *row = NULL;
    gui_open_file(&gui, path);
    for (guint k = 0; k < op->params.n && !row; k++)
        if (op->params.rows[k].type == LITHO_PARAM_FILE)
            row = &op->params.rows[k];
    g_assert_nonnull(row);
    gui_show_operator(&gui, op);
    LithoParamPanel *panel = litho_window_params(gui.window);
    g_assert_true(litho_param_panel_focus(panel, row->key));
    GtkWidget *entry = gui_find_type(litho_param_panel_row(panel, row->key), GTK_TYPE_ENTRY);
    gtk_widget_grab_focus(entry);
    gui_spin(&gui, 0.1);
    GtkWidget *focus = gtk_window_get_focus(GTK_WINDOW(gui.window));
    g_assert_true(focus && gtk_widget_is_ancestor(focus, entry));
    if (gui_can_type()) // a window without the keyboard tells no field that it has lost it
        gui_type(&gui, "key a key b key c");
    gtk_editable_set_text(GTK_EDITABLE(entry), "a-name-of-some-length.sgy");
    show_template();
    gui_spin(&gui, 0.2);
    assert_defaults();
    const char *newest = litho_history_undo_name(litho_session_history(gui.session));
    g_assert_cmpstr(newest, ==, "test"); // nothing was set since
    g_autoptr(GError) error = NULL;
    g_assert_false(litho_session_set_param(gui.session, 0, row, 0, "other.sgy", &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER);
    assert_defaults();
    gui_settle(&gui);
}

// Property: the sheet of a sweep sweeps the operator that it was opened for: with another one in
// the main window Start says so in words, and an operator without steps is no fault either.
static void test_sweep_of_another(void)
{
    gui_use_operator(&gui, litho_operator_find("migrate"));
    gui_activate(&gui, "win.sweep");
    GtkWindow *sheet = gui_window_titled("Parameter sweep");
    g_assert_nonnull(sheet);
    show_template();
    for (int k = 0; k < 2; k++) {
        gui_click(sheet, "Start");
        gui_await_label(&gui, "Parameter sweep", "open the sweep again");
        if (k == 0)
            assert_defaults();
        gui_forget_flow(&gui);
    }
    gtk_window_destroy(sheet);
    gui_settle(&gui);
}

// Property: a sweep offers what acts with the step's choices: no source of a shot for a stack.
static void test_swept_rows(void)
{
    const LithoOperator *op = litho_operator_find("migrate");
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, op);
    const LithoStep *step = litho_flow_step(flow, 0);
    const LithoParam *source = litho_param_find(&op->params, "source_x");
    for (int shot = 0; shot < 2; shot++) {
        litho_param_set(litho_param_find(&op->params, "mode"), litho_flow_step(flow, 0)->params,
                        shot, NULL);
        GtkWidget *line = g_object_ref_sink(litho_sweep_line_new(step, FALSE, FALSE));
        litho_sweep_line_choose(LITHO_SWEEP_LINE(line), source);
        g_assert_true((litho_sweep_line_row(LITHO_SWEEP_LINE(line)) == source) == (shot == 1));
        g_object_unref(line);
    }
    // A velocity is swept where it is a number, around what it is.
    const LithoParam *velocity = litho_param_find(&op->params, "velocity");
    void *params = litho_flow_step(flow, 0)->params;
    LithoSweepAxis axis;
    g_assert_true(litho_sweep_put(velocity, params, 2512.5, NULL));
    g_assert_cmpfloat(litho_sweep_value(velocity, params), ==, 2512.5);
    litho_sweep_axis_fill(&axis, velocity, 2000, 3000, 3, 2512.5);
    g_assert_cmpuint(axis.n, ==, 4);
    g_assert_cmpfloat(axis.value[2], ==, 2512.5);
    g_assert_true(litho_sweep_takes(velocity, params));
    g_assert_true(litho_param_set_text(velocity, params, "v.sgy", NULL));
    g_assert_false(litho_sweep_takes(velocity, params));
}

// Property: the card of a value that leaves the choice to the operator tells its choice, the one of
// the panel; so does the list of Find.
static void test_swept_choice(void)
{
    gui_use_operator(&gui, litho_operator_find("patch"));
    gui_settle(&gui);
    double used = NAN;
    g_autoptr(GArray) numbers = litho_session_report_numbers(gui.session);
    for (guint n = 0; numbers && n < numbers->len; n++)
        if (litho_number_is_used(&g_array_index(numbers, LithoNumber, n), "patch", "threshold"))
            used = g_array_index(numbers, LithoNumber, n).value;
    g_assert_true(used > 0);
    g_autofree char *told = g_strdup_printf("automatic: %.3g sigma", used);
    gui_activate(&gui, "win.sweep");
    gui_await_label(&gui, "Parameter sweep", told);
    gtk_window_destroy(gui_window_titled("Parameter sweep"));
    gui_activate(&gui, "win.find"); // its column "now", before and after the search
    gui_await_label(&gui, "Find: Local Fourier filter", told);
    gtk_window_destroy(gui_window_titled("Find: Local Fourier filter"));
    gui_settle(&gui);
}

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    gui_open_sized(&gui);
    g_test_add_func("/steps/field-goes", test_field_goes);
    g_test_add_func("/steps/sweep-of-another", test_sweep_of_another);
    g_test_add_func("/steps/swept-rows", test_swept_rows);
    g_test_add_func("/steps/swept-choice", test_swept_choice);
    int status = g_test_run();
    gui_close(&gui);
    return status;
}
