// SPDX-License-Identifier: GPL-3.0-or-later
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/io/segy_fields.h"
#include "core/text.h"

// Finds where the traces of a SEG-Y file start, how long they are and their byte order: every
// reading of the headers that could be meant is tried against the file itself (its size, the trace
// headers that would follow) and the one that fits best wins. Nothing is allocated from a header
// word.

// The binary header read in one byte order.
typedef struct Binary {
    LithoOrder order;
    int ns, format, revision, ext_text, measurement;
    gint64 ns_extended, additional, first, trailer, traces;
    guint16 dt;
    double dt_extended;
    gboolean fixed, revision_odd;
} Binary;

// One way to read the file.
typedef struct Reading {
    const Binary *binary;
    gint64 first, header_bytes, ns;
    int format;
    gboolean ns_declared, first_declared;
    double score, headers; // headers: plausibility of the trace headers alone, 0..1
} Reading;

static const guint8 *word(const guint8 *block, int byte)
{
    return block + byte - 3201;
}

static void parse_revision(Binary *b, const guint8 *block)
{
    int major = word(block, LITHO_BIN_REVISION)[0], minor = word(block, LITHO_BIN_REVISION)[1];
    if (major == 0 && (minor == 1 || minor == 2)) { // 1 for 0x0100, or a swapped 16-bit word
        major = minor;
        minor = 0;
    }
    b->revision_odd = major > 2 || minor > 9 || (major == 0 && minor != 0);
    b->revision = b->revision_odd ? 0 : major << 8 | minor;
}

static Binary parse_binary(const guint8 *block, LithoOrder order)
{
    Binary b = {.order = order};
    parse_revision(&b, block);
    b.ns = litho_get_u16(word(block, LITHO_BIN_NS), order);
    b.dt = litho_get_u16(word(block, LITHO_BIN_DT), order);
    b.format = litho_get_i16(word(block, LITHO_BIN_FORMAT), order);
    b.measurement = litho_get_i16(word(block, LITHO_BIN_MEASUREMENT), order);
    b.ext_text = litho_get_i16(word(block, LITHO_BIN_EXT_TEXT), order);
    b.fixed = litho_get_i16(word(block, LITHO_BIN_FIXED), order) == 1;
    b.ns_extended = litho_get_i32(word(block, LITHO_BIN_NS_EXTENDED), order);
    if (b.revision >= 0x200) {
        // Four bytes in revision 2.0, two in 2.1, and writers mix them up.
        b.additional = litho_get_i32(word(block, LITHO_BIN_ADDITIONAL), order);
        if (b.revision > 0x200 || b.additional < 0 || b.additional > 1000)
            b.additional = litho_get_i16(word(block, LITHO_BIN_ADDITIONAL), order);
        b.dt_extended = litho_get_f64(word(block, LITHO_BIN_DT_EXTENDED), order);
        guint64 first = litho_get_u64(word(block, LITHO_BIN_FIRST), order);
        b.first = first <= G_MAXINT64 / 4 ? (gint64)first : 0;
        b.trailer = litho_get_i32(word(block, LITHO_BIN_TRAILER), order);
        guint64 traces = litho_get_u64(word(block, LITHO_BIN_TRACES), order);
        b.traces = traces <= G_MAXINT32 * G_GINT64_CONSTANT(1024) ? (gint64)traces : 0;
        if (!(b.dt_extended > 0 && b.dt_extended < 1e9))
            b.dt_extended = 0;
    }
    if (b.additional < 0 || b.additional > 1000)
        b.additional = 0;
    return b;
}

// --- plausibility -----------------------------------------------------------------------------

double litho_segy_header_plausible(const guint8 *h, LithoOrder order, gint64 ns, int dt)
{
    int own_ns = litho_get_u16(h + 114, order), own_dt = litho_get_u16(h + 116, order);
    int id = litho_get_i16(h + 28, order);
    double score = own_ns == MIN(ns, 65535) ? 3 : own_ns == 0 ? 2 : 0;
    score += own_dt == dt ? 2 : own_dt == 0 ? 1.5 : 0;
    score += id >= -1 && id <= 50 ? 1 : 0;
    score += litho_scalar_standard(litho_get_i16(h + 70, order)) ? 1.5 : 0;
    score += litho_scalar_standard(litho_get_i16(h + 68, order)) ? 0.5 : 0;
    int units = litho_get_i16(h + 88, order);
    score += units >= 0 && units <= 4 ? 1 : 0;
    // Line numbers, counters, offset: two's complement numbers of a few digits, not text or floats.
    static const guint8 counters[] = {0, 4, 8, 12, 36, 188, 192};
    for (guint k = 0; k < G_N_ELEMENTS(counters); k++) {
        gint32 v = litho_get_i32(h + counters[k], order);
        score += v > -(1 << 24) && v < 1 << 24 ? 1.0 / G_N_ELEMENTS(counters) : 0;
    }
    return score / 10;
}

