// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli.h"
#include "app/cli_files.h"
#include "app/cli_flow.h"
#include "app/cli_open.h"
#include "app/progress.h"
#include "core/engine/verify.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"

#define NOT_ASKED (-G_MAXDOUBLE)

typedef struct Options {
    LithoCliFiles files;
    char *backend, *progress;
    double share, tolerance;
    int slabs, seed, threads;
    gboolean json;
} Options;

static void options_clear(Options *o)
{
    litho_cli_files_clear(&o->files);
    g_free(o->backend);
    g_free(o->progress);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

static gboolean check_numbers(const Options *o, GError **error)
{
    if (o->slabs < 1)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "--slabs is %d; it must be a whole number from 1", o->slabs);
    if (o->share != NOT_ASKED && !(o->share > 0 && o->share <= 100))
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "--share is %g; it must be percent above 0, up to 100", o->share);
    if (!(o->tolerance >= 0 && o->tolerance < 1))
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "--tolerance is %g; it must lie between 0 and 1", o->tolerance);
    return litho_cli_seed(o->seed, error) && litho_cli_threads(o->threads, error);
}

// --- telling --------------------------------------------------------------------------------------

// "fx + migrate"
static char *operators_of(const LithoFlow *flow)
{
    GString *text = g_string_new(NULL);
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        const LithoStep *step = &g_array_index(flow->steps, LithoStep, k);
        if (step->enabled)
            g_string_append_printf(text, "%s%s", text->len ? " + " : "", step->op->key);
    }
    return g_string_free(text, FALSE);
}

// "4 of 100 slabs, 8 of 200 inlines, recomputed on CPU, 2 threads"
static char *sample_of(const LithoVerifyAsk *ask, const LithoVerified *v, int threads)
{
    g_autofree char *label = litho_device_label(ask->device, threads);
    return g_strdup_printf(
        _("%" PRId64 " of %" PRId64 " slabs (%" PRId64 " of %" PRId64 " %s) recomputed on %s"),
        v->slabs, v->all_slabs, v->inlines, v->all_inlines, v->lines, label);
}

// Why other bytes were allowed: "written on NVIDIA H200 by version 1.1".
static char *written_by(const LithoProvenance *p)
{
    return g_strdup_printf(p->devices > 1 || p->ranks > 1
                               ? _("written on %s by version %s, by several devices or processes")
                               : _("written on %s by version %s"),
                           *p->device ? p->device : p->backend, p->version);
}

static void print_agreement(const LithoVerifyAsk *ask, const LithoVerified *v, int threads)
{
    g_autofree char *operators = operators_of(ask->provenance->flow);
    g_autofree char *sample = sample_of(ask, v, threads), *by = written_by(ask->provenance);
    if (v->agreement == LITHO_AGREES_BITS)
        printf(_("%s agrees bit for bit with %s: %s, %s\n"), ask->output, operators, sample, by);
    else
        printf(_("%s agrees with %s within the tolerance: relative difference %.2g (%.2g is "
                 "allowed); %s, %s\n"),
               ask->output, operators, v->relative, ask->tolerance, sample, by);
}

static void refuse(const LithoVerifyAsk *ask, const LithoVerified *v, int threads, GError **error)
{
    g_autofree char *operators = operators_of(ask->provenance->flow);
    g_autofree char *sample = sample_of(ask, v, threads), *by = written_by(ask->provenance);
    const char *touched =
        v->input_touched ? _("; the input has another time of change than it had") : "";
    if (v->differing > 1)
        litho_refuse(error, LITHO_ERROR_NUMERICS,
                     "%s differs from %s: %s %.10g is the first of several, relative difference "
                     "%.3g, largest %.3g; %s, %s%s",
                     ask->output, operators, v->line, v->first_line, v->relative, v->largest,
                     sample, by, touched);
    else
        litho_refuse(error, LITHO_ERROR_NUMERICS,
                     "%s differs from %s: %s %.10g, relative difference %.3g, largest %.3g; %s, "
                     "%s%s",
                     ask->output, operators, v->line, v->first_line, v->relative, v->largest,
                     sample, by, touched);
}

static void print_json(const LithoVerifyAsk *ask, const LithoVerified *v, guint seed)
{
    static const char *const words[] = {"bits", "tolerance", "differs"};
    const LithoProvenance *p = ask->provenance;
    JsonObject *object = json_object_new();
    g_autofree char *device = litho_provenance_device(ask->device);
    json_object_set_string_member(object, "file", ask->output);
    json_object_set_boolean_member(object, "agrees", v->agreement != LITHO_DIFFERS);
    json_object_set_string_member(object, "agreement", words[v->agreement]);
    json_object_set_boolean_member(object, "bits_expected", v->bits_expected);
    json_object_set_int_member(object, "slabs", v->slabs);
    json_object_set_int_member(object, "all_slabs", v->all_slabs);
    json_object_set_int_member(object, "inlines", v->inlines);
    json_object_set_int_member(object, "all_inlines", v->all_inlines);
    json_object_set_int_member(object, "samples", v->samples);
    json_object_set_int_member(object, "differing_inlines", v->differing);
    if (v->differing > 0)
        json_object_set_double_member(object, "first_differing_inline", v->first_line);
    if (isfinite(v->relative))
        json_object_set_double_member(object, "relative_difference", v->relative);
    if (isfinite(v->largest))
        json_object_set_double_member(object, "largest_difference", v->largest);
    json_object_set_double_member(object, "tolerance", ask->tolerance);
    json_object_set_int_member(object, "seed", seed);
    json_object_set_string_member(object, "device", device);
    json_object_set_string_member(object, "written_on", p->device);
    json_object_set_string_member(object, "written_by", p->version);
    json_object_set_string_member(object, "version", LITHO_VERSION);
    g_autofree char *text = litho_json_object_text(object);
    printf("%s\n", text);
}

