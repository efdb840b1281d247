// SPDX-License-Identifier: GPL-3.0-or-later
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli.h"
#include "app/cli_flow.h"
#include "app/cli_hints.h"
#include "app/cli_judge.h"
#include "app/cli_open.h"
#include "app/cli_pipe.h"
#include "app/cli_plan.h"
#include "app/cli_ranks.h"
#include "app/peers.h"
#include "app/progress.h"
#include "core/engine/engine.h"
#include "core/engine/positions.h"
#include "core/error.h"
#include "core/engine/provenance.h"
#include "core/memory.h"
#include "core/engine/stream.h"
#include "core/json.h"
#include "core/text.h"

static const double GIB = 1 << 30;

typedef struct Options {
    LithoCliFiles files;
    LithoCliJudge judge;
    char *backend, *gpus, *timings, *progress, *report, *recipe;
    char **volumes;            // "NAME=FILE"
    int threads, n_gpus;       // n_gpus 0 = all
    double memory, gpu_memory; // GiB
    gboolean dry_run, force, restart, journal, no_journal, no_provenance;
    gboolean watched; // by a person at a terminal
    LithoOpenOptions open;
} Options;

static void options_clear(Options *o)
{
    litho_cli_files_clear(&o->files);
    litho_cli_judge_clear(&o->judge);
    g_free(o->report);
    g_free(o->recipe);
    g_strfreev(o->volumes);
    g_free(o->backend);
    g_free(o->gpus);
    g_free(o->timings);
    g_free(o->progress);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

// --- where to run -----------------------------------------------------------------------------

// Under mpirun every process takes one device of its machine, in turn.
static gboolean parse_device(const Options *o, const LithoFlow *flow, LithoPeersModule *peers,
                             LithoDevice *device, GError **error)
{
    // GPUs that are asked for must be there: "auto" may not answer with the CPU.
    const char *wanted = o->backend && strcmp(o->backend, "auto") != 0 ? o->backend
                         : o->gpus                                     ? "cuda"
                                                                       : "auto";
    if (!litho_cli_device(wanted, flow, device, error))
        return FALSE;
    const int there = device->backend->n_devices;
    if (peers)
        *device = (LithoDevice){.backend = device->backend, .index = peers->local_rank % there};
    if (o->gpus && device->backend != litho_backend_cpu())
        device->count = o->n_gpus > 0 ? o->n_gpus : there - device->index;
    return device->index + MAX(device->count, 1) <= there ||
           litho_refuse(error, LITHO_ERROR_PARAMETER, "--gpus is %s; this machine has %d", o->gpus,
                        there);
}

// --- telling ----------------------------------------------------------------------------------

// `ranks` may be NULL.
static gboolean save_timings(const Options *o, LithoRun *run, double seconds,
                             const LithoStreamPlan *plan, JsonArray *ranks, GError **error)
{
    JsonNode *root = litho_timings_to_json(run->timings);
    JsonObject *object = json_node_get_object(root);
    json_object_set_double_member(object, "seconds", seconds);
    json_object_set_int_member(object, "traces", litho_grid_traces(&plan->out));
    json_object_set_int_member(object, "slabs", plan->n_slabs);
    json_object_set_int_member(object, "devices_used", run->devices_used);
    json_object_set_int_member(object, "ranks_used", MAX(run->ranks_used, 1));
    if (ranks)
        json_object_set_array_member(object, "ranks", json_array_ref(ranks));
    json_object_set_member(object, "numbers", litho_report_to_json(run->report));
    g_autofree char *text = litho_json_text(root);
    json_node_unref(root);
    return litho_cli_save_text(o->timings, text, o->force, error);
}

static gboolean save_recipe(const Options *o, const LithoFlow *flow, GError **error)
{
    g_autofree char *text = litho_flow_print(flow);
    return litho_cli_save_text(o->recipe, text, o->force, error);
}

// --- figures ----------------------------------------------------------------------------------

static gboolean is_judged(const Options *o)
{
    return o->report || o->judge.reference || o->judge.hide > 0;
}

// Figures that a flow cannot have are refused before it is computed. A report tells what there is.
static gboolean check_judged(const Options *o, const LithoFlow *flow, const LithoGrid *grid,
                             GError **error)
{
    g_autoptr(GError) why = NULL;
    if ((!o->judge.reference && !(o->judge.hide > 0)) || litho_quality_check(flow, grid, &why))
        return TRUE;
    if (g_error_matches(why, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED))
        return litho_refuse(error, LITHO_ERROR_UNSUPPORTED, "%s; leave --reference and --hide out",
                            why->message);
    g_propagate_error(error, g_steal_pointer(&why));
    return FALSE;
}

// The figures of the window's panel, for a person who watches and for a report. An operator that
// cannot be judged (its output lies on another grid) is no failure: a report says why.
static gboolean tell_quality(const LithoFlow *flow, LithoSurvey *survey, LithoDevice device,
                             const Options *o, LithoRun *run, GError **error)
{
    g_auto(LithoCliPart) part = {0};
    g_autoptr(GError) problem = NULL;
    LithoQuality quality;
    LithoJudge *judge = litho_judge_new(device);
    gboolean ok = litho_cli_part(survey, flow, &o->judge, &o->open, run, &part, &problem);
    if (ok) {
        LithoQualityAsk ask = litho_cli_ask(&o->judge, &part, flow);
        ok = litho_judge_run(judge, &ask, run, &quality, &problem);
    }
    litho_judge_free(judge);
    if (!ok && o->report && part.in &&
        g_error_matches(problem, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED)) {
        quality = litho_quality_unknown();
        g_strlcpy(quality.why, problem->message, sizeof quality.why);
        g_clear_error(&problem);
        ok = TRUE;
    }
    if (ok && o->report)
        ok = litho_cli_save_json(litho_cli_quality_json(&quality, &part, &o->judge, flow,
                                                        litho_survey_name(survey), NULL, NULL),
                                 o->report, o->force, &problem);
    litho_cli_progress_erase();
    if (ok) // standard output may be the survey's
        litho_cli_print_quality(litho_cli_pipe_to_stdout(&o->files) ? stderr : stdout, &quality,
                                &part);
    else if (is_judged(o) || litho_error_is_cancelled(problem))
        g_propagate_error(error, g_steal_pointer(&problem));
    else
        ok = TRUE;
    return ok;
}

// --- stages of a run -----------------------------------------------------------------------------

// A run, as its stages hand it on.
typedef struct Job {
    const Options *o;
    LithoFlow *flow;
    char **words;            // of the command line
    LithoPeersModule *peers; // NULL = alone
    LithoRun *run;
    gboolean speaks;   // of several processes the first one does
    double opening_ms; // when the files were opened

    LithoDevice device;
    LithoSurvey *survey; // NULL: the flow makes its own data
    char *reads;         // LithoRatesOf.reads
    char *note;          // of the output's text header
    LithoStreamOptions options;
    LithoStreamPlan plan;

    GPtrArray *notes; // of the run
    LithoFlow *ran;   // the flow with what was measured of the whole survey; NULL = as it was
    double seconds;   // without opening and planning
} Job;

static void job_clear(Job *job)
{
    litho_survey_unref(job->survey);
    g_free(job->reads);
    g_free(job->note);
    g_clear_pointer(&job->notes, g_ptr_array_unref);
    litho_flow_free(job->ran);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Job, job_clear)

static const LithoGrid *job_grid(const Job *job)
{
    return job->survey ? litho_survey_grid(job->survey) : NULL;
}

static const LithoFlow *job_ran(const Job *job)
{
    return job->ran ? job->ran : job->flow;
}

// The file of "NAME=FILE", which check_files() has seen to.
static const char *file_of(const char *volume)
{
    return strchr(volume, '=') + 1;
}

// The file beside `out`, an output of `ran`, that tells where it came from. Where it cannot be
// written that is told, and no failure: the output itself is whole.
static void save_provenance(const Job *job, const char *out, const LithoFlow *ran,
                            const LithoStreamPlan *plan)
{
    const Options *o = job->o;
    const LithoProvenanceOf of = {.flow = ran,
                                  .survey = job->survey,
                                  .inputs =
                                      litho_cli_pipe_from_stdin(&o->files) ? NULL : o->files.in,
                                  .open = &o->open,
                                  .out = &plan->out,
                                  .device = job->device,
                                  .devices = job->run->devices_used,
                                  .ranks = job->run->ranks_used};
    if (!job->speaks || o->no_provenance || litho_cli_pipe_to_stdout(&o->files))
        return;
    g_autoptr(GError) why = NULL;
    if (litho_provenance_save(out, &of, &why))
        return;
    // An earlier output's provenance would tell of other samples.
    g_autofree char *path = litho_provenance_path(out);
    g_unlink(path);
    fprintf(stderr, _("note: %s; 'verify' cannot check this output\n"), why->message);
}

// A copy of the flow that gives "NAME=FILE" instead of the result, and its plan.
static LithoFlow *plan_volume(const Job *job, const LithoFlow *flow, const char *volume,
                              LithoStreamPlan *plan, GError **error)
{
    g_autoptr(LithoFlow) asked = litho_flow_copy(flow);
    g_autofree char *name = g_strndup(volume, strchr(volume, '=') - volume);
    return litho_flow_set_volume(asked, name, error) &&
                   litho_stream_plan(asked, job->survey, &job->options, job->run, plan, error)
               ? g_steal_pointer(&asked)
               : NULL;
}

// Names and formats that no file can have are told before anything is computed: a volume's turn
// comes behind the result.
static gboolean check_written(const Job *job, GError **error)
{
    const Options *o = job->o;
    const LithoSaveOptions *save = &job->options.save;
    if (o->files.out && !litho_writer_check(o->files.out, &job->plan.out, job->survey, save, error))
        return FALSE;
    for (char **v = o->volumes; v && *v; v++) {
        LithoStreamPlan own;
        g_autoptr(LithoFlow) asked = plan_volume(job, job->flow, *v, &own, error);
        if (!asked || !litho_writer_check(file_of(*v), &own.out, job->survey, save, error))
            return FALSE;
    }
    return TRUE;
}

// Every volume is a run of its own: what the steps before it give is computed again.
static gboolean run_volumes(const Job *job, GError **error)
{
    for (char **v = job->o->volumes; v && *v; v++) {
        LithoStreamPlan plan;
        g_autoptr(LithoFlow) asked = plan_volume(job, job_ran(job), *v, &plan, error);
        if (!asked)
            return FALSE;
        g_autofree char *note = litho_flow_command(
            asked, job->survey ? litho_survey_name(job->survey) : NULL, file_of(*v));
        LithoStreamOptions own = job->options;
        own.save.note = note;
        own.ran = NULL;
        own.took = NULL;
        if (!litho_stream_run(asked, job->survey, file_of(*v), &own, job->run, error))
            return FALSE;
        save_provenance(job, file_of(*v), asked, &plan);
    }
    return TRUE;
}

// Files that the outputs' provenance would replace are looked for before anything is computed.
static gboolean check_provenance(const Options *o, GError **error)
{
    if (o->no_provenance || o->dry_run || litho_cli_pipe_to_stdout(&o->files))
        return TRUE;
    for (char **v = o->volumes; v && *v; v++)
        if (!litho_provenance_check(file_of(*v), o->force, error))
            return FALSE;
    return !o->files.out || litho_provenance_check(o->files.out, o->force, error);
}

// The names by which the rates of a run are kept.
static LithoRatesOf rates_of(const Job *job)
{
    return (LithoRatesOf){.flow = job->flow,
                          .device = job->device,
                          .threads = job->options.threads,
                          .reads = job->reads,
                          .writes = job->o->files.out ? strrchr(job->o->files.out, '.') : NULL};
}

// Nothing depends on the rates but the time that a dry run tells: a folder that takes no file is no
// failure.
static void keep_rates(const Job *job, LithoStreamTook *took)
{
    const LithoRatesOf of = rates_of(job);
    took->pace = litho_rates_pace(&of, took->compute_s);
    g_autofree char *path = litho_rates_path();
    g_autoptr(LithoRates) rates = litho_rates_load(path);
    if (litho_rates_learn(rates, &of, took))
        litho_rates_save(rates, path, NULL);
}

// All files that the run reads and writes, before anything is opened.
static gboolean check_all_files(const Job *job, GError **error)
{
    const Options *o = job->o;
    const char *const reads[] = {job->words[0], o->judge.reference, NULL};
    const char *const beside[] = {o->timings, o->report, o->recipe};
    g_autoptr(GPtrArray) writes = g_ptr_array_new();
    for (char **v = o->volumes; v && *v; v++)
        g_ptr_array_add(writes, (gpointer)file_of(*v));
    for (guint k = 0; k < G_N_ELEMENTS(beside); k++)
        if (beside[k])
            g_ptr_array_add(writes, (gpointer)beside[k]);
    g_ptr_array_add(writes, NULL);
    return (o->dry_run || litho_cli_files_check(&o->files, job->flow, reads,
                                                (const char **)writes->pdata, o->force, error)) &&
           check_provenance(o, error);
}

// Opens the survey; the flow's parameters are settled and what is to be judged is checked by it.
static gboolean open_survey(Job *job, GError **error)
{
    const Options *o = job->o;
    if (o->files.in && !(job->survey = litho_survey_open((const char *const *)o->files.in, &o->open,
                                                         job->run, error)))
        return FALSE;
    job->reads = job->survey ? litho_rates_reads(job->survey) : NULL;
    const LithoGrid *grid = job_grid(job);
    return litho_cli_flow_settle(job->flow, &o->files, grid, error) &&
           (!grid || (litho_cli_judge_check(&o->judge, grid, error) &&
                      check_judged(o, job->flow, grid, error)));
}

static void tell_notes(const GPtrArray *notes)
{
    for (guint k = 0; notes && k < notes->len; k++)
        fprintf(stderr, _("note: %s\n"), (const char *)notes->pdata[k]);
}

// Hints about the command, and the survey's notes.
static void tell_before(const Job *job)
{
    litho_cli_progress_erase();
    if (!job->speaks)
        return;
    litho_cli_hint_settings(job->flow, job->words, job->o->files.in);
    litho_cli_hint_bands(job->flow, job->words, job_grid(job));
    g_autofree char *positions = litho_positions_note(job->flow, job->survey);
    if (positions)
        fprintf(stderr, _("note: %s\n"), positions);
    if (!is_judged(job->o) && !job->o->watched)
        litho_cli_hint_idle(&job->o->judge, job->flow);
    tell_notes(job->survey ? litho_survey_notes(job->survey) : NULL);
}

// Processes of one machine share its memory and its devices.
static void set_options(Job *job)
{
    const Options *o = job->o;
    LithoPeersModule *peers = job->peers;
    job->note =
        litho_flow_command(job->flow, job->survey ? litho_survey_name(job->survey) : NULL, NULL);
    job->options = (LithoStreamOptions){
        .device = job->device,
        .threads = o->threads,
        .memory = (guint64)(o->memory * GIB),
        .save = {.force = o->force, .note = job->note},
        .keep = o->no_journal || litho_cli_pipe_to_stdout(&o->files) ? LITHO_KEEP_NOTHING
                : o->journal                                         ? LITHO_KEEP_ALL
                                                                     : LITHO_KEEP_LONG,
        .restart = o->restart,
        .measure = o->recipe != NULL,
        .peers = peers ? &peers->peers : NULL,
    };
    if (!peers)
        return;
    const int devices = job->device.backend->n_devices;
    const int on_one = (peers->local_n + devices - 1) / devices;
    if (job->options.memory == 0)
        job->options.memory = litho_memory_available() / 2 / peers->local_n;
    job->options.memory = peers->least(job->options.memory);
    job->options.device_memory = peers->least(litho_stream_device_memory(&job->options) / on_one);
}

static gboolean make_plan(Job *job, GError **error)
{
    if (!litho_stream_plan(job->flow, job->survey, &job->options, job->run, &job->plan, error) ||
        !check_written(job, error))
        return FALSE;
    litho_cli_progress_erase(); // the plan or notes follow
    return TRUE;
}

// Tells the run as it would be. Its memory is that of the result and its volumes, whichever needs
// most.
static gboolean tell_plan(Job *job, GError **error)
{
    LithoStreamPlan *plan = &job->plan;
    for (char **v = job->o->volumes; v && *v; v++) {
        LithoStreamPlan own;
        g_autoptr(LithoFlow) asked = plan_volume(job, job->flow, *v, &own, error);
        if (!asked)
            return FALSE;
        plan->host_bytes = MAX(plan->host_bytes, own.host_bytes);
        plan->device_bytes = MAX(plan->device_bytes, own.device_bytes);
    }
    const LithoRatesOf of = rates_of(job);
    g_autofree char *path = litho_rates_path();
    g_autoptr(LithoRates) rates = litho_rates_load(path);
    const int ranks = job->peers ? job->peers->peers.n : 1;
    const LithoCliPlan told = {.plan = plan,
                               .flow = job->flow,
                               .survey = job->survey,
                               .options = &job->options,
                               .peers = job->peers,
                               .told = litho_rates_tell(rates, &of, plan, job_grid(job), ranks),
                               .opened_s = 1e-3 * (litho_now_ms() - job->opening_ms)};
    return litho_cli_print_plan(&told, job->run, error);
}

// Computes and writes the output and its volumes.
static gboolean compute(Job *job, GError **error)
{
    const Options *o = job->o;
    const double start = litho_now_ms();
    LithoStreamTook took = {0};
    job->options.notes = job->notes = g_ptr_array_new_with_free_func(g_free);
    job->options.ran = &job->ran;
    job->options.took = &took;
    if (o->files.out &&
        !litho_stream_run(job->flow, job->survey, o->files.out, &job->options, job->run, error))
        return FALSE;
    if (o->files.out)
        save_provenance(job, o->files.out, job_ran(job), &job->plan);
    const gboolean ok = run_volumes(job, error);
    job->seconds = (litho_now_ms() - start) * 1e-3;
    if (!job->peers)
        keep_rates(job, &took);
    return ok;
}

// Tells the notes that reading and computing have left.
static void tell_after(const Job *job)
{
    LithoSurvey *survey = job->survey;
    litho_cli_progress_erase();
    if (!job->speaks)
        return;
    if (survey)
        litho_cli_tell_masked(survey);
    if (survey && !job->peers && job->o->files.out && litho_flow_fills_alone(job->flow) &&
        litho_survey_counts(survey).live == litho_grid_traces(job_grid(job)))
        fprintf(stderr, _("note: no trace is missing: nothing was filled\n"));
    if (survey && job->o->files.out && litho_flow_fills(job->flow))
        litho_cli_tell_far(survey);
    g_autoptr(GPtrArray) remarks = litho_report_remarks(job->run->report);
    tell_notes(job->notes);
    tell_notes(remarks);
}

// Recipe, timings and figures; all processes take part in the timings.
static gboolean save_beside(Job *job, GError **error)
{
    const Options *o = job->o;
    g_autoptr(JsonArray) ranks = NULL;
    if (job->speaks && o->recipe && !save_recipe(o, job_ran(job), error))
        return FALSE;
    if (o->timings && job->peers &&
        !(ranks = litho_cli_ranks(job->peers, job->seconds, job->run, error)))
        return FALSE;
    if (!job->speaks)
        return TRUE;
    if (o->timings && !save_timings(o, job->run, job->seconds, &job->plan, ranks, error))
        return FALSE;
    const gboolean watched = o->watched && o->files.out && !litho_cli_pipe_to_stdout(&o->files);
    return !job->survey || !(is_judged(o) || watched) ||
           tell_quality(job->flow, job->survey, job->device, o, job->run, error);
}

static gboolean run_flow(LithoFlow *flow, char **words, const Options *o, LithoPeersModule *peers,
                         LithoRun *run, GError **error)
{
    g_auto(Job) job = {.o = o,
                       .flow = flow,
                       .words = words,
                       .peers = peers,
                       .run = run,
                       .speaks = !peers || peers->peers.rank == 0,
                       .opening_ms = litho_now_ms()};
    if (!parse_device(o, flow, peers, &job.device, error) || !check_all_files(&job, error))
        return FALSE;
    if (o->gpu_memory > 0 && job.device.backend->limit_memory)
        job.device.backend->limit_memory((guint64)(o->gpu_memory * GIB));
    if (!open_survey(&job, error))
        return FALSE;
    tell_before(&job);
    set_options(&job);
    if (!make_plan(&job, error))
        return FALSE;
    if (o->dry_run)
        return tell_plan(&job, error);
    if (!compute(&job, error))
        return FALSE;
    tell_after(&job);
    return save_beside(&job, error);
}

// --- the command line ---------------------------------------------------------------------------

// Numbers that GLib's options take as they are.
static gboolean check_numbers(Options *o, GError **error)
{
    char *end = NULL;
    const gint64 n = o->gpus ? g_ascii_strtoll(o->gpus, &end, 10) : 0;
    if (o->gpus && strcmp(o->gpus, "all") != 0 &&
        (end == o->gpus || *end != '\0' || n < 1 || n > G_MAXINT16))
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "--gpus is %s; it must be a whole number from 1 or 'all'", o->gpus);
    o->n_gpus = (int)n;
    if (o->gpus && o->backend && strcmp(o->backend, "cpu") == 0)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "--gpus is %s and --backend is cpu; one of them is enough", o->gpus);
    if (!(o->memory >= 0 && o->memory < 1e9) || !(o->gpu_memory >= 0 && o->gpu_memory < 1e9))
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "--memory and --gpu-memory must be numbers of GiB from 0 (as much as "
                            "is free)");
    if (o->journal && o->no_journal)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "--journal and --no-journal exclude each other");
    return litho_cli_threads(o->threads, error) && litho_cli_judge_numbers(&o->judge, error) &&
           litho_cli_progress_check(o->progress, error); // before there are processes to stop
}

