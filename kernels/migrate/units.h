// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Numbers that are velocities in m/s, and those that seem to have another unit. Any thread.

// From mud to far beyond rock. Kilometres a second are refused, and what would bring a record's end
// to no depth at all or to the other side of the planet.
gboolean litho_velocity_is_possible(double v);
// The unit that velocities from `low` to `high` have more likely than m/s, and its size in m/s;
// NULL: m/s are as likely. A parameter takes the unit's name behind its number.
const char *litho_velocity_likely_unit(double low, double high, double *size);
// Puts the unit that `v` seems to have behind the refusal in `error`; nothing where none is likely.
void litho_velocity_add_likely(GError **error, double v);
