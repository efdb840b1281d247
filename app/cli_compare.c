// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdio.h>

#include "app/cli.h"
#include "app/cli_flow.h"
#include "app/cli_open.h"
#include "app/operators_table.h"
#include "app/progress.h"
#include "core/axis_names.h"
#include "core/error.h"
#include "core/qc.h"
#include "core/io/survey.h"
#include "core/json.h"
#include "core/text.h"

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
    json_object_set_int_member(object, "traces_left_out", d->left_out);
    json_object_set_boolean_member(object, "equal", d->max_abs == 0);
    g_autofree char *text = litho_json_object_text(object);
    printf("%s\n", text);
}

enum { SECONDS = 20, SEED = 1 }; // without the options

// --- operators against each other ---------------------------------------------------------------

typedef struct Options {
    LithoOpenOptions open;
    char *mask, *out, *pictures, *rows, *methods, *size, *backend, *progress;
    double seconds;
    int seed, threads;
    gboolean json, operators, resume, force;
} Options;

static void options_clear(Options *o)
{
    char *all[] = {o->mask, o->out,  o->pictures, o->rows,
                   o->methods, o->size, o->backend,  o->progress};
    for (guint k = 0; k < G_N_ELEMENTS(all); k++)
        g_free(all[k]);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

static gboolean parse_size(const char *text, gint64 size[3], GError **error)
{
    long n[3] = {64, 64, 256};
    char rest;
    if (text && (sscanf(text, "%ldx%ldx%ld%c", &n[0], &n[1], &n[2], &rest) != 3 ||
                 (n[0] < 24 && n[0] != 1) || n[1] < 24 || n[2] < 48))
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "--size is '%s'; INLINESxCROSSLINESxSAMPLES of 24x24x48 or more is "
                            "needed, or one inline",
                            text);
    for (int a = 0; a < 3; a++)
        size[a] = n[a];
    return TRUE;
}

static gboolean table_ask(const Options *o, LithoTableAsk *ask, GError **error)
{
    *ask = (LithoTableAsk){.markdown = o->out,
                           .pictures = o->pictures,
                           .rows = o->rows,
                           .methods = o->methods,
                           .seconds = o->seconds,
                           .seed = o->seed,
                           .resume = o->resume,
                           .replace = o->force ? LITHO_REPLACE_ANY : LITHO_REPLACE_NONE};
    if (!o->out || !g_str_has_suffix(o->out, ".md"))
        return litho_refuse(error, LITHO_ERROR_PARAMETER, "-o TABLE.md is needed");
    if (o->pictures && !g_file_test(o->pictures, G_FILE_TEST_IS_DIR))
        return litho_refuse(error, LITHO_ERROR_PARAMETER, "--pictures %s is no folder",
                            o->pictures);
    return parse_size(o->size, ask->size, error) && litho_operators_table_check(ask, error) &&
           litho_cli_device(o->backend, NULL, &ask->device, error);
}

static int compare_operators(const Options *o, GError **error)
{
    LithoTableAsk ask;
    LithoRun run = {.threads = o->threads};
    LithoCliProgress progress;
    if (!table_ask(o, &ask, error) ||
        !litho_cli_progress_init(&progress, o->progress ? o->progress : "auto", &run, error))
        return litho_cli_misused("compare", *error);
    run.threads = o->threads;
    const gboolean ok = litho_operators_table(&ask, &run, error);
    litho_cli_progress_end(&progress);
    if (ok)
        litho_cli_wrote(&progress, o->out);
    return ok ? LITHO_EXIT_OK : litho_cli_fail(*error);
}

// --- two cubes ----------------------------------------------------------------------------------

static int compare_cubes(const Options *o, char **paths, GError **error)
{
    g_autoptr(LithoCube) a = litho_cube_load(paths[0], &o->open, NULL, error);
    g_autoptr(LithoCube) b = a ? litho_cube_load(paths[1], &o->open, NULL, error) : NULL;
    g_autoptr(LithoCube) mask =
        b && o->mask ? litho_cube_load(o->mask, &o->open, NULL, error) : NULL;
    LithoDifference d;
    if (*error || !litho_qc_compare(b, a, mask, &d, error))
        return litho_cli_fail(*error);
    if (o->json) {
        print_json(&d);
        return LITHO_EXIT_OK;
    }
    printf(_("SNR          %.3f dB\nrelative L2  %.6g\nmax abs      %.6g\ncorrelation  %.6f\n"
             "scale        %.6f\nsamples      %" PRId64 "\n"),
           d.snr_db, d.relative_l2, d.max_abs, d.correlation, d.scale, d.count);
    g_autofree char *axes = litho_axes_tell_others(&a->grid, &b->grid);
    if (axes)
        fprintf(stderr, _("note: %s\n"), axes);
    if (d.left_out > 0)
        fprintf(stderr,
                _("note: traces left out, because one of the cubes has none there: %" PRId64
                  " of %" PRId64 "\n"),
                d.left_out, litho_grid_traces(&a->grid));
    return LITHO_EXIT_OK;
}

