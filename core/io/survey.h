// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"
#include "core/io/output.h"
#include "core/run.h"

// A seismic file (or several that form one survey) opened for reading: what its headers say, where
// each trace of the grid lies, and streamed access. Formats: SEG-Y, SU, NumPy, RSF, raw, and those
// of litho_array_is(), as the build has their libraries: Zarr, HDF5, netCDF.
//
// A survey is immutable after opening and may be read by several threads at once.
// Ownership: litho_survey_ref/unref, any thread.

// The last byte of a trace header where a number may begin.
enum { LITHO_LAST_BYTE = 237 };

// Settings that the user may overrule; zero/NULL/empty = the program finds them out.
typedef struct LithoOpenOptions {
    int inline_byte, xline_byte; // 1-based trace-header bytes
    int x_byte, y_byte;
    int xy_scalar;             // instead of trace header byte 71: -100 divides by 100, 10
                               // multiplies by 10; 0 = as the headers say
    int format;                // SEG-Y sample format code
    int endian;                // 0 detect, 1 big, 2 little
    double dt;                 // s (m for depth); for files that do not say
    gboolean dt_is_bare; // dt has no unit of time: refused where no record has so many seconds
    double dx, dy;             // m, along inline index and crossline index
    gint64 shape[3];           // raw: n1, n2, n3
    const char *dtype;         // raw: "float32", "float64", "int16"
    gboolean file_order;       // one line of traces in file order, no geometry
    gboolean strict;           // repairs become errors
    gboolean ignore_outliers;  // up to a quarter of the traces may lie off the others' lattice
    int duplicates;            // 0 first, 1 last, 2 mean
    int domain;                // of the sample axis: 0 find out, 1 time, 2 depth
    gboolean keep_zero_traces; // traces of zeros, or of one other value, count as live

    // First inline as soon as it can be shown, before the scan has finished. In the opening thread.
    void (*on_first)(LithoCube *line, gpointer data);
    gpointer first_data;
    // Line numbers (or coordinates, where there are none) of `n` traces just scanned of `total`:
    // for a map that fills. One call at a time, from any of the opening threads.
    void (*on_headers)(const gint32 *a, const gint32 *b, gint64 n, gint64 total, gpointer data);
    gpointer headers_data;
} LithoOpenOptions;

// Evidence for one pair of header bytes that might number inlines and crosslines.
typedef struct LithoCandidate {
    int inline_byte, xline_byte;
    double score;      // 0..1
    char evidence[96]; // "251 x 354 numbers, step 1 and 1, fills 99 %"
} LithoCandidate;

// Names of the formats that this build reads: "SEG-Y, SU, ..., HDF5". Static.
const char *litho_survey_formats(void);

// Opens and scans. `paths` is NULL-terminated; several files must agree in samples and interval.
// Progress in traces through `run`; a cancel gives G_IO_ERROR_CANCELLED. `options` may be NULL.
LithoSurvey *litho_survey_open(const char *const *paths, const LithoOpenOptions *options,
                               LithoRun *run, GError **error);
// A sentence about a sample interval of `dt` s that was given and is hardly meant, with the way to
// write milliseconds; `option` stands before the number, "--dt ". NULL = it is plausible. g_free().
char *litho_interval_note(double dt, const char *option);
// FALSE with a sentence where such an interval was given without a unit (LITHO_ERROR_PARAMETER):
// whoever types --dt 4 means milliseconds. `may_be_depth`: the sentence names --depth, too.
gboolean litho_interval_meant(double dt, gboolean is_bare, gboolean may_be_depth, GError **error);

// Sample intervals that a survey may have, in s or m: what lies beyond is a damaged word, and numbers
// of samples and frequencies made of it overflow.
#define LITHO_LEAST_INTERVAL 1e-9
#define LITHO_LARGEST_INTERVAL 1e5
gboolean litho_interval_possible(double step);
LithoSurvey *litho_survey_ref(LithoSurvey *survey);
void litho_survey_unref(LithoSurvey *survey);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoSurvey, litho_survey_unref)

