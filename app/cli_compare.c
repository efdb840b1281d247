// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdio.h>

#include "app/cli.h"
#include "app/cli_open.h"
#include "core/error.h"
#include "core/qc.h"
#include "core/io/survey.h"
#include "core/json.h"

static void add(JsonObject *object, const char *key, double value)
{
    if (isfinite(value))
        json_object_set_double_member(object, key, value);
    else
        json_object_set_null_member(object, key); // equal cubes have no finite SNR
}

static void print_json(const LithoDifference *d)
{
    JsonObject *object = json_object_new();
    add(object, "snr_db", d->snr_db);
    add(object, "relative_l2", d->relative_l2);
    add(object, "max_abs", d->max_abs);
    add(object, "correlation", d->correlation);
    add(object, "scale", d->scale);
    json_object_set_int_member(object, "samples", d->count);
    json_object_set_boolean_member(object, "equal", d->max_abs == 0);
    g_autofree char *text = litho_json_object_text(object);
    printf("%s\n", text);
}

int litho_cli_compare(int argc, char **argv)
{
    g_autofree char *mask_path = NULL;
    gboolean json = FALSE;
    LithoOpenOptions open = {0};
    const GOptionEntry entries[] = {
        {"mask", 0, 0, G_OPTION_ARG_FILENAME, &mask_path,
         "Compare where this cube's traces are live", "FILE"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "One JSON object", NULL},
        {NULL},
    };
    g_autoptr(GOptionContext) context =
        litho_cli_options("A B", "SNR of B against the reference A, and other distances.", entries,
                          litho_cli_open_group(&open));
    GError *error = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &error))
        return litho_cli_misused("compare", error);
    if (argc != 3) {
        g_set_error(&error, LITHO_ERROR, LITHO_ERROR_PARAMETER, "two cubes are needed, %d given",
                    argc - 1);
        return litho_cli_misused("compare", error);
    }
    g_autoptr(LithoCube) a = litho_cube_load(argv[1], &open, NULL, &error);
    g_autoptr(LithoCube) b = a ? litho_cube_load(argv[2], &open, NULL, &error) : NULL;
    g_autoptr(LithoCube) mask =
        b && mask_path ? litho_cube_load(mask_path, &open, NULL, &error) : NULL;
    LithoDifference d;
    if (error || !litho_qc_compare(b, a, mask, &d, &error))
        return litho_cli_fail(error);
    if (json) {
        print_json(&d);
        return LITHO_EXIT_OK;
    }
    printf("SNR          %.3f dB\nrelative L2  %.6g\nmax abs      %.6g\ncorrelation  %.6f\n"
           "scale        %.6f\nsamples      %" G_GINT64_FORMAT "\n",
           d.snr_db, d.relative_l2, d.max_abs, d.correlation, d.scale, d.count);
    return LITHO_EXIT_OK;
}