// Options of the other form of the command, which would do nothing here.
static gboolean check_form(const Options *o, GError **error)
{
    const struct {
        const char *name;
        gboolean given, is_of_table;
    } options[] = {
        {"--mask", o->mask != NULL, FALSE},        {"--json", o->json, FALSE},
        {"--output", o->out != NULL, TRUE},        {"--pictures", o->pictures != NULL, TRUE},
        {"--rows", o->rows != NULL, TRUE},         {"--methods", o->methods != NULL, TRUE},
        {"--size", o->size != NULL, TRUE},         {"--seconds", o->seconds != SECONDS, TRUE},
        {"--seed", o->seed != SEED, TRUE},         {"--resume", o->resume, TRUE},
        {"--backend", o->backend != NULL, TRUE},   {"--threads", o->threads != 0, TRUE},
        {"--progress", o->progress != NULL, TRUE}, {"--force", o->force, TRUE},
    };
    for (guint k = 0; k < G_N_ELEMENTS(options); k++)
        if (options[k].given && options[k].is_of_table != o->operators)
            return litho_refuse(error, LITHO_ERROR_PARAMETER,
                                o->operators ? _("%s does nothing with --operators; leave it out")
                                             : _("%s does nothing without --operators; leave it out"),
                                options[k].name);
    if (!(o->seconds >= 0))
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "--seconds is %g; it must be a number from 0", o->seconds);
    return litho_cli_seed(o->seed, error) && litho_cli_threads(o->threads, error);
}

int litho_cli_compare(int argc, char **argv)
{
    g_auto(Options) o = {.seed = SEED, .seconds = SECONDS};
    const GOptionEntry entries[] = {
        {"mask", 0, 0, G_OPTION_ARG_FILENAME, &o.mask,
         _("Compare where this cube's traces are live"), "FILE"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &o.json, _("One JSON object"), NULL},
        {"operators", 0, 0, G_OPTION_ARG_NONE, &o.operators,
         _("A table of all operators and built-in baselines on generated cubes"), NULL},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &o.out,
         _("With --operators: the table, TABLE.md; TABLE.json is written beside it"), "FILE"},
        {"pictures", 0, 0, G_OPTION_ARG_FILENAME, &o.pictures,
         _("With --operators: a picture per row into this folder"), "FOLDER"},
        {"rows", 0, 0, G_OPTION_ARG_STRING, &o.rows,
         _("Rows with all words of one of these, such as 'white 0, fill curved'"), "LIST"},
        {"methods", 0, 0, G_OPTION_ARG_STRING, &o.methods,
         _("Operators and baselines (fxdecon, fft3d, drr3d); all of them without it"), "LIST"},
        {"size", 0, 0, G_OPTION_ARG_STRING, &o.size, _("Of the cubes (64x64x256)"), "N1xN2xN3"},
        {"seconds", 0, 0, G_OPTION_ARG_DOUBLE, &o.seconds,
         _("For finding settings, per operator and row (20; 0 = defaults alone)"), "S"},
        {"seed", 0, 0, G_OPTION_ARG_INT, &o.seed, _("Other cubes and other noise (1)"), "N"},
        {"resume", 0, 0, G_OPTION_ARG_NONE, &o.resume, _("Keep the rows that the files have"),
         NULL},
        LITHO_CLI_DEVICE(&o.backend, &o.threads),
        LITHO_CLI_PROGRESS(&o.progress),
        {"force", 0, 0, G_OPTION_ARG_NONE, &o.force, _("Overwrite files"), NULL},
        {NULL},
    };
    g_autoptr(GOptionContext) context = litho_cli_options(
        _("A B | --operators -o TABLE.md"),
        _("SNR of B against the reference A, and other distances; or all operators "
          "against each other and published methods, row by row."),
        entries, litho_cli_open_group(&o.open));
    GError *error = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &error))
        return litho_cli_misused("compare", error);
    if (argc != (o.operators ? 1 : 3)) {
        g_set_error(&error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    o.operators ? _("--operators takes no cubes, %d given")
                                : _("two cubes are needed, %d given"),
                    argc - 1);
        return litho_cli_misused("compare", error);
    }
    if (!check_form(&o, &error))
        return litho_cli_misused("compare", error);
    return o.operators ? compare_operators(&o, &error) : compare_cubes(&o, argv + 1, &error);
}
