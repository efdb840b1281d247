// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/io/segy_fields.h"
#include "core/io/writer_private.h"
#include "core/text.h"

// SEG-Y and SU output. With a source, its file headers and trace headers are copied byte for byte
// and only what must change is changed; without one, headers are made from the grid: of revision 1,
// or 2 where the words of 1 do not hold the sample axis.

const LithoTraceFile *litho_segy_source(const LithoWriter *w)
{
    return w->like ? &g_array_index(w->like->files, LithoTraceFile, 0) : NULL;
}

gboolean litho_segy_has_source(const LithoWriter *w)
{
    return w->like && litho_segy_source(w)->header_bytes >= LITHO_HEADER_BYTES;
}

gboolean litho_segy_has_source_traces(const LithoWriter *w)
{
    return litho_segy_has_source(w) && !w->elsewhere;
}

// The unit of coordinates: copied trace headers stay as they are, in SU, too.
static double place_unit(const LithoWriter *w)
{
    const gboolean copied =
        w->kind == LITHO_FILE_SU ? litho_segy_has_source_traces(w) : litho_segy_has_source(w);
    return copied && litho_segy_source(w)->measurement == 2 ? LITHO_FOOT : 1;
}

// --- trace headers ----------------------------------------------------------------------------

// Finest power of ten that keeps all corners of the survey within 32 bits.
static int coordinate_scalar(const LithoWriter *w)
{
    const LithoGrid *g = &w->grid;
    double most = 0;
    for (int corner = 0; corner < 4; corner++)
        for (int c = 0; c < 2; c++) {
            double i = corner & 1 ? g->axis[0].n : 0, j = corner & 2 ? g->axis[1].n : 0;
            most = MAX(most, fabs(g->origin[c] + i * g->inline_step[c] + j * g->xline_step[c]));
        }
    for (int s = 0; g->spread && s < g->spread->n; s++)
        for (int c = 0; c < 2; c++)
            most = MAX(most, fabs(g->spread->source[s][c]));
    for (int scale = 100; scale > 1; scale /= 10)
        if (most / place_unit(w) * scale < 2e9)
            return -scale;
    return 1;
}

static gint32 line_number(const LithoAxis *axis, gint64 index)
{
    double value = litho_axis_value(axis, (double)index);
    // Receiver positions in metres and the like are no line numbers: count instead.
    gboolean whole =
        axis->first == rint(axis->first) && axis->step == rint(axis->step) && fabs(value) < 2e9;
    return whole ? (gint32)value : (gint32)MIN(index + 1, G_MAXINT32);
}

// Writes a line number or coordinate: whole, or an IEEE float where the source's traces have one
// there.
static void put_number(const LithoWriter *w, guint8 *header, int byte, double value)
{
    const gboolean is_float = litho_segy_has_source_traces(w) && w->kind == LITHO_FILE_SEGY &&
                              w->like->float_word[byte] == 1;
    const float single = (float)value;
    guint32 bits = (guint32)(gint32)CLAMP(rint(value), -2147483647.0, 2147483647.0);
    if (is_float)
        memcpy(&bits, &single, sizeof bits);
    litho_put_32(header + byte - 1, w->order, bits);
}

// An assumed distance between traces is no place of them, and must not become one.
static gboolean has_distances(const LithoWriter *w)
{
    return w->grid.has_xy && w->grid.xy_source != LITHO_FROM_ASSUMED;
}

static void put_place(const LithoWriter *w, guint8 *header, gint64 i, gint64 j)
{
    static const int standard[2] = {189, 193}, standard_xy[2] = {181, 185};
    gboolean from_source = litho_segy_has_source_traces(w);
    const int *key = from_source ? w->like->key_byte : standard;
    const int *xy = from_source ? w->like->xy_byte : standard_xy;
    const gint64 index[2] = {i, j};
    for (int c = 0; c < 2; c++)
        if (key[c])
            put_number(w, header, key[c], line_number(&w->grid.axis[c], index[c]));
    if (!litho_grid_is_placed(&w->grid) || !xy[0])
        return;
    int scalar = litho_get_i16(header + 70, w->order);
    if (from_source && w->like->xy_scalar) // the header's other places are read with it
        scalar = w->like->xy_scalar;
    double factor = scalar < 0 ? -scalar : scalar > 1 ? 1.0 / scalar : 1;
    factor /= place_unit(w);
    for (int c = 0; c < 2; c++) {
        double v = w->grid.origin[c] + i * w->grid.inline_step[c] + j * w->grid.xline_step[c];
        put_number(w, header, xy[c], v * factor);
    }
}