gboolean litho_segy_header_foreign(const guint8 *header, LithoOrder order, gint64 ns, int dt)
{
    // Random bytes score 0.02, samples and text up to 0.15, the oddest headers met 0.4.
    return litho_segy_header_plausible(header, order, ns, dt) < 0.25;
}

static gint64 stride_of(const Reading *r)
{
    return r->header_bytes + r->ns * litho_format_bytes(r->format);
}

// Bytes that traces may fill: what is left after a declared trailer (revision 2), if the rest is
// whole traces then.
static gint64 trace_room(const LithoTraceFile *file, const Reading *r)
{
    gint64 room = file->size - r->first, stride = stride_of(r);
    const Binary *b = r->binary;
    if (b->trailer > 0 && b->trailer < room / LITHO_TEXT_BYTES &&
        (room - b->trailer * LITHO_TEXT_BYTES) % stride == 0)
        return room - b->trailer * LITHO_TEXT_BYTES;
    if (b->trailer != 0 && b->traces > 0 && b->traces <= room / stride)
        return b->traces * stride;
    return room;
}

// Do whole traces and the declared trailer fill the file?
static gboolean fills_file(const LithoTraceFile *file, const Reading *r)
{
    const gint64 room = trace_room(file, r), behind = file->size - r->first - room;
    const gint64 trailer = r->binary->trailer;
    return room % stride_of(r) == 0 &&
           (trailer > 0 ? behind == trailer * LITHO_TEXT_BYTES : behind % LITHO_TEXT_BYTES == 0);
}

static int compare_descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

// Mean plausibility of the headers of nine traces. The two worst do not count: one damaged header
// and what lies behind the last trace must not vote.
static double probe_headers(const LithoTraceFile *file, const Reading *r, gint64 whole)
{
    const gint64 probes[] = {
        0,         1,        2, whole / 5, whole / 5 * 2 + 1, whole / 5 * 3, whole / 5 * 4 + 1,
        whole - 2, whole - 1};
    double found[G_N_ELEMENTS(probes)], sum = 0;
    gint64 before = -1;
    int n = 0;
    for (guint k = 0; k < G_N_ELEMENTS(probes); k++) {
        guint8 header[LITHO_HEADER_BYTES];
        if (probes[k] >= whole || probes[k] <= before ||
            litho_file_read(file, header, sizeof header, r->first + probes[k] * stride_of(r),
                            NULL) != sizeof header)
            continue;
        before = probes[k];
        found[n++] = litho_segy_header_plausible(header, r->binary->order, r->ns, r->binary->dt);
    }
    qsort(found, n, sizeof *found, compare_descending);
    n -= 2 * n / 9;
    for (int k = 0; k < n; k++)
        sum += found[k];
    return sum / MAX(n, 1);
}

// Extended text headers are declared, but a trace header stands where the first of them should be.
static gboolean skips_traces(const LithoTraceFile *file, const Reading *r)
{
    guint8 header[LITHO_HEADER_BYTES];
    gint64 plain = file->label + LITHO_TEXT_BYTES + LITHO_BINARY_BYTES;
    return r->first > plain &&
           litho_file_read(file, header, sizeof header, plain, NULL) == sizeof header &&
           (header[0] != 0 || memcmp(header, header + 1, sizeof header - 1) != 0) &&
           litho_segy_header_plausible(header, r->binary->order, r->ns, r->binary->dt) > 0.6;
}

