// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/io/array.h"
#include "core/io/output.h"
#include "core/origin.h"
#include "core/stamp.h"
#include "core/io/sample_codec.h"
#include "core/io/survey.h"

// Types and functions that core's file readers and writers share. Every format is reduced to one
// picture: files of traces, each trace some header bytes (none in NumPy, RSF and raw files) and
// then samples, and a table that says which trace fills which cell of the grid.

typedef enum {
    LITHO_FILE_SEGY,
    LITHO_FILE_SU,
    LITHO_FILE_NPY,
    LITHO_FILE_RSF,
    LITHO_FILE_RAW,
    LITHO_FILE_ARRAY, // HDF5, netCDF or Zarr, through their libraries
} LithoFileKind;

typedef struct LithoTraceFile {
    char *path;
    int fd;
    gint64 size;       // bytes, at opening; of an array: those of its samples as float32
    LithoStamp stamp;  // of the file itself, or of the store, at opening
    LithoArray *array; // owned: reads the samples in place of `fd`; NULL = the file holds them
    LithoFileId id;
    gint64 label;            // bytes of a tape label before the text header (0 or 128)
    gint64 first;            // byte of the first trace
    gint64 header_bytes;     // in front of each trace's samples: 0, 240, 480, ...
    gint64 ns;               // samples of a trace (of the longest one)
    gint64 stride;           // bytes from trace to trace; 0 = lengths differ, see offsets
    gint64 *offsets;         // traces + 1 byte positions, or NULL
    gint64 traces;           // whole traces
    gint64 base;             // number of the first one within the survey
    gint64 trailer;          // bytes after the last trace that are declared to be there
    int format;              // sample format code
    LithoOrder order;        // of header words
    LithoOrder sample_order; // of samples
    int revision;            // major << 8 | minor
    guint16 dt_binary;       // microseconds or millimetres as stored, 0 = silent
    double dt_extended;      // bytes 3273, 0 = silent
    int measurement;         // bytes 3255: 1 metre, 2 foot, else unknown
    // Words of the binary header that differ from what was found: samples of a trace, extended
    // text headers, additional trace headers.
    gboolean mended_ns, mended_texts, mended_headers;
} LithoTraceFile;

// Flags of a cell beside its trace number.
enum {
    LITHO_CELL_DEAD = 1, // trace identification 2
    LITHO_CELL_ZERO = 2, // all samples zero or of one value, and masked for it; known after reading
    LITHO_CELL_BAD = 4,  // some sample was NaN, infinite or a null value
    LITHO_CELL_HOLED = 8,     // ... between good samples: masked
    LITHO_CELL_REPEATED = 16, // more than one trace claims the cell
    LITHO_CELL_ABSENT = 32,   // all NaN in a format without headers: the trace is missing
    LITHO_CELL_LEFT = 128,    // traces left out of its mean are in counts.left_out
    LITHO_CELL_COUNTED = 64,  // its bad samples are in counts.bad_samples
};

typedef struct LithoRepeat {
    gint64 cell, trace;
} LithoRepeat;

enum { LITHO_HEADER_WORDS = 241 };

struct LithoSurvey {
    LithoOrigin counted; // first: a cube holds it as this
    LithoFileKind kind;
    GArray *files; // of LithoTraceFile
    gint64 traces;
    LithoGrid grid;
    char *name;
    char *format;
    char *text;
    char *reading; // the options it was opened with, as JSON
    GPtrArray *notes;
    GArray *candidates; // of LithoCandidate

    // Trace of cell (i, j): origin + i * inline_stride + j * xline_stride when `table` is NULL,
    // else table[i * n2 + j], -1 = none.
    gint64 *table;
    gint64 origin, inline_stride, xline_stride;
    guint8 *state;            // flags per cell, written by readers with atomic or
    gint32 *shift;            // samples from the axis' start to the trace's first one, or NULL = 0
    GArray *repeats;          // of LithoRepeat, sorted by cell: only for the mean of duplicates
    LithoSurveyCounts counts; // filled by the scan: traces, missing, dead, duplicates, offsets
    int key_byte[2], xy_byte[2]; // header words of line numbers and coordinates, 0 = none
    int xy_scalar; // the user's or the mended one, instead of byte 71; 0 = as the headers say
    gboolean zero_is_live;
    int flat_is_dead;              // 0 not known yet, 1 yes, -1 no
    gboolean says_depth;           // the headers do, whatever the user says
    gboolean is_turned;            // labels name time or depth on another axis than the traces'
    gboolean mended_dt;            // words of the sample interval differ from what was read of them
    gboolean starts_ignored;       // those of trace headers differ, and cannot be true
    gint64 looked_at, looked_zero; // traces whose samples were looked at when opening
    gboolean strict;
    guint8 float_word[LITHO_HEADER_WORDS]; // by byte: 1 = trace header words there are IEEE floats
};
enum { LITHO_FLOAT_OF_SU = 2 }; // in float_word: a float of Seismic Unix, no line or coordinate
// One with a reference for the caller and nothing in it.
LithoSurvey *litho_survey_bare(void);