// Depths and elevations go into the headers in hundredths of the unit of length.
enum { HEIGHT_SCALE = 100 };

// Writes the places of a modelled trace's source and receiver.
static void put_spread(const LithoWriter *w, guint8 *header, gint64 i, gint64 j)
{
    const LithoSpread *s = w->grid.spread;
    gint64 shot = CLAMP(i / s->lines, 0, s->n - 1);
    const double *source = s->source[shot];
    const double unit = place_unit(w);
    double factor = -(gint16)litho_get_i16(header + 70, w->order), xy[2];
    factor = (factor > 0 ? factor : 1) / unit;
    litho_grid_receiver(&w->grid, i, j, xy);
    const double offset = hypot(xy[0] - source[0], xy[1] - source[1]) / unit;
    litho_put_32(header + 16, w->order, (guint32)(shot + 1));
    litho_put_32(header + 36, w->order, (guint32)(gint32)rint(offset));
    litho_put_32(header + 40, w->order,
                 (guint32)(gint32)rint(-s->receiver_z / unit * HEIGHT_SCALE));
    litho_put_32(header + 48, w->order, (guint32)(gint32)rint(source[2] / unit * HEIGHT_SCALE));
    litho_put_16(header + 68, w->order, (guint16)(gint16)-HEIGHT_SCALE);
    for (int c = 0; c < 2; c++) {
        litho_put_32(header + 72 + 4 * c, w->order, (guint32)(gint32)rint(source[c] * factor));
        litho_put_32(header + 80 + 4 * c, w->order, (guint32)(gint32)rint(xy[c] * factor));
    }
}

// Trace identification of a live trace: SU tells depth by it.
static guint16 live_identity(const LithoWriter *w)
{
    return w->kind == LITHO_FILE_SU && w->grid.is_depth ? LITHO_SU_DEPTH : 1;
}

// A trace header and its extensions, `n` bytes.
static void reorder_headers(const LithoWriter *w, guint8 *header, gint64 n, LithoOrder from)
{
    litho_segy_reorder_survey(w->like, header, from, w->order);
    if (n >= 2 * LITHO_HEADER_BYTES)
        litho_segy_reorder_extension(header + LITHO_HEADER_BYTES, from, w->order);
}

// SU has floats of its own from 181 on: line numbers and coordinates that are floats become whole.
static void make_whole(const LithoWriter *w, guint8 *header)
{
    const LithoSurvey *s = w->like;
    const int bytes[] = {s->key_byte[0], s->key_byte[1], s->xy_byte[0], s->xy_byte[1]};
    for (guint k = 0; k < G_N_ELEMENTS(bytes); k++) {
        const gint32 word = bytes[k] ? litho_get_i32(header + bytes[k] - 1, w->order) : 0;
        float value;
        memcpy(&value, &word, sizeof value);
        if (bytes[k] && s->float_word[bytes[k]] == 1)
            put_number(w, header, bytes[k], isfinite(value) ? value : 0);
    }
}

// Header of a trace that no source has.
static void make_header(const LithoWriter *w, guint8 *header, gint64 i, gint64 j, gboolean live)
{
    memcpy(header, w->blank, w->header_bytes);
    if (w->blank_words)
        litho_segy_put_blank(w, i, j, header);
    put_place(w, header, i, j);
    if (!litho_segy_has_source_traces(w)) {
        gint64 number = i * w->grid.axis[1].n + j + 1;
        litho_put_32(header, w->order, (guint32)(number & 0x7fffffff));
        litho_put_32(header + 4, w->order, (guint32)(number & 0x7fffffff));
        // Programs of the years before revision 1 look for line and CDP here.
        litho_put_32(header + 8, w->order, (guint32)line_number(&w->grid.axis[0], i));
        litho_put_32(header + 20, w->order, (guint32)line_number(&w->grid.axis[1], j));
        if (w->grid.spread)
            put_spread(w, header, i, j);
    }
    litho_put_16(header + 28, w->order, live ? live_identity(w) : 2);
}

