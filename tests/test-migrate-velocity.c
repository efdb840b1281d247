// SPDX-License-Identifier: GPL-3.0-or-later
//
// Velocity files as people have them: tables with jumps and in other units, cubes whose axes are
// named, in feet or turned. What is read is told, what makes no sense is refused with what would.
#include "kernels/migrate/model.h"
#include "tests/common.h"
#include "tests/migrate_helpers.h"

// The model of a file with this text; NULL with `error` where it is refused.
static LithoMigrateModel *model_of_text(const char *name, const char *text, gsize n, GError **error)
{
    g_autofree char *path = scratch_path(name);
    g_assert_true(g_file_set_contents(path, text, (gssize)n, NULL));
    g_autoptr(LithoResolved) known = litho_migrate_model_resolve(path, NULL, error);
    g_unlink(path);
    return known ? litho_migrate_model_of(path, known, error) : NULL;
}

static LithoMigrateModel *model_of_table(const char *text, GError **error)
{
    return model_of_text("litho-test-table.txt", text, strlen(text), error);
}

static gboolean tells(const LithoMigrateModel *model, const char *words)
{
    const GPtrArray *notes = litho_migrate_model_notes(model);
    for (guint k = 0; k < notes->len; k++)
        if (strstr(g_ptr_array_index(notes, k), words))
            return TRUE;
    return FALSE;
}

// Property: two lines of one depth are a jump. Times are those of two layers, the slowness of a
// step is of its own side, and a step across the jump has the mean of both.
static void test_jump(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoMigrateModel) model =
        model_of_table("0 2000\n500 2000\n500 4000\n1000 4000\n", &error);
    g_assert_no_error(error);
    const double time = litho_migrate_model_time(model, LITHO_COLUMN_FAST, 10, 900);
    g_assert_cmpfloat(fabs(time - (500 / 2000. + 400 / 4000.)), <, 1e-9);
    const double depth = litho_migrate_model_depth(model, LITHO_COLUMN_SLOW, 10, time);
    g_assert_cmpfloat(fabs(depth - 900), <, 1e-4);
    const double steps[][3] = {
        {480, 500, 1 / 2000.}, {500, 520, 1 / 4000.}, {490, 510, 0.5 * (1 / 2000. + 1 / 4000.)}};
    for (guint k = 0; k < G_N_ELEMENTS(steps); k++) {
        float slow;
        litho_migrate_model_slowness(model, &(LithoModelMap){.depth_step = 10}, (gint64[]){0, 0},
                                     (gint64[]){1, 1}, steps[k][0], steps[k][1], &slow);
        g_assert_cmpfloat(fabs(slow / steps[k][2] - 1), <, 1e-6);
    }
    g_assert_false(tells(model, "are they m"));
    g_autoptr(LithoMigrateModel) top = model_of_table("0 1500\n0 2000\n1000 2000\n", &error);
    g_assert_no_error(error);
    const double below = litho_migrate_model_time(top, LITHO_COLUMN_FAST, 10, 1000);
    g_assert_cmpfloat(fabs(below - 0.5), <, 1e-9);
}

// Property: depths of a few metres are told, since they are km or seconds more likely.
static void test_shallow(void)
{
    g_autoptr(LithoMigrateModel) model = model_of_table("0 1500\n0.5 2500\n1 3000\n", NULL);
    g_assert_true(tells(model, "end at 1 m"));
}

// Property: a number that is no velocity in m/s is told with the unit that makes it rock.
static void test_units(void)
{
    static const char *const cases[][2] = {
        {"0 2.5\n", "km/s, 2500"}, {"0 8.2\n", "kft/s, 2499"}, {"0 0\n", "line 1"}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(model_of_table(cases[k][0], &error));
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, cases[k][1]));
    }
    g_autoptr(LithoMigrateModel) feet = model_of_table("0 8000\n1000 9000\n", NULL);
    g_assert_true(tells(feet, "ft/s"));
    g_autoptr(LithoFlow) flow = flow_of("velocity=8.2ft/ms");
    const LithoMigrateParams *p = litho_flow_step(flow, 0)->params;
    g_assert_cmpfloat(fabs(g_ascii_strtod(p->velocity.text, NULL) - 8.2 * 304.8), <, 1e-6);
}

// A cube of one line, 3 traces and 4 depths of `value`, with these words in its header; the sample
// `bad` of it is no number, -1 = none.
static LithoMigrateModel *rsf_model(const char *words, float value, int bad, GError **error)
{
    g_autoptr(GString) file = g_string_new(NULL);
    float samples[12];
    for (int k = 0; k < 12; k++)
        samples[k] = k == bad ? NAN : value;
    g_string_append_printf(file, "n1=4 n2=3 n3=1 %s esize=4 data_format=native_float in=stdin\n%s",
                           words, "\014\014\004");
    g_string_append_len(file, (const char *)samples, sizeof samples);
    return model_of_text("litho-test-velocity.rsf", file->str, file->len, error);
}

// Property: a cube in feet holds ft/s, a sample that is no number is told, and a cube whose labels
// name depth on another axis is refused.
static void test_rsf(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoMigrateModel) feet = rsf_model("d1=32.8 unit1=ft label1=Depth", 8000, 5, &error);
    g_assert_no_error(error);
    g_assert_cmpfloat(fabs(litho_migrate_model_range(feet).max - 8000 * 0.3048), <, 1e-3);
    g_assert_true(tells(feet, "counts in feet"));
    g_assert_true(tells(feet, "1 NaN"));
    g_assert_null(rsf_model("d1=20 unit1=m label1=X d2=10 unit2=m label2=Depth", 2000, -1, &error));
    g_test_message("%s", error->message);
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY);
    g_assert_nonnull(strstr(error->message, "sftransp"));
}

// Property: samples that a file takes for times are offered as the depths that they may be:
// thousandths of a second, whole metres where no record has such steps, feet in a file in feet.
static void test_offered_depths(void)
{
    static const char *const cases[][2] = {{"d1=0.005 unit1=s", "velocity_dz=5 "},
                                           {"d1=10", "velocity_dz=10 "}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(LithoMigrateModel) model = rsf_model(cases[k][0], 2000, -1, NULL);
        g_assert_false(litho_migrate_model_check_depth(model, 0, &error));
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, cases[k][1]));
        g_assert_true(litho_migrate_model_check_depth(model, 10, NULL));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/migrate/velocity/jump", test_jump);
    g_test_add_func("/migrate/velocity/shallow", test_shallow);
    g_test_add_func("/migrate/velocity/units", test_units);
    g_test_add_func("/migrate/velocity/rsf", test_rsf);
    g_test_add_func("/migrate/velocity/offered-depths", test_offered_depths);
    return g_test_run();
}
