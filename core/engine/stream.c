// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/stream.h"

#include <string.h>

#include "core/engine/engine.h"
#include "core/engine/journal.h"
#include "core/engine/loudness.h"
#include "core/engine/measure.h"
#include "core/engine/pieces.h"
#include "core/engine/stream_behind.h"
#include "core/engine/stream_measure.h"
#include "core/engine/stream_plan.h"
#include "core/engine/stream_rows.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"

// --- computing --------------------------------------------------------------------------------
//
// Lanes (threads) read and compute slabs and lay them down; the caller's thread takes them up in
// order and writes them, or sends them to the rank that writes.

typedef struct Stream {
    const LithoFlow *flow;
    LithoSurvey *survey;
    const LithoStreamOptions *options;
    LithoStreamPlan plan;
    int rank, ranks;   // that deal out the slabs: 0 of 1 where all compute each of them together
    gboolean together; // all ranks compute one slab
    gboolean divided;      // settings were changed so that the work divides
    LithoJournal *journal; // of rank 0, or NULL
    LithoBefore *before;   // slabs are made from it; NULL = from the survey
    LithoFlow *from;       // the steps from there on; NULL = all
    LithoFlow *slabs;      // the steps that slabs are of, where there are others behind them
    LithoStreamBehind *behind; // these, of rank 0; or NULL
    LithoCube *row;        // of slabs that wait for the others of their inlines; rank 0
    double start_ms;
    LithoRun *run;
    GCancellable *cancel; // ours: raised by the caller's cancel and by the first failure

    GMutex reader;        // slabs are begun and read one after the other
    float loudest;        // of what was read
    guint64 source;       // of all slabs' inputs (cube.h)
    gboolean is_refused;  // for it: its slabs are of no use
    LithoCube *last_read; // this and the next one: guarded by `reader`
    gint64 read_bytes;    // as float32, of files

    GMutex lock; // guards the rest
    GCond changed;
    LithoCube **done; // per slab: computed and not yet taken up
    gint64 next;      // slab of ours that nobody has begun
    gint64 taken;     // slabs taken up, ours and others'
    gint64 ahead;     // slabs of all ranks that may be in the works beyond `taken`
    double slab_ms;   // computing of a slab on the first device, the shortest so far; 0 = none yet
    gint64 n_computed; // slabs there
    double put_ms;    // taking up, in all
    double read_ms;   // in all
    gint64 n_read;    // slabs
    double compute_ms, first_ms; // of slabs on all devices; of the devices' first ones
    gint64 n_slabs, n_first;     // of these
    gint64 samples;              // computed
    gint64 inputs;               // samples of slabs' inputs, with their halo; guarded by `reader`
    double measure_ms, finish_ms;
    int shared;       // devices that shared a slab, at most
    int ranks_used;   // ranks that did
    GError *error;    // the first one
} Stream;

typedef struct Lane {
    Stream *stream;
    LithoEngine *engine; // shared by the lanes of a device
    GMutex *busy;        // the engine
    gboolean *used;      // the engine has computed a slab; guarded by the stream's lock
    guint number;        // of the engine
} Lane;

// Takes over `error`; the first one is kept.
static void fail(Stream *s, GError *error)
{
    g_mutex_lock(&s->lock);
    if (!s->error)
        s->error = error;
    else
        g_clear_error(&error);
    g_cond_broadcast(&s->changed);
    g_mutex_unlock(&s->lock);
    g_cancellable_cancel(s->cancel);
}

// The next slab of this rank, -1 when there is none or the run has failed. Waits while the slabs
// computed but not yet written would grow past what the plan's memory allows.
static gint64 begin_slab(Stream *s)
{
    g_mutex_lock(&s->lock);
    while (!s->error && s->next < s->plan.n_slabs && s->next >= s->taken + s->ahead)
        g_cond_wait(&s->changed, &s->lock);
    gint64 slab = s->error || s->next >= s->plan.n_slabs ? -1 : s->next;
    s->next += s->ranks;
    if (s->next >= s->plan.n_slabs)
        g_cond_broadcast(&s->changed); // for devices that wait until they pay
    g_mutex_unlock(&s->lock);
    return slab;
}