// Cell of the source that lies at (i, j) of the output: by index on equal lattices, else by line
// numbers. FALSE = outside.
static gboolean source_cell(const LithoWriter *w, gint64 i, gint64 j, gint64 *si, gint64 *sj)
{
    const LithoGrid *g = &w->grid, *s = &w->like->grid;
    *si = i;
    *sj = j;
    if (w->same_lattice)
        return TRUE;
    double a = litho_axis_index(&s->axis[0], litho_axis_value(&g->axis[0], (double)i));
    double b = litho_axis_index(&s->axis[1], litho_axis_value(&g->axis[1], (double)j));
    if (!(a > -0.5 && a < s->axis[0].n - 0.5 && b > -0.5 && b < s->axis[1].n - 0.5) ||
        fabs(a - rint(a)) > 1e-3 || fabs(b - rint(b)) > 1e-3)
        return FALSE;
    *si = (gint64)rint(a);
    *sj = (gint64)rint(b);
    return TRUE;
}

gboolean litho_segy_wants_cell(const LithoWriter *w, gint64 i, gint64 j, gboolean live,
                               gint64 *source)
{
    gint64 si, sj;
    *source = -1;
    if (litho_segy_has_source_traces(w) && source_cell(w, i, j, &si, &sj))
        *source = litho_survey_trace_of(w->like, si, sj);
    return *source >= 0 || live || w->options.missing == 1;
}

// Writes the trace identification: a dead trace that an operator filled lives again, a live trace
// that lost its samples is dead; zero traces keep the source's identification.
static void put_identity(const LithoWriter *w, guint8 *header, gint64 si, gint64 sj, gboolean live)
{
    guint8 state = w->like->state[si * w->like->grid.axis[1].n + sj];
    gboolean dead = (state & LITHO_CELL_DEAD) != 0;
    gboolean was_depth = litho_get_u16(header + 28, w->order) == LITHO_SU_DEPTH;
    if (live && (dead || was_depth != (live_identity(w) == LITHO_SU_DEPTH)))
        litho_put_16(header + 28, w->order, live_identity(w));
    else if (!live && !dead && !(state & LITHO_CELL_ZERO))
        litho_put_16(header + 28, w->order, 2);
}

gboolean litho_segy_put_header(LithoWriter *w, gint64 i, gint64 j, gboolean live, guint8 *header,
                               GError **error)
{
    gint64 si, sj, trace = -1;
    if (litho_segy_has_source_traces(w) && source_cell(w, i, j, &si, &sj))
        trace = litho_survey_trace_of(w->like, si, sj);
    if (trace < 0) {
        make_header(w, header, i, j, live);
        litho_segy_put_axis(w, header);
        return TRUE;
    }
    const LithoTraceFile *file = litho_survey_file_of(w->like, trace);
    gint64 n = MIN(file->header_bytes, w->header_bytes);
    memset(header + n, 0, w->header_bytes - n);
    if (!litho_file_read_all(file, header, n, litho_file_trace_at(file, trace - file->base), error))
        return FALSE;
    reorder_headers(w, header, n, file->order);
    if (w->kind == LITHO_FILE_SU)
        make_whole(w, header);
    litho_segy_put_axis(w, header);
    put_identity(w, header, si, sj, live);
    return TRUE;
}

// --- file heads -------------------------------------------------------------------------------

// Line 39 of the text header, as the standard wants it.
static const char REVISION_2[] = "SEG-Y REV2.0";

static void text_line(guint8 *text, int line, const char *format, ...) G_GNUC_PRINTF(3, 4);

