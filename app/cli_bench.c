// SPDX-License-Identifier: GPL-3.0-or-later
#include <stdio.h>
#include <string.h>

#include "app/bench.h"
#include "app/cli.h"
#include "core/error.h"
#include "core/json.h"

typedef struct Options {
    char *size, *backends, *json;
    double dt, missing, seconds;
    int repeat, seed;
} Options;

static gboolean fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static gboolean fail(GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(error, LITHO_ERROR, LITHO_ERROR_PARAMETER, text);
    return FALSE;
}

static gboolean parse_setting(const LithoOperator *op, gpointer params, const char *word,
                              GError **error)
{
    const char *equals = strchr(word, '=');
    if (!equals)
        return fail(error, "'%s' is no setting; key=value is needed", word);
    g_autofree char *key = g_strndup(word, equals - word);
    if (strcmp(key, "preset") == 0)
        return litho_operator_preset(op, equals + 1, params, error);
    return litho_param_parse(&op->params, params, key, equals + 1, error);
}

static gboolean parse_size(const Options *o, LithoGrid *grid, GError **error)
{
    long n[3];
    char rest;
    if (sscanf(o->size, "%ldx%ldx%ld%c", &n[0], &n[1], &n[2], &rest) != 3 || n[0] < 1 || n[1] < 1 ||
        n[2] < 1)
        return fail(error, "--size is '%s'; INLINESxCROSSLINESxSAMPLES is needed", o->size);
    *grid = litho_grid_new(n[0], n[1], n[2]);
    grid->axis[2].step = o->dt;
    return litho_grid_check(grid, error);
}

// "cpu1", "cpu", "cuda" (every GPU) or "cuda:N".
static gboolean add_backend(GArray *runs, const char *word, GError **error)
{
    BenchRun run = {.device = litho_device_cpu()};
    if (strcmp(word, "cpu1") == 0 || strcmp(word, "cpu") == 0) {
        g_strlcpy(run.key, word, sizeof run.key);
        run.threads = strcmp(word, "cpu1") == 0 ? 1 : litho_run_threads(NULL);
        g_array_append_val(runs, run);
        return TRUE;
    }
    if (!litho_device_parse(word, &run.device, error))
        return FALSE;
    const gboolean all = strcmp(word, "cuda") == 0;
    const int n = all ? run.device.backend->n_devices : 1, first = all ? 0 : run.device.index;
    for (int k = 0; k < n; k++) {
        run.device.index = first + k;
        run.threads = litho_run_threads(NULL);
        g_snprintf(run.key, sizeof run.key, "cuda:%d", first + k);
        g_array_append_val(runs, run);
    }
    return TRUE;
}

// Without --backends: what there is.
static gboolean parse_backends(const Options *o, GArray *runs, GError **error)
{
    const char *list = o->backends                           ? o->backends
                       : litho_backend_cuda()->n_devices > 0 ? "cpu1,cpu,cuda"
                                                             : "cpu1,cpu";
    g_auto(GStrv) words = g_strsplit(list, ",", -1);
    for (char **word = words; *word; word++)
        if (!add_backend(runs, *word, error))
            return FALSE;
    return runs->len > 0 || fail(error, "--backends names none");
}

static gboolean run_all(Bench *b, const Options *o, GError **error)
{
    g_autoptr(LithoCube) in = NULL;
    LithoCube *reference = NULL;
    if (b->op->needs_input) {
        in = bench_input(&b->grid, (guint32)o->seed, o->missing / 100, error);
        if (!in)
            return FALSE;
    } else if (!litho_operator_output_grid(b->op, NULL, b->params, &b->grid, error)) {
        return FALSE;
    }
    if (!litho_operator_check(b->op, b->op->needs_input ? &b->grid : NULL, b->params, error))
        return FALSE;
    gboolean ok = TRUE;
    for (guint k = 0; ok && k < b->runs->len; k++) {
        BenchRun *run = &g_array_index(b->runs, BenchRun, k);
        fprintf(stderr, "%s ...\n", run->key);
        ok = bench_backend(b, in, run, &reference, error);
    }
    litho_cube_unref(reference);
    return ok;
}

