// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"

// A panel: one JSON file that makes a program of the user's own an operator. docs/external.md lists
// its members.

// Samples of the input that a sample of the result needs on either side, along one axis.
typedef struct ExternalHalo {
    gboolean all;          // the whole axis
    double fixed;          // samples
    double times;          // of the parameter `row`, rounded up
    const LithoParam *row; // NULL = `fixed` says all
} ExternalHalo;

enum { EXTERNAL_FIND_MOST = 3 };

typedef struct ExternalPanel {
    LithoOperator op; // made of the panel; its texts and rows belong to the panel
    char *path;       // of the panel
    char *folder;     // in which the program is started
    char **command;   // its words; no shell reads them
    char *name;       // of the program in sentences: "python3 median.py"
    ExternalHalo halo[3];
    gboolean missing_as_nan; // missing traces are sent as NaNs, else as zeros
    gboolean one_cube;       // the program ends after one cube; else it waits for the next one
    gboolean fills;          // the result has samples where traces are missing
    double copies;           // of the cube that the program holds in memory
    LithoFindRow find[EXTERNAL_FIND_MOST + 1];
    GPtrArray *texts; // all texts that the operator's declaration points to
} ExternalPanel;

// The operator's parameters: this head, and the values behind it, at the offsets of the rows.
typedef struct ExternalParams {
    const ExternalPanel *panel; // set by litho_param_defaults()
} ExternalParams;

// Reads a panel. NULL with a sentence that names file and member, and without one where the file
// is an object that says nothing of an operator and its command, such as a recipe. The functions of
// `op` are left empty.
ExternalPanel *external_panel_load(const char *path, GError **error);
void external_panel_free(ExternalPanel *panel);