static void text_line(guint8 *text, int line, const char *format, ...)
{
    char body[128];
    va_list args;
    va_start(args, format);
    g_vsnprintf(body, sizeof body, format, args);
    va_end(args);
    g_autofree char *whole = g_strdup_printf("C%2d %-76.76s", line, body);
    for (int k = 0; k < 80; k++)
        text[80 * (line - 1) + k] = litho_text_to_ebcdic(whole[k]);
}

enum { AXIS_LINE = 7 };

static char *axis_line(const LithoWriter *w)
{
    const LithoAxis *a = &w->grid.axis[2];
    return g_strdup_printf("%s AXIS: FIRST %.9g STEP %.9g %s, %" G_GINT64_FORMAT " SAMPLES%s",
                           w->grid.is_depth ? "DEPTH" : "TIME", a->first, a->step,
                           w->grid.is_depth ? "M" : "S", a->n,
                           a->source == LITHO_FROM_ASSUMED ? " " LITHO_TEXT_ASSUMED : "");
}

static void make_text(const LithoWriter *w, gboolean is_2, guint8 *text)
{
    const LithoAxis *a = w->grid.axis;
    for (int line = 1; line <= 40; line++)
        text_line(text, line, "%s", "");
    text_line(text, 1, "SEG-Y WRITTEN BY LITHOSCOPE " LITHO_VERSION);
    text_line(text, 3, "INLINE NUMBER: BYTES 189-192 (ALSO 9-12), FIRST %d LAST %d",
              line_number(&a[0], 0), line_number(&a[0], a[0].n - 1));
    text_line(text, 4, "CROSSLINE NUMBER: BYTES 193-196 (ALSO 21-24), FIRST %d LAST %d",
              line_number(&a[1], 0), line_number(&a[1], a[1].n - 1));
    if (litho_grid_is_placed(&w->grid))
        text_line(text, 5, "CDP X: BYTES 181-184, CDP Y: BYTES 185-188, SCALAR: BYTES 71-72");
    text_line(text, 6, "BINS %.6g M ALONG INLINE NUMBERS, %.6g M ALONG CROSSLINE NUMBERS%s",
              litho_grid_spacing(&w->grid, 0), litho_grid_spacing(&w->grid, 1),
              has_distances(w) ? "" : " " LITHO_TEXT_ASSUMED);
    g_autofree char *axis = axis_line(w);
    text_line(text, AXIS_LINE, "%s", axis);
    if (w->grid.is_depth)
        text_line(text, 8, "DEPTH MIN: %.9g MAX: %.9g", a[2].first,
                  litho_axis_value(&a[2], (double)(a[2].n - 1)));
    text_line(text, 9, "SAMPLES: %s, %s", litho_format_name(w->format),
              litho_order_name(w->sample_order));
    if (w->grid.spread)
        text_line(text, 10, "SOURCE X, Y: BYTES 73-80, RECEIVER X, Y: BYTES 81-88, %d SOURCE%s",
                  w->grid.spread->n, w->grid.spread->n > 1 ? "S" : "");
    text_line(text, 39, "%s", is_2 ? REVISION_2 : "SEG Y REV1");
    text_line(text, 40, "END TEXTUAL HEADER");
}

static guint8 *bin(guint8 *block, int byte)
{
    return block + byte - 3201;
}

static void make_binary(const LithoWriter *w, guint8 *block)
{
    litho_put_32(bin(block, 3201), w->order, 1);                  // job
    litho_put_32(bin(block, 3205), w->order, 1);                  // line
    litho_put_32(bin(block, 3209), w->order, 1);                  // reel
    litho_put_16(bin(block, 3213), w->order, 1);                  // data traces per ensemble
    litho_put_16(bin(block, 3227), w->order, 1);                  // fold
    litho_put_16(bin(block, LITHO_BIN_SORTING), w->order, 4);     // horizontally stacked
    litho_put_16(bin(block, LITHO_BIN_MEASUREMENT), w->order, 1); // metres
    bin(block, LITHO_BIN_REVISION)[0] = 1;
    litho_put_16(bin(block, LITHO_BIN_FIXED), w->order, 1);
}

