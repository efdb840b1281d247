// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <string.h>

#include "app/bench.h"
#include "core/json.h"
#include "core/text.h"

// --- text ----------------------------------------------------------------------------------------

static char *describe(const BenchRun *r)
{
    if (r->device.backend == litho_backend_cpu())
        return g_strdup_printf(_("%s, %d of %d threads"), r->info.name, r->threads,
                               r->info.processors);
    return g_strdup_printf(_("%s, %d multiprocessors, %s"), r->info.name, r->info.processors,
                           r->info.driver);
}

static const BenchRun *run_at(const Bench *b, guint k)
{
    return &g_array_index(b->runs, BenchRun, k);
}

static void add_hardware(GString *s, const Bench *b)
{
    g_string_append_printf(s, "%-8s %-58s %12s %12s %10s\n", "", _("device"), _("copy GB/s"),
                           "FMA GFLOP/s", _("memory"));
    for (guint k = 0; k < b->runs->len && run_at(b, k)->variant == 0; k++) {
        const BenchRun *r = run_at(b, k);
        g_autofree char *what = describe(r);
        g_string_append_printf(s, "%-8s %-58s %12.0f %12.0f %6.0f GiB\n", r->key, what,
                               r->roof.bytes_per_s * 1e-9, r->roof.flops_per_s * 1e-9,
                               r->info.memory_total / 1073741824.0);
        if (r->roof.up_per_s > 0)
            g_string_append_printf(s, _("%-8s link to the host: %.1f GB/s up, %.1f GB/s down\n"),
                                   "", r->roof.up_per_s * 1e-9, r->roof.down_per_s * 1e-9);
    }
}

static void add_times(GString *s, const BenchTimes *t)
{
    if (t->n == 0) {
        g_string_append_printf(s, " %10s %22s", "-", "-");
        return;
    }
    g_autofree char *spread = g_strdup_printf("(%.2f - %.2f, %u)", t->p25, t->p75, t->n);
    g_string_append_printf(s, " %10.2f %22s", t->median, spread);
}

// The run that the others with the same settings are measured against.
static const BenchRun *first_of(const Bench *b, guint variant)
{
    guint k = 0;
    while (run_at(b, k)->variant != variant)
        k++;
    return run_at(b, k);
}

// Times of the device against those of the first one, from host memory to host memory where copies
// are needed.
static double speed_up(const BenchRun *first, const BenchRun *r, gboolean copies)
{
    return first->compute.median / (copies ? r->transfers.median : r->compute.median);
}

static void add_row(GString *s, const BenchRun *first, const BenchRun *r)
{
    g_string_append_printf(s, "%-8s", r->key);
    add_times(s, &r->compute);
    add_times(s, &r->transfers);
    g_string_append_printf(s, " %8.1f %6.1f %8.1fx", r->plan_ms, r->cores,
                           speed_up(first, r, FALSE));
    if (r->transfers.n > 0)
        g_string_append_printf(s, " %8.1fx", speed_up(first, r, TRUE));
    else
        g_string_append_printf(s, " %9s", "-");
    if (r->has_error)
        g_string_append_printf(s, " %10.1e %11.1e\n", r->relative, r->worst);
    else
        g_string_append_printf(s, " %10s %11s\n", _("reference"), "");
}

static void add_notes(GString *s, const BenchRun *r)
{
    if (r->has_error && r->worst > 0)
        g_string_append_printf(
            s, _("  %s: worst block of %d x %d x %d samples begins at %ld, %ld, %ld\n"), r->key,
            BENCH_BLOCK_TRACES, BENCH_BLOCK_TRACES, BENCH_BLOCK_SAMPLES, (long)r->worst_at[0],
            (long)r->worst_at[1], (long)r->worst_at[2]);
    const char *separator = "";
    for (guint k = 0; r->numbers && k < r->numbers->len; k++) {
        const LithoNumber *n = &g_array_index(r->numbers, LithoNumber, k);
        if (n->value == 0)
            continue;
        g_string_append_printf(s, *separator ? "%s" : "  %s: ", *separator ? separator : r->key);
        g_string_append_printf(s, "%s %.6g%s%s", n->key, n->value, n->unit[0] ? " " : "", n->unit);
        separator = ", ";
    }
    if (*separator)
        g_string_append(s, "\n");
}

