// SPDX-License-Identifier: GPL-3.0-or-later
//
// Parameters: declarations of all operators, texts that are read and written, units.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/operator.h"
#include "kernels/kernels.h"
#include "kernels/template/template.h"

// Every operator of the program and the example: what holds for one must hold for all.
static GPtrArray *all_operators(void)
{
    GPtrArray *all = g_ptr_array_new();
    for (const LithoOperator *const *op = litho_operators(); *op; op++)
        g_ptr_array_add(all, (gpointer)*op);
    g_ptr_array_add(all, (gpointer)&litho_operator_template);
    return all;
}

// Each condition of a row names another row and values that it can have; with them it holds, and
// with every other value of a choice it does not. A typo would hide the row for ever.
static void check_when(const LithoOperator *op, const LithoParam *row)
{
    g_autofree void *params = g_malloc0(op->params.size);
    litho_param_defaults(&op->params, params);
    g_auto(GStrv) conditions = g_strsplit(row->when ? row->when : "", " ", -1);
    for (guint c = 0; conditions[c]; c++) {
        const char *equals = strchr(conditions[c], '=');
        if (!*conditions[c])
            continue;
        g_assert_nonnull(equals);
        gboolean negated = equals[-1] == '!';
        g_autofree char *key = g_strndup(conditions[c], (gsize)(equals - conditions[c]) - negated);
        const LithoParam *other = litho_param_find(&op->params, key);
        g_assert_nonnull(other);
        g_auto(GStrv) values = g_strsplit(equals + 1, "|", -1);
        for (guint v = 0; values[v]; v++) {
            g_autoptr(GError) error = NULL;
            litho_param_parse(&op->params, params, key, values[v], &error);
            g_assert_no_error(error);
        }
        if (negated)
            litho_param_set(other, params, other->max, NULL);
    }
    g_assert_true(litho_param_applies(&op->params, row, params));
    for (guint c = 0; conditions[c]; c++) {
        const char *equals = strchr(conditions[c], '=');
        g_autofree char *key =
            g_strndup(conditions[c], equals ? (gsize)(equals - conditions[c]) : 0);
        const LithoParam *other = litho_param_find(&op->params, key);
        g_auto(GStrv) values = g_strsplit(equals ? equals + 1 : "", "|", -1);
        double before = other ? litho_param_get(other, params) : 0;
        for (guint v = 0; other && v < litho_param_n_choices(other); v++) {
            const char *name = litho_param_choice(other, v);
            litho_param_set(other, params, v, NULL);
            g_assert_cmpint(litho_param_applies(&op->params, row, params), ==,
                            g_strv_contains((const char *const *)values, name));
        }
        if (other)
            litho_param_set(other, params, before, NULL);
    }
    g_test_message("%s.%s matters when %s", op->key, row->key, row->when ? row->when : "ever");
}

// Property: every row of every operator says what people need, and its default is legal.
static void test_declarations(void)
{
    g_autoptr(GPtrArray) all = all_operators();
    for (guint o = 0; o < all->len; o++) {
        const LithoOperator *op = g_ptr_array_index(all, o);
        guint n_stages = g_strv_length((char **)op->stages);
        g_autofree void *params = g_malloc0(op->params.size);
        litho_param_defaults(&op->params, params);
        g_assert_cmpstr(op->stages[0], ==, "plan");
        for (guint k = 0; k < op->params.n; k++) {
            const LithoParam *row = &op->params.rows[k];
            g_test_message("%s.%s", op->key, row->key);
            g_assert_true(row->label && *row->label && row->doc && *row->doc);
            g_assert_cmpint(row->stage, >=, 0);
            g_assert_cmpint(row->stage, <, n_stages);
            g_assert_true(litho_param_find(&op->params, row->key) == row); // keys are unique
            g_assert_cmpfloat(row->soft_min, <=, row->soft_max);
            if (row->soft_min != row->soft_max)
                g_assert_true(row->soft_min >= row->min && row->soft_max <= row->max);
            g_autofree char *text = litho_param_print(row, params);
            g_autoptr(GError) error = NULL;
            g_assert_true(litho_param_parse(&op->params, params, row->key, text, &error));
            g_assert_no_error(error);
            check_when(op, row);
            if (!row->special_text)
                continue;
            // The words shown instead of a special value can be typed, and are legal.
            g_assert_true(
                litho_param_parse(&op->params, params, row->key, row->special_text, &error));
            g_assert_no_error(error);
            g_assert_cmpstr(litho_param_special(row, params), ==, row->special_text);
            g_assert_true(litho_param_set(row, params, row->max, &error));
            g_assert_null(litho_param_special(row, params));
            litho_param_defaults(&op->params, params);
        }
    }
}