// The reader takes the two bytes of the revision so.
static gboolean is_revision_2(const guint8 *block)
{
    const guint8 *revision = block + LITHO_BIN_REVISION - 3201;
    return (revision[0] == 2 && revision[1] <= 9) || (revision[0] == 0 && revision[1] == 2);
}

// The words that revision 2 added begin silent: what an older file has there means nothing.
static void begin_revision_2(const LithoWriter *w, guint8 *block)
{
    const gboolean has_ns = litho_get_u16(bin(block, LITHO_BIN_NS), w->order) != 0;
    bin(block, LITHO_BIN_REVISION)[0] = 2;
    bin(block, LITHO_BIN_REVISION)[1] = 0;
    memset(bin(block, 3261), 0, 8);
    if (has_ns) // else the length of traces stands there, whatever the revision
        memset(bin(block, LITHO_BIN_NS_EXTENDED), 0, 4);
    memset(bin(block, LITHO_BIN_DT_EXTENDED), 0, 28);
    litho_put_32(bin(block, LITHO_BIN_ENDIAN), w->order, 0x01020304);
    memset(bin(block, LITHO_BIN_ADDITIONAL), 0, 26);
}

// The words that follow from the samples; everything else of the block stays.
static void patch_binary(const LithoWriter *w, guint8 *block)
{
    gint64 ns = w->grid.axis[2].n;
    const gboolean is_long = w->set_ns && ns > 65535,
                   is_fine = w->set_dt && !litho_segy_word_suffices(w);
    litho_put_16(bin(block, LITHO_BIN_FORMAT), w->order, (guint16)w->format);
    if ((is_long || is_fine) && !is_revision_2(block))
        begin_revision_2(w, block);
    if (w->set_ns) {
        litho_put_16(bin(block, LITHO_BIN_NS), w->order, ns <= 65535 ? (guint16)ns : 0);
        if (is_revision_2(block))
            litho_put_32(bin(block, LITHO_BIN_NS_EXTENDED), w->order, ns > 65535 ? (guint32)ns : 0);
        litho_put_16(bin(block, LITHO_BIN_FIXED), w->order, 1);
    }
    if (w->set_dt) {
        guint16 word = litho_segy_interval_word(w);
        double field = litho_segy_interval_field(w);
        litho_put_16(bin(block, LITHO_BIN_DT), w->order, word);
        if (is_revision_2(block))
            litho_put_f64(bin(block, LITHO_BIN_DT_EXTENDED), w->order,
                          is_fine || fabs(field - word) > 1e-6 ? field : 0);
    }
}

// Does the output lie elsewhere than the source's traces of the same line numbers? The image of
// shot records has a lattice of its own, and its traces are none of the records', however many they
// are: who stated its places tells it from a copy, and so do the places.
static gboolean lies_elsewhere(const LithoWriter *w)
{
    const LithoGrid *g = &w->grid, *s = &w->like->grid;
    if (!g->has_xy)
        return FALSE;
    if (!s->has_xy || g->xy_source != s->xy_source || (s->has_no_place && !g->has_no_place))
        return TRUE;
    for (int corner = 0; corner < 4; corner++) {
        const double cell[2] = {corner & 1 ? (double)(g->axis[0].n - 1) : 0,
                                corner & 2 ? (double)(g->axis[1].n - 1) : 0};
        double away = 0, bin = 0;
        for (int c = 0; c < 2; c++) {
            double theirs = s->origin[c];
            for (int k = 0; k < 2; k++) {
                const double *step = k ? s->xline_step : s->inline_step;
                theirs +=
                    step[c] * litho_axis_index(&s->axis[k], litho_axis_value(&g->axis[k], cell[k]));
            }
            double ours = g->origin[c] + cell[0] * g->inline_step[c] + cell[1] * g->xline_step[c];
            away = hypot(away, ours - theirs);
            bin = hypot(bin, g->xline_step[c]);
        }
        if (away > 0.5 * bin)
            return TRUE;
    }
    return FALSE;
}

