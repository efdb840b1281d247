// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/bench.h"
#include "app/cli.h"
#include "app/cli_files.h"
#include "app/cli_open.h"
#include "core/error.h"
#include "core/text.h"

typedef struct Options {
    char *size, *backends, *json, *dt_words, **also;
    double dt, missing, seconds;
    int repeat, seed, every;
    gboolean force, peers;
} Options;

static gboolean parse_size(const Options *o, LithoGrid *grid, GError **error)
{
    long n[3];
    char rest;
    if (sscanf(o->size, "%ldx%ldx%ld%c", &n[0], &n[1], &n[2], &rest) != 3 || n[0] < 1 || n[1] < 1 ||
        n[2] < 1)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "--size is '%s'; INLINESxCROSSLINESxSAMPLES is needed", o->size);
    *grid = litho_grid_new(n[0], n[1], n[2]);
    grid->axis[2].step = o->dt;
    return litho_grid_check(grid, error);
}

// "cpu1", "cpu", "cuda" (every GPU, one after the other), "cuda:N", or "cuda:N-M" and
// "cuda:all" (GPUs together).
static gboolean add_backend(GArray *runs, const char *word, GError **error)
{
    BenchRun run = {.device = litho_device_cpu()};
    const gboolean one = strcmp(word, "cpu1") == 0;
    if (!one && !litho_device_parse(word, &run.device, error))
        return FALSE;
    if (run.device.backend == litho_backend_cpu()) { // "auto" may be that, too
        g_strlcpy(run.key, one ? word : "cpu", sizeof run.key);
        run.threads = one ? 1 : litho_run_threads(NULL);
        g_array_append_val(runs, run);
        return TRUE;
    }
    const gboolean all = strcmp(word, "cuda") == 0;
    const int n = all ? run.device.backend->n_devices : 1, first = all ? 0 : run.device.index;
    for (int k = 0; k < n; k++) {
        run.device.index = first + k;
        run.threads = litho_run_threads(NULL);
        g_snprintf(run.key, sizeof run.key, "cuda:%d", first + k);
        if (run.device.count > 1)
            g_strlcpy(run.key, word, sizeof run.key);
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
    return runs->len > 0 || litho_refuse(error, LITHO_ERROR_PARAMETER, "--backends names none");
}

// The settings of the command line, then one variant for each --also on top of them.
static gboolean parse_variants(const LithoOperator *op, char **words, const Options *o,
                               GArray *variants, GError **error)
{
    const guint n = 1 + (o->also ? g_strv_length(o->also) : 0);
    gboolean ok = TRUE;
    litho_cli_presets_first(words);
    for (guint k = 0; ok && k < n; k++) {
        BenchVariant v = {.settings = g_strdup(k ? o->also[k - 1] : ""), .difference = NAN};
        g_auto(GStrv) more = g_strsplit_set(v.settings, " ,", -1);
        v.params = g_malloc0(op->params.size);
        g_array_append_val(variants, v);
        litho_param_defaults(&op->params, v.params);
        litho_cli_presets_first(more);
        for (char **word = words; ok && *word; word++)
            ok = litho_operator_set(op, v.params, *word, error);
        for (char **word = more; ok && *word; word++)
            ok = !**word || litho_operator_set(op, v.params, *word, error);
    }
    return ok;
}

static void clear_variant(gpointer data)
{
    BenchVariant *v = data;
    g_free(v->settings);
    g_free(v->params);
}

static void clear_run(gpointer data)
{
    BenchRun *run = data;
    if (run->numbers)
        g_array_unref(run->numbers);
}

// Every backend with every variant.
static void multiply(Bench *b)
{
    const guint n = b->runs->len;
    for (guint v = 1; v < b->variants->len; v++)
        for (guint k = 0; k < n; k++) {
            BenchRun run = g_array_index(b->runs, BenchRun, k);
            run.variant = v;
            g_array_append_val(b->runs, run);
        }
}

// All backends of variant `v`; its result on the first of them is *result.
static gboolean run_variant(Bench *b, guint v, LithoCube *in, LithoCube **result, GError **error)
{
    const LithoGrid *grid = b->op->needs_input ? &b->grid : NULL;
    const void *params = bench_variant(b, v)->params;
    g_autoptr(LithoResolved) known = NULL;
    if (!litho_resolve(b->op, params, NULL, &known, error) ||
        !litho_operator_check(b->op, grid, params, known, error))
        return FALSE;
    gboolean ok = TRUE;
    for (guint k = 0; ok && k < b->runs->len; k++) {
        BenchRun *run = &g_array_index(b->runs, BenchRun, k);
        if (run->variant != v)
            continue;
        fprintf(stderr, "%s %s ...\n", run->key, bench_variant(b, v)->settings);
        ok = bench_backend(b, in, run, result, error);
    }
    return ok;
}

// Keeps every nth inline, the first too.
static void thin_out(LithoCube *cube, int every)
{
    const gint64 nx = cube->grid.axis[1].n, line = nx * cube->grid.axis[2].n;
    for (gint64 il = 0; il < cube->grid.axis[0].n; il++)
        if (il % every != 0) {
            memset(cube->live + il * nx, 0, nx);
            memset(cube->samples + il * line, 0, line * sizeof *cube->samples);
        }
}

static gboolean run_all(Bench *b, const Options *o, GError **error)
{
    g_autoptr(LithoCube) in = NULL;
    g_autoptr(LithoCube) first = NULL;
    if (b->op->needs_input) {
        in = bench_input(&b->grid, (guint32)o->seed, o->missing / 100, error);
        if (!in)
            return FALSE;
        thin_out(in, o->every);
    } else {
        const void *params = bench_variant(b, 0)->params;
        g_autoptr(LithoResolved) known = NULL;
        if (!litho_resolve(b->op, params, NULL, &known, error) ||
            !litho_operator_output_grid(b->op, NULL, params, known, &b->grid, error))
            return FALSE;
    }
    for (guint v = 0; v < b->variants->len; v++) {
        g_autoptr(LithoCube) result = NULL;
        if (!run_variant(b, v, in, &result, error))
            return FALSE;
        if (v == 0)
            first = litho_cube_ref(result);
        else if (litho_grid_same_shape(&first->grid, &result->grid))
            g_array_index(b->variants, BenchVariant, v).difference =
                bench_difference(result, first, NULL, NULL);
    }
    return TRUE;
}

static gboolean run_peers(Bench *b, const Options *o, GError **error)
{
    LithoDevice device;
    return bench_peers_device(o->backends, &device, error) && bench_peers(b, device, error);
}

static gboolean write_json(const Bench *b, const Options *o, GError **error)
{
    g_autofree char *text = bench_json(b);
    return litho_cli_save_text(o->json, text, o->force, error);
}

// Variants after the first one write the files that the first one has written.
static gboolean check_outputs(Bench *b, const Options *o, GError **error)
{
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, b->op);
    memcpy(litho_flow_step(flow, 0)->params, bench_variant(b, 0)->params, b->op->params.size);
    const char *const writes[] = {o->json, NULL};
    return litho_cli_files_check(&(LithoCliFiles){NULL}, flow, NULL, writes, o->force, error);
}