// Devices are opened when they pay: what the first one has still to compute, so far as reading and
// writing do not set the pace, must be worth the opening. Its first slab, which warms up, does not
// count.
static gboolean pays(const Stream *s)
{
    const gint64 taken = s->taken - s->plan.kept;
    const double left = (double)(s->plan.n_slabs - s->next) / s->ranks;
    const double read = s->n_read > 0 ? s->read_ms / (double)s->n_read : 0;
    const double put = MAX(taken > 0 ? s->put_ms / (double)taken * s->ranks : 0, read);
    const double all = s->plan.engines;
    const double open_s = s->options->open_s > 0 ? s->options->open_s : LITHO_STREAM_OPEN_S;
    return s->n_computed >= 2 && taken > 0 &&
           left * (MAX(s->slab_ms, put) - MAX(s->slab_ms / all, put)) > 1e3 * open_s;
}

// TRUE when the lane's device is open and has the memory that the plan wants.
static gboolean join_in(Lane *lane)
{
    Stream *s = lane->stream;
    const LithoDevice device = litho_engine_device(lane->engine);
    guint64 unused, total;
    if (lane->number == 0)
        return TRUE;
    g_mutex_lock(&s->lock);
    while (!s->error && s->next < s->plan.n_slabs && !pays(s))
        g_cond_wait(&s->changed, &s->lock);
    const gboolean wanted = !s->error && s->next < s->plan.n_slabs;
    g_mutex_unlock(&s->lock);
    return wanted && (!device.backend->memory ||
                      (litho_device_memory(device, &unused, &total, NULL) &&
                       unused >= s->plan.device_bytes));
}

// The caller holds `reader`. Inlines of the slab read before are not read again.
static LithoCube *read_slab(Stream *s, LithoBox region, LithoRun *run, GError **error)
{
    const LithoGrid *in = s->before ? litho_before_grid(s->before) : litho_survey_grid(s->survey);
    LithoBox need;
    if (!litho_walk_input_box(s->flow, in, region, run, &need, error))
        return NULL;
    need.lo[2] = 0; // files are read in whole traces
    need.hi[2] = in->axis[2].n;
    s->inputs += litho_box_count(need);
    if (s->before)
        return litho_before_read(s->before, need, error);
    const double start = litho_now_ms();
    LithoCube *cube = litho_survey_read_next(s->survey, &need, s->last_read, run, error);
    g_mutex_lock(&s->lock);
    s->read_ms += litho_now_ms() - start;
    s->n_read++;
    g_mutex_unlock(&s->lock);
    if (cube)
        cube->source = s->source = s->source ? s->source : cube->serial;
    s->loudest = cube ? MAX(s->loudest, cube->loudest) : s->loudest;
    gint64 inlines = litho_box_size(need, 0);
    if (s->last_read)
        inlines -= litho_box_size(litho_box_intersect(need, s->last_read->held), 0);
    s->read_bytes += 4 * inlines * litho_box_size(need, 1) * litho_box_size(need, 2);
    litho_cube_unref(s->last_read);
    const gboolean next_holds_some = s->plan.halo > 0 && s->plan.columns == 1 && s->ranks == 1;
    s->last_read = cube && next_holds_some ? litho_cube_ref(cube) : NULL;
    return cube;
}

