// SPDX-License-Identifier: GPL-3.0-or-later
//
// Honest timing: plans are made before the clock starts, every run gets an input the engine has not
// seen in the run before (so nothing comes out of its caches), and transfers are inside the clock.
#include "ui/panel/race.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine/engine.h"
#include "core/error.h"
#include "ui/window/dialog.h"
#include "ui/panel/parts.h"
#include "ui/session/job.h"

enum { LANES = 2, RUNS = 3 };

typedef struct Lane {
    gboolean there;
    char *label; // device, or why it does not run
    gint runs;   // atomic: begun so far, plans included; 0 = it has not begun
    double ms;   // median of RUNS, 0 = not known yet
    double run_ms[RUNS];
} Lane;

typedef struct Race {
    gint refs; // window and job
    LithoWindow *window;
    GtkWidget *dialog, *name[LANES], *bar[LANES], *time[LANES], *verdict, *status;
    LithoJob *job;
    LithoFlow *flow;
    LithoCube *in;
    Lane lane[LANES];
    double difference; // relative L2 of the two results, NAN = only one ran
} Race;

static void race_unref(gpointer data)
{
    Race *race = data;
    if (!g_atomic_int_dec_and_test(&race->refs))
        return;
    for (int k = 0; k < LANES; k++)
        g_free(race->lane[k].label);
    litho_flow_free(race->flow);
    litho_cube_unref(race->in);
    g_object_unref(race->window);
    g_free(race);
}

// --- the job ------------------------------------------------------------------------------------

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// A twin of the input, which the engine takes for other data.
static LithoCube *twin_of(LithoCube *in, GError **error)
{
    return in ? litho_cube_copy_box(in, in->held, error) : NULL;
}

static LithoCube *drive(Race *race, Lane *lane, LithoDevice device, LithoRun *run, GError **error)
{
    g_autoptr(LithoCube) twin = twin_of(race->in, error);
    if (race->in && !twin)
        return NULL;
    LithoEngine *engine = litho_engine_new(device);
    g_atomic_int_inc(&lane->runs);
    LithoCube *out = litho_engine_run(engine, race->flow, race->in, NULL, run, error); // plans
    for (int k = 0; out && k < RUNS; k++) {
        g_clear_pointer(&out, litho_cube_unref);
        g_atomic_int_inc(&lane->runs);
        double start = litho_now_ms();
        out = litho_engine_run(engine, race->flow, k % 2 ? race->in : twin, NULL, run, error);
        if (out && !litho_cube_host(out, error))
            g_clear_pointer(&out, litho_cube_unref);
        lane->run_ms[k] = litho_now_ms() - start;
    }
    litho_engine_free(engine);
    if (!out)
        return NULL;
    double sorted[RUNS];
    memcpy(sorted, lane->run_ms, sizeof sorted);
    qsort(sorted, RUNS, sizeof *sorted, compare_doubles);
    lane->ms = sorted[RUNS / 2];
    return out;
}

static gboolean flow_runs_on(const LithoFlow *flow, LithoDevice device, GError **error)
{
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        if (step->enabled && !litho_device_impl(device, step->op, error))
            return FALSE;
    }
    return TRUE;
}

static gpointer work(LithoRun *run, gpointer data, GError **error)
{
    Race *race = data;
    LithoDevice device[LANES] = {litho_device_cpu()};
    g_autoptr(GError) why = NULL;
    race->difference = NAN;
    race->lane[0].there = TRUE;
    race->lane[0].label = litho_device_label(device[0], 0);
    race->lane[1].there =
        litho_device_parse("cuda", &device[1], &why) && flow_runs_on(race->flow, device[1], &why);
    race->lane[1].label =
        race->lane[1].there ? litho_device_label(device[1], 0) : g_strdup(why->message);
    g_autoptr(LithoCube) cpu = drive(race, &race->lane[0], device[0], run, error);
    if (!cpu || !race->lane[1].there)
        return cpu ? race : NULL;
    g_autoptr(LithoCube) gpu = drive(race, &race->lane[1], device[1], run, error);
    LithoDifference difference;
    if (!gpu || !litho_qc_compare(gpu, cpu, NULL, &difference, error))
        return NULL;
    race->difference = difference.relative_l2;
    return race;
}

static void progress(const LithoProgress *p, gpointer data)
{
    Race *race = data;
    if (!race->dialog)
        return;
    double part = p->total > 0 ? CLAMP((double)p->done / p->total, 0, 1) : 0;
    int k = g_atomic_int_get(&race->lane[1].runs) > 0, runs = g_atomic_int_get(&race->lane[k].runs);
    // A bar that fills says which of the two is at work; its length means time when it has ended.
    gtk_level_bar_set_value(GTK_LEVEL_BAR(race->bar[k]), (MAX(runs - 1, 0) + part) / (RUNS + 1));
    g_autofree char *run_text =
        runs <= 1 ? g_strdup("making plans") : g_strdup_printf("run %d of %d", runs - 1, RUNS);
    g_autofree char *text =
        g_strdup_printf("%s: %s, %s %.0f %%", k ? "GPU" : "CPU", run_text, p->what, 100 * part);
    gtk_label_set_text(GTK_LABEL(race->status), text);
}

