// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/io/segy_fields.h"
#include "core/io/xy_fit.h"

// From trace headers to a grid: a sample of headers is looked at first and decides which words are
// read; then all headers are scanned for these words only; then the lattice is built.

// Headers of up to LITHO_HEADS traces spread over the files in runs of neighbours.
enum { LITHO_HEADS = 16384, LITHO_HEAD_RUNS = 64 };

typedef struct LithoHeads {
    guint n;
    guint8 *bytes;     // n * 240 as in the file
    guint8 *order;     // LithoOrder of each
    guint8 *follows;   // 1 = the neighbour of the trace before it in this list
    gint64 *trace;     // survey-wide numbers
    guint most;        // of the list; 0 = LITHO_HEADS
    gboolean complete; // the list holds every trace of the survey
    int scalar;        // the user's, instead of byte 71; 0 = none
    gboolean bare;     // headers hold nothing but counters: zeros may be line 0, crossline 0
    guint8 *foreign;   // 1 = no trace header at all (litho_segy_header_foreign)
    gboolean judged;   // foreign headers are few: they are noise, not this file's habit
    guint8 *auxiliary; // 1 = no seismic data by its trace identification (litho_segy_auxiliary)
    gboolean apart;    // such traces are fewer than half: they are none of the survey's
    gboolean numbered; // byte 215 is part of a line number: no scalar of times
    float su[4];       // d1, f1, d2, f2 of an SU file: step and start of samples and of traces
} LithoHeads;

gboolean litho_heads_read(LithoHeads *heads, LithoSurvey *survey, GError **error);
// Finds words of line numbers and coordinates that hold IEEE floats, marks them in
// survey->float_word, and makes integers of them in the heads: whole numbers for lines, centimetres
// (and a scalar of -100) for coordinates.
void litho_heads_take_floats(LithoHeads *heads, LithoSurvey *survey,
                             const LithoOpenOptions *options);
void litho_heads_clear(LithoHeads *heads);
// TRUE for traces that record something else than the survey: time break, uphole, sweep, timing and
// water break (trace identification 4 to 8), since revision 1 gun signatures, what a vibrator does,
// and pairs of times and velocities (9, 10, 18 to 22), too.
gboolean litho_segy_auxiliary(const LithoTraceFile *file, const guint8 header[240]);
gint32 litho_head_i32(const LithoHeads *heads, guint k, int byte);
gint16 litho_head_i16(const LithoHeads *heads, guint k, int byte);
// TRUE when the word (four bytes when `wide`, else two) differs between heads to be looked at.
gboolean litho_heads_vary(const LithoHeads *heads, int byte, gboolean wide);
// TRUE for coordinates that say "no place": zeros, or an end of the words' range.
gboolean litho_xy_nowhere(gint32 x, gint32 y);
int litho_head_scalar(const LithoHeads *heads, guint k); // of coordinates, as at byte 71
// TRUE when byte 71 has a scalar that the standard does not know, and the distances from source to
// receiver are the offsets without it.
gboolean litho_heads_scalar_is_none(const LithoHeads *heads);
// First head that can be believed: neither empty nor foreign. heads->n = none.
guint litho_heads_lead(const LithoHeads *heads);
// Not to be looked at: all 240 bytes zero (padding, unless the headers are bare), foreign, or of an
// auxiliary trace.
gboolean litho_head_empty(const LithoHeads *heads, guint k);

// Scores the usual pairs of bytes (and those of the text header and the user) into
// survey->candidates, best first.
void litho_candidates_score(LithoSurvey *survey, const LithoHeads *heads,
                            const LithoOpenOptions *options);
// Least score a pair needs to be taken without being asked for.
#define LITHO_CANDIDATE_GOOD 0.22

// Header words that the scan reads of each trace.
typedef struct LithoScan {
    int byte[2];          // words of the keys
    gboolean coordinates; // keys are x, y: brought to one scalar
    double scale;         // coordinates: file units of one key unit
    gboolean want_offset, want_delay;
    double delay_unit;  // s or m of one unit of the delay; one for all traces
    int scalar;         // as in LithoHeads
    gboolean bare;      // as in LithoHeads
    gboolean judged;    // as in LithoHeads
    gboolean apart;     // as in LithoHeads
    gboolean floats[2]; // the word is an IEEE float
    gint64 n;
    gint32 *key[2];
    gint32 *offset; // or NULL
    gint16 *delay;  // in delay units, or NULL
    guint8 *flags;  // LITHO_SCAN_*
    gboolean have_keys;
    void (*on_headers)(const gint32 *a, const gint32 *b, gint64 n, gint64 total, gpointer data);
    gpointer headers_data; // as in LithoOpenOptions
} LithoScan;