static LithoCube *compute_slab(Lane *lane, LithoCube *in, const LithoBox *region, LithoRun *run,
                               GError **error)
{
    Stream *s = lane->stream;
    g_mutex_lock(lane->busy);
    if (s->plan.n_slabs == 1 && s->run) { // the operator's own progress says more than "0 of 1"
        run->on_progress = s->run->on_progress;
        run->progress_data = s->run->progress_data;
    }
    const double start = litho_now_ms();
    LithoCube *out = litho_engine_run(lane->engine, s->flow, in, region, run, error);
    const double took = litho_now_ms() - start;
    // The next slab is another lane's, whose threads have heaps of their own.
    if (s->plan.n_slabs > 1)
        litho_memory_return();
    g_mutex_unlock(lane->busy);
    g_mutex_lock(&s->lock);
    const gboolean first = !*lane->used;
    *lane->used = TRUE;
    s->first_ms += first ? took : 0;
    s->n_first += first;
    s->compute_ms += took;
    s->n_slabs++;
    s->samples += litho_box_count(*region);
    if (out)
        litho_cube_tell_notes(out, in, s->options->notes);
    if (lane->number == 0) {
        s->slab_ms = s->n_computed == 0 ? took : MIN(s->slab_ms, took);
        s->n_computed++;
        g_cond_broadcast(&s->changed);
    }
    g_mutex_unlock(&s->lock);
    return out;
}

// Begins the next slab and reads its input, where there is one. -1: there is none, or an error.
static gint64 begin_and_read(Stream *s, LithoRun *run, LithoCube **in, GError **error)
{
    g_mutex_lock(&s->reader);
    gint64 slab = begin_slab(s);
    if (slab >= 0 && s->survey &&
        !(*in = read_slab(s, litho_stream_slab_box(&s->plan, slab), run, error)))
        slab = -1;
    g_mutex_unlock(&s->reader);
    return slab;
}

// A slab from file to host memory, *slab = -1 when there is none left. Lanes of a device compute in
// turn; their copies to and from the device run beside that.
static LithoCube *do_slab(Lane *lane, gint64 *slab, GError **error)
{
    Stream *s = lane->stream;
    const LithoDevice device = litho_engine_device(lane->engine);
    LithoRun run = {.cancel = s->cancel,
                    .threads = s->options->threads,
                    .device = device.index,
                    .peers = s->together && !s->plan.alone ? s->options->peers : NULL,
                    .writes = !s->options->peers || s->options->peers->rank == 0,
                    .force = s->options->save.force};
    if (s->run) {
        run.timings = s->run->timings;
        run.report = s->run->report;
    }
    g_autoptr(LithoCube) in = NULL;
    *slab = begin_and_read(s, &run, &in, error);
    if (*slab < 0)
        return NULL;
    LithoBox region = litho_stream_slab_box(&s->plan, *slab);
    double start = litho_now_ms();
    // A slab alone is uploaded by the pass, which begins before the last sample is there. Without
    // the memory for it now the pass asks again.
    const gboolean ahead = in && device.backend->alloc && s->plan.n_slabs > 1;
    if (ahead && litho_device_upload(device, in, NULL))
        litho_run_time(&run, "upload", LITHO_STAGE_TRANSFER, litho_now_ms() - start,
                       4.0 * litho_cube_held_samples(in), 0);
    LithoCube *out = compute_slab(lane, in, &region, &run, error);
    g_mutex_lock(&s->lock);
    s->shared = MAX(s->shared, run.devices_used);
    s->ranks_used = MAX(s->ranks_used, run.ranks_used);
    g_mutex_unlock(&s->lock);
    if (in)
        litho_cube_leave_device(in);
    start = litho_now_ms();
    const gboolean away = out && !out->samples;
    if (out && !litho_cube_host(out, error))
        g_clear_pointer(&out, litho_cube_unref);
    if (out && away)
        litho_run_time(&run, "download", LITHO_STAGE_TRANSFER, litho_now_ms() - start,
                       4.0 * litho_cube_held_samples(out), 0);
    if (out)
        litho_cube_leave_device(out);
    return out;
}

static gpointer lane_main(gpointer data)
{
    Lane *lane = data;
    Stream *s = lane->stream;
    if (!join_in(lane))
        return NULL;
    for (;;) {
        GError *error = NULL;
        gint64 slab;
        LithoCube *out = do_slab(lane, &slab, &error);
        if (!out && error)
            fail(s, error);
        if (!out)
            break;
        g_mutex_lock(&s->lock);
        s->done[slab] = out;
        g_cond_broadcast(&s->changed);
        g_mutex_unlock(&s->lock);
    }
    return NULL;
}