const LithoGrid *litho_survey_grid(const LithoSurvey *survey);
const char *litho_survey_name(const LithoSurvey *survey);   // base name of the first file
const char *litho_survey_path(const LithoSurvey *survey);   // first file
const char *litho_survey_format(const LithoSurvey *survey); // "SEG-Y rev 1, IBM float, big endian"
int litho_survey_sample_format(const LithoSurvey *survey);  // SEG-Y's code; 0 = the format has none
// Sentences for the banner: repairs, assumptions, oddities. Borrowed.
const GPtrArray *litho_survey_notes(const LithoSurvey *survey);
// TRUE when the file's labels name time or depth on another axis than the one that its traces run
// along (RSF). Any thread.
gboolean litho_survey_is_turned(const LithoSurvey *survey);
// Decoded text header, lines ended by '\n'; "" when the format has none.
const char *litho_survey_text(const LithoSurvey *survey);
// Candidates for the geometry bytes, best first; 0 when the format has none. Borrowed.
guint litho_survey_candidates(const LithoSurvey *survey, const LithoCandidate **list);
// Counts of the scan.
typedef struct LithoSurveyCounts {
    gint64 traces, live, missing, dead, zero, flat, duplicates;
    gint64 bad;     // with NaN/Inf/null values, known after reading
    gint64 offsets; // distinct ones; > 1 = prestack
    gint64 bad_samples,
        masked;      // of the bad traces read whole: such samples, traces masked for them
    gint64 left_out; // of the means of their cells, for zeros or holes; known after reading
} LithoSurveyCounts;
LithoSurveyCounts litho_survey_counts(const LithoSurvey *survey);

// Traces of zeros, or of one other value, met so far by reading, "12 traces of zeros count as
// missing; ..."; NULL = none. g_free().
char *litho_survey_zero_traces(const LithoSurvey *survey);

// Bad samples met so far by reading: "3 traces hold 7 NaN, infinite or null samples: ..."; NULL =
// none. A float64 beyond float32 is infinite, 1e30 a null. g_free().
char *litho_survey_bad_samples(const LithoSurvey *survey);
// Traces that were met and are part of no mean: "2 traces of zeros or with holes were left out of
// the means of their cells"; NULL = none. g_free().
char *litho_survey_left_out(const LithoSurvey *survey);

// The traces of `box` (all of its samples) as a new cube that remembers the survey. NULL box = all.
// Streamed, checked for NaN/Inf (masked and counted, not passed on; an error when the survey was
// opened strictly). Any thread.
LithoCube *litho_survey_read(LithoSurvey *survey, const LithoBox *box, LithoRun *run,
                             GError **error);
// Likewise; inlines that `near` holds are copied from it, not read again. A cube of this survey with
// other crosslines or samples, or NULL, is of no use and no error.
LithoCube *litho_survey_read_next(LithoSurvey *survey, const LithoBox *box, const LithoCube *near,
                                  LithoRun *run, GError **error);
// TRUE where `path` names a survey: its ending is that of a format read here, or it is the file or
// folder of one that is told by its first bytes (HDF5, netCDF, Zarr). Any thread.
gboolean litho_survey_is_name(const char *path);
// FALSE with a sentence: the stamp of a file or store (core/stamp.h) is no longer that of the
// opening.
gboolean litho_survey_unchanged(const LithoSurvey *survey, GError **error);
// TRUE when a trace of the file fills grid cell (i, j), dead or alive; the cell must exist.
gboolean litho_survey_has_trace(const LithoSurvey *survey, gint64 i, gint64 j);
// Cells that have no trace and none within `reach` lines on either axis. 0 as well when there is no
// memory for a few lines of bytes.
gint64 litho_survey_far_cells(const LithoSurvey *survey, int reach);
// Trace header of grid cell (i, j): 240 bytes or more (extensions), big endian as in the standard.
// FALSE when the cell has no trace or the format no headers.
gboolean litho_survey_trace_header(LithoSurvey *survey, gint64 i, gint64 j, guint8 bytes[240],
                                   GError **error);