// --- files (file_io.c) ------------------------------------------------------------------------

// Opens for reading and fills path, fd, size. Refuses directories (but those of Zarr), empty files and files of other
// formats.
gboolean litho_file_open(LithoTraceFile *file, const char *path, GError **error);
// Files and folders of other formats (foreign.c): ZGY, VDS, netCDF, HDF5, SEG-D, SEG-2,
// packed files, pictures, web pages. FALSE with a sentence that names the format and a way out;
// litho_foreign_refuse_folder() always.
gboolean litho_foreign_check(const LithoTraceFile *file, GError **error);
gboolean litho_foreign_refuse_folder(const char *path, GError **error);
void litho_file_close(LithoTraceFile *file);
// Reads up to `n` bytes; short only at the end of the file. -1 sets `error`.
gint64 litho_file_read(const LithoTraceFile *file, void *buffer, gint64 n, gint64 at,
                       GError **error);
// Reads `n` bytes; fewer are an error, too ("file became shorter").
gboolean litho_file_read_all(const LithoTraceFile *file, void *buffer, gint64 n, gint64 at,
                             GError **error);
// Bytes that lie in memory already: TRUE = all of them were read. FALSE costs no wait for the disk,
// and is the answer of file systems that cannot tell.
gboolean litho_file_read_cached(const LithoTraceFile *file, void *buffer, gint64 n, gint64 at);
// Asks the system for bytes that are read soon, so that many requests wait for the disk at once;
// returns without them. Any thread; does nothing for Zarr, HDF5 and netCDF.
void litho_file_expect(const LithoTraceFile *file, gint64 n, gint64 at);
// The stamp is that of the opening. FALSE: what was read since may be a mixture. Looks at every
// file of a store, which may be a million.
gboolean litho_file_unchanged(const LithoTraceFile *file, GError **error);
// FALSE, with the sentence of a file that is another one than was opened.
gboolean litho_file_refuse_changed(const char *path, GError **error);
// TRUE when `bytes` fit; else LITHO_ERROR_MEMORY with `what` in the sentence.
gboolean litho_memory_check(gint64 bytes, const char *what, GError **error);

void litho_survey_note(LithoSurvey *survey, const char *format, ...) G_GNUC_PRINTF(2, 3);
// The note told last becomes the first, the one that a banner shows.
void litho_survey_note_first(LithoSurvey *survey);
// A repair: a note, or an error when `strict`.
// A sample interval that cannot be true becomes the assumed one, with a note.
void litho_survey_judge_interval(LithoSurvey *survey);
gboolean litho_survey_repair(LithoSurvey *survey, gboolean strict, GError **error,
                             const char *format, ...) G_GNUC_PRINTF(4, 5);

// The format that a name ends in (".sgy"). FALSE: none of those that names tell.
gboolean litho_file_kind_of_name(const char *path, LithoFileKind *kind);

// --- readers of one format --------------------------------------------------------------------
// Each fills survey->files with one file and, for the regular ones, grid and table.

gboolean litho_npy_open(LithoSurvey *survey, const char *path, const LithoOpenOptions *options,
                        GError **error);
gboolean litho_rsf_open(LithoSurvey *survey, const char *path, const LithoOpenOptions *options,
                        GError **error);
gboolean litho_raw_open(LithoSurvey *survey, const char *path, const LithoOpenOptions *options,
                        GError **error);
// HDF5, netCDF and Zarr (array_open.c): LITHO_ERROR_UNSUPPORTED where the program was built without.
gboolean litho_array_open(LithoSurvey *survey, const char *path, const LithoOpenOptions *options,
                          GError **error);
// The array of three dimensions that a file holds, and what is known of its axes. NULL: `error`.
LithoArray *litho_hdf5_open(LithoSurvey *survey, const char *path, GError **error);
LithoArray *litho_netcdf_open(LithoSurvey *survey, const char *path, GError **error);
LithoArray *litho_zarr_open(LithoSurvey *survey, const char *path, GError **error);
// TRUE for an HDF5 file that netCDF wrote and whose arrays may all be read.
gboolean litho_hdf5_is_netcdf(const char *path);
// The packed array `name` of a netCDF-4 file, of n[] samples, unpacked here; *array is NULL where the
// netCDF library may read it. FALSE sets `error`.
gboolean litho_hdf5_unpacker(const char *path, const char *name, const gint64 n[3],
                             LithoArray **array, GError **error);
// TRUE when the first bytes of the file are those of a format that a library here reads.
gboolean litho_array_is(const char *path);
// Common end of the four: grid n1 x n2 x n3 in C order at file->first.
gboolean litho_regular_finish(LithoSurvey *survey, LithoTraceFile *file, const gint64 n[3],
                              const LithoOpenOptions *options, GError **error);