// --- taking up --------------------------------------------------------------------------------

// Progress in inlines, or in slabs where these are parts of them, and the caller's cancel. A single
// slab shows the operator's progress instead.
static gboolean step(Stream *s, gint64 slab, GError **error)
{
    gint64 total = s->plan.out.axis[0].n;
    if (s->plan.columns > 1)
        return litho_run_step(s->run, litho_stream_slabs_before(&s->plan, slab),
                              litho_stream_all_slabs(&s->plan), error);
    if (s->plan.n_slabs > 1)
        return litho_run_step(s->run, MIN(s->plan.first + slab * s->plan.slab, total), total,
                              error);
    return litho_run_checkpoint(s->run) || litho_run_stopped(error);
}

// Waits for a slab of ours; shows progress and passes the caller's cancel on meanwhile.
static LithoCube *await_slab(Stream *s, gint64 slab, GError **error)
{
    for (;;) {
        g_mutex_lock(&s->lock);
        if (!s->done[slab] && !s->error)
            g_cond_wait_until(&s->changed, &s->lock,
                              g_get_monotonic_time() + 30 * G_TIME_SPAN_MILLISECOND);
        LithoCube *cube = g_steal_pointer(&s->done[slab]);
        gboolean failed = s->error != NULL;
        g_mutex_unlock(&s->lock);
        if (cube || failed)
            return cube;
        if (!step(s, slab, error))
            return NULL;
    }
}

// The first rank alone writes slabs that all ranks compute together.
static gboolean put_slab(Stream *s, gint64 slab, LithoCube *cube, LithoWriter *writer,
                         GError **error)
{
    if (!writer && s->ranks == 1)
        return TRUE;
    if (s->behind)
        return litho_stream_behind_put(s->behind, &s->plan, slab, cube, writer, s->journal, s->run,
                                       error);
    double start = litho_now_ms();
    gboolean ok =
        writer ? litho_stream_put(&s->plan, slab, cube, writer, s->journal, &s->row, s->run, error)
               : litho_stream_send(s->options->peers, cube, s->run, error);
    litho_run_time(s->run, writer ? "write" : "send",
                   writer ? LITHO_STAGE_IO : LITHO_STAGE_TRANSFER, litho_now_ms() - start,
                   4.0 * litho_cube_held_samples(cube), 0);
    g_mutex_lock(&s->lock);
    s->put_ms += litho_now_ms() - start;
    g_mutex_unlock(&s->lock);
    return ok;
}

// FALSE: the reason is in s->error.
static gboolean take_up(Stream *s, LithoWriter *writer)
{
    litho_run_begin(s->run, "slabs", s->plan.columns > 1 ? "slabs" : "inlines");
    for (gint64 slab = s->plan.kept; slab < s->plan.n_slabs; slab++) {
        gboolean ours = slab % s->ranks == s->rank;
        GError *error = NULL;
        LithoCube *cube = NULL;
        if (!step(s, slab, &error))
            ours = TRUE; // nobody's turn any more: the error ends the run
        else if (ours)
            cube = await_slab(s, slab, &error);
        else if (s->rank == 0)
            cube = litho_stream_receive(s->options->peers, &s->plan, slab, (int)(slab % s->ranks),
                                        s->run, &error);
        gboolean ok = (cube && put_slab(s, slab, cube, writer, &error)) || (!ours && s->rank != 0);
        litho_cube_unref(cube);
        if (error)
            fail(s, error);
        if (!ok)
            return FALSE;
        g_mutex_lock(&s->lock);
        s->taken = slab + 1;
        g_cond_broadcast(&s->changed);
        g_mutex_unlock(&s->lock);
    }
    if (s->plan.n_slabs > 1)
        step(s, s->plan.n_slabs, NULL);
    return TRUE;
}