// Compares the output's axis and lattice with the source's.
static void compare_source(LithoWriter *w)
{
    const LithoSurvey *s = w->like;
    const LithoTraceFile *file = litho_segy_source(w);
    const LithoAxis *own = &w->grid.axis[2], *theirs = &s->grid.axis[2];
    const LithoSurveyCounts *c = &s->counts;
    gboolean aligned = TRUE;
    for (int k = 0; k < 2; k++) {
        const LithoAxis *a = &w->grid.axis[k], *b = &s->grid.axis[k];
        aligned &= a->n == b->n && a->first == b->first && a->step == b->step;
    }
    w->same_lattice = aligned;
    w->elsewhere = lies_elsewhere(w);
    w->set_ns = own->n != file->ns || file->offsets || file->mended_ns;
    w->new_domain = w->grid.is_depth != s->grid.is_depth;
    w->set_dt = w->new_domain || fabs(own->step - theirs->step) > 1e-9 * fabs(theirs->step) ||
                theirs->source == LITHO_FROM_USER || s->mended_dt;
    w->set_delay =
        w->new_domain || fabs(own->first - theirs->first) > 1e-6 * fabs(theirs->step) || s->shift;
    w->source_order = aligned && !w->elsewhere && s->files->len == 1 && c->missing == 0 &&
                      c->duplicates == 0 && s->traces == litho_grid_traces(&s->grid);
    // In another order they would be read as another start, in SU they would be believed.
    w->set_delay |= s->starts_ignored && (w->kind == LITHO_FILE_SU || !w->source_order);
}

// A migration's result carries the text of its input on, which speaks of the other axis, and so
// does a file that the user has read as depth. Without the statement depths would be read as times,
// so that it takes the place of another line if it must.
static void append_axis(LithoWriter *w, guint8 *text)
{
    enum { GIVEN_UP = 38 }; // the last line that the standard leaves to the writer
    const LithoAxis *a = &w->grid.axis[2];
    g_autofree char *line = g_strdup_printf(LITHO_TEXT_AXIS "%s MIN: %.9g MAX: %.9g",
                                            w->grid.is_depth ? "DEPTH" : "TIME", a->first,
                                            litho_axis_value(a, (double)(a->n - 1)));
    if (litho_text_append(text, line))
        return;
    litho_text_replace(text, GIVEN_UP, line);
    g_ptr_array_add(w->notes,
                    g_strdup_printf(_("the text header has no free line: line %d was replaced by "
                                      "one that tells the new sample axis"),
                                    GIVEN_UP));
}

// Puts right what the binary header says of text and trace headers, where the reader found others.
static void mend_counts(const LithoWriter *w, guint8 *block)
{
    const LithoTraceFile *file = litho_segy_source(w);
    const gint64 heads = file->label + LITHO_TEXT_BYTES + LITHO_BINARY_BYTES;
    const gint64 texts = (file->first - heads) / LITHO_TEXT_BYTES;
    const gint64 additional = file->header_bytes / LITHO_HEADER_BYTES - 1;
    if (file->mended_texts)
        litho_put_16(bin(block, LITHO_BIN_EXT_TEXT), w->order, (guint16)MIN(texts, G_MAXINT16));
    if (file->mended_headers && file->revision > 0x200) // two bytes since revision 2.1
        litho_put_16(bin(block, LITHO_BIN_ADDITIONAL), w->order, (guint16)additional);
    else if (file->mended_headers)
        litho_put_32(bin(block, LITHO_BIN_ADDITIONAL), w->order, (guint32)additional);
}

// A copy that has become one of revision 2 says so where its text named revision 1.
static void rename_revision(const LithoWriter *w, guint8 *text)
{
    enum { LINE = 39 };
    g_auto(GStrv) lines = g_strsplit(w->like->text, "\n", -1);
    const char *line = g_strv_length(lines) >= LINE ? lines[LINE - 1] : "";
    if (strstr(line, "SEG Y REV1") || strstr(line, "SEG-Y REV1"))
        litho_text_replace(text, LINE, REVISION_2);
}