static gboolean write_json(const Bench *b, const char *path, GError **error)
{
    JsonNode *root = bench_json(b);
    g_autofree char *text = litho_json_text(root);
    json_node_unref(root);
    return g_file_set_contents(path, text, -1, error);
}

static gboolean bench(char **words, const Options *o, gboolean *usage, GError **error)
{
    const LithoOperator *op = words[0] ? litho_operator_find(words[0]) : NULL;
    *usage = TRUE;
    if (!op)
        return words[0] ? fail(error, "there is no operator '%s'", words[0])
                        : fail(error, "an operator is needed, see 'lithoscope-cli list'");
    Bench b = {.op = op,
               .params = g_malloc0(op->params.size),
               .repeat = MAX(o->repeat, 1),
               .seconds = o->seconds,
               .runs = g_array_new(FALSE, FALSE, sizeof(BenchRun))};
    litho_param_defaults(&op->params, b.params);
    gboolean ok = parse_size(o, &b.grid, error) && parse_backends(o, b.runs, error);
    for (char **word = words + 1; ok && *word; word++)
        ok = parse_setting(op, b.params, *word, error);
    if (ok) {
        *usage = FALSE;
        ok = run_all(&b, o, error);
    }
    if (ok) {
        g_autofree char *text = bench_text(&b);
        fputs(text, stdout);
        ok = !o->json || write_json(&b, o->json, error);
    }
    g_array_unref(b.runs);
    g_free(b.params);
    return ok;
}

int litho_cli_bench(int argc, char **argv)
{
    Options o = {.dt = 0.004, .seconds = 20, .repeat = 10, .seed = 1};
    const GOptionEntry entries[] = {
        {"size", 0, 0, G_OPTION_ARG_STRING, &o.size, "Input to generate (128x128x512)", "N1xN2xN3"},
        {"backends", 0, 0, G_OPTION_ARG_STRING, &o.backends,
         "Of cpu1 (one thread), cpu, cuda (every GPU), cuda:N; the first is the reference", "LIST"},
        {"repeat", 0, 0, G_OPTION_ARG_INT, &o.repeat, "Timed runs after the warm-up (10)", "N"},
        {"seconds", 0, 0, G_OPTION_ARG_DOUBLE, &o.seconds,
         "No further run of a kind after this long (20)", "S"},
        {"json", 0, 0, G_OPTION_ARG_FILENAME, &o.json, "Write everything to FILE", "FILE"},
        {"dt", 0, 0, G_OPTION_ARG_DOUBLE, &o.dt, "Sample interval of the input (0.004)", "S"},
        {"missing", 0, 0, G_OPTION_ARG_DOUBLE, &o.missing, "Traces left out of the input (0)", "%"},
        {"seed", 0, 0, G_OPTION_ARG_INT, &o.seed, "Another number, another input (1)", "N"},
        {NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("OPERATOR [key=value ...]");
    g_option_context_set_summary(
        context, "Times an operator on generated input, checks the backends against "
                 "each other, and\nsays how far each stage is from what the machine "
                 "can do.");
    g_option_context_add_main_entries(context, entries, NULL);
    GError *error = NULL;
    gboolean usage = TRUE;
    if (!g_option_context_parse(context, &argc, &argv, &error))
        return litho_cli_misused("bench", error);
    if (!o.size)
        o.size = g_strdup("128x128x512");
    gboolean ok = bench(argv + 1, &o, &usage, &error);
    g_free(o.size);
    g_free(o.backends);
    g_free(o.json);
    if (ok)
        return LITHO_EXIT_OK;
    return usage ? litho_cli_misused("bench", error) : litho_cli_fail(error);
}