static gboolean run_lanes(Stream *s, LithoWriter *writer, GError **error)
{
    guint n = s->plan.engines, lanes = n * s->plan.lanes, used = 0;
    g_autofree LithoEngine **engines = g_new0(LithoEngine *, n);
    g_autofree GMutex *busy = g_new0(GMutex, n);
    g_autofree gboolean *computed = g_new0(gboolean, n);
    g_autofree Lane *lane = g_new0(Lane, lanes);
    g_autofree GThread **threads = g_new0(GThread *, lanes);
    for (guint k = 0; k < n; k++) {
        engines[k] = litho_engine_new(litho_stream_device(s->options, &s->plan, k));
        if (s->before)
            litho_engine_expect_steadied(engines[k]);
        g_mutex_init(&busy[k]);
    }
    s->ahead = (gint64)lanes * s->ranks;
    for (guint k = 0; k < lanes; k++) {
        lane[k] = (Lane){.stream = s,
                         .engine = engines[k % n],
                         .busy = &busy[k % n],
                         .used = &computed[k % n],
                         .number = k % n};
        threads[k] = g_thread_new("litho-slab", lane_main, &lane[k]);
    }
    gboolean ok = take_up(s, writer);
    for (guint k = 0; k < lanes; k++)
        g_thread_join(threads[k]);
    // Behind the lanes, which talk to the others themselves where all compute together.
    if (!ok && s->options->peers && (s->rank != 0 || s->together))
        litho_peers_fail(s->options->peers, s->error);
    for (guint k = 0; k < n; k++) {
        litho_engine_free(engines[k]);
        g_mutex_clear(&busy[k]);
        used += computed[k];
    }
    litho_run_used_devices(s->run, n > 1 ? (int)used : s->shared);
    litho_run_used_ranks(s->run, s->together ? MAX(s->ranks_used, 1)
                                             : (int)MIN(s->ranks, s->plan.n_slabs - s->plan.kept));
    if (!ok)
        g_propagate_error(error, g_steal_pointer(&s->error));
    return ok;
}

// --- slabs of an earlier run --------------------------------------------------------------------

static LithoWriter *open_writer(Stream *s, const char *path, const LithoFlow *flow,
                                LithoResume resume, GError **error)
{
    LithoSaveOptions save = s->options->save;
    g_autofree char *settings = s->divided ? litho_flow_command(flow, NULL, "OUT") : NULL;
    g_autofree char *both =
        settings && save.note ? g_strdup_printf("%s; as %s", save.note, settings) : NULL;
    save.note = both ? both : save.note;
    save.lasting = s->journal != NULL;
    save.resume = resume;
    return litho_writer_new(path, &s->plan.out, s->survey, &save, error);
}

static void tell(const Stream *s, char *sentence)
{
    if (s->options->notes)
        g_ptr_array_add(s->options->notes, sentence);
    else
        g_free(sentence);
}

static gboolean has_kept(const LithoJournal *journal)
{
    return litho_journal_marks(journal) > 0 || litho_journal_pieces(journal) > 0;
}

// Opens the journal where the run is to have one, and with it the file of an interrupted run.
// FALSE: that was another run, or another process is at it.
static gboolean take_up_journal(Stream *s, LithoFlow *own, const char *path,
                                const LithoJournalHead *head, LithoWriter **writer, GError **error)
{
    const LithoStreamOptions *o = s->options;
    if (o->keep == LITHO_KEEP_NOTHING || (s->plan.n_slabs == 1 && !litho_journal_exists(path)))
        return TRUE;
    GError *problem = NULL;
    s->journal = litho_journal_open(path, o->restart, error);
    if (!s->journal)
        return FALSE;
    if (!litho_journal_resumes(s->journal, head, &problem)) {
        if (problem)
            g_propagate_error(error, problem);
        return !problem;
    }
    litho_measure_take(own, litho_journal_flow(s->journal));
    *writer = open_writer(s, path, own, LITHO_RESUME_KEPT, error);
    if (!*writer)
        return FALSE;
    litho_journal_reach(s->journal, *writer);
    if (!has_kept(s->journal)) {
        g_clear_pointer(writer, litho_writer_free);
        return TRUE;
    }
    s->plan.begin = litho_writer_next_inline(*writer);
    return TRUE;
}