// Checks volumes, input and output together: one sentence names all that is missing.
static gboolean check_files(const LithoFlow *flow, const Options *o, GError **error)
{
    gboolean source = litho_flow_length(flow) > 0 && !litho_flow_step(flow, 0)->op->needs_input;
    gboolean out = o->files.out || o->dry_run || o->volumes;
    for (char **v = o->volumes; v && *v; v++) {
        const char *equals = strchr(*v, '=');
        g_autofree char *name = g_strndup(*v, equals ? (gsize)(equals - *v) : 0);
        g_autoptr(LithoFlow) asked = litho_flow_copy(flow);
        if (!equals || equals == *v || !equals[1])
            return litho_refuse(error, LITHO_ERROR_PARAMETER,
                                "--volume is '%s'; NAME=FILE is needed", *v);
        if (!litho_flow_set_volume(asked, name, error))
            return FALSE;
    }
    if (source && o->files.in)
        return litho_refuse(error, LITHO_ERROR_PARAMETER, "%s makes its own data and takes no -i",
                            litho_flow_step(flow, 0)->op->key);
    if (source && is_judged(o))
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "%s makes its own data; there is nothing to judge it by: leave "
                            "--report, --reference and --hide out",
                            litho_flow_step(flow, 0)->op->key);
    if (!source && !o->files.in)
        return litho_refuse(error, LITHO_ERROR_PARAMETER, "%s",
                            out ? "-i IN is needed"
                                : "an input and an output are needed: -i IN -o OUT");
    return out || litho_refuse(error, LITHO_ERROR_PARAMETER, "-o OUT is needed");
}

