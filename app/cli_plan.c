// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli_plan.h"

#include <stdio.h>
#include <string.h>

#include "core/axis_names.h"
#include "core/memory.h"
#include "core/text.h"

static const double GIB = 1 << 30, MIB = 1 << 20;

static void print_sizes(const LithoStreamPlan *plan, const LithoStreamOptions *options)
{
    const LithoAxis *a = plan->out.axis;
    g_autofree char *label = litho_device_label(options->device, options->threads);
    const double bytes = litho_grid_samples(&plan->out) * 4.0;
    printf(bytes < GIB ? _("output    %ld x %ld x %ld samples, %.3g MiB\n")
                       : _("output    %ld x %ld x %ld samples, %.4g GiB\n"),
           (long)a[0].n, (long)a[1].n, (long)a[2].n, bytes / (bytes < GIB ? MIB : GIB));
    if (plan->engines > 1)
        printf(_("device    %s, as many as pay compute slabs\n"), label);
    else if (plan->sharing > 1)
        printf(_("device    %s, sharing %s\n"), label, plan->shared ? plan->shared : "");
    else if (options->device.count > 1)
        printf(_("device    %s, one of which computes\n"), label);
    else
        printf(_("device    %s\n"), label);
    g_autofree char *lines = litho_axis_words(&plan->out, LITHO_INLINE);
    if (plan->columns > 1)
        printf(_("slabs     %ld of %ld x %ld traces, %ld x %ld more read as halo\n"),
               (long)plan->n_slabs, (long)plan->slab, (long)plan->across, (long)plan->halo,
               (long)plan->halo_across);
    else
        printf(_("slabs     %ld of %ld %s, %ld more read as halo\n"), (long)plan->n_slabs,
               (long)plan->slab, lines, (long)plan->halo);
}

// Swell and hum are looked for in the run's first pass, and slabs become smaller where there are
// any.
static void print_most(const LithoCliPlan *p, LithoRun *run)
{
    LithoStreamPlan most;
    g_autoptr(GError) why = NULL;
    if (!litho_stream_plan_at_most(p->flow, p->survey, p->options, run, &most, &why))
        printf(_("          a survey with swell, hum or offsets, which the run looks for first, "
                 "does not "
                 "fit: %s\n"),
               why->message);
    else if (most.n_slabs != p->plan->n_slabs)
        printf(
            _("          up to %ld where the survey has swell, hum or offsets, which the run looks "
              "for first\n"),
            (long)most.n_slabs);
}

static void print_memory(const LithoStreamPlan *plan, const LithoStreamOptions *options)
{
    // The memory that may be taken: LITHO_MEMORY and limits count, not the machine alone.
    const double needed = plan->host_bytes / GIB, free = litho_memory_available() / GIB;
    guint64 unused = 0, total = 0;
    if (plan->device_bytes > 0 && litho_device_memory(options->device, &unused, &total, NULL))
        printf(options->device.count > 1
                   ? _("memory    needs %.3f of %.3f free GiB on the host, %.3f of %.3f free GiB "
                       "on each GPU\n")
                   : _("memory    needs %.3f of %.3f free GiB on the host, %.3f of %.3f free GiB "
                       "on the GPU\n"),
               needed, free, plan->device_bytes / GIB, unused / GIB);
    else
        printf(_("memory    needs %.3f of %.3f free GiB on the host\n"), needed, free);
}

// --- who computes ---------------------------------------------------------------------------------

enum { LABEL = 192 };

// "host, NVIDIA H200 (cuda:1)"
static void label_of(const LithoCliPlan *p, char label[LABEL])
{
    const LithoDevice one = {.backend = p->options->device.backend,
                             .index = p->options->device.index};
    g_autofree char *name = litho_device_label(one, p->options->threads);
    const gboolean cpu = !one.backend || one.backend == litho_backend_cpu();
    g_autofree char *number = cpu ? g_strdup("") : g_strdup_printf(" (cuda:%d)", one.index);
    g_snprintf(label, LABEL, "%s, %s%s", g_get_host_name(), name, number);
}