// Rank 0 tells the others where to begin; the slabs of the rest follow.
static gboolean agree_on_first(Stream *s, const LithoFlow *flow, LithoWalk *walk,
                               const LithoGrid *in, GError **error)
{
    LithoPeers *p = s->options->peers;
    gint64 first = s->plan.begin;
    if (p && p->n > 1 && !litho_peers_spread(p, &first, sizeof first, s->run, error))
        return FALSE;
    if (first > 0 && !litho_stream_make_plan(flow, walk, in, s->options, first, &s->plan, error))
        return FALSE;
    gint64 kept = s->journal && s->plan.behind == 0
                      ? litho_stream_take_kept(&s->plan, s->journal, &s->row)
                      : 0;
    if (p && p->n > 1 && !litho_peers_spread(p, &kept, sizeof kept, s->run, error))
        return FALSE;
    s->plan.kept = kept;
    s->taken = kept;
    s->next = kept + (s->rank + s->ranks - kept % s->ranks) % s->ranks;
    char *sentence = !p || p->rank == 0 ? litho_stream_kept_text(&s->plan) : NULL;
    if (sentence)
        tell(s, sentence);
    return TRUE;
}

// A failed run's slabs stay or go; where they stay, its sentence says so. What an earlier run has
// kept stays, too. Slabs are of no use where the survey is refused or has changed meanwhile.
static void end_journal(Stream *s, LithoWriter *writer, gboolean ok, GError *problem)
{
    const double seconds = 1e-3 * (litho_now_ms() - s->start_ms);
    if (!s->journal)
        return;
    const gboolean keeps = !ok && !s->is_refused && writer && has_kept(s->journal) &&
                           (!s->survey || litho_survey_unchanged(s->survey, NULL)) &&
                           (s->options->keep == LITHO_KEEP_ALL ||
                            s->plan.begin + s->plan.kept > 0 || seconds >= LITHO_KEEP_SECONDS);
    if (keeps) {
        litho_writer_keep(writer);
        LithoStreamPlan plan = s->plan;
        plan.first = plan.begin = litho_writer_next_inline(writer);
        char *whole =
            litho_stream_keeps_text(&plan, litho_journal_pieces(s->journal), problem->message);
        g_free(problem->message);
        problem->message = whole;
    }
    // The journal of another run, or of one that another process is at, is not ours.
    const gboolean ours = writer || litho_journal_is_new(s->journal);
    litho_journal_close(s->journal, ok || (ours && !keeps));
}

// Inlines of which this run has not read all.
static gint64 kept_inlines(const Stream *s)
{
    const gint64 more = s->plan.kept > 0 ? s->plan.slab : 0;
    return MIN(s->plan.first + more, s->plan.out.axis[0].n);
}

// The run goes on from what steps before have given: the others are planned anew.
static gboolean go_on(Stream *s, const LithoFlow *own, GError **error)
{
    const LithoGrid *in = litho_before_grid(s->before);
    LithoStreamOptions rest = *s->options;
    s->flow = s->from = litho_stream_steps_from(own, litho_before_steps(s->before));
    s->loudest = litho_before_loudest(s->before);
    rest.memory -= rest.memory > 0 ? s->plan.kept_bytes : 0;
    g_autoptr(LithoWalk) walk = litho_walk_resolve(s->from, in, s->run, error);
    return walk && litho_stream_make_plan(s->from, walk, in, &rest, 0, &s->plan, error);
}