// mpirun gives standard input to the first process and puts what all print together.
static gboolean check_pipes(const Options *o, GError **error)
{
    return !litho_cli_pipe_is_asked(&o->files) || !litho_peers_are_several() ||
           litho_refuse(error, LITHO_ERROR_PARAMETER,
                        "'-' is of one process; under mpirun name files");
}

// The run of checked words: with the processes, progress and numbers that it needs.
static int start(Options *o, LithoFlow *flow, char **words)
{
    GError *error = NULL;
    LithoPeersModule *peers = litho_peers_start(&error);
    if (error)
        return litho_cli_fail(error);
    LithoRun run = {
        .threads = o->threads, .timings = litho_timings_new(), .report = litho_report_new()};
    LithoCliProgress progress;
    const char *form = o->progress ? o->progress : "auto";
    if (peers && peers->peers.rank != 0)
        form = "none";
    litho_cli_progress_init(&progress, form, &run, NULL); // check_numbers() has seen to the form
    o->watched = progress.talks;
    gboolean ok = run_flow(flow, words, o, peers, &run, &error);
    litho_cli_progress_end(&progress);
    ok = ok && (o->dry_run || litho_cli_pipe_end(&o->files, &error));
    if (ok && !o->dry_run && !litho_cli_pipe_to_stdout(&o->files))
        litho_cli_wrote(&progress, o->files.out ? o->files.out : file_of(o->volumes[0]));
    litho_timings_unref(run.timings);
    litho_report_unref(run.report);
    if (!ok && peers && peers->peers.rank != 0)
        g_usleep(LITHO_PEERS_CLEAN_UP_S * G_USEC_PER_SEC);
    int status = ok ? LITHO_EXIT_OK : litho_cli_fail(error);
    if (peers)
        peers->stop(status);
    return status;
}

