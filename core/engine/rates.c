// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/rates.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/engine/pace.h"
#include "core/engine/pieces.h"
#include "core/engine/provenance.h"
#include "core/io/output.h"
#include "core/io/sample_codec.h"
#include "core/json.h"
#include "core/text.h"

enum { FORMAT = 3, MOST_POINTS = 8, MOST_ENTRIES = 200 };

// Sizes that differ by less say nothing about a slab's fixed time.
#define SPREAD 2.5
// Sizes that differ by less, as a share, are one.
#define ALIKE 0.05

static const char FORMAT_KEY[] = "lithoscope-rates";

struct LithoRates {
    JsonNode *root; // { FORMAT_KEY, "computing", "reading", "writing" }
};

// --- file -----------------------------------------------------------------------------------------

char *litho_rates_reads(const LithoSurvey *survey)
{
    const char *suffix = strrchr(litho_survey_path(survey), '.');
    const int format = litho_survey_sample_format(survey);
    return g_strdup_printf("%s %s", suffix ? suffix : "", format ? litho_format_name(format) : "");
}

char *litho_rates_path(void)
{
    return g_build_filename(g_get_user_cache_dir(), "lithoscope", "rates.json", NULL);
}

static JsonObject *root_of(const LithoRates *rates)
{
    return json_node_get_object(rates->root);
}

LithoRates *litho_rates_new(void)
{
    LithoRates *rates = g_new0(LithoRates, 1);
    JsonObject *object = json_object_new();
    json_object_set_int_member(object, FORMAT_KEY, FORMAT);
    rates->root = json_node_new(JSON_NODE_OBJECT);
    json_node_take_object(rates->root, object);
    return rates;
}

LithoRates *litho_rates_load(const char *path)
{
    JsonNode *node = litho_json_load(path, NULL);
    JsonObject *object = litho_json_node_object(node);
    LithoRates *rates = litho_rates_new();
    if (object && litho_json_number_or(object, FORMAT_KEY, 0) == FORMAT) {
        json_node_unref(rates->root);
        rates->root = g_steal_pointer(&node);
    }
    g_clear_pointer(&node, json_node_unref);
    return rates;
}

void litho_rates_free(LithoRates *rates)
{
    if (!rates)
        return;
    json_node_unref(rates->root);
    g_free(rates);
}

gboolean litho_rates_save(const LithoRates *rates, const char *path, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(path), *text = litho_json_text(rates->root);
    if (g_mkdir_with_parents(folder, 0777) != 0)
        return litho_refuse(error, LITHO_ERROR_PARAMETER, "%s cannot be made", folder);
    return litho_output_save(path, text, -1, LITHO_REPLACE_ANY, error);
}

// --- names ----------------------------------------------------------------------------------------

static gboolean on_cpu(const LithoRatesOf *of)
{
    return !of->device.backend || of->device.backend == litho_backend_cpu();
}

double litho_rates_pace(const LithoRatesOf *of, double seconds)
{
    return on_cpu(of) && seconds >= LITHO_RATES_PACED
               ? litho_pace(litho_run_threads(&(LithoRun){.threads = of->threads}))
               : 0;
}

// Device and operators: "cuda NVIDIA H200, 1 sharing: fx + patch".
static char *kind_of(const LithoRatesOf *of, int sharing)
{
    g_autofree char *device = litho_provenance_device(of->device);
    const LithoRun run = {.threads = of->threads};
    const gboolean cpu = on_cpu(of);
    GString *text = g_string_new(NULL);
    g_string_printf(text, "%s %s, %d sharing:", cpu ? "cpu" : of->device.backend->key, device,
                    cpu ? litho_run_threads(&run) : MAX(sharing, 1));
    for (guint k = 0; k < litho_flow_length(of->flow); k++) {
        const LithoStep *step = &g_array_index(of->flow->steps, LithoStep, k);
        if (step->enabled)
            g_string_append_printf(text, " %s", step->op->key);
    }
    return g_string_free(text, FALSE);
}

// The kind and a hash of the parameters, without what was measured.
static char *name_of(const LithoRatesOf *of, const char *kind)
{
    g_autoptr(LithoFlow) bare = litho_flow_copy(of->flow);
    for (guint k = 0; k < litho_flow_length(bare); k++)
        g_clear_pointer(&litho_flow_step(bare, k)->measured, litho_measured_unref);
    g_autofree char *text = litho_flow_print(bare);
    g_autofree char *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
    hash[16] = '\0';
    return g_strdup_printf("%s / %s", kind, hash);
}

