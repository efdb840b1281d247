// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/io/output.h"
#include "core/io/survey_private.h"

// A header word of a new trace: origin + i * di + j * dj of its cell (i, j) in the source.
typedef struct LithoBlankWord {
    int byte;
    double origin, di, dj;
} LithoBlankWord;

// One output file being written. Every format is file head, then traces of header_bytes and
// samples at first + position * stride.
struct LithoWriter {
    char *path, *data_path; // RSF: data_path takes the samples; else NULL
    LithoOutput *out;       // takes the samples
    LithoOutput *text;      // RSF: the header, NULL otherwise
    LithoFileKind kind;
    LithoGrid grid;
    LithoSurvey *like; // or NULL
    LithoSaveOptions options;
    char *note;
    GPtrArray *notes;

    gint64 first, header_bytes, stride;
    int format;
    LithoOrder order; // of header words
    LithoOrder sample_order;
    gboolean source_order; // traces go where the source has them, else one after another
    gboolean same_lattice; // cell (i, j) of the grid is cell (i, j) of `like`
    gboolean elsewhere;    // the grid's traces are none of those of `like`
    gboolean new_domain;   // depths where the source's traces have times, or the reverse
    gboolean set_ns, set_dt, set_delay; // sample axis differs from what the source's headers say
    guint8 *blank; // header_bytes: header of traces without one in the source, in `order`
    GArray *blank_words; // LithoBlankWord: what differs from trace to trace there; NULL = no source

    gint64 next_inline, written; // inlines taken, traces written
    gint64 clipped, not_finite;  // samples saturated, traces dropped for NaN or infinite samples
    double rounded, energy;      // of integers: energy of what rounding changed, and of the samples
    gboolean finished;
    guint64 hash; // since the last mark; lasting files only
    GArray *runs; // likewise; NULL in others
};

// Adds `n` bytes at `at` of a lasting file to its mark, with their litho_writer_hash().
// writer_mark.c
void litho_writer_count(LithoWriter *writer, guint64 hash, gint64 n, gint64 at);
guint64 litho_writer_hash(const guint8 *bytes, gint64 n);

// Bytes in front of the first trace, and everything the trace headers need. segy_write.c
GByteArray *litho_segy_head(LithoWriter *writer, GError **error);
// Header of cell (i, j) into `header`; FALSE + no error: the cell is left out.
gboolean litho_segy_put_header(LithoWriter *writer, gint64 i, gint64 j, gboolean live,
                               guint8 *header, GError **error);
// Does the cell get a trace at all? `source` gets its trace in `like`, -1 = none.
gboolean litho_segy_wants_cell(const LithoWriter *writer, gint64 i, gint64 j, gboolean live,
                               gint64 *source);
// The first file of the source, or NULL; does it have trace headers, which the output copies? Are
// the traces of the output those of the source? Not where an image lies elsewhere.
const LithoTraceFile *litho_segy_source(const LithoWriter *writer);
gboolean litho_segy_has_source(const LithoWriter *writer);
gboolean litho_segy_has_source_traces(const LithoWriter *writer);
// The sample interval as the reader takes it from 16 bits, 0 = they cannot hold it; likewise from a
// float: depths below the least thousandths count units. segy_write_axis.c
guint16 litho_segy_interval_word(const LithoWriter *writer);
double litho_segy_interval_field(const LithoWriter *writer);
// Is the last sample of a trace where it belongs, to half a sample, by the 16 bits alone, and is
// that what the reader makes of them?
gboolean litho_segy_word_suffices(const LithoWriter *writer);
// Words of the sample axis into a trace header: those that the writer is to set.
void litho_segy_put_axis(const LithoWriter *writer, guint8 *header);
// Finds the words of new traces among those of the source's traces, into `blank_words`, and writes
// them for cell (i, j) of the output. segy_blank.c
gboolean litho_segy_fit_blank(LithoWriter *writer, GError **error);
void litho_segy_put_blank(const LithoWriter *writer, gint64 i, gint64 j, guint8 *header);
// Patches counts that are known at the end only and appends a trailer.
gboolean litho_segy_finish(LithoWriter *writer, GError **error);

// NumPy, RSF, raw (regular_write.c): head of the samples' file; for RSF the text of the header.
GByteArray *litho_regular_head(LithoWriter *writer, GError **error);
char *litho_rsf_text(const LithoWriter *writer);
// Facts that a NumPy or raw file does not state and its reader would assume otherwise, with the
// options that state them; NULL = none. g_free().
char *litho_regular_note(const LithoWriter *writer);