static const char description[] =
    N_("Examples:\n"
       "  lithoscope-cli run fx post=on -i survey.sgy -o filtered.sgy\n"
       "  lithoscope-cli run fx + migrate velocity=2500 in.sgy out.sgy\n"
       "  lithoscope-cli run tuned.json survey.sgy filtered.sgy\n"
       "  lithoscope-cli run twsm model=syncline -o shot.sgy\n"
       "  other-program | lithoscope-cli run fx -i - -o - | next-program   (SEG-Y; '-.su' is "
       "SU)\n\n"
       "A recipe is what the window saves:\n"
       "  { \"lithoscope\": 1, \"flow\": [\n"
       "    { \"operator\": \"fx\", \"params\": { \"half_width\": 3, \"window\": 20 } },\n"
       "    { \"operator\": \"migrate\", \"enabled\": false,\n"
       "      \"params\": { \"velocity\": \"v.txt\" } } ] }\n"
       "What is left out has its default.\n\n"
       "A run in several slabs keeps OUT.journal and OUT.part beside the output. When it is "
       "killed, or ends after more than 10 s because of a full disk, a lost process or Ctrl+C, "
       "they stay, and the same command goes on with what is missing. A changed input or recipe "
       "is refused.\n\n"
       "'lithoscope-cli list' names the operators, 'list fx' their parameters.");