static void add_summary(GString *s, const Bench *b, guint variant)
{
    const BenchVariant *v = bench_variant(b, variant);
    if (b->variants->len > 1)
        g_string_append_printf(s, "\n=== %s\n", variant ? v->settings : _("as given"));
    g_string_append_printf(s, "\n%-8s %10s %22s %10s %22s %8s %6s %9s %9s %10s %11s\n", "", "ms",
                           _("(middle half, runs)"), _("w. copies"), _("(middle half, runs)"),
                           _("plan ms"), _("cores"), _("speed-up"), _("w. copies"), _("rel. error"),
                           _("worst block"));
    for (guint k = 0; k < b->runs->len; k++)
        if (run_at(b, k)->variant == variant)
            add_row(s, first_of(b, variant), run_at(b, k));
    for (guint k = 0; k < b->runs->len; k++)
        if (run_at(b, k)->variant == variant)
            add_notes(s, run_at(b, k));
    if (isfinite(v->difference))
        g_string_append_printf(
            s, _("  its result is %.2e (relative L2) from that of the first settings\n"),
            v->difference);
}

// Roof of a stage's bytes per second; 0 = none.
static double bytes_roof(const LithoStage *stage, const BenchRoof *roof)
{
    if (stage->kind == LITHO_STAGE_COMPUTE)
        return roof->bytes_per_s;
    return strcmp(stage->name, "upload") == 0     ? roof->up_per_s
           : strcmp(stage->name, "download") == 0 ? roof->down_per_s
                                                  : 0;
}

static void add_rate(GString *s, double amount, double ms, double roof)
{
    if (amount > 0 && ms > 0)
        g_string_append_printf(s, " %10.1f", amount / ms * 1e-6);
    else
        g_string_append_printf(s, " %10s", "-");
    if (amount > 0 && ms > 0 && roof > 0)
        g_string_append_printf(s, " %5.1f %%", 100 * amount / (ms * 1e-3) / roof);
    else
        g_string_append_printf(s, " %7s", "");
}

static void add_stages(GString *s, const char *title, const LithoStage *stages, guint n,
                       BenchRoof roof)
{
    g_string_append_printf(s, "\n%-26s %10s %10s %10s %7s %10s %7s\n", title, "ms", "p25", "GB/s",
                           _("of copy"), "GFLOP/s", _("of FMA"));
    for (guint k = 0; k < n; k++) {
        const LithoStage *t = &stages[k];
        g_string_append_printf(s, "  %-24s %10.3f %10.3f", t->name, t->median_ms, t->p25_ms);
        add_rate(s, t->bytes, t->median_ms, bytes_roof(t, &roof));
        add_rate(s, t->flops, t->median_ms, roof.flops_per_s);
        g_string_append(s, "\n");
    }
}

static void add_plan(GString *s, const BenchRun *r)
{
    if (r->n_plan_stages == 0)
        return;
    g_string_append_printf(s, "\n%s, plan%*s %10s %10s\n", r->key, 20 - (int)strlen(r->key), "",
                           _("first ms"), _("again ms"));
    for (guint k = 0; k < r->n_plan_stages; k++) {
        const LithoStage *stage = &r->plan_stages[k];
        double again = 0;
        for (guint i = 0; i < r->n_again_stages; i++)
            if (strcmp(r->again_stages[i].name, stage->name) == 0)
                again = r->again_stages[i].last_ms;
        g_string_append_printf(s, "  %-24s %10.3f %10.3f\n", stage->name, stage->last_ms, again);
    }
    g_string_append_printf(s, "  %-24s %10.3f %10.3f\n", _("all"), r->plan_ms, r->again_ms);
}

static void add_run_stages(GString *s, const Bench *b, const BenchRun *r)
{
    add_plan(s, r);
    add_stages(s, r->key, r->stages, r->n_stages, r->roof);
    for (int m = 2; m < BENCH_MAX_STAGES; m++)
        if (r->from_stage_ms[m] > 0)
            g_string_append_printf(s, _("  from '%s' on: %.3f ms\n"), b->op->stages[m],
                                   r->from_stage_ms[m]);
    for (int m = 2; m < BENCH_MAX_STAGES; m++)
        if (r->slices_ms[m] > 0)
            g_string_append_printf(s, _("  from '%s' on, three slices alone: %.3f ms\n"),
                                   b->op->stages[m], r->slices_ms[m]);
    if (r->n_slice_stages > 0) {
        g_autofree char *title = g_strdup_printf(_("%s, slices"), r->key);
        add_stages(s, title, r->slice_stages, r->n_slice_stages, r->roof);
    }
    if (r->n_transfer_stages > 0) {
        g_autofree char *title = g_strdup_printf(_("%s, with copies"), r->key);
        add_stages(s, title, r->transfer_stages, r->n_transfer_stages, r->roof);
    }
}