// Where steps lie behind the slabs, the first rank is to compute them, and nobody else.
static gboolean part_flow(Stream *s, const LithoFlow *own, gboolean writes, GError **error)
{
    if (s->plan.behind == 0)
        return TRUE;
    s->flow = s->slabs = litho_stream_steps_before(s->flow, s->plan.behind);
    const LithoFlow *all = s->from ? s->from : own;
    return !writes || (s->behind = litho_stream_behind_new(all, &s->plan, s->options, &s->lock,
                                                           s->run, error));
}

// From the journal to the finished file. `own`: the copy of the flow that is measured.
static gboolean run_slabs(Stream *s, LithoFlow *own, const LithoFlow *flow, LithoWalk *walk,
                          const LithoGrid *in, const char *path, LithoWriter **writer,
                          GError **error)
{
    const LithoStreamOptions *o = s->options;
    const gboolean writes = !o->peers || o->peers->rank == 0;
    LithoJournalHead head = {0};
    if (writes && !litho_writer_check(path, &s->plan.out, s->survey, &o->save, error))
        return FALSE; // before the whole survey is measured
    if (writes) {
        const LithoBackend *backend = o->device.backend ? o->device.backend : litho_backend_cpu();
        litho_journal_head_init(&head, flow, s->survey, &s->plan.out, &o->save, backend->key);
    }
    gboolean ok = (!writes || take_up_journal(s, own, path, &head, writer, error)) &&
                  agree_on_first(s, flow, walk, in, error);
    const double measuring = litho_now_ms();
    ok = ok && ((s->plan.n_slabs <= 1 && s->plan.begin == 0 && !o->measure) ||
                litho_stream_measure(own, s->survey, o, &s->plan,
                                     (s->plan.host_bytes - s->plan.kept_bytes) / 2, &s->before,
                                     s->run, error));
    s->measure_ms = litho_now_ms() - measuring;
    ok = ok && (s->before ? go_on(s, own, error)
                          : litho_stream_plan_by_numbers(own, in, o, &s->plan, s->run, error));
    if (ok && writes && !*writer) {
        *writer = open_writer(s, path, own,
                              s->journal && litho_journal_is_new(s->journal) ? LITHO_RESUME_FIRST
                                                                             : LITHO_RESUME_ANEW,
                              error);
        ok = *writer != NULL;
        head.flow = own;
        if (ok && s->journal)
            litho_journal_begin(s->journal, &head);
    }
    litho_journal_head_clear(&head);
    s->done = g_new0(LithoCube *, MAX(s->plan.n_slabs, 1));
    ok = ok && part_flow(s, own, writes, error);
    const gboolean alone = s->together && s->plan.alone;
    if (ok && alone && !writes)
        return litho_stream_wait_for_first(o->peers, s->run, error);
    if (!ok || !run_lanes(s, *writer, error) ||
        (alone && !litho_stream_wait_for_first(o->peers, s->run, error)))
        return FALSE;
    if (!litho_loudness_check_slabs(flow, s->survey, s->loudest, s->ranks > 1 ? o->peers : NULL,
                                    kept_inlines(s), s->plan.slab, s->run, &s->is_refused, error))
        return FALSE;
    const double start = litho_now_ms();
    ok = !*writer || litho_writer_finish(*writer, error);
    s->finish_ms = litho_now_ms() - start;
    litho_run_time(s->run, "sync", LITHO_STAGE_IO, s->finish_ms, 0, 0);
    return ok;
}