// --- learning -------------------------------------------------------------------------------------

static JsonObject *member(JsonObject *object, const char *name)
{
    if (!litho_json_object_or_null(object, name))
        json_object_set_object_member(object, name, json_object_new());
    return json_object_get_object_member(object, name);
}

// The entry `name`, made where there is none. Entries stand in the order in which they were learned
// last; beyond MOST_ENTRIES the oldest go.
static JsonObject *newest(JsonObject *entries, const char *name)
{
    JsonObject *entry = litho_json_object_or_null(entries, name);
    entry = entry ? json_object_ref(entry) : json_object_new();
    json_object_remove_member(entries, name);
    g_autoptr(GList) names = json_object_get_members(entries);
    for (GList *k = names; k && json_object_get_size(entries) >= MOST_ENTRIES; k = k->next)
        json_object_remove_member(entries, k->data);
    json_object_set_object_member(entries, name, entry);
    return entry;
}

// [x, y, pace] behind the points of `object`, the oldest of which give way. Pace 0 is left out.
static void add_point(JsonObject *object, double x, double y, double pace)
{
    JsonArray *points = json_array_new(), *point = json_array_new();
    JsonArray *old = litho_json_array_or_null(object, "points");
    const guint n = old ? json_array_get_length(old) : 0;
    for (guint k = n >= MOST_POINTS ? n - MOST_POINTS + 1 : 0; k < n; k++)
        json_array_add_element(points, json_node_copy(json_array_get_element(old, k)));
    json_array_add_double_element(point, x);
    json_array_add_double_element(point, y);
    if (pace > 0)
        json_array_add_double_element(point, pace);
    json_array_add_array_element(points, point);
    json_object_set_array_member(object, "points", points);
}

gboolean litho_rates_learn(LithoRates *rates, const LithoRatesOf *of, const LithoStreamTook *took)
{
    const gboolean is_short =
        took->samples < LITHO_RATES_SAMPLES && took->compute_s < LITHO_RATES_SECONDS;
    if (is_short || took->slabs < 1)
        return FALSE;
    g_autofree char *kind = kind_of(of, took->sharing), *name = name_of(of, kind);
    JsonObject *entry = newest(member(root_of(rates), "computing"), name);
    const double slabs = (double)took->slabs, samples = (double)took->samples;
    const double setup = litho_json_number_or(entry, "setup_s", took->setup_s);
    const double devices = MAX(took->devices, 1);
    const double work = samples * (1 + took->inputs) * (took->pieces > 0 ? took->pieces : 1);
    add_point(entry, work / slabs, (took->compute_s - took->setup_s) * devices / slabs, took->pace);
    json_object_set_double_member(entry, "setup_s", (setup + took->setup_s) / 2);
    json_object_set_double_member(entry, "pace", took->pace);
    if (took->measure_s > 0)
        json_object_set_double_member(entry, "measure_s_per_sample", took->measure_s / samples);
    if (of->reads && took->read_bytes > 0)
        add_point(newest(member(root_of(rates), "reading"), of->reads), (double)took->read_bytes,
                  took->read_s, 0);
    if (of->writes && took->write_bytes > 0) {
        JsonObject *writing = newest(member(root_of(rates), "writing"), of->writes);
        add_point(writing, (double)took->write_bytes, took->write_s, 0);
        json_object_set_double_member(writing, "finish_s_per_byte",
                                      took->finish_s / (double)took->write_bytes);
    }
    return TRUE;
}

// --- telling --------------------------------------------------------------------------------------

// y = fixed + each * x by the points; least squares where their sizes are spread, else through zero.
typedef struct Line {
    guint n;
    double fixed, each;
} Line;

typedef struct Point {
    double x, y;
} Point;

// Times that were measured at pace `then`, at pace `now`.
static double at_pace(double then, double now)
{
    return then > 0 && now > 0 ? then / now : 1;
}

