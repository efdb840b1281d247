// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/session/device_choice.h"
#include "ui/session/figures.h"
#include "ui/session/job.h"
#include "ui/session/numbers.h"
#include "ui/session/flow_check.h"
#include "ui/session/pages.h"
#include "ui/session/places.h"
#include "ui/session/ranges.h"
#include "ui/session/results.h"
#include "ui/session/session.h"

enum {
    SIGNAL_CUBE,
    SIGNAL_FLOW,
    SIGNAL_PARAMS,
    SIGNAL_RESULT,
    SIGNAL_PROGRESS,
    SIGNAL_DISPLAY,
    SIGNAL_SLICES,
    SIGNAL_CURSOR,
    SIGNAL_DEVICE,
    SIGNAL_STATS,
    SIGNAL_REPORT,
    SIGNAL_MEMORY,
    SIGNAL_AREA,
    N_SIGNALS
};

struct _LithoSession {
    GObject parent;

    LithoCube *input;
    LithoCube *preview;   // first part of a cube being read, shown instead; or NULL
    LithoPages *pages;    // the input does not fit into memory; or NULL
    LithoCube *reference; // compared with instead of the input; or NULL
    char *reference_name;
    LithoFlow *flow;
    int selected;
    int changed; // step whose parameters changed last, -1 = something else
    LithoHistory *history;
    LithoDisplay display;
    LithoPlaces *places;
    LithoDepthTime *depth_time; // of the figures
    LithoFlowCheck *check;      // of the flow as it stands

    // Worker binding, session_result.c.
    LithoWorker *worker; // NULL once disposed
    gint wake_posted;    // atomic: an idle that fetches is on its way
    LithoResults *results;
    LithoTimings *display_timings;
    LithoFigures *figures;
    LithoLatency latency;

    // NULL once disposed, but `ranges`.
    LithoDeviceChoice *device;
    LithoNumbers *numbers;
    LithoAreaTool *area;
    LithoMemoryQuestion *memory; // of the flow as it stands
    LithoRanges *ranges;
};

void litho_session_emit(LithoSession *self, int signal);

// The flow changed in a way that asks for another result: checks it and hands it to the worker.
void litho_session_flow_touched(LithoSession *self);

// Makes `cube` the input; pages stay as they are.
void litho_session_adopt_input(LithoSession *self, LithoCube *cube);
// session_paged.c
void litho_session_drop_pages(LithoSession *self);
void litho_session_pages_moved(LithoSession *self); // other slices are on screen
// Leaves the views whose surroundings can be read; FALSE with `problem` set when there are none.
gboolean litho_session_paged_wish(LithoSession *self, LithoWish *wish);

void litho_session_result_init(LithoSession *self);
void litho_session_result_clear(LithoSession *self);
// Other slices became visible: what is not computed yet should be computed first.
void litho_session_slices_moved(LithoSession *self);
// Forgets results: another cube or another grid.
void litho_session_result_drop(LithoSession *self);

// session_report.c: is there news from the worker? And: forget, another kind of flow begins.
void litho_session_report_look(LithoSession *self);
void litho_session_report_drop(LithoSession *self);
// The figures are those of a result computed earlier; `report` may be NULL.
void litho_session_report_adopt(LithoSession *self, LithoReport *report);

// session_area.c: samples or slices changed; and: what was found is of other data.
void litho_session_area_init(LithoSession *self);
void litho_session_area_look(LithoSession *self);
void litho_session_area_forget(LithoSession *self);
// Numbers, curves, histogram and timings of a result go at once; the picture stays until there is
// another one.
void litho_session_figures_forget(LithoSession *self);

// session_memory.c: asks again, the flow or the device is another one.
void litho_session_memory_init(LithoSession *self);
void litho_session_memory_want(LithoSession *self);

void litho_session_display_init(LithoSession *self);
void litho_session_update_grid(LithoSession *self);

// session_numbers.c: the numbers of `cube` are computed; and: which numbers belong to what is
// shown, and the colours follow them.
void litho_session_numbers_init(LithoSession *self);
void litho_session_numbers_want(LithoSession *self, int which, LithoCube *cube);
void litho_session_numbers_glance(LithoSession *self);
int litho_session_numbers_shown(LithoSession *self);
void litho_session_auto_clip(LithoSession *self);
