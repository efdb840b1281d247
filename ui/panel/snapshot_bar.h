// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/snapshots.h"

// The kept snapshots as chips in a line above the views: a click on a chip brings its flow back,
// its menu compares, renames and removes it. The line has the same height with and without chips,
// and scrolls when there are many: nothing else moves.
#define LITHO_TYPE_SNAPSHOT_BAR (litho_snapshot_bar_get_type())
G_DECLARE_FINAL_TYPE(LithoSnapshotBar, litho_snapshot_bar, LITHO, SNAPSHOT_BAR, GtkBox)

GtkWidget *litho_snapshot_bar_new(LithoSnapshots *snapshots);