static void judge(const LithoTraceFile *file, Reading *r)
{
    gint64 stride = stride_of(r), room = trace_room(file, r);
    gint64 whole = room / stride, rest = room % stride;
    r->score = r->headers = 0;
    if (whole < 1)
        return;
    r->headers = probe_headers(file, r, whole);
    r->score = 8 * r->headers;
    r->score -= skips_traces(file, r) ? 4 : 0;
    r->score += rest == 0 ? 4 : rest % 512 == 0 || rest % 3200 == 0 ? 1.5 : 0;
    r->score += r->ns_declared ? 1.5 : 0;
    r->score += r->first_declared ? 1 : 0;
    r->score += r->header_bytes == 240 * (1 + r->binary->additional) ? 1 : 0;
    r->score += r->binary->dt >= 50 && r->binary->dt <= 32767 ? 0.5 : 0;
    r->score += r->binary->revision_odd ? 0 : 0.5;
}

// --- where the first trace may be -------------------------------------------------------------

static gboolean looks_like_text(const guint8 *block)
{
    // Text in either code has hardly any byte outside these; trace headers are mostly zeros.
    int good = 0;
    for (int k = 0; k < LITHO_TEXT_BYTES; k++) {
        guint8 b = block[k];
        good += b >= 0x40 || (b >= 0x20 && b < 0x7f) || b == '\r' || b == '\n';
    }
    return good > LITHO_TEXT_BYTES * 95 / 100;
}

// "((SEG: EndText))" in either code, blanks and case aside.
static gboolean has_end_text(const guint8 *block)
{
    char plain[LITHO_TEXT_BYTES + 1];
    gboolean wide = litho_text_is_ebcdic(block, LITHO_TEXT_BYTES);
    g_autofree char *decoded = wide ? litho_text_decode(block) : NULL;
    int n = 0;
    const char *from = wide ? decoded : (const char *)block;
    int length = wide ? (int)strlen(decoded) : LITHO_TEXT_BYTES;
    for (int k = 0; k < length && n < LITHO_TEXT_BYTES; k++)
        if (from[k] > ' ')
            plain[n++] = g_ascii_tolower(from[k]);
    plain[n] = 0;
    return strstr(plain, "((seg:endtext))") != NULL;
}

enum { MAX_FIRSTS = 8, MAX_TEXT_RECORDS = 4096 };

// Number of extended text records found by looking at them: up to EndText, else while they look
// like text.
static gint64 count_text_records(const LithoTraceFile *file, gint64 from, gboolean *ended)
{
    guint8 block[LITHO_TEXT_BYTES];
    gint64 n = 0;
    *ended = FALSE;
    for (gint64 k = 0; k < MAX_TEXT_RECORDS; k++) {
        if (litho_file_read(file, block, sizeof block, from + k * LITHO_TEXT_BYTES, NULL) !=
            sizeof block)
            break;
        if (!looks_like_text(block) && !has_end_text(block))
            break;
        n = k + 1;
        if (has_end_text(block)) {
            *ended = TRUE;
            break;
        }
    }
    return n;
}

// TRUE where the extended text headers of a file end with EndText, by which others are to find
// them.
static gboolean has_ended_texts(const LithoTraceFile *file)
{
    gboolean ended;
    count_text_records(file, file->label + LITHO_TEXT_BYTES + LITHO_BINARY_BYTES, &ended);
    return ended;
}

static int list_firsts(const LithoTraceFile *file, const Binary *b, gint64 *firsts)
{
    gint64 plain = file->label + LITHO_TEXT_BYTES + LITHO_BINARY_BYTES;
    int n = 0;
    if (b->first >= plain && b->first < file->size)
        firsts[n++] = b->first;
    gboolean ended;
    gint64 found = count_text_records(file, plain, &ended);
    gint64 declared = b->ext_text >= 0 ? b->ext_text : found;
    if (b->ext_text < 0 && ended == FALSE && found == 0)
        declared = 0;
    gint64 candidates[] = {declared, 0, found};
    for (guint k = 0; k < G_N_ELEMENTS(candidates); k++) {
        gint64 at = plain + candidates[k] * LITHO_TEXT_BYTES;
        gboolean known = at >= file->size && !(at == file->size && k == 0);
        for (int m = 0; m < n; m++)
            known |= firsts[m] == at;
        if (!known && n < MAX_FIRSTS)
            firsts[n++] = at;
    }
    return n;
}

// --- how long a trace may be ------------------------------------------------------------------