static const char *built_for(void)
{
#ifdef LITHO_NATIVE
    return N_("the vector units of the machine it was built on");
#else
    return N_("any x86-64; operators take AVX2 or AVX-512 where they carry code for it");
#endif
}

char *bench_text(const Bench *b)
{
    GString *s = g_string_new(NULL);
    const LithoAxis *a = b->grid.axis;
    g_string_append_printf(s, _("%s: %s, %ld x %ld x %ld samples of %g %s\n"), b->op->key,
                           litho_text(b->op->title), (long)a[0].n, (long)a[1].n, (long)a[2].n,
                           a[2].step, a[2].unit);
    g_string_append_printf(s, _("CPU code for %s; gcc %s\n\n"), litho_text(built_for()),
                           __VERSION__);
    add_hardware(s, b);
    for (guint v = 0; v < b->variants->len; v++) {
        add_summary(s, b, v);
        for (guint k = 0; k < b->runs->len; k++)
            if (run_at(b, k)->variant == v)
                add_run_stages(s, b, run_at(b, k));
    }
    g_string_append(s, /* xgettext:no-c-format */ _(
                        "\nMedians. Roofs are a copy and a multiply-add loop measured before the "
                        "runs, for the CPU on as many threads;\nbytes are what a stage reads and "
                        "writes: above 100 % of the copy a cache has helped. Uploads and downloads "
                        "are set against the link.\nStages that run side by side (copies and the "
                        "first transform) add up to more than the whole.\n"));
    return g_string_free(s, FALSE);
}

// --- JSON ----------------------------------------------------------------------------------------

static void put(JsonObject *o, const char *key, double value)
{
    json_object_set_double_member(o, key, isfinite(value) ? value : -1);
}

static JsonObject *times_json(const BenchTimes *t)
{
    JsonObject *o = json_object_new();
    json_object_set_int_member(o, "runs", t->n);
    put(o, "median_ms", t->median);
    put(o, "p25_ms", t->p25);
    put(o, "p75_ms", t->p75);
    put(o, "min_ms", t->min);
    return o;
}

static const char *const kinds[] = {"compute", "transfer", "io", "display", "plan"};

static JsonArray *stages_json(const LithoStage *stages, guint n, BenchRoof roof)
{
    JsonArray *array = json_array_new();
    for (guint k = 0; k < n; k++) {
        const LithoStage *s = &stages[k];
        JsonObject *o = json_object_new();
        json_object_set_string_member(o, "name", s->name);
        json_object_set_string_member(o, "kind", kinds[s->kind]);
        put(o, "median_ms", s->median_ms);
        put(o, "p25_ms", s->p25_ms);
        put(o, "p75_ms", s->p75_ms);
        put(o, "bytes", s->bytes);
        put(o, "flops", s->flops);
        const double seconds = s->median_ms * 1e-3;
        if (s->kind == LITHO_STAGE_COMPUTE && seconds > 0 && roof.bytes_per_s > 0)
            put(o, "share_of_copy", s->bytes / seconds / roof.bytes_per_s);
        if (s->kind == LITHO_STAGE_TRANSFER && seconds > 0 && bytes_roof(s, &roof) > 0)
            put(o, "share_of_link", s->bytes / seconds / bytes_roof(s, &roof));
        if (s->kind == LITHO_STAGE_COMPUTE && seconds > 0 && roof.flops_per_s > 0)
            put(o, "share_of_fma", s->flops / seconds / roof.flops_per_s);
        json_array_add_object_element(array, o);
    }
    return array;
}

static JsonObject *hardware_json(const BenchRun *r)
{
    JsonObject *o = json_object_new();
    json_object_set_string_member(o, "name", r->info.name);
    json_object_set_string_member(o, "driver", r->info.driver);
    json_object_set_int_member(o, "processors", r->info.processors);
    put(o, "memory_bytes", (double)r->info.memory_total);
    put(o, "copy_bytes_per_s", r->roof.bytes_per_s);
    put(o, "fma_flops_per_s", r->roof.flops_per_s);
    if (r->roof.up_per_s > 0) {
        put(o, "link_up_bytes_per_s", r->roof.up_per_s);
        put(o, "link_down_bytes_per_s", r->roof.down_per_s);
    }
    return o;
}

