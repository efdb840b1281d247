// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/resolve.h"
#include "kernels/twsm/heights.h"

// A layered acoustic model with source, receivers and wavelet, as its JSON file says it (schema:
// docs/twsm.md). Metres, z down, m/s, kg/m3, seconds, Hz. Read-only once loaded.

enum { TWSM_MAX_LAYERS = 32, TWSM_MAX_HITS = 16, TWSM_MAX_CODES = 16, TWSM_MAX_SOURCES = 256 };

typedef enum {
    TWSM_FLAT,
    TWSM_DIPPING,
    TWSM_GAUSSIAN,
    TWSM_HEIGHTS, // "grid" and "horizon"
    TWSM_SHEET,   // triangles from a file
} TwsmShape;

typedef struct TwsmBoundary {
    TwsmShape shape;
    double depth;         // m, at x = y = 0 (dipping), far from the centre (gaussian)
    double shift;         // heights, sheet: m deeper than the file says
    double slope[2];      // dipping: tangent of the dips
    double amplitude;     // gaussian: m, positive = deeper at the centre
    double sigma[2];      // gaussian: m; 0 = no variation along that axis
    double centre[2];     // gaussian: m
    char *file;           // heights, sheet: path as resolved; owned
    double file_grid[4];  // "grid": x0, y0, dx, dy
    double spacing;       // "horizon": m, 0 = from its points
    gboolean horizon;     // heights come from points, not from a grid
    TwsmHeights *heights; // of the file, or under the sheet; NULL for formulas
    TwsmSheet *sheet;
} TwsmBoundary;

typedef struct TwsmHit {
    int boundary;
    gboolean transmit; // else reflect
} TwsmHit;

// One wave: the boundaries it meets, and the layers it travels in: layer[0] holds the source,
// layer[m] is travelled before hit m, layer[n] holds the receivers.
typedef struct TwsmCode {
    int n;
    TwsmHit hit[TWSM_MAX_HITS];
    int layer[TWSM_MAX_HITS + 1];
    char text[80];
} TwsmCode;

typedef struct TwsmModel {
    int n_layers;
    double velocity[TWSM_MAX_LAYERS], density[TWSM_MAX_LAYERS];
    int n_boundaries; // n_layers - 1
    TwsmBoundary boundary[TWSM_MAX_LAYERS];
    double x[2], y[2]; // extent
    int n_codes;
    TwsmCode code[TWSM_MAX_CODES];
    int n_sources;
    double source[TWSM_MAX_SOURCES][3];
    double receiver_first[2], receiver_step[2], receiver_z; // x, y
    int receiver_count[2];
    double ricker, delay; // peak frequency, Hz; time of the peak, s
    double fmax;          // Hz
    double record, dt;    // s
    double cells;         // per shortest wavelength
    double taper;         // fraction of the width at each end, 0..0.5
} TwsmModel;

// From the path of a JSON file; every file that is read is named in `files` first. The error names
// the member ("boundaries[1].depth"). Any thread.
TwsmModel *twsm_model_load(const char *path, LithoResolved *files, LithoRun *run, GError **error);
// A built-in one, made at the first call and kept; NULL when there is none of that name.
const TwsmModel *twsm_model_builtin(const char *name);
guint64 twsm_model_bytes(const TwsmModel *model); // of memory
void twsm_model_free(TwsmModel *model);           // NULL is fine
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TwsmModel, twsm_model_free)

// NULL-terminated: "flat", "dipping", ...
const char *const *twsm_model_names(void);
// JSON text of a built-in model, NULL when there is none of that name.
const char *twsm_model_text(const char *name);

// Depth of a boundary at (x, y).
double twsm_boundary_depth(const TwsmBoundary *boundary, double x, double y);
// Layer that holds the point (boundaries above it are counted).
int twsm_model_layer(const TwsmModel *model, double x, double y, double z);

// Walks the wave codes through the layers from the source: fills TwsmCode.layer. An error names
// the code and the place in it: empty, a boundary that does not bound the present layer, sources in
// different layers, a receiver outside the last layer.
gboolean twsm_model_trace_codes(TwsmModel *model, GError **error);
// Position of receiver (ix, iy).
void twsm_model_receiver(const TwsmModel *model, int ix, int iy, double at[3]);