static gboolean bench(char **words, const Options *o, gboolean *usage, GError **error)
{
    const LithoOperator *op = words[0] ? litho_operator_find(words[0]) : NULL;
    *usage = TRUE;
    if (!op)
        return words[0] ? litho_cli_no_operator(words[0], error)
                        : litho_refuse(error, LITHO_ERROR_PARAMETER,
                                       "an operator is needed, see 'lithoscope-cli list'");
    Bench b = {.op = op,
               .variants = g_array_new(FALSE, FALSE, sizeof(BenchVariant)),
               .repeat = (guint)o->repeat,
               .seconds = o->seconds,
               .runs = g_array_new(FALSE, FALSE, sizeof(BenchRun))};
    g_array_set_clear_func(b.variants, clear_variant);
    g_array_set_clear_func(b.runs, clear_run);
    gboolean ok = parse_size(o, &b.grid, error) && (o->peers || parse_backends(o, b.runs, error)) &&
                  parse_variants(op, words + 1, o, b.variants, error);
    if (ok) {
        *usage = FALSE;
        multiply(&b);
        ok = check_outputs(&b, o, error) &&
             (o->peers ? run_peers(&b, o, error) : run_all(&b, o, error));
    }
    if (ok) {
        g_autofree char *text = o->peers ? bench_peers_text(&b) : bench_text(&b);
        fputs(text, stdout);
        ok = !o->json || write_json(&b, o, error);
    }
    g_array_unref(b.runs);
    g_array_unref(b.variants);
    if (b.peers)
        g_array_unref(b.peers);
    return ok;
}