enum {
    LITHO_SCAN_DEAD = 1,       // trace identification 2, or 3 (dummy) where those are few
    LITHO_SCAN_EMPTY = 2,      // a header of zeros
    LITHO_SCAN_FOREIGN = 4,    // no trace header at all
    LITHO_SCAN_STRAY = 8,      // line numbers or coordinates far from all others'
    LITHO_SCAN_AUXILIARY = 16, // no seismic data
    LITHO_SCAN_OUT = LITHO_SCAN_EMPTY | LITHO_SCAN_FOREIGN | LITHO_SCAN_STRAY |
                     LITHO_SCAN_AUXILIARY, // not on the lattice
};

gboolean litho_scan_run(LithoScan *scan, LithoSurvey *survey, LithoRun *run, GError **error);
void litho_scan_clear(LithoScan *scan);
// Distinct offsets of the traces on the lattice and their range; 1 = they are all the same.
gint64 litho_scan_offsets(const LithoScan *scan, gint32 *low, gint32 *high);

// Flags traces whose keys lie far from all others', or between the lines' own, as strays, where
// they are few (more of them with options->ignore_outliers) and the lattice gains by it.
// segy_strays.c
void litho_strays_find(LithoScan *scan, const LithoOpenOptions *options);
// Tells how many traces were left out, which, and why; FALSE when reading is strict.
gboolean litho_strays_tell(const LithoScan *scan, LithoSurvey *survey,
                           const LithoOpenOptions *options, GError **error);

// Greatest common divisor: the step of line numbers from their differences. 0 and b give b.
gint64 litho_lattice_gcd(gint64 a, gint64 b);
// Turns coordinate keys into lattice indices (1, 2, ...) in place and fills the grid's coordinates.
// FALSE without an error: the points form no lattice (`why` says so).
gboolean litho_lattice_from_xy(LithoScan *scan, LithoSurvey *survey, char why[96]);

// Axes, table, duplicates and counts from the keys. `forced`: the user chose the bytes.
typedef enum {
    LITHO_LATTICE_BUILT,
    LITHO_LATTICE_LINE,      // a line that wanders over the lattice: better shown in file order
    LITHO_LATTICE_SCATTERED, // single traces here and there, fewer than one in ten cells: likewise
    LITHO_LATTICE_FAILED,
} LithoLatticeResult;
// The grid has its axes then, too.
LithoLatticeResult litho_lattice_build(LithoScan *scan, LithoSurvey *survey,
                                       const LithoOpenOptions *options, gboolean forced,
                                       GError **error);

// Says what the axes of a lattice of line numbers count: shots, channels, CDPs or offsets, where
// the words are theirs and the offsets vary; else inlines and crosslines. segy_names.c
void litho_segy_name_axes(LithoSurvey *survey, const LithoScan *scan);
// Numbers the one line of traces in file order by their offsets and tells so, where these are
// evenly apart; FALSE without a change where they are not, or count the traces. segy_names.c
gboolean litho_segy_number_by_offset(LithoSurvey *survey, const LithoScan *scan);

// Sample axis from the headers (interval, delay, depth or time).
gboolean litho_segy_sample_axis(LithoSurvey *survey, const LithoHeads *heads,
                                const LithoOpenOptions *options, GError **error);
// One unit of the delay at byte 109, in s or m, with the scalar of byte 215 where that is one, and
// of a foot where the file counts depths in feet; 0 = no header can be believed.
double litho_segy_delay_unit(const LithoSurvey *survey, const LithoHeads *heads);
// Delays that differ: cells' shifts and a longer sample axis.
gboolean litho_segy_apply_delays(LithoSurvey *survey, const LithoScan *scan, GError **error);
// The coordinates of a fit of one or both lattice directions become those of the grid.
void litho_grid_take_fit(const LithoXyFit *fit, LithoGrid *grid);
// Coordinates of the grid fitted to the heads' X/Y against their place on the lattice.
void litho_segy_fit_xy(LithoSurvey *survey, const LithoHeads *heads,
                       const LithoOpenOptions *options, int inline_byte, int xline_byte);
// Finds the coordinate words that vary: 181/185, 73/77 or 81/85 (or the user's). FALSE = none.
gboolean litho_segy_xy_bytes(const LithoHeads *heads, const LithoOpenOptions *options, int *x_byte,
                             int *y_byte);
// Distance of neighbours in the file, in its unit of length, beyond which they are none of one
// line; infinite where no two places differ. segy_lines.c
double litho_segy_far_apart(const LithoHeads *heads, int x_byte, int y_byte);
// TRUE: the line number does not change, and where the coordinates jump the traces of another line
// repeat the numbers of those before.
gboolean litho_segy_lines_begin_anew(const LithoHeads *heads, const LithoOpenOptions *options,
                                     int inline_byte, int xline_byte);
// Tells that the few lines of a lattice lie too far apart for a cube, or not side by side.
void litho_segy_tell_apart(LithoSurvey *survey, const LithoHeads *heads,
                           const LithoOpenOptions *options);
// Tells where lines that are shown as one seem to be joined. `in_order`: the traces have no numbers
// and are shown in file order; else coordinates alone tell lines apart.
void litho_segy_tell_lines(LithoSurvey *survey, const LithoHeads *heads,
                           const LithoOpenOptions *options, gboolean in_order);