// Without any count: the shortest trace length that divides the file and is followed by a header
// like the first one; with `alone` also the one that makes the file a single trace.
static gint64 samples_from_size(const LithoTraceFile *file, const Binary *b, gint64 first,
                                gint64 header_bytes, int sample_bytes, gboolean alone)
{
    guint8 own[LITHO_HEADER_BYTES], next[LITHO_HEADER_BYTES];
    gint64 room = file->size - first;
    if (litho_file_read(file, own, sizeof own, first, NULL) != sizeof own)
        return 0;
    for (gint64 ns = 2; ns <= 65535; ns++) {
        gint64 stride = header_bytes + ns * sample_bytes;
        if (stride > room)
            break;
        if (room % stride != 0)
            continue;
        if (stride == room)
            return alone ? ns : 0;
        if (litho_file_read(file, next, sizeof next, first + stride, NULL) != sizeof next)
            break;
        // Words that are the same all over a file; an all-zero block is no header.
        if (memcmp(own + 114, next + 114, 4) == 0 && memcmp(own + 68, next + 68, 4) == 0 &&
            memcmp(own + 28, next + 28, 2) == 0 && memcmp(own, next, sizeof own) != 0 &&
            litho_segy_header_plausible(next, b->order, ns, b->dt) > 0.6)
            return ns;
    }
    return 0;
}

typedef struct Search {
    const LithoTraceFile *file;
    Reading best;
} Search;

static void consider(Search *search, Reading r)
{
    if (r.ns < 1 || r.ns > search->file->size)
        return;
    judge(search->file, &r);
    if (r.score > search->best.score)
        search->best = r;
}

static void try_lengths(Search *search, const Binary *b, Reading r)
{
    int bytes = litho_format_bytes(r.format);
    gint64 declared = b->revision >= 0x200 && b->ns_extended > 0 ? b->ns_extended
                      : b->ns > 0                                ? b->ns
                                                                 : b->ns_extended;
    Reading named = r;
    named.ns = declared;
    named.ns_declared = TRUE;
    consider(search, named);
    r.ns = b->ns;
    consider(search, r);
    guint8 header[LITHO_HEADER_BYTES];
    if (litho_file_read(search->file, header, sizeof header, r.first, NULL) == sizeof header) {
        r.ns = litho_get_u16(header + 114, b->order);
        consider(search, r);
    }
    const Reading *best = &search->best;
    if (best->score == 0 || declared <= 0 ||
        (trace_room(search->file, best) % stride_of(best) != 0 && best->headers < 0.9)) {
        r.ns = samples_from_size(search->file, b, r.first, r.header_bytes, bytes,
                                 best->score == 0 || declared <= 0);
        consider(search, r);
    }
}

static void try_binary(Search *search, const Binary *b, int format)
{
    if (litho_format_bytes(format) == 0)
        return;
    gint64 firsts[MAX_FIRSTS];
    int n = list_firsts(search->file, b, firsts);
    for (int k = 0; k < n; k++)
        for (int plain = b->additional > 0 ? 0 : 1; plain < 2; plain++)
            try_lengths(search, b,
                        (Reading){.binary = b,
                                  .first = firsts[k],
                                  .first_declared = k == 0,
                                  .format = format,
                                  .header_bytes = 240 * (plain ? 1 : 1 + b->additional)});
}

// --- traces of differing lengths --------------------------------------------------------------

