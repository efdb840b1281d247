// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/flow.h"
#include "core/synth/synth.h"

// Demonstrations as data: a list of steps, each with a cube, a flow, what is compared, a sentence
// and a time. The window plays a script and records one; `lithoscope-cli demo` draws its frames.
//
// A script is a value owned by one thread. Each step holds the whole state, so that a player may
// begin anywhere and go back; the file says only what a step changes. The format: docs/files.md.

enum {
    LITHO_SCRIPT_STEPS = 1000,  // in one file, at most
    LITHO_SCRIPT_RAMPS = 8,     // in one step, at most
    LITHO_SCRIPT_LANES = 6,     // of one race, at most
    LITHO_SCRIPT_SECONDS = 600, // of one step, at most
};

// The cube that is open: made in memory by a generator, or read from a file.
typedef struct LithoScriptCube {
    const LithoSynth *synth; // NULL: a file
    gpointer params;         // of the generator, synth->params.size bytes
    char *file;              // path; in the text of a script relative to the script's folder
} LithoScriptCube;

typedef enum LithoScriptShow {
    LITHO_SCRIPT_INPUT,   // what came in
    LITHO_SCRIPT_OUTPUT,  // the result
    LITHO_SCRIPT_REMOVED, // input less result
    LITHO_SCRIPT_SPLIT,   // input left, result right of a divider
    LITHO_SCRIPT_SIDE,    // input beside result
} LithoScriptShow;

extern const char *const litho_script_shows[6]; // keys in the file, NULL-terminated

typedef enum LithoScriptView {
    LITHO_SCRIPT_ALL = -1, // four views
    LITHO_SCRIPT_INLINE,   // one section fills the window
    LITHO_SCRIPT_XLINE,
    LITHO_SCRIPT_SLICE,
    LITHO_SCRIPT_SCENE,
} LithoScriptView;

// Action of a step beside showing, when its result is there.
typedef enum LithoScriptAct {
    LITHO_SCRIPT_LOOK,     // nothing
    LITHO_SCRIPT_SNAPSHOT, // keeps the flow
    LITHO_SCRIPT_FIND,     // searches better values for the flow's first enabled step, takes them
    LITHO_SCRIPT_RACE,     // the flow on one device against another
} LithoScriptAct;

// A parameter that moves from one value to another while the step lasts; its row's slider says
// whether in equal steps or in equal ratios.
typedef struct LithoScriptRamp {
    guint step; // of the flow
    const LithoParam *row;
    double from, to;
} LithoScriptRamp;

// One runner of a race.
typedef struct LithoScriptLane {
    char *label;    // "CPU, one thread"; NULL = told by device and threads
    char *device;   // as litho_device_parse() reads it
    int threads;    // CPU threads, 0 = all
    char *settings; // "key=value ..." on top of the flow's first enabled step; NULL = none
} LithoScriptLane;

typedef struct LithoScriptStep {
    char *caption; // one or two sentences; "" = none
    LithoScriptCube cube;
    LithoFlow *flow; // as the step begins
    LithoScriptShow show;
    LithoScriptView view;
    double split[2];    // place of the divider, 0..1, at the begin and at the end
    double slice[3][2]; // slices as parts of their axes, 0..1, at the begin and at the end
    GArray *ramps;      // of LithoScriptRamp
    LithoScriptAct act;
    GArray *lanes; // of LithoScriptLane; empty = all processors and every kind of device
    double dwell;  // seconds, counted from the moment its picture is whole
} LithoScriptStep;

typedef struct LithoScript {
    char *title, *summary; // a few words; one sentence
    gboolean loop;         // begins again at its end
    GPtrArray *steps;      // of LithoScriptStep
} LithoScript;

LithoScript *litho_script_new(const char *title);
void litho_script_free(LithoScript *script); // NULL is fine
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoScript, litho_script_free)

// A step like `before` (NULL: nothing open, no flow, output, four views, all slices in the middle),
// without its caption, ramps, act and lanes. Belongs to the script's list once it is added to it.
LithoScriptStep *litho_script_step_after(const LithoScriptStep *before);
void litho_script_step_free(LithoScriptStep *step);
// The flow at `part` 0..1 of the step: ramps applied; litho_flow_free().
LithoFlow *litho_script_flow_at(const LithoScriptStep *step, double part);
// Place of the divider, and index of the slice of `axis` on `grid`, at `part` of the step.
double litho_script_split_at(const LithoScriptStep *step, double part);
gint64 litho_script_slice_at(const LithoScriptStep *step, const LithoGrid *grid, int axis,
                             double part);
gboolean litho_script_cube_equal(const LithoScriptCube *a, const LithoScriptCube *b);
// NULL in both members: no cube. Copies; clear with litho_script_cube_clear().
LithoScriptCube litho_script_cube_copy(const LithoScriptCube *cube);
void litho_script_cube_clear(LithoScriptCube *cube);
// Makes or reads the cube, in a job's thread.
LithoCube *litho_script_cube_open(const LithoScriptCube *cube, LithoRun *run, GError **error);

// --- text ---------------------------------------------------------------------------------------

// Strict: an unknown member, operator, generator, parameter or a value out of range is an error
// that names it. `folder`: that relative paths of files begin at; NULL = the current one.
LithoScript *litho_script_parse(const char *text, const char *folder, GError **error);
LithoScript *litho_script_load(const char *path, GError **error);
// The one writer; parse(print(script)) prints the same bytes. g_free().
char *litho_script_print(const LithoScript *script);
gboolean litho_script_save(const LithoScript *script, const char *path, GError **error);

// --- scripts that come with the program
// -----------------------------------------------------------

// A file of the program's data folder ("demos/tour.json"): $LITHO_DATA_DIR, the installed tree's
// share/lithoscope, the source tree that was built. NULL when none has it; g_free().
char *litho_data_file(const char *name);
// Path of a script by its name: a path as it is, else demos/NAME.json. NULL with a sentence that
// lists the names. g_free().
char *litho_script_find(const char *name, GError **error);
// Names of the scripts that come with the program, sorted; g_strfreev().
char **litho_script_names(void);
