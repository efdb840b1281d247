// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/phases.h"

#include <stdlib.h>
#include <string.h>

#include "core/run.h"

typedef struct Table {
    LithoPhase phase[LITHO_PHASES_MAX];
    guint n;
    const char *now; // under way, or NULL
    double since;    // ms
} Table;

static _Thread_local Table table;

static LithoPhase *phase_of(const char *name)
{
    for (guint k = 0; k < table.n; k++)
        if (strcmp(table.phase[k].name, name) == 0)
            return &table.phase[k];
    if (table.n == LITHO_PHASES_MAX)
        return NULL;
    table.phase[table.n] = (LithoPhase){.name = name};
    return &table.phase[table.n++];
}

// Time up to now belongs to the phase under way.
static void settle(void)
{
    const double now = litho_now_ms();
    LithoPhase *phase = table.now ? phase_of(table.now) : NULL;
    if (phase)
        phase->ms += now - table.since;
    table.since = now;
}

const char *litho_phase_begin(const char *name)
{
    const char *around = table.now;
    settle();
    table.now = name;
    LithoPhase *phase = phase_of(name);
    if (phase)
        phase->times++;
    return around;
}

void litho_phase_end(const char *around)
{
    settle();
    table.now = around;
}

guint litho_phases_take(LithoPhase phases[LITHO_PHASES_MAX])
{
    settle();
    const guint n = table.n;
    if (phases)
        memcpy(phases, table.phase, n * sizeof *phases);
    table.n = 0;
    return n;
}

static int longest_first(const void *a, const void *b)
{
    const double x = ((const LithoPhase *)a)->ms, y = ((const LithoPhase *)b)->ms;
    return (x < y) - (x > y);
}

char *litho_phases_text(const LithoPhase *phases, guint n, double least_ms)
{
    LithoPhase sorted[LITHO_PHASES_MAX];
    GString *text = g_string_new(NULL);
    n = MIN(n, LITHO_PHASES_MAX);
    memcpy(sorted, phases, n * sizeof *phases);
    qsort(sorted, n, sizeof *sorted, longest_first);
    for (guint k = 0; k < n && sorted[k].ms >= least_ms; k++) {
        g_string_append_printf(text, "%s%s %.1f ms", text->len ? ", " : "", sorted[k].name,
                               sorted[k].ms);
        if (sorted[k].times > 1)
            g_string_append_printf(text, " (%u)", sorted[k].times);
    }
    return g_string_free(text, FALSE);
}