// Property: what is printed reads back as the same bits, also for numbers without a short decimal;
// numbers have no exponent where digits do.
static void test_print_parse(void)
{
    const LithoParamTable *table = &litho_operator_template.params;
    LithoTemplateParams a, b;
    litho_param_defaults(table, &a);
    for (int k = 1; k < 200; k++) {
        a.gain = k / 7.0;
        a.halfwidth = k % 51;
        litho_param_defaults(table, &b);
        for (guint r = 0; r < table->n; r++) {
            g_autofree char *text = litho_param_print(&table->rows[r], &a);
            g_assert_true(litho_param_parse(table, &b, table->rows[r].key, text, NULL));
        }
        g_assert_true(a.gain == b.gain && a.halfwidth == b.halfwidth);
        g_assert_cmpint(litho_params_first_stage(table, &a, &b), ==, G_MAXINT);
    }
    static const char *const plain[] = {"-1000000", "0.000001", "0", "150", "1e30", "2.5e-12"};
    for (guint k = 0; k < G_N_ELEMENTS(plain); k++) {
        g_autofree char *text = litho_param_number_text(g_ascii_strtod(plain[k], NULL));
        g_assert_cmpstr(text, ==, plain[k]);
    }
}

// Property: illegal values are refused with a sentence that names key and legal range, and change
// nothing.
static void test_refusals(void)
{
    const LithoParamTable *table = &litho_operator_template.params;
    const struct {
        const char *key, *value, *needs;
    } bad[] = {
        {"gain", "0", "0.001 to 1000"}, {"gain", "nan", "gain"},        {"gain", "1x", "gain"},
        {"halfwidth", "51", "0 to 50"}, {"halfwidth", "2.5", "whole"},  {"gain", "", "gain"},
        {"halfwdth", "2", "halfwidth"}, {"halfwidth", "-1", "0 to 50"},
    };
    for (guint k = 0; k < G_N_ELEMENTS(bad); k++) {
        LithoTemplateParams p;
        litho_param_defaults(table, &p);
        g_autoptr(GError) error = NULL;
        g_assert_false(litho_param_parse(table, &p, bad[k].key, bad[k].value, &error));
        g_assert_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER);
        g_assert_nonnull(strstr(error->message, bad[k].needs));
        g_assert_true(p.gain == 1 && p.halfwidth == 1);
    }
}

// Property: a panel opens with eight rows at most; the others are folded away, or act with another
// choice.
static void test_rows_shown(void)
{
    for (const LithoOperator *const *op = litho_operators(); *op; op++) {
        const LithoParamTable *table = &(*op)->params;
        g_autofree void *defaults = g_malloc0(table->size);
        guint n = 0;
        litho_param_defaults(table, defaults);
        for (guint k = 0; k < table->n; k++)
            n += !table->rows[k].advanced && litho_param_applies(table, &table->rows[k], defaults);
        g_test_message("%s: %u rows", (*op)->key, n);
        g_assert_cmpuint(n, <=, 8);
        g_assert_cmpuint(n, >, 0);
    }
}

// --- units --------------------------------------------------------------------------------------

static const LithoAxis four_ms = {.n = 500, .step = 0.004, .unit = "s"};
static const LithoAxis five_m = {.n = 500, .step = 5, .unit = "m"};

