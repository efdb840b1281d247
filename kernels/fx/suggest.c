// SPDX-License-Identifier: GPL-3.0-or-later
//
// First guesses for the F-X filter's parameters (docs/decide.md, Suggest).
#include "core/suggest.h"
#include "core/text.h"
#include "kernels/fx/fx.h"

enum {
    WIDE_ENOUGH = 40, // lines from which filters of more neighbours pay
    LINE_WINDOW = 34,
    PLANE_WINDOW = 30,
    WORTH = 4, // traces that a window grows by, at least
};
// A filter follows noise where its window has fewer traces for each neighbour. It is well
// determined from ENOUGH on in strong noise.
#define TOO_FEW 1.8
#define ENOUGH 2.4
// Energy of events over all, from which four neighbours to either side pay on flat events, too.
// Stacks along planes hold less of bent ones.
#define MOSTLY_EVENTS 0.7
#define MOSTLY_BENT 0.45

// Traces that a window in the middle of the survey designs its filter on, and the filter's
// neighbours: rule 3 of kernels/fx/geometry.h.
static void design(const gint64 n[2], int window, int half_width, int *points, int *taps)
{
    int half[2], rows[2];
    for (int a = 0; a < 2; a++)
        half[a] = (int)MIN(half_width, (n[a] - 1) / 2);
    for (;;) {
        for (int a = 0; a < 2; a++)
            rows[a] = (int)MIN(window, n[a] - 2 * half[a]);
        *points = rows[0] * rows[1];
        *taps = litho_fx_taps(half[0], half[1]);
        if (*points >= *taps)
            return;
        half[half[0] < half[1] ? 1 : 0]--;
    }
}

// Wider windows where a survey of few lines leaves a filter hardly more traces than neighbours, as
// long as the filter stays the one that it is. Bent events that stand out of the noise lose in
// wider windows.
static void suggest_for_few_lines(const gint64 n[2], const LithoFxParams *usual,
                                  const LithoEvents *events, GArray *list)
{
    const gboolean bent = litho_events_kind(events) == LITHO_EVENTS_BENT;
    const gboolean clear = litho_events_share(events) > (bent ? MOSTLY_BENT : MOSTLY_EVENTS);
    const double enough = clear ? TOO_FEW : ENOUGH;
    int points, taps, window = usual->window, more, same;
    design(n, window, usual->half_width, &points, &taps);
    if (taps < 2 || points >= TOO_FEW * taps || (clear && bent))
        return;
    do
        design(n, ++window, usual->half_width, &more, &same);
    while (window < MAX(n[0], n[1]) && same == taps && more < enough * taps);
    if (same == taps && more >= enough * taps && window >= usual->window + WORTH)
        litho_suggest_add(list, &litho_operator_fx, "window", window,
                          litho_text_printf(_("so few lines leave a window %d traces for the %d "
                                              "neighbours of a filter"),
                                            points, taps));
}

static void suggest_for_line(gint64 traces, LithoEventsKind kind, GArray *list)
{
    const LithoOperator *op = &litho_operator_fx;
    const gboolean plane = kind == LITHO_EVENTS_FLAT || kind == LITHO_EVENTS_DIPPING;
    if (kind == LITHO_EVENTS_UNKNOWN || traces < 2 * LINE_WINDOW)
        return;
    litho_suggest_add(list, op, "half_width", plane ? LITHO_FX_MAX_HALF : 4,
                      g_strdup(_("along a line a filter has few neighbours: more serve it")));
    if (plane)
        litho_suggest_add(
            list, op, "window", LINE_WINDOW,
            litho_text_printf(_("events stay plane over %d traces"), LITHO_EVENTS_TRACES));
}

// Filters of more neighbours tell more dips apart.
static void suggest_for_planes(const LithoEvents *events, GArray *list)
{
    const LithoOperator *op = &litho_operator_fx;
    const LithoEventsKind kind = litho_events_kind(events);
    if (kind == LITHO_EVENTS_DIPPING) {
        char *why = litho_text_printf(_("events of up to %.2g samples a trace stay plane over %d "
                                        "traces: more neighbours tell them apart, at twice the "
                                        "time"),
                                      litho_events_dip(events), LITHO_EVENTS_TRACES);
        litho_suggest_add(list, op, "half_width", LITHO_FX_MAX_HALF, why);
        litho_suggest_add(list, op, "window", PLANE_WINDOW,
                          g_strdup(_("filters of more neighbours need more traces")));
    } else if (kind == LITHO_EVENTS_FLAT && litho_events_share(events) > MOSTLY_EVENTS) {
        litho_suggest_add(list, op, "half_width", 4,
                          litho_text_printf(_("events are plane over %d traces and stronger than "
                                              "the noise: more neighbours keep more of them, at "
                                              "half as much time again"),
                                            LITHO_EVENTS_TRACES));
    }
}

// A trace that one time window holds is better served by two that overlap.
static void suggest_for_short_traces(const LithoGrid *grid, const LithoFxParams *usual,
                                     GArray *list)
{
    const int n = (int)MIN(grid->axis[2].n, G_MAXINT / 4);
    const int automatic = litho_fx_in_use(grid, usual).time_window;
    const int window = n / 4 + 3 * automatic / 10;
    if (n <= automatic && n >= automatic / 2 && window >= 16)
        litho_suggest_add(list, &litho_operator_fx, "time_window", window,
                          litho_text_printf(_("traces of %d samples are a single time window; "
                                              "windows that overlap are better"),
                                            n));
}

// The spectrum suggests no band: a filter finds events far below the noise, and `fmin`, `fmax` and
// outband=mute from the spectrum lost 0.2 to 10 dB of cubes at 0 and 10 dB.
void litho_fx_suggest(const LithoEvidence *evidence, GArray *list)
{
    const LithoGrid *grid = evidence->grid;
    const gint64 n[2] = {grid->axis[0].n, grid->axis[1].n};
    const gint64 least = MIN(n[0], n[1]), most = MAX(n[0], n[1]);
    LithoFxParams usual;
    litho_param_defaults(&litho_operator_fx.params, &usual);
    if (least <= 2)
        suggest_for_line(most, litho_events_kind(&evidence->events), list);
    else if (least >= WIDE_ENOUGH)
        suggest_for_planes(&evidence->events, list);
    else
        suggest_for_few_lines(n, &usual, &evidence->events, list);
    suggest_for_short_traces(grid, &usual, list);
}
