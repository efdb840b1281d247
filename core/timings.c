// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/timings.h"
#include "core/sort.h"
#include "core/text.h"

#include <stdlib.h>
#include <string.h>

typedef struct Entry {
    LithoStage stage;
    double sum_ms, sum_bytes, sum_flops;    // of the pass under way
    double held_ms, held_bytes, held_flops; // of the part computed before it
    gboolean touched, held;
} Entry;

struct LithoTimings {
    GMutex lock;
    guint n;
    Entry entries[LITHO_TIMINGS_STAGES];
    gint refs;
};

LithoTimings *litho_timings_new(void)
{
    LithoTimings *timings = g_new0(LithoTimings, 1);
    g_mutex_init(&timings->lock);
    timings->refs = 1;
    return timings;
}

void litho_timings_unref(LithoTimings *timings)
{
    if (!timings || !g_atomic_int_dec_and_test(&timings->refs))
        return;
    g_mutex_clear(&timings->lock);
    g_free(timings);
}

// With the lock held. NULL when the table is full: a program error that must not cost a result.
static Entry *entry_for(LithoTimings *timings, const char *name, LithoStageKind kind)
{
    for (guint k = 0; k < timings->n; k++)
        if (strcmp(timings->entries[k].stage.name, name) == 0)
            return &timings->entries[k];
    if (timings->n == LITHO_TIMINGS_STAGES)
        return NULL;
    Entry *entry = &timings->entries[timings->n++];
    memset(entry, 0, sizeof *entry);
    g_strlcpy(entry->stage.name, name, sizeof entry->stage.name);
    entry->stage.kind = kind;
    return entry;
}

void litho_timings_add(LithoTimings *timings, const char *name, LithoStageKind kind, double ms,
                       double bytes, double flops)
{
    if (!timings)
        return;
    g_mutex_lock(&timings->lock);
    Entry *entry = entry_for(timings, name, kind);
    if (entry) {
        entry->sum_ms += ms;
        entry->sum_bytes += bytes;
        entry->sum_flops += flops;
        entry->touched = TRUE;
    }
    g_mutex_unlock(&timings->lock);
}

static void push(Entry *entry)
{
    LithoStage *s = &entry->stage;
    guint n = MIN(s->count, LITHO_TIMINGS_RING);
    if (n == LITHO_TIMINGS_RING) {
        memmove(s->ring_ms, s->ring_ms + 1, (n - 1) * sizeof(float));
        n--;
    }
    s->ring_ms[n++] = (float)entry->sum_ms;
    s->count++;
    s->last_ms = (float)entry->sum_ms;
    s->bytes = entry->sum_bytes;
    s->flops = entry->sum_flops;

    float sorted[LITHO_TIMINGS_RING];
    memcpy(sorted, s->ring_ms, n * sizeof(float));
    qsort(sorted, n, sizeof(float), litho_compare_float);
    s->min_ms = sorted[0];
    s->p25_ms = sorted[n / 4];
    s->median_ms = n % 2 ? sorted[n / 2] : 0.5f * (sorted[n / 2 - 1] + sorted[n / 2]);
    s->p75_ms = sorted[MIN(3 * n / 4, n - 1)];
}

static void clear_sums(Entry *entry)
{
    entry->sum_ms = entry->sum_bytes = entry->sum_flops = 0;
    entry->touched = FALSE;
}

void litho_timings_end_pass(LithoTimings *timings)
{
    g_mutex_lock(&timings->lock);
    for (guint k = 0; k < timings->n; k++) {
        Entry *entry = &timings->entries[k];
        if (!entry->touched && entry->held) {
            entry->sum_ms = entry->held_ms;
            entry->sum_bytes = entry->held_bytes;
            entry->sum_flops = entry->held_flops;
        }
        if (entry->touched || entry->held) {
            push(entry);
            clear_sums(entry);
        }
        entry->held = FALSE;
    }
    g_mutex_unlock(&timings->lock);
}

void litho_timings_hold_pass(LithoTimings *timings)
{
    g_mutex_lock(&timings->lock);
    for (guint k = 0; k < timings->n; k++) {
        Entry *entry = &timings->entries[k];
        entry->held = entry->touched;
        entry->held_ms = entry->sum_ms;
        entry->held_bytes = entry->sum_bytes;
        entry->held_flops = entry->sum_flops;
        clear_sums(entry);
    }
    g_mutex_unlock(&timings->lock);
}