static JsonObject *numbers_json(const GArray *numbers)
{
    JsonObject *o = json_object_new();
    for (guint k = 0; numbers && k < numbers->len; k++) {
        const LithoNumber *n = &g_array_index(numbers, LithoNumber, k);
        put(o, n->key, n->value);
    }
    return o;
}

static void add_error(JsonObject *o, const BenchRun *r)
{
    JsonArray *at = json_array_new();
    for (int k = 0; k < 3; k++)
        json_array_add_int_element(at, r->worst_at[k]);
    put(o, "relative_error", r->relative);
    put(o, "worst_block_error", r->worst);
    json_object_set_array_member(o, "worst_block_at", at);
}

static JsonObject *run_json(const Bench *b, const BenchRun *r)
{
    const BenchRun *first = first_of(b, r->variant);
    const BenchVariant *v = bench_variant(b, r->variant);
    JsonObject *o = json_object_new();
    json_object_set_string_member(o, "settings", v->settings);
    if (isfinite(v->difference))
        put(o, "difference_to_first_settings", v->difference);
    json_object_set_string_member(o, "backend", r->key);
    json_object_set_object_member(o, "hardware", hardware_json(r));
    json_object_set_int_member(o, "threads", r->threads);
    put(o, "plan_ms", r->plan_ms);
    put(o, "plan_again_ms", r->again_ms);
    json_object_set_array_member(o, "plan_stages",
                                 stages_json(r->plan_stages, r->n_plan_stages, r->roof));
    json_object_set_array_member(o, "plan_again_stages",
                                 stages_json(r->again_stages, r->n_again_stages, r->roof));
    json_object_set_object_member(o, "compute", times_json(&r->compute));
    if (r->transfers.n > 0)
        json_object_set_object_member(o, "with_transfers", times_json(&r->transfers));
    put(o, "cores_busy", r->cores);
    put(o, "speed_up", speed_up(first, r, FALSE));
    if (r->transfers.n > 0)
        put(o, "speed_up_with_transfers", speed_up(first, r, TRUE));
    if (r->has_error)
        add_error(o, r);
    json_object_set_object_member(o, "numbers", numbers_json(r->numbers));
    json_object_set_array_member(o, "stages", stages_json(r->stages, r->n_stages, r->roof));
    json_object_set_array_member(o, "stages_with_transfers",
                                 stages_json(r->transfer_stages, r->n_transfer_stages, r->roof));
    JsonObject *from = json_object_new();
    for (int m = 2; m < BENCH_MAX_STAGES; m++)
        if (r->from_stage_ms[m] > 0)
            put(from, b->op->stages[m], r->from_stage_ms[m]);
    json_object_set_object_member(o, "from_stage_ms", from);
    JsonObject *slices = json_object_new();
    for (int m = 2; m < BENCH_MAX_STAGES; m++)
        if (r->slices_ms[m] > 0)
            put(slices, b->op->stages[m], r->slices_ms[m]);
    json_object_set_object_member(o, "slices_ms", slices);
    json_object_set_array_member(o, "slice_stages",
                                 stages_json(r->slice_stages, r->n_slice_stages, r->roof));
    return o;
}

char *bench_json(const Bench *b)
{
    JsonObject *root = json_object_new();
    JsonArray *size = json_array_new(), *runs = json_array_new();
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *date = g_date_time_format_iso8601(now);
    for (int k = 0; k < 3; k++)
        json_array_add_int_element(size, b->grid.axis[k].n);
    for (guint k = 0; k < b->runs->len; k++)
        json_array_add_object_element(runs, run_json(b, run_at(b, k)));
    json_object_set_int_member(root, "lithoscope_bench", 1);
    json_object_set_string_member(root, "date", date);
    json_object_set_string_member(root, "operator", b->op->key);
    json_object_set_object_member(
        root, "params", litho_params_to_json(&b->op->params, bench_variant(b, 0)->params));
    json_object_set_string_member(root, "cpu_code_for", built_for());
    json_object_set_string_member(root, "compiler", "gcc " __VERSION__);
    json_object_set_array_member(root, "size", size);
    put(root, "step", b->grid.axis[2].step);
    json_object_set_array_member(root, "runs", runs);
    if (b->peers) {
        json_object_set_string_member(root, "peers_device", b->peers_info.name);
        json_object_set_array_member(root, "peers", bench_peers_json(b));
    }
    return litho_json_object_text(root);
}