int litho_cli_run(int argc, char **argv)
{
    g_auto(Options) o = {.judge.seed = 1};
    const GOptionEntry entries[] = {
        LITHO_CLI_INPUT(&o.files, _("Survey to read; may be repeated")),
        LITHO_CLI_OUTPUT(&o.files, _("File to write")),
        LITHO_CLI_DEVICE(&o.backend, &o.threads),
        {"gpus", 0, 0, G_OPTION_ARG_STRING, &o.gpus, _("How many GPUs to use"), "N|all"},
        {"memory", 0, 0, G_OPTION_ARG_DOUBLE, &o.memory,
         _("Host memory to stay under (default: half of what is free)"), "GiB"},
        {"gpu-memory", 0, 0, G_OPTION_ARG_DOUBLE, &o.gpu_memory,
         _("Memory of each GPU to stay under (default: what is free)"), "GiB"},
        {"report", 0, 0, G_OPTION_ARG_FILENAME, &o.report,
         _("Write expected SNR, signal leaving and removed energy"), "FILE.json"},
        LITHO_CLI_JUDGE(&o.judge),
        LITHO_CLI_SIMILARITY(&o.judge),
        {"volume", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o.volumes,
         _("Write a volume beside the result ('list OPERATOR' names them); may be repeated"),
         "NAME=FILE"},
        {"save-recipe", 0, 0, G_OPTION_ARG_FILENAME, &o.recipe,
         _("Write the recipe, with what was measured of the whole survey"), "FILE.json"},
        {"timings", 0, 0, G_OPTION_ARG_FILENAME, &o.timings, _("Write stage timings"), "FILE.json"},
        LITHO_CLI_PROGRESS(&o.progress),
        {"dry-run", 0, 0, G_OPTION_ARG_NONE, &o.dry_run,
         _("Tell the plan only: memory, slabs, who computes them, time"), NULL},
        {"restart", 0, 0, G_OPTION_ARG_NONE, &o.restart,
         _("Begin anew where an interrupted run has kept slabs"), NULL},
        {"journal", 0, 0, G_OPTION_ARG_NONE, &o.journal,
         _("Keep the slabs of a run that fails or is cancelled, however short it was"), NULL},
        {"no-journal", 0, 0, G_OPTION_ARG_NONE, &o.no_journal,
         _("Keep nothing of a run that ends before its time"), NULL},
        {"no-provenance", 0, 0, G_OPTION_ARG_NONE, &o.no_provenance,
         _("Write no OUT.provenance, from which 'verify' recomputes samples"), NULL},
        {"force", 0, 0, G_OPTION_ARG_NONE, &o.force, _("Replace existing outputs (never an input)"),
         NULL},
        {NULL},
    };
    g_autoptr(GOptionContext) context = litho_cli_options(
        _("OPERATOR|RECIPE.json [key=value ...] [+ OPERATOR ...] -i IN -o OUT"),
        _("Applies an operator or a recipe to a whole survey. The words IN and OUT mean the "
          "same as -i and -o."),
        entries, litho_cli_open_group(&o.open));
    g_option_context_set_description(context, litho_text(description));
    GError *error = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &error))
        return litho_cli_misused("run", error);
    if (argc < 2) {
        g_set_error(&error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    _("an operator (see 'lithoscope-cli list') or a recipe is needed"));
        return litho_cli_misused("run", error);
    }
    g_autoptr(LithoFlow) flow = litho_cli_flow(argv + 1, &o.files, TRUE, &error);
    if (!flow)
        return litho_cli_misused("run", error);
    if (!check_numbers(&o, &error) || !check_files(flow, &o, &error) || !check_pipes(&o, &error) ||
        !litho_cli_pipe_begin(&o.files, &error))
        return litho_cli_misused("run", error);
    return start(&o, flow, argv + 1);
}