void litho_timings_drop_pass(LithoTimings *timings)
{
    g_mutex_lock(&timings->lock);
    for (guint k = 0; k < timings->n; k++) {
        clear_sums(&timings->entries[k]);
        timings->entries[k].held = FALSE;
    }
    g_mutex_unlock(&timings->lock);
}

void litho_timings_reset(LithoTimings *timings)
{
    g_mutex_lock(&timings->lock);
    timings->n = 0;
    g_mutex_unlock(&timings->lock);
}

guint litho_timings_snapshot(LithoTimings *timings, LithoStage *stages, guint max)
{
    guint n = 0;
    g_mutex_lock(&timings->lock);
    for (guint k = 0; k < timings->n && n < max; k++)
        if (timings->entries[k].stage.count > 0)
            stages[n++] = timings->entries[k].stage;
    g_mutex_unlock(&timings->lock);
    return n;
}

double litho_timings_last_ms(LithoTimings *timings, const char *name)
{
    LithoStage stages[LITHO_TIMINGS_STAGES];
    const guint n = timings ? litho_timings_snapshot(timings, stages, G_N_ELEMENTS(stages)) : 0;
    for (guint k = 0; k < n; k++)
        if (strcmp(stages[k].name, name) == 0)
            return stages[k].last_ms;
    return 0;
}

static const char *const kind_names[] = {"compute", "transfer", "io", "display", "plan"};

JsonNode *litho_timings_to_json(LithoTimings *timings)
{
    LithoStage stages[LITHO_TIMINGS_STAGES];
    guint n = litho_timings_snapshot(timings, stages, G_N_ELEMENTS(stages));
    JsonBuilder *b = json_builder_new();
    json_builder_begin_object(b);
    json_builder_set_member_name(b, "stages");
    json_builder_begin_array(b);
    for (guint k = 0; k < n; k++) {
        const LithoStage *s = &stages[k];
        const struct {
            const char *name;
            double value;
        } numbers[] = {
            {"last_ms", s->last_ms}, {"median_ms", s->median_ms}, {"min_ms", s->min_ms},
            {"p25_ms", s->p25_ms},   {"p75_ms", s->p75_ms},       {"bytes", s->bytes},
            {"flops", s->flops},
        };
        json_builder_begin_object(b);
        json_builder_set_member_name(b, "name");
        json_builder_add_string_value(b, s->name);
        json_builder_set_member_name(b, "kind");
        json_builder_add_string_value(b, kind_names[s->kind]);
        json_builder_set_member_name(b, "count");
        json_builder_add_int_value(b, s->count);
        for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
            json_builder_set_member_name(b, numbers[i].name);
            json_builder_add_double_value(b, numbers[i].value);
        }
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
    json_builder_end_object(b);
    JsonNode *node = json_builder_get_root(b);
    g_object_unref(b);
    return node;
}

char *litho_timings_to_text(LithoTimings *timings)
{
    LithoStage stages[LITHO_TIMINGS_STAGES];
    guint n = litho_timings_snapshot(timings, stages, G_N_ELEMENTS(stages));
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%-20s %10s %10s %10s %10s %10s\n", "stage", _("last ms"),
                           "median", "min", "GB/s", "GFLOP/s");
    for (guint k = 0; k < n; k++) {
        const LithoStage *s = &stages[k];
        g_string_append_printf(text, "%-20s %10.2f %10.2f %10.2f", s->name, s->last_ms,
                               s->median_ms, s->min_ms);
        if (s->bytes > 0 && s->last_ms > 0)
            g_string_append_printf(text, " %10.1f", s->bytes / s->last_ms * 1e-6);
        else
            g_string_append_printf(text, " %10s", "-");
        if (s->flops > 0 && s->last_ms > 0)
            g_string_append_printf(text, " %10.1f\n", s->flops / s->last_ms * 1e-6);
        else
            g_string_append_printf(text, " %10s\n", "-");
    }
    return g_string_free(text, FALSE);
}