// dx, dy of the options; 25 m, told, where nothing else is known.
void litho_grid_apply_spacing(LithoSurvey *survey, const LithoOpenOptions *options);

// SEG-Y (segy_layout.c): where traces start, how long they are, in which format and byte order.
// `survey` takes the notes and, from the first file, the text.
gboolean litho_segy_layout(LithoSurvey *survey, LithoTraceFile *file,
                           const LithoOpenOptions *options, GError **error);
// SU (su.c): 240-byte headers and samples from byte 0 on.
gboolean litho_su_layout(LithoSurvey *survey, LithoTraceFile *file, const LithoOpenOptions *options,
                         GError **error);
gboolean litho_su_plausible(const LithoTraceFile *file);
// 0..1: do 240 bytes look like a trace header of a trace with `ns` samples `dt` apart?
double litho_segy_header_plausible(const guint8 *header, LithoOrder order, gint64 ns, int dt);
// 240 bytes that can be no trace header at all: text, samples or noise where one should be. Headers
// of odd but living programs pass.
gboolean litho_segy_header_foreign(const guint8 *header, LithoOrder order, gint64 ns, int dt);
// TRUE when a trace of one value repeated is a dead one: most traces have both signs, as no
// velocity model has. Looks at some of them the first time; any thread.
gboolean litho_survey_flat_is_dead(LithoSurvey *survey);
// TRUE when all `n` samples at `p`, as the file holds them, are zero, of either sign.
gboolean litho_file_all_zero(const LithoTraceFile *file, const guint8 *p, gint64 n);
// Format and byte order of the samples checked against their statistics (segy_samples.c).
gboolean litho_segy_check_samples(LithoSurvey *survey, LithoTraceFile *file,
                                  const LithoOpenOptions *options, GError **error);

// Files of one survey (survey_agree.c). Sample axis of one open file alone, into `grid`, which has
// nothing else then.
gboolean litho_survey_read_axis(const LithoSurvey *survey, const LithoTraceFile *file,
                                const LithoOpenOptions *options, LithoGrid *grid, GError **error);
// FALSE with a sentence that names both values: unit of length, domain, samples or interval differ.
// An interval that is assumed agrees with any.
gboolean litho_survey_agree(const LithoTraceFile *a, const LithoGrid *first,
                            const LithoTraceFile *b, const LithoGrid *grid, GError **error);

// Geometry of header-bearing files: candidates, scan, grid and table (segy_scan.c and friends).
gboolean litho_segy_geometry(LithoSurvey *survey, const LithoOpenOptions *options, LithoRun *run,
                             GError **error);

// --- text headers (segy_text.c) ---------------------------------------------------------------

enum { LITHO_TEXT_BYTES = 3200, LITHO_BINARY_BYTES = 400, LITHO_HEADER_BYTES = 240 };

gboolean litho_text_is_ebcdic(const guint8 *text, gsize n);
// 40 lines of 80 as UTF-8, '\n' after each, trailing blanks cut, odd bytes as a middle dot.
char *litho_text_decode(const guint8 text[LITHO_TEXT_BYTES]);
// Printable ASCII to EBCDIC (code page 037), for one byte.
guint8 litho_text_to_ebcdic(char c);
// Inline and crossline bytes that the text claims, 0 = none.
void litho_text_hints(const char *text, int *inline_byte, int *xline_byte);
// Words put before "DEPTH MIN: .." or "TIME MIN: .." when a result's sample axis differs from the
// axis of the file whose text it carries on; the last one in a text counts.
#define LITHO_TEXT_AXIS "SAMPLE AXIS NOW: "
// Stands behind what a text header written here tells of bins or of the sample axis that no file
// and no person stated.
#define LITHO_TEXT_ASSUMED "(ASSUMED)"
// Step of a sample axis, in s or m, that the decoded text calls assumed in line 7; 0 = it does not.
double litho_text_assumed_step(const char *text);
// Puts `note` into blank lines of a text header, in the header's own code and letters, broken
// between words where it can be. FALSE = no blank line.
gboolean litho_text_append(guint8 text[LITHO_TEXT_BYTES], const char *note);
// Puts up to 76 letters of `note` in the place of line 1 to 40.
void litho_text_replace(guint8 text[LITHO_TEXT_BYTES], int line, const char *note);

// --- trace header access (survey_read.c) ------------------------------------------------------

// Trace of a cell, -1 = none.
gint64 litho_survey_trace_of(const LithoSurvey *survey, gint64 i, gint64 j);
const LithoTraceFile *litho_survey_file_of(const LithoSurvey *survey, gint64 trace);
gint64 litho_file_trace_at(const LithoTraceFile *file, gint64 trace_in_file);
gint64 litho_file_trace_samples(const LithoTraceFile *file, gint64 trace_in_file);