// Property: a number in another unit of the same quantity is converted, and samples and times along
// the survey's axis into each other.
static void test_units(void)
{
    const struct {
        const char *op, *key, *value;
        const LithoAxis *axis;
        const char *printed;
    } good[] = {
        {"fx", "prewhitening", "30%", NULL, "30"},
        {"fx", "prewhitening", "30 percent", NULL, "30"},
        {"fx", "fmin", "12 Hz", NULL, "12"},
        {"fx", "fmin", "0.012kHz", NULL, "12"},
        {"fx", "fmin", "3 1/km", &five_m, "3"},
        {"fx", "half_width", "3traces", NULL, "3"},
        {"fx", "half_width", "1 trace", NULL, "1"},
        {"fx", "time_window", "150 samples", NULL, "150"},
        {"fx", "time_window", "600ms", &four_ms, "150"},
        {"fx", "time_window", "0.6 s", &four_ms, "150"},
        {"fx", "time_window", "601ms", &four_ms, "150"}, // the nearest sample
        {"fx", "time_window", "0ms", &four_ms, "0"},
        {"fx", "time_window", "1km", &five_m, "200"},
        {"fx", "time_window", "600 m", &five_m, "120"},
        {"patch", "window", "64ms", &four_ms, "16"},
        {"migrate", "velocity", "2.5km/s", NULL, "2500"},
        {"migrate", "velocity", "2500 m/s", NULL, "2500"},
        {"migrate", "velocity", "2500 rocks.txt", NULL, "2500 rocks.txt"},
        {"migrate", "dz", "0.01km", NULL, "10"},
        {"migrate", "max_dip", "40\xc2\xb0", NULL, "40"},
        {"migrate", "delay", "80ms", NULL, "0.08"},
        {"migrate", "delay", "20samples", &four_ms, "0.08"},
    };
    for (guint k = 0; k < G_N_ELEMENTS(good); k++) {
        const LithoOperator *op = litho_operator_find(good[k].op);
        g_autofree void *params = g_malloc0(op->params.size);
        g_autoptr(GError) error = NULL;
        litho_param_defaults(&op->params, params);
        g_assert_true(litho_param_parse_along(&op->params, params, good[k].key, good[k].value,
                                              good[k].axis, &error));
        g_assert_no_error(error);
        const LithoParam *row = litho_param_find(&op->params, good[k].key);
        g_autofree char *printed = litho_param_print(row, params);
        g_assert_cmpstr(printed, ==, good[k].printed);
    }
}

// Property: a unit that does not fit is named, with the one that does.
static void test_units_refused(void)
{
    const struct {
        const char *key, *value;
        const LithoAxis *axis;
        const char *said;
    } bad[] = {
        {"half_width", "3Hz", &four_ms, "its unit is traces, not Hz"},
        {"prewhitening", "30ms", NULL, "its unit is %, not ms"},
        {"fmin", "20 dB", &four_ms, "its unit is Hz, not dB"},
        {"time_window", "600 m", &four_ms, "its unit is samples or ms, not m"},
        {"time_window", "600ms", &five_m, "its unit is samples or m, not ms"},
        {"time_window", "600ms", NULL, "samples is needed where no survey says"},
        {"time_window", "1ms", &four_ms, "it must be a whole number"},
        {"time_window", "8.5", &four_ms, "it must be a whole number"},
        {"half_width", "3-5", NULL, "it must be a whole number"},
    };
    const LithoOperator *op = litho_operator_find("fx");
    g_autofree void *params = g_malloc0(op->params.size);
    litho_param_defaults(&op->params, params);
    for (guint k = 0; k < G_N_ELEMENTS(bad); k++) {
        g_autoptr(GError) error = NULL;
        g_assert_false(litho_param_parse_along(&op->params, params, bad[k].key, bad[k].value,
                                               bad[k].axis, &error));
        g_assert_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER);
        if (!strstr(error->message, bad[k].said))
            g_error("%s=%s: %s", bad[k].key, bad[k].value, error->message);
    }
    g_assert_true(litho_param_needs_axis(&op->params, "time_window", "600ms"));
    g_assert_false(litho_param_needs_axis(&op->params, "time_window", "600"));
    g_assert_false(litho_param_needs_axis(&op->params, "half_width", "600ms"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/param/rows-shown", test_rows_shown);
    g_test_add_func("/param/declarations", test_declarations);
    g_test_add_func("/param/print-parse", test_print_parse);
    g_test_add_func("/param/refusals", test_refusals);
    g_test_add_func("/param/units", test_units);
    g_test_add_func("/param/units-refused", test_units_refused);
    return g_test_run();
}