// Walks from header to header; TRUE when the lengths differ and the last trace ends where the file
// does, or was cut off there: what is left then is at most half of the file. Where the binary
// header's length fills the file with whole traces (`exact`), a walk that ends inside a trace does
// not count: programs that cut traces leave the old length in their headers. Where the binary
// header says that all lengths are the same, which some programs always write, it must reach the
// end or a trace with a header that is cut off there. Costs one small read per trace, so it is only
// asked for when fixed lengths fit badly.
static gboolean walk_variable(LithoTraceFile *file, const Reading *r, gboolean exact)
{
    int bytes = litho_format_bytes(r->format);
    const Binary *b = r->binary;
    const gboolean has_trailer =
        b->trailer > 0 && b->trailer < (file->size - r->first) / LITHO_TEXT_BYTES;
    const gint64 last = file->size - (has_trailer ? b->trailer * LITHO_TEXT_BYTES : 0);
    GArray *offsets = g_array_new(FALSE, FALSE, sizeof(gint64));
    gint64 at = r->first, longest = 0, shortest = G_MAXINT64;
    gboolean is_cut = FALSE;
    while (at + LITHO_HEADER_BYTES <= last) {
        guint8 header[LITHO_HEADER_BYTES];
        if (litho_file_read(file, header, sizeof header, at, NULL) != sizeof header)
            break;
        gint64 ns = litho_get_u16(header + 114, b->order);
        gint64 end = at + r->header_bytes + ns * bytes;
        if (ns == 0 || litho_segy_header_foreign(header, b->order, ns, b->dt))
            break;
        is_cut = end > last;
        if (is_cut)
            break;
        g_array_append_val(offsets, at);
        longest = MAX(longest, ns);
        shortest = MIN(shortest, ns);
        at = end;
    }
    // A trailer of unknown length begins where as many traces end as there are.
    const gboolean is_end = at == last || (b->trailer < 0 && b->traces == offsets->len);
    gboolean good = at > file->size / 2 && offsets->len > 1 && longest != shortest &&
                    (is_end || (!exact && (is_cut || !b->fixed)));
    if (good) {
        file->trailer = is_end ? file->size - at : 0;
        g_array_append_val(offsets, at);
        file->traces = offsets->len - 1;
        file->ns = longest;
        file->stride = 0;
        file->offsets = (gint64 *)g_array_free(offsets, FALSE);
    } else {
        g_array_free(offsets, TRUE);
    }
    return good;
}

// --- putting it together ----------------------------------------------------------------------

// Text where the binary header should be, too, which is never without zero bytes.
static gboolean is_plain_text(const LithoTraceFile *file)
{
    char head[LITHO_TEXT_BYTES + LITHO_BINARY_BYTES];
    gint64 n = litho_file_read(file, head, sizeof head, 0, NULL);
    for (gint64 k = 0; k < n; k++)
        if (!g_ascii_isprint(head[k]) && !g_ascii_isspace(head[k]) && !(head[k] & 0x80))
            return FALSE;
    return n > 0 && (g_utf8_validate(head, n, NULL) || g_utf8_validate(head, MAX(n - 3, 0), NULL));
}

static gboolean tape_checks(LithoTraceFile *file, GError **error)
{
    guint8 head[128] = {0};
    if (litho_file_read(file, head, sizeof head, 0, error) < 0)
        return FALSE;
    // SEG-Y revision 1 tape label: "SY1" at byte 5.
    if (memcmp(head + 4, "SY1", 3) == 0 || memcmp(head + 4, "SY2", 3) == 0)
        file->label = 128;
    // TIF-8: 32-bit type 0, previous 0, next = position after a record of 3200 bytes.
    static const guint8 tif[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0x8c, 0x0c, 0, 0};
    if (memcmp(head, tif, sizeof tif) == 0) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED,
                    _("%s is a tape image (TIF-8 records); extract the SEG-Y file from it first"),
                    file->path);
        return FALSE;
    }
    if (is_plain_text(file)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                    _("%s is a text file, not SEG-Y; a seismic file is needed"), file->path);
        return FALSE;
    }
    gint64 need = file->label + LITHO_TEXT_BYTES + LITHO_BINARY_BYTES;
    if (file->size < need) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                    _("%s is not SEG-Y: %" PRId64 " bytes, at least %" PRId64
                      " needed; without file headers name it .su or .raw"),
                    file->path, file->size, need);
        return FALSE;
    }
    return TRUE;
}

static int list_orders(const guint8 *block, int asked, LithoOrder *orders)
{
    static const guint8 constants[3][4] = {{1, 2, 3, 4}, {4, 3, 2, 1}, {2, 1, 4, 3}};
    if (asked == 1 || asked == 2) {
        orders[0] = asked == 1 ? LITHO_ORDER_BIG : LITHO_ORDER_LITTLE;
        return 1;
    }
    for (int k = 0; k < 3; k++)
        if (memcmp(word(block, LITHO_BIN_ENDIAN), constants[k], 4) == 0) {
            orders[0] = (LithoOrder)k;
            return 1;
        }
    orders[0] = LITHO_ORDER_BIG;
    orders[1] = LITHO_ORDER_LITTLE;
    return 2;
}

static gboolean refuse_nonsense(const LithoTraceFile *file, const Binary *b, GError **error)
{
    g_set_error(
        error, LITHO_ERROR, LITHO_ERROR_FORMAT,
        _("%s is not SEG-Y that can be made sense of: format code %d, %d samples a trace and "
          "no trace headers where they should be; give --format, --endian, or name it .su or "
          ".raw"),
        file->path, b->format, b->ns);
    return FALSE;
}