// Slabs of process `rank`: every n-th, or a share of the only one.
static void print_rank(const LithoCliPlan *p, int rank, const char *label)
{
    const int n = p->peers->peers.n;
    const gint64 slabs = p->plan->n_slabs;
    printf(rank == 0 ? _("computes  process %d, %s: ") : _("          process %d, %s: "), rank,
           label);
    if (p->plan->splits)
        printf(_("%" PRId64 " of %" PRId64 " slabs, %.0f %%\n"), (slabs - rank + n - 1) / n, slabs,
               100.0 * (double)((slabs - rank + n - 1) / n) / (double)slabs);
    else if (p->plan->alone)
        printf(rank == 0 ? _("all of it, as no step can be shared\n") : _("nothing\n"));
    else
        printf(_("1/%d of every step that can be shared\n"), n);
}

static gboolean print_ranks(const LithoCliPlan *p, LithoRun *run, GError **error)
{
    LithoPeers *peers = &p->peers->peers;
    char label[LABEL] = "";
    label_of(p, label);
    if (peers->rank != 0)
        return litho_peers_send(peers, label, sizeof label, 0, run, error);
    for (int rank = 0; rank < peers->n; rank++) {
        if (rank > 0 && !litho_peers_receive(peers, label, sizeof label, rank, run, error))
            return FALSE;
        label[LABEL - 1] = '\0';
        print_rank(p, rank, label);
    }
    if (p->plan->behind > 0)
        printf(_("          process 0 takes the slabs and computes the steps behind them\n"));
    return TRUE;
}

static void print_kept(const LithoStreamPlan *plan)
{
    if (plan->kept_bytes > 0)
        printf(_("          blocks that later steps are measured on are computed first, once, and "
                 "kept "
                 "in memory (%.3f GiB)\n"),
               plan->kept_bytes / GIB);
}

static void print_devices(const LithoCliPlan *p)
{
    if (p->plan->engines <= 1)
        return;
    if (!p->told.known || p->told.is_alike)
        printf(
            _("computes  the first GPU; the others join in when the slabs left are worth opening "
              "them\n"));
    else if (p->told.devices == 1)
        printf(
            _("computes  the first GPU alone: opening another takes longer than it would save\n"));
    else
        printf(_("computes  %d GPUs, about %.0f %% of the slabs each\n"), p->told.devices,
               100.0 / p->told.devices);
}

// --- time -----------------------------------------------------------------------------------------

static void print_time(const LithoCliPlan *p)
{
    const LithoRatesTold *t = &p->told;
    if (!t->known) {
        printf(_("time      not known: nothing like it has run long enough on this machine\n"));
        return;
    }
    printf(t->is_alike ? _("time      about %.2g s, roughly (a run with other parameters): %.2g s "
                           "of computing")
                       : _("time      about %.2g s: %.2g s of computing"),
           t->seconds + p->opened_s, t->compute_s);
    if (t->read_s > 0)
        printf(_(", %.2g of reading"), t->read_s);
    if (t->write_s > 0)
        printf(_(", %.2g of writing"), t->write_s);
    printf(p->plan->n_slabs > 1 ? _(" side by side, %.2g of the rest\n")
                                : _(", %.2g of the rest\n"),
           p->opened_s + t->setup_s + t->measure_s + t->finish_s);
}

gboolean litho_cli_print_plan(const LithoCliPlan *plan, LithoRun *run, GError **error)
{
    const gboolean shared = plan->peers && plan->peers->peers.n > 1;
    const gboolean speaks = !plan->peers || plan->peers->peers.rank == 0;
    if (speaks) {
        print_sizes(plan->plan, plan->options);
        print_most(plan, run);
        print_memory(plan->plan, plan->options);
    }
    if (shared && !print_ranks(plan, run, error))
        return FALSE;
    if (speaks && !shared)
        print_devices(plan);
    if (speaks) {
        print_kept(plan->plan);
        print_time(plan);
    }
    return TRUE;
}