static GByteArray *copy_head(LithoWriter *w, GError **error)
{
    const LithoTraceFile *file = litho_segy_source(w);
    // The reader found `first` by looking, yet it must not become an allocation unchecked.
    if (file->first > 64 * 1024 * 1024) {
        litho_refuse(error, LITHO_ERROR_UNSUPPORTED,
                     "%s has %" PRId64 " bytes of file headers; at most 64 MiB are copied",
                     file->path, file->first);
        return NULL;
    }
    GByteArray *head = g_byte_array_sized_new(file->first);
    g_byte_array_set_size(head, file->first);
    if (!litho_file_read_all(file, head->data, file->first, 0, error)) {
        g_byte_array_unref(head);
        return NULL;
    }
    guint8 *text = head->data + file->label, *block = text + LITHO_TEXT_BYTES;
    litho_segy_reorder_binary(block, file->order, w->order);
    const gboolean was_2 = is_revision_2(block);
    patch_binary(w, block);
    if (is_revision_2(block) && !was_2)
        rename_revision(w, text);
    if (w->grid.axis[2].source != LITHO_FROM_ASSUMED &&
        litho_text_assumed_step(w->like->text) > 0) {
        g_autofree char *axis = axis_line(w);
        litho_text_replace(text, AXIS_LINE, axis);
    }
    mend_counts(w, block);
    if (is_revision_2(block) && !file->trailer)
        litho_put_32(bin(block, LITHO_BIN_TRAILER), w->order, 0);
    if (w->grid.is_depth != w->like->says_depth)
        append_axis(w, text);
    if (w->note && !litho_text_append(text, w->note))
        g_ptr_array_add(w->notes, g_strdup(_("the text header has no free line for the note")));
    return head;
}

static GByteArray *new_head(const LithoWriter *w)
{
    GByteArray *head = g_byte_array_new();
    g_byte_array_set_size(head, LITHO_TEXT_BYTES + LITHO_BINARY_BYTES);
    memset(head->data, 0, head->len);
    guint8 *block = head->data + LITHO_TEXT_BYTES;
    make_binary(w, block);
    patch_binary(w, block);
    make_text(w, is_revision_2(block), head->data);
    if (w->note)
        litho_text_append(head->data, w->note);
    return head;
}

// The first trace that a cell of the survey has, dead ones only where there is no other: one that
// was left out may have no header at all.
static gint64 first_placed(const LithoSurvey *s)
{
    const gint64 n2 = s->grid.axis[1].n, cells = litho_grid_traces(&s->grid);
    gint64 dead = -1;
    for (gint64 c = 0; c < cells; c++) {
        const gint64 trace = litho_survey_trace_of(s, c / n2, c % n2);
        if (trace >= 0 && !(s->state[c] & LITHO_CELL_DEAD))
            return trace;
        dead = dead < 0 ? trace : dead;
    }
    return MAX(dead, 0);
}

// Header for cells that have none: some trace of the source, or words of our own.
static gboolean make_blank(LithoWriter *w, GError **error)
{
    w->blank = g_malloc0(w->header_bytes);
    if (!litho_segy_has_source_traces(w)) {
        litho_put_16(w->blank + 30, w->order, 1); // vertically summed
        litho_put_16(w->blank + 32, w->order, 1); // stacked
        litho_put_16(w->blank + 34, w->order, 1); // production
        litho_put_16(w->blank + 68, w->order, 1);
        litho_put_16(w->blank + 70, w->order, (guint16)(gint16)coordinate_scalar(w));
        litho_put_16(w->blank + 88, w->order, 1); // lengths
        return TRUE;
    }
    const gint64 trace = first_placed(w->like);
    const LithoTraceFile *file = litho_survey_file_of(w->like, trace);
    gint64 n = MIN(file->header_bytes, w->header_bytes);
    if (!litho_file_read_all(file, w->blank, n, litho_file_trace_at(file, trace - file->base),
                             error))
        return FALSE;
    reorder_headers(w, w->blank, n, file->order);
    return litho_segy_fit_blank(w, error);
}