// Format codes that the data would allow, for a sentence about one that is missing or wrong.
static gboolean refuse_format(const LithoTraceFile *file, const Binary *b, GError **error)
{
    static const int guesses[] = {LITHO_FORMAT_IBM, LITHO_FORMAT_INT16, LITHO_FORMAT_INT8};
    Search search = {.file = file};
    for (guint k = 0; k < G_N_ELEMENTS(guesses); k++)
        try_binary(&search, b, guesses[k]);
    if (search.best.headers > 0.7)
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                    _("%s has sample format code %d, which SEG-Y does not know; its size fits %d "
                      "bytes a sample: give --format %s"),
                    file->path, b->format, litho_format_bytes(search.best.format),
                    search.best.format == LITHO_FORMAT_IBM     ? _("1 (IBM) or 5 (IEEE)")
                    : search.best.format == LITHO_FORMAT_INT16 ? "3"
                                                               : "8");
    else
        refuse_nonsense(file, b, error);
    return FALSE;
}

static gboolean refuse_by_name(const LithoTraceFile *file, const Reading *r, GError **error)
{
    if (r->format == LITHO_FORMAT_GAIN)
        g_set_error(
            error, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED,
            _("%s has sample format 4 (fixed point with gain), which is not read; convert it "
              "first, for instance with Seismic Unix: segyread | segywrite"),
            file->path);
    else
        g_set_error(
            error, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED,
            _("%s has sample format %d (%s), which 32-bit floats cannot hold; convert it to "
              "format 5 or 6 first"),
            file->path, r->format, litho_text(litho_format_name(r->format)));
    return FALSE;
}

static void adopt(LithoTraceFile *file, const Reading *r)
{
    const Binary *b = r->binary;
    file->order = file->sample_order = b->order;
    file->format = r->format;
    file->first = r->first;
    file->header_bytes = r->header_bytes;
    file->ns = r->ns;
    file->stride = stride_of(r);
    gint64 room = trace_room(file, r);
    file->traces = room / file->stride;
    file->trailer = file->size - r->first - room;
    file->revision = b->revision;
    file->dt_binary = b->dt;
    file->dt_extended = b->dt_extended;
    file->measurement = b->measurement;
}

// Tells how the winning reading differs from what the headers declare.
static gboolean tell(LithoSurvey *survey, LithoTraceFile *file, const Reading *r, gboolean strict,
                     GError **error)
{
    const Binary *b = r->binary;
    if (b->revision_odd)
        litho_survey_note(survey, "revision bytes 3501-3502 make no sense, read as revision 0");
    if (file->label)
        litho_survey_note(survey, "a tape label of 128 bytes was skipped");
    gint64 declared = b->revision >= 0x200 && b->ns_extended > 0 ? b->ns_extended : b->ns;
    file->mended_ns = !file->offsets && r->ns != declared;
    if (file->mended_ns &&
        !litho_survey_repair(survey, strict, error,
                             "the binary header says %" PRId64 " samples a trace; %" PRId64
                             " fit the file and were taken",
                             declared, r->ns))
        return FALSE;
    gint64 texts = (r->first - file->label - 3600) / LITHO_TEXT_BYTES;
    file->mended_texts =
        b->ext_text < 0 ? !has_ended_texts(file) : texts != b->ext_text && b->first != r->first;
    if (b->ext_text >= 0 && file->mended_texts &&
        !litho_survey_repair(survey, strict, error,
                             "the binary header says %d extended text headers; %" PRId64
                             " were found",
                             b->ext_text, texts))
        return FALSE;
    if (b->ext_text < 0)
        litho_survey_note(survey, "an open number of extended text headers; %" PRId64 " found",
                          texts);
    file->mended_headers = r->header_bytes != 240 * (1 + b->additional);
    if (file->mended_headers)
        litho_survey_note(survey,
                          "%" PRId64 " additional trace headers are declared but "
                          "not there",
                          b->additional);
    if (b->order == LITHO_ORDER_PAIRS)
        litho_survey_note(survey, "bytes are swapped in pairs; they were put right");
    return TRUE;
}

