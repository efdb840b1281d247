// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/twsm/coef.h"
#include "kernels/twsm/model.h"
#include "kernels/twsm/twsm.h"

// A model with its parameters applied, and everything computed from both before any wave runs:
// frequencies, meshes, legs, tables. Read-only once made.

struct TwsmSetup {
    TwsmModel *model; // with the parameters applied: a copy of its own, whose boundaries' depths
                      // belong to the file's or the built-in model
    LithoResolved *known; // the file's, or NULL
    double record, dt;    // s; record is a whole number of dt
    int n_time;
    double dw;                                // rad/s
    double sig;                               // 1/s
    int n_frequencies;                        // numbers 1 .. n
    double centre[3];                         // m; element coordinates are relative to it
    TwsmPoints *mesh[TWSM_MAX_LAYERS];        // of the boundaries that the wave codes meet; owned
    TwsmPoints *receivers;                    // owned
    TwsmMask *mask[TWSM_MAX_LAYERS];          // of layers, with mask=segment or absorption; owned
    TwsmChain chain[TWSM_MAX_CODES];          // one per wave code
    TwsmEffective *effective[TWSM_MAX_CODES]; // of the first boundary, or NULL; owned
    TwsmShot shot[TWSM_MAX_CODES];            // sources, one per wave code; rules owned
    int coef[TWSM_MAX_CODES];                 // TWSM_COEF_*, resolved
    GPtrArray *notes;                         // warnings worth showing; owned
};

// The model of `params` (`known` when it is a file, whose data is a TwsmModel) with the overrides
// applied and record, dt and frequencies worked out; no meshes yet. Takes microseconds.
TwsmSetup *twsm_setup_open(const TwsmParams *params, LithoResolved *known, GError **error);
// Wave codes, meshes, receivers, masks and chains. Errors: section "Parameters" of docs/twsm.md.
gboolean twsm_setup_build(TwsmSetup *setup, const TwsmParams *params, LithoRun *run,
                          GError **error);
// Adds a warning worth showing.
void twsm_setup_note(TwsmSetup *setup, const char *format, ...) G_GNUC_PRINTF(2, 3);
// Adds the warnings about a built model: boundaries that cross or nearly touch, a record, an extent
// or a band too short, places too near to a boundary, densities of several units, an algorithm that
// does not apply.
void twsm_setup_check(TwsmSetup *setup, const TwsmParams *params);
// TRUE when all rock on both sides of the code's boundaries is equally fast: its coefficients do
// not depend on the angle.
gboolean twsm_setup_is_even(const TwsmModel *model, const TwsmCode *code);
void twsm_setup_free(TwsmSetup *setup); // NULL is fine
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TwsmSetup, twsm_setup_free)

// Wanted cell of every boundary's mesh, m; 0 where no wave code meets it. Flat boundaries share the
// finest: beams then depend on differences of position only, and a convolution by FFT does the work
// of the pairs.
void twsm_setup_cells(const TwsmSetup *setup, double cell[TWSM_MAX_LAYERS]);

// TRUE when both, once built, give the same spectra at the receivers: all but the wavelet, its
// delay and the sampling is equal. Heights and sheets of two readings of a file count as different.
gboolean twsm_setup_same_waves(const TwsmSetup *a, const TwsmSetup *b);
// TRUE when wavelet, delay and sampling are equal.
gboolean twsm_setup_same_traces(const TwsmSetup *a, const TwsmSetup *b);

// Output grid: inline = source and receiver y, crossline = receiver x, time.
void twsm_setup_grid(const TwsmSetup *setup, LithoGrid *grid);

// Field of all sources on the first boundary of code c for a unit spectrum: [source][element][k].
// FALSE: cancelled, no memory.
gboolean twsm_source_field(const TwsmSetup *setup, int c, TwsmBand band, TwsmValue *u,
                           LithoRun *run, GError **error);
// Ricker spectrum at frequency number k (complex frequency with damping).
double complex twsm_wavelet(const TwsmSetup *setup, int k);
// Factors that the traces are summed with: the wavelet at numbers 1 .. n_frequencies, and
// exp(2 pi i t / n_time) at t = 0 .. n_time - 1.
void twsm_trace_factors(const TwsmSetup *setup, double complex *wavelet, double complex *turn);
// Traces of `cube` (whole output grid) from receivers' spectra [source][receiver][n_frequencies],
// of which the first `known` are there. FALSE: cancelled, no memory.
gboolean twsm_traces(const TwsmSetup *setup, const TwsmValue *spectra, int known, LithoCube *cube,
                     LithoRun *run, GError **error);

// Bytes a run takes, for LithoImpl.memory: of the host, and of a GPU. 0 = the model does not open.
guint64 twsm_memory_cpu(const TwsmParams *params, LithoResolved *known, int threads);
guint64 twsm_memory_gpu(const TwsmParams *params, LithoResolved *known);
// For LithoImpl.less_memory: the strips' width that would do.
char *twsm_less_memory_cpu(const TwsmParams *params, LithoResolved *known, guint64 bytes,
                           int threads);
char *twsm_less_memory_gpu(const TwsmParams *params, LithoResolved *known, guint64 bytes);
