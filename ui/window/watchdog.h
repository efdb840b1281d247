// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gdk/gdk.h>

#include "core/phases.h"

// Watches the main loop: the longest time that one iteration dispatched without going back to wait
// for events, in which the window did not answer. Main thread only.
typedef struct LithoWatchdog LithoWatchdog;

// Attaches to the default main context; free with litho_watchdog_free().
LithoWatchdog *litho_watchdog_new(void);
void litho_watchdog_free(LithoWatchdog *watchdog); // NULL is fine
void litho_watchdog_reset(LithoWatchdog *watchdog);
// Since the last reset.
double litho_watchdog_longest_ms(const LithoWatchdog *watchdog);
// The most that the main thread itself computed in one iteration; it waited for the rest of
// litho_watchdog_longest_ms(): for OpenGL, or for a processor that others used.
double litho_watchdog_longest_busy_ms(const LithoWatchdog *watchdog);
double litho_watchdog_busy_ms(const LithoWatchdog *watchdog); // computed in all iterations
// Phases of the longest iteration; those of a frame have names when the watchdog follows its clock.
guint litho_watchdog_longest_phases(const LithoWatchdog *watchdog,
                                    LithoPhase phases[LITHO_PHASES_MAX]);
// Phases of all iterations together.
guint litho_watchdog_all_phases(const LithoWatchdog *watchdog, LithoPhase phases[LITHO_PHASES_MAX]);
// Names what GTK does in a frame of `clock`, as long as that lives.
void litho_watchdog_follow(GdkFrameClock *clock);
// Iterations that took longer than 1000/60 ms.
guint litho_watchdog_late(const LithoWatchdog *watchdog);