// Points of `object`, as times of a processor whose pace is `now`; 0 = as they were measured.
static guint read_points(JsonObject *object, double now, Point p[MOST_POINTS])
{
    JsonArray *points = object ? litho_json_array_or_null(object, "points") : NULL;
    guint n = 0;
    for (guint k = 0; points && k < json_array_get_length(points) && n < MOST_POINTS; k++) {
        JsonArray *point = litho_json_node_array(json_array_get_element(points, k));
        const guint length = point ? json_array_get_length(point) : 0;
        double pace = 0;
        if (length < 2 || length > 3 ||
            !litho_json_node_number(json_array_get_element(point, 0), &p[n].x) ||
            !litho_json_node_number(json_array_get_element(point, 1), &p[n].y) || p[n].x <= 0 ||
            p[n].y < 0 ||
            (length > 2 && !litho_json_node_number(json_array_get_element(point, 2), &pace)))
            continue;
        p[n++].y *= at_pace(pace, now);
    }
    return n;
}

// One run stands for all of about its size, the lower of the middle ones: the first run after the
// machine was started loads libraries and code, which takes longer than many a slab.
static gboolean stands_for_its_size(const Point *p, guint n, guint k)
{
    guint alike = 0, below = 0;
    for (guint i = 0; i < n; i++) {
        if (fabs(p[i].x - p[k].x) > ALIKE * p[k].x)
            continue;
        alike++;
        below += p[i].y < p[k].y || (p[i].y == p[k].y && i < k);
    }
    return below == (alike - 1) / 2;
}

static Line line_of(JsonObject *object, double now)
{
    Point p[MOST_POINTS];
    const guint n = read_points(object, now, p);
    double s = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, least = G_MAXDOUBLE, most = 0;
    for (guint k = 0; k < n; k++) {
        if (!stands_for_its_size(p, n, k))
            continue;
        const double x = p[k].x, y = p[k].y, weight = 1 / (x * x); // errors are a share of the time
        s += weight;
        sx += weight * x;
        sy += weight * y;
        sxx += weight * x * x;
        sxy += weight * x * y;
        least = MIN(least, x);
        most = MAX(most, x);
    }
    if (s == 0)
        return (Line){0};
    Line line = {.n = n, .each = sxy / sxx};
    if (most > SPREAD * least) {
        const double each = (s * sxy - sx * sy) / (s * sxx - sx * sx);
        const double fixed = (sy - each * sx) / s;
        if (each > 0 && fixed > 0) {
            line.each = each;
            line.fixed = fixed;
        }
    }
    return line;
}

static double at(Line line, double x)
{
    return x > 0 ? line.fixed + line.each * x : 0;
}

double litho_rates_side_by_side(gint64 n, double read_s, double compute_s, double write_s)
{
    const double pace = MAX(MAX(read_s, compute_s), write_s);
    return (read_s + compute_s + write_s + (double)(n - 1) * pace) / (double)MAX(n, 1);
}

// The entry of the flow, or of another one of its kind. NULL = none.
static JsonObject *find_entry(const LithoRates *rates, const LithoRatesOf *of, int sharing,
                              gboolean *is_alike)
{
    JsonObject *computing = litho_json_object_or_null(root_of(rates), "computing");
    g_autofree char *kind = kind_of(of, sharing), *name = name_of(of, kind);
    *is_alike = FALSE;
    if (!computing)
        return NULL;
    JsonObject *entry = litho_json_object_or_null(computing, name);
    if (entry)
        return entry;
    g_autofree char *prefix = g_strconcat(kind, " / ", NULL);
    g_autoptr(GList) names = json_object_get_members(computing);
    for (GList *k = names; k; k = k->next)
        if (g_str_has_prefix(k->data, prefix))
            entry = litho_json_object_or_null(computing, k->data); // the last one learned
    *is_alike = entry != NULL;
    return entry;
}

static Line format_line(const LithoRates *rates, const char *way, const char *format,
                        double *finish_s_per_byte)
{
    JsonObject *object = litho_json_object_or_null(root_of(rates), way);
    JsonObject *entry = object && format ? litho_json_object_or_null(object, format) : NULL;
    *finish_s_per_byte = entry ? litho_json_number_or(entry, "finish_s_per_byte", 0) : 0;
    return line_of(entry, 0);
}

static double share_of_slab(const LithoStreamPlan *plan)
{
    const LithoAxis *a = plan->out.axis;
    const double across = plan->columns > 1 ? (double)plan->across / (double)a[1].n : 1;
    return (double)MIN(plan->slab, a[0].n) / (double)a[0].n * across;
}