// --- the command ----------------------------------------------------------------------------------

// The device that wrote the file where it is here and none was asked for.
static gboolean choose_device(const Options *o, const LithoProvenance *p, LithoDevice *device,
                              GError **error)
{
    if (!o->backend && litho_device_parse(p->backend, device, NULL))
        return TRUE;
    return litho_cli_device(o->backend, p->flow, device, error);
}

static gboolean verify(const Options *o, const char *output, LithoRun *run, GError **error)
{
    g_autoptr(LithoProvenance) p = litho_provenance_load(output, error);
    LithoVerifyAsk ask = {.output = output,
                          .provenance = p,
                          .inputs = o->files.in,
                          .slabs = o->slabs,
                          .share = MAX(o->share, 0),
                          .seed = (guint32)o->seed,
                          .tolerance = o->tolerance};
    LithoVerified verified;
    if (!p || !choose_device(o, p, &ask.device, error))
        return FALSE;
    run->device = ask.device.index;
    if (strcmp(p->version, LITHO_VERSION) != 0)
        fprintf(stderr, _("note: %s was written by version %s; this is %s\n"), output, p->version,
                LITHO_VERSION);
    if (!litho_verify_run(&ask, run, &verified, error))
        return FALSE;
    litho_cli_progress_erase();
    if (o->json)
        print_json(&ask, &verified, (guint)o->seed);
    else if (verified.agreement != LITHO_DIFFERS)
        print_agreement(&ask, &verified, o->threads);
    if (verified.agreement == LITHO_DIFFERS)
        refuse(&ask, &verified, o->threads, error);
    return verified.agreement != LITHO_DIFFERS;
}

int litho_cli_verify(int argc, char **argv)
{
    g_auto(Options) o = {.slabs = 4, .seed = 1, .share = NOT_ASKED, .tolerance = 1e-4};
    const GOptionEntry entries[] = {
        LITHO_CLI_INPUT(&o.files, _("The input, where it lies elsewhere now; may be repeated")),
        {"slabs", 0, 0, G_OPTION_ARG_INT, &o.slabs,
         _("How many of the slabs, hundredths of the inlines, are recomputed (4)"), "N"},
        {"share", 0, 0, G_OPTION_ARG_DOUBLE, &o.share,
         _("Share of the inlines that is recomputed, instead of --slabs; 100 is all"), "PERCENT"},
        {"seed", 0, 0, G_OPTION_ARG_INT, &o.seed, _("Which slabs (1)"), "N"},
        {"tolerance", 0, 0, G_OPTION_ARG_DOUBLE, &o.tolerance,
         _("Relative difference that is allowed on another device or by another version (1e-4)"),
         "T"},
        {"backend", 0, 0, G_OPTION_ARG_STRING, &o.backend,
         _("auto, cpu, cuda or cuda:N (default: the one that wrote the file)"), "NAME"},
        {"threads", 0, 0, G_OPTION_ARG_INT, &o.threads, _("CPU threads (0 = all)"), "N"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &o.json, _("One JSON object"), NULL},
        {"progress", 0, 0, G_OPTION_ARG_STRING, &o.progress, _("auto, plain, jsonl or none"),
         "FORM"},
        {NULL},
    };
    g_autoptr(GOptionContext) context = litho_cli_options(
        "OUT",
        _("Recomputes a sample of what 'run' wrote, from the provenance beside it "
          "(OUT.provenance), "
          "and compares: bit for bit on an equal device, within a tolerance on another."),
        entries, NULL);
    g_option_context_set_description(context,
                                     _("Exit status: 0 when the sample agrees, 1 when it differs "
                                       "or cannot be recomputed.\n"
                                       "Example: lithoscope-cli verify filtered.sgy --share 10"));
    GError *error = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &error))
        return litho_cli_misused("verify", error);
    if (argc != 2)
        litho_refuse(&error, LITHO_ERROR_PARAMETER, "one file is needed, %d given", argc - 1);
    if (error || !check_numbers(&o, &error))
        return litho_cli_misused("verify", error);
    LithoRun run = {.threads = o.threads};
    LithoCliProgress progress;
    if (!litho_cli_progress_init(&progress, o.progress ? o.progress : "auto", &run, &error))
        return litho_cli_misused("verify", error);
    const gboolean ok = verify(&o, argv[1], &run, &error);
    litho_cli_progress_end(&progress);
    return ok ? LITHO_EXIT_OK : litho_cli_fail(error);
}
