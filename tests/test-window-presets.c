// SPDX-License-Identifier: GPL-3.0-or-later
//
// Presets of the user: kept, listed, renamed, replaced, removed and brought back.
#include "core/error.h"
#include "kernels/template/template.h"
#include "tests/gui/files.h"
#include "ui/panel/preset_line.h"
#include "ui/session/presets.h"
#include "ui/window/window_private.h"

static Gui gui;

static LithoPresetLine *presets(void)
{
    return LITHO_PRESET_LINE(
        gui_find_type(GTK_WIDGET(litho_window_params(gui.window)), LITHO_TYPE_PRESET_LINE));
}

static guint choices(void)
{
    return g_list_model_get_n_items(gtk_drop_down_get_model(litho_preset_line_choice(presets())));
}

static gboolean save(const char *name)
{
    return litho_preset_menu_save(litho_preset_line_menu(presets()), name);
}

static double kept_gain(const LithoOperator *op, const char *name)
{
    LithoTemplateParams params;
    g_autoptr(GError) error = NULL;
    litho_preset_load(op, name, &params, &error);
    g_assert_no_error(error);
    return params.gain;
}

// Property: the parameters as they stand are kept under a name, listed beside the operator's own
// sets, and come back when chosen, as one step of the history; a name of the operator's own set and
// one with a slash are refused; the file is a recipe.
static void test_presets(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *cube = gui_write_cube(&gui, "gain.sgy", 24, 30, 120);
    gui_open_with_gain(&gui, cube, 2);
    gui_settle(&gui);
    const LithoOperator *op = litho_flow_step(litho_session_flow(gui.session), 0)->op;
    litho_session_select(gui.session, 0);
    gui_set_gain(&gui, 1.75);
    const guint before = choices();
    g_assert_false(save("a/b"));
    g_assert_false(save(op->presets[0].name));
    g_assert_false(save(""));
    g_assert_true(save("my gain"));
    g_assert_cmpuint(choices(), ==, before + 1);
    guint mine = gtk_drop_down_get_selected(litho_preset_line_choice(presets()));
    g_assert_cmpuint(mine, ==, before - 1); // before "custom"
    gui_set_gain(&gui, 0.5);
    g_assert_cmpuint(gtk_drop_down_get_selected(litho_preset_line_choice(presets())), ==, before);
    gtk_drop_down_set_selected(litho_preset_line_choice(presets()), mine);
    g_assert_cmpfloat(gui_gain(&gui), ==, 1.75);
    litho_session_undo(gui.session);
    g_assert_cmpfloat(gui_gain(&gui), ==, 0.5);
    g_auto(GStrv) names = litho_presets_of(op);
    g_assert_cmpuint(g_strv_length(names), ==, 1);
    g_autofree char *path = g_build_filename(g_get_user_config_dir(), "lithoscope", "presets",
                                             op->key, "my gain.json", NULL);
    g_autoptr(LithoFlow) flow = litho_flow_load(path, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(litho_flow_length(flow), ==, 1);
    gui_screenshot(&gui, "display-presets");
}

// Property: a name that is taken is asked about once, and another name in between takes the
// question back; a renamed set keeps its values, and no set takes the name of another; what was
// removed comes back with its values, and a set that is there already is not overwritten by it.
static void test_presets_kept(void)
{
    const LithoOperator *op = litho_flow_step(litho_session_flow(gui.session), 0)->op;
    LithoPresetMenu *menu = litho_preset_line_menu(presets());
    g_assert_cmpfloat(kept_gain(op, "my gain"), ==, 1.75);
    gui_set_gain(&gui, 0.5);
    g_assert_false(save("my gain"));
    g_assert_cmpfloat(kept_gain(op, "my gain"), ==, 1.75);
    g_assert_true(save("other"));
    g_assert_false(save("my gain"));
    g_assert_true(save("my gain"));
    g_assert_cmpfloat(kept_gain(op, "my gain"), ==, 0.5);
    g_assert_false(litho_preset_menu_rename(menu, "my gain", "other"));
    g_assert_false(litho_preset_menu_rename(menu, "my gain", op->presets[0].name));
    g_assert_true(litho_preset_menu_rename(menu, "my gain", "its gain"));
    g_assert_false(litho_preset_exists(op, "my gain"));
    g_assert_cmpfloat(kept_gain(op, "its gain"), ==, 0.5);
    g_assert_nonnull(gui_find_label(GTK_WIDGET(presets()), "its gain"));
    g_assert_true(litho_preset_menu_remove(menu, "other"));
    g_assert_false(litho_preset_exists(op, "other"));
    g_assert_true(litho_preset_menu_undo(menu));
    g_assert_cmpfloat(kept_gain(op, "other"), ==, 0.5);
    g_assert_true(litho_preset_menu_remove(menu, "other"));
    gui_set_gain(&gui, 3);
    g_assert_true(save("other"));
    g_assert_false(litho_preset_menu_undo(menu));
    g_assert_cmpfloat(kept_gain(op, "other"), ==, 3);
    g_assert_true(litho_preset_menu_remove(menu, "other"));
    g_assert_false(litho_preset_menu_remove(menu, "other"));
    g_assert_true(litho_preset_menu_remove(menu, "its gain"));
}

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    gui_open_sized(&gui);
    g_test_add_func("/presets/saved", test_presets);
    g_test_add_func("/presets/kept", test_presets_kept);
    int status = g_test_run();
    gui_close(&gui);
    return status;
}