// Times that a sample of the input is worked on, in a slab and in the halo of others.
static double held_again(const LithoStreamPlan *plan)
{
    const LithoAxis *a = plan->out.axis;
    const double rows = (double)(plan->n_slabs / MAX(plan->columns, 1));
    const double down = 1 + (rows - 1) * (double)plan->halo / (double)a[0].n;
    const double across = 1 + (double)((plan->columns - 1) * plan->halo_across) / (double)a[1].n;
    return MAX(MIN(down, rows), 1) * MAX(MIN(across, (double)plan->columns), 1);
}

// How often a sample of the input is read. A process that computes all slabs of whole inlines reads
// none twice.
static double read_again(const LithoStreamPlan *plan, int ranks)
{
    if (plan->columns > 1)
        return (1 + (double)plan->halo / (double)plan->slab) *
               (1 + (double)plan->halo_across / (double)plan->across);
    return plan->n_slabs > 1 && ranks > 1 ? 1 + (double)plan->halo / (double)plan->slab : 1;
}

// TRUE when a run with other parameters tells anything: where every sample of the result takes its
// own work. That of a modelling grows with its mesh and band, that of an image with its steps and
// frequencies, whatever the samples: a model of 20 minutes was told as 0.04 s.
static gboolean goes_by_samples(const LithoFlow *flow, const LithoGrid *in)
{
    g_autoptr(LithoWalk) walk = litho_walk_look(flow, in, NULL);
    gboolean by_samples = walk && !walk->waits;
    for (guint k = 0; by_samples && k < walk->n; k++)
        by_samples =
            walk->step[k].has_in && litho_grid_matches(&walk->step[k].in, &walk->step[k].out);
    return by_samples;
}

static double pieces_of(const LithoFlow *flow, const LithoGrid *in)
{
    g_autoptr(LithoWalk) walk = litho_walk_look(flow, in, NULL);
    return walk && !walk->waits ? litho_pieces_work(walk) : 1;
}

LithoRatesTold litho_rates_tell(const LithoRates *rates, const LithoRatesOf *of,
                                const LithoStreamPlan *plan, const LithoGrid *in, int ranks)
{
    LithoRatesTold told = {0};
    JsonObject *entry = find_entry(rates, of, plan->sharing, &told.is_alike);
    if (told.is_alike && !goes_by_samples(of->flow, in))
        return (LithoRatesTold){0};
    const double then = entry ? litho_json_number_or(entry, "pace", 0) : 0;
    const double now =
        of->pace > 0 || then <= 0 ? of->pace : litho_rates_pace(of, LITHO_RATES_PACED);
    const Line compute = line_of(entry, now);
    double finish, unused;
    const Line read = format_line(rates, "reading", of->reads, &unused);
    const Line write = format_line(rates, "writing", of->writes, &finish);
    if (compute.n == 0)
        return told;
    const double samples = (double)litho_grid_samples(&plan->out), slabs = (double)plan->n_slabs;
    const double inputs = in ? (double)litho_grid_samples(in) / samples * held_again(plan) : 0;
    const double slab = samples * (1 + inputs) * pieces_of(of->flow, in) * share_of_slab(plan);
    const double again = read_again(plan, ranks);
    const double bytes = in ? 4.0 * (double)litho_grid_samples(in) * again : 0;
    told.known = TRUE;
    told.runs = compute.n;
    told.setup_s = litho_json_number_or(entry, "setup_s", 0) * at_pace(then, now);
    if (plan->n_slabs > 1)
        told.measure_s =
            samples * litho_json_number_or(entry, "measure_s_per_sample", 0) * at_pace(then, now);
    told.read_s = at(read, bytes);
    told.write_s = of->writes ? at(write, 4 * samples) : 0;
    told.finish_s = of->writes ? finish * 4 * samples : 0;
    for (int n = 1; n <= (int)MAX(plan->engines, 1); n++) {
        const gint64 shares = MIN((gint64)n * MAX(ranks, 1), plan->n_slabs);
        const double compute_s = slabs * at(compute, slab) / (double)MAX(shares, 1);
        const double seconds =
            told.setup_s + told.measure_s + told.finish_s + LITHO_STREAM_OPEN_S * (n - 1) +
            litho_rates_side_by_side(plan->n_slabs, told.read_s, compute_s, told.write_s);
        if (n > 1 && seconds >= told.seconds)
            break;
        told.devices = n;
        told.seconds = seconds;
        told.compute_s = compute_s;
    }
    return told;
}