// The first slabs are longer by opening devices and planning; of one slab alone its plans are
// known.
static void tell_took(const Stream *s, const LithoWalk *walk, LithoStreamTook *took)
{
    const gint64 others = s->n_slabs - s->n_first;
    const double mean = others > 0 ? (s->compute_ms - s->first_ms) / (double)others : 0;
    const double devices = (double)MAX(s->n_first, 1);
    const double plans = litho_timings_last_ms(s->run ? s->run->timings : NULL, "plan");
    *took = (LithoStreamTook){
        .measure_s = 1e-3 * s->measure_ms,
        .read_s = 1e-3 * s->read_ms,
        .write_s = 1e-3 * s->put_ms,
        .finish_s = 1e-3 * s->finish_ms,
        .compute_s = 1e-3 * s->compute_ms / devices,
        .setup_s = others > 0 ? 1e-3 * MAX(s->first_ms / devices - mean, 0)
                              : 1e-3 * MIN(plans, s->compute_ms),
        .read_bytes = s->read_bytes,
        .write_bytes = 4 * litho_grid_samples(&s->plan.out),
        .samples = s->samples,
        .inputs = (double)s->inputs / (double)MAX(s->samples, 1),
        .pieces = litho_pieces_work(walk),
        .slabs = s->n_slabs,
        .devices = (int)s->n_first,
        .sharing = s->plan.sharing,
    };
}

gboolean litho_stream_run(const LithoFlow *flow, LithoSurvey *survey, const char *path,
                          const LithoStreamOptions *options, LithoRun *run, GError **error)
{
    Stream s = {.survey = survey,
                .options = options,
                .run = run,
                .ranks = 1,
                .start_ms = litho_now_ms()};
    GError *problem = NULL;
    const LithoGrid *in = survey ? litho_survey_grid(survey) : NULL;
    // Held to the end: what the files say stays known.
    g_autoptr(LithoWalk) walk = litho_walk_resolve(flow, in, run, error);
    g_autoptr(LithoFlow) divided = NULL;
    if (!walk || !litho_stream_plan_flow(flow, &walk, in, options, run, &divided, &s.plan,
                                         error))
        return FALSE;
    flow = divided ? divided : flow;
    g_autoptr(LithoFlow) own = litho_flow_copy(flow);
    s.flow = own;
    s.divided = divided != NULL;
    if (options->peers) {
        s.together = options->peers->n > 1 && !litho_flow_is_local(flow);
        s.rank = s.together ? 0 : options->peers->rank;
        s.ranks = s.together ? 1 : options->peers->n;
    }
    if (divided) {
        g_autofree char *command = litho_flow_command(divided, NULL, "OUT");
        tell(&s,
             g_strdup_printf(_("the survey does not fit into memory in one piece and is computed "
                               "in parts: %s"),
                             command));
    }
    if (s.together && s.plan.alone)
        tell(&s, g_strdup_printf(_("no step of this flow can be shared: the first of %d processes "
                                   "computes"),
                                 options->peers->n));
    LithoWriter *writer = NULL;
    s.cancel = g_cancellable_new();
    g_mutex_init(&s.lock);
    g_mutex_init(&s.reader);
    g_cond_init(&s.changed);
    gboolean ok = run_slabs(&s, own, flow, walk, in, path, &writer, &problem);
    end_journal(&s, writer, ok, problem);
    if (problem)
        g_propagate_error(error, problem);
    if (run && run->timings)
        litho_timings_end_pass(run->timings);
    if (ok && options->took && s.plan.begin + s.plan.kept == 0 && s.plan.behind == 0 && !s.before)
        tell_took(&s, walk, options->took);
    for (guint k = 0; ok && writer && options->notes && k < litho_writer_notes(writer)->len; k++)
        g_ptr_array_add(options->notes, g_strdup(litho_writer_notes(writer)->pdata[k]));
    litho_writer_free(writer);
    if (ok && options->ran)
        *options->ran = g_steal_pointer(&own);
    for (gint64 k = 0; s.done && k < s.plan.n_slabs; k++)
        litho_cube_unref(s.done[k]);
    g_free(s.done);
    litho_cube_unref(s.last_read);
    litho_cube_unref(s.row);
    litho_stream_behind_free(s.behind);
    litho_flow_free(s.slabs);
    litho_flow_free(s.from);
    litho_before_free(s.before);
    g_mutex_clear(&s.lock);
    g_mutex_clear(&s.reader);
    g_cond_clear(&s.changed);
    g_object_unref(s.cancel);
    return ok;
}