// Place of a trace's source (`receiver` FALSE) or receiver, in m, of a header that
// litho_survey_trace_header() gave: with the scalar that the survey was opened with.
void litho_survey_place(const LithoSurvey *survey, const guint8 header[240], gboolean receiver,
                        double xy[2]);
// Decoded standard fields of a 240-byte header for display: key, byte, value. Static table walk.
typedef struct LithoHeaderField {
    int byte, size;
    const char *name;
} LithoHeaderField;
const LithoHeaderField *litho_segy_fields(guint *n);
gint32 litho_segy_field_value(const guint8 header[240], const LithoHeaderField *field);

// Opens, reads everything and closes: the short way. Checks memory before allocating.
LithoCube *litho_cube_load(const char *path, const LithoOpenOptions *options, LithoRun *run,
                           GError **error);

// --- writing ----------------------------------------------------------------------------------

typedef struct LithoSaveOptions {
    int format;       // SEG-Y sample format; 0 = as the source, 5 (IEEE) without one
    int endian;       // 0 as the source (big without one), 1 big, 2 little
    int missing;      // masked traces in SEG-Y: 0 = as the source had them (left out), 1 = dead
    gboolean force;   // overwrite an existing file (never the input)
    GPtrArray *notes; // of char *, borrowed: litho_writer_finish() adds copies of
                      // litho_writer_notes(); NULL = not told
    const char *note; // a line for the text header / format's comment, e.g. the recipe; NULL = none
    gboolean lasting; // samples go to "PATH.part", for litho_writer_mark() and litho_writer_keep()
    LithoResume resume; // of lasting: what stands there
} LithoSaveOptions;

// Writes to a temporary name beside `path`; litho_writer_finish() syncs and renames. The format
// follows the file name. Headers come from `like` (may be NULL: made from the grid).
// Ownership: free with litho_writer_free(), which removes the temporary file when not finished.
typedef struct LithoWriter LithoWriter;
LithoWriter *litho_writer_new(const char *path, const LithoGrid *grid, LithoSurvey *like,
                              const LithoSaveOptions *options, GError **error);
// FALSE with the sentence of litho_writer_new() about a name, a format or a grid that no file can
// have; touches no file. For the start of a long job.
gboolean litho_writer_check(const char *path, const LithoGrid *grid, LithoSurvey *like,
                            const LithoSaveOptions *options, GError **error);
// Samples of one slab of whole inlines; slabs in increasing inline order without gaps.
gboolean litho_writer_put(LithoWriter *writer, const LithoCube *slab, LithoRun *run,
                          GError **error);
gboolean litho_writer_finish(LithoWriter *writer, GError **error);

// Inlines taken so far.
gint64 litho_writer_next_inline(const LithoWriter *writer);

// How far a lasting file has come, for a journal (core/engine/journal.h).
typedef struct LithoWriterMark {
    gint64 next_inline, written; // inlines taken, traces written
    gint64 clipped, not_finite;
    double rounded, energy; // of what rounding to integers changed, and of the samples
    guint64 hash; // of what was written since the mark before
    GArray *runs; // of gint64, first byte and number of bytes of every write since then
} LithoWriterMark;
// Takes the mark behind what was put last; `mark->runs` is the caller's.
void litho_writer_mark(LithoWriter *writer, LithoWriterMark *mark);
// Moves a writer that has put nothing behind a mark of another process. FALSE: the file does not
// hold the bytes that the mark tells of, and the writer stays where it is.
gboolean litho_writer_reach(LithoWriter *writer, const LithoWriterMark *mark);
// From now on litho_writer_free() leaves the unfinished file behind.
void litho_writer_keep(LithoWriter *writer);
// Sentences about what the format could not hold (samples clipped, rounded or not finite).
// Borrowed.
const GPtrArray *litho_writer_notes(const LithoWriter *writer);
void litho_writer_free(LithoWriter *writer);

// The short way: whole cube, headers from cube->survey.
gboolean litho_cube_save(const LithoCube *cube, const char *path, const LithoSaveOptions *options,
                         LithoRun *run, GError **error);
