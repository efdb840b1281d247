// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Watches the main loop: how long one iteration dispatched without going back to wait for events.
// That is the longest time the window did not answer. Main thread only.
typedef struct LithoWatchdog LithoWatchdog;

// Attaches to the default main context; free with litho_watchdog_free().
LithoWatchdog *litho_watchdog_new(void);
void litho_watchdog_free(LithoWatchdog *watchdog); // NULL is fine
void litho_watchdog_reset(LithoWatchdog *watchdog);
// Since the last reset.
double litho_watchdog_longest_ms(const LithoWatchdog *watchdog);
// Of one iteration, the most that the main thread itself computed; what is missing from
// litho_watchdog_longest_ms() it waited: for OpenGL, or for a processor that others used.
double litho_watchdog_longest_busy_ms(const LithoWatchdog *watchdog);
double litho_watchdog_busy_ms(const LithoWatchdog *watchdog); // computed in all iterations
// Iterations that took longer than 1000/60 ms.
guint litho_watchdog_late(const LithoWatchdog *watchdog);