// --- the finish ---------------------------------------------------------------------------------

static void show_lane(Race *race, int k, double longest)
{
    const Lane *lane = &race->lane[k];
    gtk_label_set_text(GTK_LABEL(race->name[k]), lane->label);
    gtk_level_bar_set_value(GTK_LEVEL_BAR(race->bar[k]), longest > 0 ? lane->ms / longest : 0);
    g_autofree char *time = lane->ms <= 0 ? g_strdup("") : litho_format_duration(lane->ms);
    gtk_label_set_text(GTK_LABEL(race->time[k]), time);
}

static void done(gpointer result, const GError *error, gpointer data)
{
    Race *race = data;
    race->job = NULL;
    if (!race->dialog)
        return;
    double longest = MAX(race->lane[0].ms, race->lane[1].ms);
    for (int k = 0; k < LANES; k++)
        if (race->lane[k].label)
            show_lane(race, k, longest);
    gtk_label_set_text(GTK_LABEL(race->status),
                       result  ? "Whole cube, transfers included, median of three runs"
                       : error ? error->message
                               : "");
    if (!result || isnan(race->difference))
        return;
    g_autofree char *verdict = g_strdup_printf("%.3g ×", race->lane[0].ms / race->lane[1].ms);
    g_autofree char *apart = g_strdup_printf("Whole cube, transfers included, median of three "
                                             "runs; the results differ by %.1e (relative)",
                                             race->difference);
    gtk_label_set_text(GTK_LABEL(race->verdict), verdict);
    gtk_label_set_text(GTK_LABEL(race->status), apart);
}

// --- the dialog ---------------------------------------------------------------------------------

static void on_destroy(GtkWidget *dialog, Race *race)
{
    (void)dialog;
    race->dialog = NULL;
    litho_job_cancel(race->job);
    race_unref(race);
}

static GtkWidget *make_lane(Race *race, int k)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    race->name[k] = gtk_label_new(k == 0 ? "CPU" : "GPU");
    gtk_label_set_xalign(GTK_LABEL(race->name[k]), 0);
    gtk_label_set_wrap(GTK_LABEL(race->name[k]), TRUE);
    gtk_widget_set_hexpand(race->name[k], TRUE);
    race->time[k] = gtk_label_new("…");
    gtk_widget_add_css_class(race->time[k], "litho-big");
    race->bar[k] = gtk_level_bar_new();
    gtk_widget_add_css_class(race->bar[k], "litho-race");
    gtk_accessible_update_property(GTK_ACCESSIBLE(race->bar[k]), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   k == 0 ? "Time of the CPU" : "Time of the GPU", -1);
    gtk_box_append(GTK_BOX(line), race->name[k]);
    gtk_box_append(GTK_BOX(line), race->time[k]);
    gtk_box_append(GTK_BOX(box), line);
    gtk_box_append(GTK_BOX(box), race->bar[k]);
    return box;
}

static void build(Race *race)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18);
    gtk_widget_add_css_class(box, "litho-help");
    for (int k = 0; k < LANES; k++)
        gtk_box_append(GTK_BOX(box), make_lane(race, k));
    race->verdict = gtk_label_new(NULL);
    gtk_widget_add_css_class(race->verdict, "litho-verdict");
    gtk_box_append(GTK_BOX(box), race->verdict);
    race->status = gtk_label_new("starting");
    gtk_label_set_wrap(GTK_LABEL(race->status), TRUE);
    gtk_widget_add_css_class(race->status, "dim-label");
    gtk_box_append(GTK_BOX(box), race->status);
    race->dialog = litho_dialog_new(GTK_WINDOW(race->window), "Race", 620, 300);
    gtk_window_set_child(GTK_WINDOW(race->dialog), box);
    g_object_set_data(G_OBJECT(race->dialog), "litho-race", race);
    g_signal_connect(race->dialog, "destroy", G_CALLBACK(on_destroy), race);
}

gboolean litho_race_result(GtkWidget *dialog, double ms[2], double *difference)
{
    const Race *race = g_object_get_data(G_OBJECT(dialog), "litho-race");
    for (int k = 0; k < LANES; k++)
        ms[k] = race->lane[k].ms;
    *difference = race->difference;
    return race->job == NULL;
}

GtkWidget *litho_race_open(LithoWindow *window)
{
    static const LithoJobFuncs funcs = {work, progress, done, race_unref};
    LithoSession *session = litho_window_session(window);
    LithoCube *input = litho_session_input(session);
    if (litho_session_flow_problem(session))
        return NULL;
    Race *race = g_new0(Race, 1);
    race->refs = 2;
    race->window = g_object_ref(window);
    race->flow = litho_flow_copy(litho_session_flow(session));
    race->in = input ? litho_cube_ref(input) : NULL;
    litho_session_cancel(session); // the worker must not take processors from the race
    build(race);
    gtk_window_present(GTK_WINDOW(race->dialog));
    race->job = litho_job_start(&funcs, race);
    return race->dialog;
}
