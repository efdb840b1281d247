// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

#include "core/io/sample_codec.h"

// Makes SEG-Y and SU files of every odd kind in memory, with sample and header words written by
// code of its own: an error of the program's codec does not cancel out.

typedef enum { MAKE_INLINE_SORTED, MAKE_XLINE_SORTED, MAKE_ZIGZAG, MAKE_SHUFFLED } MakeSorting;

typedef struct Make {
    LithoOrder order; // of everything
    int format;       // sample format code
    int n1, n2, ns, dt_us;
    int inline_first, inline_step, xline_first, xline_step;
    int inline_byte, xline_byte; // 0 = 189/193, -1 = not written
    MakeSorting sorting;
    int revision;      // word at 3501: 0x0100, 0x0201, ...
    int ext_text;      // extended text headers present
    int ext_declared;  // word at 3505
    gboolean end_text; // the last one ends with ((SEG: EndText))
    int additional;    // additional trace headers (3507)
    gboolean ascii;    // text header in ASCII
    int offsets;       // traces per cell with offsets 100, 200, ...; 0 = 1 trace without offset
    double x0, y0, bin_x, bin_y, angle; // coordinates in metres with scalar -100; bin_x 0 = none
    gboolean su;                        // no file headers
} Make;

// A plain file to start from: 4 x 5 x 30, IBM, big endian, 189/193, revision 1.
Make make_plain(void);
GByteArray *make_file(const Make *make);
// Value of sample k of trace (i, j): small whole numbers of both signs that every signed format
// keeps exactly (unsigned formats: plus 100).
float make_value(const Make *make, int i, int j, int k);
// Bytes of one trace with its headers, and where the first one starts.
int make_stride(const Make *make);
int make_first(const Make *make);

// Number of the n-th trace in the file -> its cell.
void make_cell(const Make *make, int n, int *i, int *j);

// Words of the file, 1-based bytes as in the standard; `trace` counts from 0.
void make_put_bin16(GByteArray *file, const Make *make, int byte, int value);
void make_put_bin32(GByteArray *file, const Make *make, int byte, gint64 value);
void make_put_head16(GByteArray *file, const Make *make, int trace, int byte, int value);
void make_put_head32(GByteArray *file, const Make *make, int trace, int byte, gint64 value);
void make_put_sample(GByteArray *file, const Make *make, int trace, int k, double value);
void make_drop_trace(GByteArray *file, const Make *make, int trace);

// IBM float nearest to `x` by plain arithmetic: the reference the fast code is compared with.
guint32 make_ibm(double x);