static gboolean check_numbers(Options *o, GError **error)
{
    gboolean is_bare = FALSE;
    if (o->dt_words && (!litho_cli_interval(o->dt_words, &o->dt, &is_bare, error) ||
                        !litho_interval_meant(o->dt, is_bare, FALSE, error)))
        return FALSE;
    litho_cli_note_interval(o->dt, "--dt ");
    if (o->repeat < 1 || !(o->seconds >= 0))
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "--repeat is %d and --seconds %g; they must be a whole number from 1 "
                            "and a number from 0",
                            o->repeat, o->seconds);
    if (!litho_cli_seed(o->seed, error))
        return FALSE;
    if (o->every < 1)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "--every is %d; it must be a whole number from 1", o->every);
    return (o->missing >= 0 && o->missing < 100) ||
           litho_refuse(error, LITHO_ERROR_PARAMETER,
                        "--missing is %g; it must be percent from 0, below 100", o->missing);
}

int litho_cli_bench(int argc, char **argv)
{
    Options o = {.dt = 0.004, .seconds = 20, .repeat = 10, .seed = 1, .every = 1};
    const GOptionEntry entries[] = {
        {"size", 0, 0, G_OPTION_ARG_STRING, &o.size, _("Input to generate (128x128x512)"),
         "N1xN2xN3"},
        {"backends", 0, 0, G_OPTION_ARG_STRING, &o.backends,
         _("Of cpu1 (one thread), cpu, cuda (every GPU by itself), cuda:N, cuda:N-M, cuda:all "
           "(together); "
           "the first is the reference"),
         "LIST"},
        {"repeat", 0, 0, G_OPTION_ARG_INT, &o.repeat, _("Timed runs after the warm-up (10)"), "N"},
        {"seconds", 0, 0, G_OPTION_ARG_DOUBLE, &o.seconds,
         _("No further run of a kind after this long (20)"), "S"},
        {"json", 0, 0, G_OPTION_ARG_FILENAME, &o.json, _("Write everything to FILE"), "FILE"},
        {"force", 0, 0, G_OPTION_ARG_NONE, &o.force, _("Replace an existing FILE"), NULL},
        {"also", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.also,
         _("Time these settings too, on top of the others (may be repeated)"), "key=value,..."},
        {"peers", 0, 0, G_OPTION_ARG_NONE, &o.peers,
         _("Instead: the operator's stages beside other libraries on the GPU, with equal errors "
           "(cuFINUFFT, cuSOLVER, cuFFT, cuBLAS)"),
         NULL},
        {"dt", 0, 0, G_OPTION_ARG_STRING, &o.dt_words,
         _("Sample interval of the input (0.004, or with its unit: 4ms)"), "S"},
        {"missing", 0, 0, G_OPTION_ARG_DOUBLE, &o.missing, _("Traces left out of the input (0)"),
         "%"},
        {"every", 0, 0, G_OPTION_ARG_INT, &o.every,
         _("Inlines that are kept in the input: every Nth (1)"), "N"},
        {"seed", 0, 0, G_OPTION_ARG_INT, &o.seed, _("Another number, another input (1)"), "N"},
        {NULL},
    };
    g_autoptr(GOptionContext) context =
        litho_cli_options(_("OPERATOR [key=value ...]"),
                          _("Times an operator on generated input, checks the backends against "
                            "each other, and\nsays how far each stage is from what the machine "
                            "can do."),
                          entries, NULL);
    GError *error = NULL;
    gboolean usage = TRUE;
    if (!g_option_context_parse(context, &argc, &argv, &error))
        return litho_cli_misused("bench", error);
    if (!o.size)
        o.size = g_strdup("128x128x512");
    gboolean ok = check_numbers(&o, &error) && bench(argv + 1, &o, &usage, &error);
    g_free(o.size);
    g_free(o.backends);
    g_free(o.json);
    g_free(o.dt_words);
    g_strfreev(o.also);
    if (ok)
        return LITHO_EXIT_OK;
    return usage ? litho_cli_misused("bench", error) : litho_cli_fail(error);
}