static gboolean check_end(LithoSurvey *survey, LithoTraceFile *file, gboolean strict,
                          GError **error)
{
    if (file->offsets) {
        gint64 end = file->offsets[file->traces];
        return litho_survey_repair(survey, strict, error,
                                   "traces differ in length; shorter ones are padded with zeros "
                                   "to %" PRId64 " samples",
                                   file->ns) &&
               (end + file->trailer == file->size ||
                litho_survey_repair(survey, strict, error,
                                    "the file ends inside a trace: %" PRId64
                                    " bytes after the last of %" PRId64
                                    " whole traces were left out",
                                    file->size - end, file->traces));
    }
    gint64 rest = file->size - file->first - file->traces * file->stride;
    if (rest == file->trailer)
        return TRUE;
    guint8 tail[4096];
    gint64 n = litho_file_read(file, tail, MIN(rest, (gint64)sizeof tail), file->size - rest, NULL);
    gboolean zeros = n > 0;
    for (gint64 k = 0; k < n; k++)
        zeros &= tail[k] == 0 || tail[k] == tail[0];
    if (zeros && (rest % 512 == 0 || rest % 3200 == 0 || file->size % 512 == 0)) {
        litho_survey_note(survey,
                          "%" PRId64 " bytes of padding after the last trace were "
                          "ignored",
                          rest);
        return TRUE;
    }
    return litho_survey_repair(survey, strict, error,
                               "the last trace is incomplete: %" PRId64 " of %" PRId64
                               " bytes; %" PRId64 " whole traces were kept",
                               rest, file->stride, file->traces);
}

static gboolean refuse_empty(const LithoTraceFile *file, const Binary *b, GError **error)
{
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                _("%s holds no whole trace: %" PRId64
                  " bytes follow the file headers, one trace of %d samples needs %d"),
                file->path, MAX(file->size - file->label - 3600, 0), b->ns,
                240 + b->ns * litho_format_bytes(b->format));
    return FALSE;
}

gboolean litho_segy_layout(LithoSurvey *survey, LithoTraceFile *file,
                           const LithoOpenOptions *options, GError **error)
{
    if (!tape_checks(file, error))
        return FALSE;
    guint8 text[LITHO_TEXT_BYTES], block[LITHO_BINARY_BYTES];
    if (!litho_file_read_all(file, text, sizeof text, file->label, error) ||
        !litho_file_read_all(file, block, sizeof block, file->label + LITHO_TEXT_BYTES, error))
        return FALSE;
    if (!survey->text)
        survey->text = litho_text_decode(text);

    LithoOrder orders[3];
    int n_orders = list_orders(block, options->endian, orders);
    Binary binaries[3];
    Search search = {.file = file};
    gboolean known = FALSE;
    int lead = 0; // the order to speak of when nothing fits
    for (int k = 0; k < n_orders; k++) {
        binaries[k] = parse_binary(block, orders[k]);
        int format = options->format ? options->format : binaries[k].format;
        if (litho_format_bytes(format) && !known)
            lead = k;
        known |= litho_format_bytes(format) > 0;
        try_binary(&search, &binaries[k], format);
    }
    if (!known)
        return refuse_format(file, &binaries[lead], error);
    if (search.best.score == 0)
        return refuse_empty(file, &binaries[lead], error);

    Reading *best = &search.best;
    gboolean fits = best->ns_declared && trace_room(file, best) % stride_of(best) == 0;
    if (best->headers < (fits ? 0.2 : 0.5))
        return refuse_nonsense(file, best->binary, error);
    // An old vendor's 8-bit files carry code 6, which revision 2 gave to doubles.
    if (!options->format && best->format == LITHO_FORMAT_DOUBLE) {
        Search bytes = {.file = file};
        try_binary(&bytes, best->binary, LITHO_FORMAT_INT8);
        if (bytes.best.score > best->score + 2) {
            g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                        _("%s says format 6 (IEEE double) but its size fits 1 byte a sample, as in "
                          "an old vendor's files: give --format 8 (or --format 6 to insist)"),
                        file->path);
            return FALSE;
        }
    }
    if (!litho_format_supported(best->format))
        return refuse_by_name(file, best, error);
    adopt(file, best);
    const gboolean is_exact = fills_file(file, best);
    if (best->headers < 0.75 || (!is_exact && (!best->binary->fixed || best->headers < 0.9)))
        walk_variable(file, best, is_exact && best->ns_declared);
    return tell(survey, file, best, options->strict, error) &&
           check_end(survey, file, options->strict, error);
}
