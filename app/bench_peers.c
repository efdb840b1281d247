// SPDX-License-Identifier: GPL-3.0-or-later
//
// `bench --peers`: stages of an operator beside other libraries on the GPU. What is compared, and
// with whom, is the operator's own knowledge (LithoImpl.rivals).
#include <string.h>

#include "app/bench.h"
#include "core/error.h"
#include "core/text.h"

gboolean bench_peers_device(const char *backends, LithoDevice *device, GError **error)
{
    g_auto(GStrv) words = g_strsplit(backends ? backends : "cuda", ",", -1);
    const char *word = NULL;
    for (guint k = 0; words[k] && !word; k++)
        if (g_str_has_prefix(words[k], "cuda"))
            word = words[k];
    if (litho_backend_cuda()->n_devices == 0)
        return litho_refuse(error, LITHO_ERROR_DEVICE,
                            _("--peers compares the kernels of the CUDA module, which cannot be "
                              "used: %s"),
                            litho_text(litho_backend_cuda()->why_not));
    return litho_device_parse(word ? word : "cuda", device, error);
}

gboolean bench_peers(Bench *b, LithoDevice device, GError **error)
{
    const void *params = bench_variant(b, 0)->params;
    const LithoGrid *grid = b->op->needs_input ? &b->grid : NULL;
    g_autoptr(LithoResolved) known = NULL;
    LithoRun run = {.threads = litho_run_threads(NULL), .device = device.index};
    const LithoImpl *impl = litho_device_impl(device, b->op, error);
    if (!impl)
        return FALSE;
    if (!impl->rivals)
        return litho_refuse(error, LITHO_ERROR_UNSUPPORTED,
                            _("no stage of %s is what another library does; --peers is for fx, "
                              "migrate, twsm and wavepacket"),
                            b->op->key);
    b->peers = g_array_new(FALSE, TRUE, sizeof(LithoRival));
    return device.backend->device_info(device.index, &b->peers_info, error) &&
           litho_resolve(b->op, params, &run, &known, error) &&
           litho_operator_check(b->op, grid, params, known, error) &&
           (grid || litho_operator_output_grid(b->op, NULL, params, known, &b->grid, error)) &&
           impl->rivals(grid, params, (int)b->repeat, &run, b->peers, error);
}

// --- report --------------------------------------------------------------------------------------

static double times(const LithoRival *r)
{
    return r->theirs_ms > 0 && r->ours_ms > 0 ? r->theirs_ms / r->ours_ms : 0;
}

// The library's error is ours or less.
static gboolean reaches(const LithoRival *r)
{
    return r->theirs_ms > 0 && r->theirs_error <= 1.05 * r->ours_error;
}

static char *sentence(const LithoRival *r)
{
    if (r->theirs_ms > 0 && reaches(r))
        return g_strdup_printf(
            _("ours %.2f ms, %s %.2f ms at an error of %.1e or less (its own: %.1e): %.2f times"),
            r->ours_ms, r->peer, r->theirs_ms, r->ours_error, r->theirs_error, times(r));
    if (r->theirs_ms > 0)
        return g_strdup_printf(
            _("ours %.2f ms with an error of %.1e, %s %.2f ms with an error of %.1e: %.2f times"),
            r->ours_ms, r->ours_error, r->peer, r->theirs_ms, r->theirs_error, times(r));
    if (r->ours_ms > 0)
        return g_strdup_printf(_("ours %.2f ms with an error of %.1e; %s did not run: %s"),
                               r->ours_ms, r->ours_error, r->peer, r->why_not);
    return g_strdup_printf(_("%s did not run: %s"), r->peer, r->why_not);
}

char *bench_peers_text(const Bench *b)
{
    GString *s = g_string_new(NULL);
    const LithoAxis *a = b->grid.axis;
    g_string_append_printf(s, _("%s: %s, %ld x %ld x %ld samples of %g %s\n"), b->op->key,
                           litho_text(b->op->title), (long)a[0].n, (long)a[1].n, (long)a[2].n,
                           a[2].step, a[2].unit);
    g_string_append_printf(s, _("%s, %d multiprocessors, %s"), b->peers_info.name,
                           b->peers_info.processors, b->peers_info.driver);
    g_string_append_printf(s, "\n\n%-12s %-12s %10s %10s %7s %10s %10s\n", _("stage"), _("library"),
                           _("ours ms"), _("its ms"), _("times"), _("our error"), _("its error"));
    for (guint k = 0; k < b->peers->len; k++) {
        const LithoRival *r = &g_array_index(b->peers, LithoRival, k);
        g_autofree char *words = sentence(r);
        g_string_append_printf(s, "%-12s %-12s %10.3f", r->stage, r->peer, r->ours_ms);
        if (r->theirs_ms > 0)
            g_string_append_printf(s, " %10.3f %7.2f %10.1e %10.1e\n", r->theirs_ms, times(r),
                                   r->ours_error, r->theirs_error);
        else
            g_string_append_printf(s, " %10s %7s %10.1e %10s\n", "-", "-", r->ours_error, "-");
        const char *const lines[] = {words, r->problem, r->settings, r->note};
        for (gsize m = 0; m < G_N_ELEMENTS(lines); m++)
            if (*lines[m])
                g_string_append_printf(s, "  %s\n", lines[m]);
    }
    g_string_append(s, _("\nMedians on the device, in turn, without copies. Errors are relative L2 "
                         "against float64 at a sample.\n"));
    return g_string_free(s, FALSE);
}

JsonArray *bench_peers_json(const Bench *b)
{
    JsonArray *array = json_array_new();
    for (guint k = 0; k < b->peers->len; k++) {
        const LithoRival *r = &g_array_index(b->peers, LithoRival, k);
        JsonObject *o = json_object_new();
        g_autofree char *words = sentence(r);
        json_object_set_string_member(o, "stage", r->stage);
        json_object_set_string_member(o, "library", r->peer);
        json_object_set_string_member(o, "problem", r->problem);
        json_object_set_string_member(o, "settings", r->settings);
        json_object_set_string_member(o, "note", r->note);
        json_object_set_string_member(o, "why_not", r->why_not);
        json_object_set_string_member(o, "sentence", words);
        json_object_set_int_member(o, "runs", r->runs);
        json_object_set_double_member(o, "ours_ms", r->ours_ms);
        json_object_set_double_member(o, "theirs_ms", r->theirs_ms);
        json_object_set_double_member(o, "times", times(r));
        json_object_set_double_member(o, "ours_error", r->ours_error);
        json_object_set_double_member(o, "theirs_error", r->theirs_error);
        json_object_set_boolean_member(o, "reaches_our_error", reaches(r));
        json_array_add_object_element(array, o);
    }
    return array;
}