// Tells what trace headers alone cannot say.
static void tell_su(LithoWriter *w)
{
    const double step = w->grid.axis[2].step;
    const char *unit = w->grid.is_depth ? "m" : "s";
    if (w->set_dt && !litho_segy_word_suffices(w))
        g_ptr_array_add(w->notes, litho_text_printf(_("SU cannot hold a sample interval of %g %s; "
                                                      "give --dt %g%s when the file is read"),
                                                    step, unit, step, unit));
    if (w->grid.axis[2].source == LITHO_FROM_ASSUMED && w->set_dt)
        g_ptr_array_add(w->notes, litho_text_printf(_("SU cannot say that the sample interval of "
                                                      "%g %s is assumed"),
                                                    step, w->grid.is_depth ? "m" : "s"));
    if (place_unit(w) != 1)
        g_ptr_array_add(w->notes, g_strdup(_("SU names no unit of length: the coordinates in its "
                                             "trace headers are in feet")));
}

GByteArray *litho_segy_head(LithoWriter *w, GError **error)
{
    gboolean from_segy = litho_segy_has_source(w) && w->like->kind == LITHO_FILE_SEGY;
    w->header_bytes = LITHO_HEADER_BYTES;
    if (from_segy && w->kind == LITHO_FILE_SEGY)
        w->header_bytes = litho_segy_source(w)->header_bytes;
    w->set_ns = w->set_dt = w->set_delay = TRUE;
    if (litho_segy_has_source(w))
        compare_source(w);
    if (w->kind == LITHO_FILE_SU && from_segy) { // SU reads sampling from its trace headers only
        w->set_ns = w->set_dt = TRUE;
        w->set_delay |= w->grid.is_depth && litho_segy_source(w)->measurement == 2;
    }
    if (w->kind == LITHO_FILE_SU && w->grid.axis[2].n > 65535) {
        litho_refuse(error, LITHO_ERROR_UNSUPPORTED,
                     "SU holds up to 65535 samples a trace, not %" PRId64 "; write SEG-Y",
                     w->grid.axis[2].n);
        return NULL;
    }
    if (!make_blank(w, error))
        return NULL;
    if (w->kind == LITHO_FILE_SU) {
        tell_su(w);
        return g_byte_array_new();
    }
    if (from_segy)
        return copy_head(w, error);
    gboolean ns = w->set_ns, dt = w->set_dt;
    w->set_ns = w->set_dt = TRUE; // a new binary header needs both, whatever the traces say
    GByteArray *head = new_head(w);
    w->set_ns = ns;
    w->set_dt = dt;
    return head;
}

static gboolean copy_trailer(LithoWriter *w, GError **error)
{
    const LithoTraceFile *file = litho_segy_source(w);
    gint64 from = litho_file_trace_at(file, file->traces);
    gint64 to = w->first + w->written * w->stride;
    guint8 block[64 * 1024];
    for (gint64 k = 0; k < file->trailer; k += sizeof block) {
        gint64 n = MIN((gint64)sizeof block, file->trailer - k);
        if (!litho_file_read_all(file, block, n, from + k, error) ||
            !litho_output_write_at(w->out, block, n, to + k, error))
            return FALSE;
    }
    return TRUE;
}

gboolean litho_segy_finish(LithoWriter *w, GError **error)
{
    if (!litho_segy_has_source(w) || w->like->kind != LITHO_FILE_SEGY)
        return TRUE;
    const LithoTraceFile *file = litho_segy_source(w);
    if (file->trailer && !copy_trailer(w, error))
        return FALSE;
    gint64 at = file->label + LITHO_BIN_TRACES - 1;
    guint8 count[8];
    if (file->revision < 0x200)
        return TRUE;
    if (!litho_file_read_all(file, count, sizeof count, at, error))
        return FALSE;
    if (litho_get_u64(count, file->order) == 0) // never was filled in
        return TRUE;
    litho_put_64(count, w->order, (guint64)w->written);
    return litho_output_write_at(w->out, count, sizeof count, at, error);
}
