// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/backend.h"
#include "core/flow.h"

// The device somebody wants, the one that is there, and the one that computes a flow. A device is
// looked for in a thread, since opening a driver takes a while; until it is found the one before
// computes, at first the CPU. Main thread only.
typedef struct LithoDeviceChoice LithoDeviceChoice;

// `known` follows every litho_device_choice_ask(), unless another one was asked for meanwhile.
LithoDeviceChoice *litho_device_choice_new(void (*known)(gpointer owner), gpointer owner);
void litho_device_choice_free(LithoDeviceChoice *choice); // no call follows; NULL is fine

// `wanted`: text for litho_device_parse(), "cuda:all". One that is not there leaves the CPU, and
// the reason with the label.
void litho_device_choice_ask(LithoDeviceChoice *choice, const char *wanted);
const char *litho_device_choice_wanted(const LithoDeviceChoice *choice); // asked for last
// GPUs of this machine; 0 until a device was asked for that made the program look.
int litho_device_choice_gpus(const LithoDeviceChoice *choice);
// The device that computes `flow`: the one that is there, or the CPU when an operator of the flow
// has no version for it.
LithoDevice litho_device_choice_for(const LithoDeviceChoice *choice, const LithoFlow *flow);
// Likewise, and the label tells about this flow from here on; `changed`: it reads otherwise now.
LithoDevice litho_device_choice_take(LithoDeviceChoice *choice, const LithoFlow *flow,
                                     gboolean *changed);
// "CPU, 2 threads"; `why` (may be NULL): why it is not the device that was asked for, NULL = it is.
// Borrowed until the next call.
const char *litho_device_choice_label(const LithoDeviceChoice *choice, const char **why);
