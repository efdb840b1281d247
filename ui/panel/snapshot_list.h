// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/snapshots.h"

// The kept snapshots below the flow: letter, name (edited in place), compare, remove; a row
// activated brings its flow back.
#define LITHO_TYPE_SNAPSHOT_LIST (litho_snapshot_list_get_type())
G_DECLARE_FINAL_TYPE(LithoSnapshotList, litho_snapshot_list, LITHO, SNAPSHOT_LIST, GtkBox)

GtkWidget *litho_snapshot_list_new(LithoSnapshots *snapshots);
