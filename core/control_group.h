// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Limits of the control groups that this process is in: those of a container, of a job of a batch
// system, of a slice of systemd. A group's limit holds for all groups within it, so that each is
// asked from the process's own up to the root; both versions of the kernel's interface are read.
//
// `membership` is the file that says which groups, NULL = /proc/self/cgroup; `mount` the folder
// that the groups' file systems lie in, NULL = /sys/fs/cgroup. Thread-safety: any thread.

// Bytes that the groups leave to the process; G_MAXUINT64 = they set no limit.
guint64 litho_control_group_memory(const char *membership, const char *mount);
// Processors whose time the groups grant (a quota of 1.5 is 2); 0 = they set no limit.
int litho_control_group_processors(const char *membership, const char *mount);
