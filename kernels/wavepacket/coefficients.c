// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/wavepacket/coefficients.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

#include "core/contents.h"
#include "core/error.h"
#include "core/io/output.h"
#include "core/json.h"
#include "core/memory.h"
#include "core/text.h"

static const char MAGIC[8] = "LITHOWP2";
static const char MAGIC_1[8] = "LITHOWP1"; // the layout before, without a checksum
enum {
    ZSTD_EFFORT = 6,
    SUM_BYTES = 32,      // SHA-256
    LONGEST_VARINT = 10, // 64 bits, 7 a byte
    PIECE = 1 << 18,     // bytes, or floats of a box, between two looks at a cancel
    SETTINGS = 20,       // room for their names
};

// Grows with the survey: a step that the system refuses is an error, no end of the program.
typedef struct Bytes {
    guint8 *data;
    gsize n, room;
} Bytes;

struct WpCoefficients {
    Bytes gaps, values; // values: floats
    guint64 base;    // number of the present block's first coefficient
    guint64 last;    // number of the last one kept, plus one
    guint64 written; // kept so far
};

WpCoefficients *wp_coefficients_new(void)
{
    return g_new0(WpCoefficients, 1);
}

void wp_coefficients_free(WpCoefficients *f)
{
    if (!f)
        return;
    g_free(f->gaps.data);
    g_free(f->values.data);
    g_free(f);
}

static int step_of(const WpBox *box)
{
    return box->kind == WP_RESIDUAL ? 1 : 2;
}

static gboolean refuse_room(gsize bytes, GError **error)
{
    return litho_refuse(error, LITHO_ERROR_MEMORY,
                        "there is no memory for %.3g GiB of coefficients to write",
                        bytes / 1073741824.0);
}

// Room for `more` bytes behind those that are there.
static gboolean reserve(Bytes *b, gsize more, GError **error)
{
    if (b->n + more <= b->room)
        return TRUE;
    const gsize room = MAX(b->n + more, 2 * b->room);
    guint8 *data = g_try_realloc(b->data, room);
    if (!data)
        return refuse_room(room, error);
    b->data = data;
    b->room = room;
    return TRUE;
}

static void put(Bytes *to, const void *from, gsize n)
{
    memcpy(to->data + to->n, from, n);
    to->n += n;
}

static void put_varint(Bytes *to, guint64 v)
{
    do {
        to->data[to->n++] = (guint8)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
        v >>= 7;
    } while (v);
}

static gboolean get_varint(const guint8 *from, gsize size, gsize *at, guint64 *v)
{
    *v = 0;
    for (int shift = 0; *at < size && shift < 64; shift += 7) {
        guint8 byte = from[(*at)++];
        *v |= (guint64)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return TRUE;
    }
    return FALSE;
}

static gboolean goes_on(const LithoRun *run, GError **error)
{
    return litho_run_checkpoint(run) || litho_run_stopped(error);
}

// Appends those of n floats at `v` that are not zero; the first one has the number `first`.
static gboolean append_piece(WpCoefficients *f, const float *v, gint64 n, int step, guint64 first,
                             GError **error)
{
    for (gint64 i = 0; i < n; i += step) {
        if (v[i] == 0 && (step == 1 || v[i + 1] == 0))
            continue;
        const guint64 number = first + (guint64)(i / step);
        if (!reserve(&f->gaps, LONGEST_VARINT, error) ||
            !reserve(&f->values, step * sizeof *v, error))
            return FALSE;
        put_varint(&f->gaps, number - f->last);
        f->last = number + 1;
        put(&f->values, v + i, step * sizeof *v);
        f->written++;
    }
    return TRUE;
}

gboolean wp_coefficients_append(WpCoefficients *f, WpLane *lane, const float *c, GError **error)
{
    const WpGeometry *g = lane->engine->geometry;
    g_autofree float *v = litho_memory_new(PIECE, sizeof *v, "coefficients", error);
    if (!v)
        return FALSE;
    for (int b = 0; b < g->n_boxes; b++) {
        const WpBox *box = &g->boxes[b];
        const int step = step_of(box);
        for (gint64 at = 0; at < box->floats; at += PIECE) {
            const gint64 n = MIN(PIECE, box->floats - at);
            if (!goes_on(lane->run, error) ||
                !lane->engine->class->download(lane->engine, c, box->at + at, v, n, error) ||
                !append_piece(f, v, n, step, f->base + (guint64)(at / step), error))
                return FALSE;
        }
        f->base += (guint64)(box->floats / step);
    }
    return TRUE;
}

// --- packing ------------------------------------------------------------------------------------

static gboolean cannot_pack(gsize status, GError **error)
{
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT, _("zstd could not compress: %s"),
                ZSTD_getErrorName(status));
    return FALSE;
}

// One more piece of what is packed, or the last one.
static gboolean pack_piece(ZSTD_CCtx *zstd, const void *piece, gsize n, gboolean last, Bytes *to,
                           GError **error)
{
    ZSTD_inBuffer in = {piece, n, 0};
    for (;;) {
        if (!reserve(to, ZSTD_CStreamOutSize(), error))
            return FALSE;
        ZSTD_outBuffer out = {to->data + to->n, to->room - to->n, 0};
        const gsize left =
            ZSTD_compressStream2(zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        to->n += out.pos;
        if (ZSTD_isError(left))
            return cannot_pack(left, error);
        if (last ? left == 0 : in.pos == in.size)
            return TRUE;
    }
}

// Bytes at .. at+n-1 of what is packed.
typedef void (*GiveFunc)(const Bytes *from, gsize at, gsize n, guint8 *to);

static void give_bytes(const Bytes *from, gsize at, gsize n, guint8 *to)
{
    if (n > 0) // there may be none at all
        memcpy(to, from->data + at, n);
}

// Byte 0 of every value, then byte 1 of every value, ...
static void give_planes(const Bytes *from, gsize at, gsize n, guint8 *to)
{
    const gsize values = from->n / 4;
    for (gsize done = 0; done < n;) {
        const gsize plane = (at + done) / values, first = (at + done) % values;
        const gsize m = MIN(n - done, values - first);
        for (gsize i = 0; i < m; i++)
            to[done + i] = from->data[4 * (first + i) + plane];
        done += m;
    }
}

// Packs all of `from`, which is freed, piece by piece: a cancel need not wait for the end.
static gboolean pack(Bytes *from, GiveFunc give, Bytes *to, const LithoRun *run, GError **error)
{
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    g_autofree guint8 *piece = g_malloc(PIECE);
    gboolean ok = zstd || refuse_room(from->n, error);
    if (ok) {
        ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, ZSTD_EFFORT);
        ZSTD_CCtx_setPledgedSrcSize(zstd, from->n);
    }
    gsize at = 0;
    do {
        const gsize n = MIN((gsize)PIECE, from->n - at);
        give(from, at, n, piece);
        at += n;
        ok = ok && goes_on(run, error) && pack_piece(zstd, piece, n, at == from->n, to, error);
    } while (ok && at < from->n);
    ZSTD_freeCCtx(zstd);
    g_clear_pointer(&from->data, g_free);
    from->n = from->room = 0;
    return ok;
}

// Takes bytes at .. at+n-1 of `size` to where they belong.
typedef void (*TakeFunc)(const guint8 *from, gsize at, gsize n, gsize size, guint8 *to);

static void take_bytes(const guint8 *from, gsize at, gsize n, gsize size, guint8 *to)
{
    (void)size;
    memcpy(to + at, from, n);
}

static void take_planes(const guint8 *from, gsize at, gsize n, gsize size, guint8 *to)
{
    const gsize values = size / 4;
    for (gsize i = 0; i < n && at + i < 4 * values; i++)
        to[4 * ((at + i) % values) + (at + i) / values] = from[i];
}

// Unpacks piece by piece; FALSE without an error where that gives other than `size` bytes.
static gboolean unpack_pieces(ZSTD_DCtx *zstd, ZSTD_inBuffer in, gsize size, TakeFunc take,
                              guint8 *to, const LithoRun *run, GError **error)
{
    g_autofree guint8 *piece = g_malloc(PIECE);
    gsize at = 0, left = 0, got = PIECE;
    while (in.pos < in.size || got == PIECE) { // a full piece may not have been all
        ZSTD_outBuffer out = {piece, PIECE, 0};
        if (!goes_on(run, error))
            return FALSE;
        if (in.pos == in.size && left == 0)
            break;
        left = ZSTD_decompressStream(zstd, &out, &in);
        got = out.pos;
        if (ZSTD_isError(left) || got > size - at)
            return FALSE;
        take(piece, at, got, size, to);
        at += got;
    }
    return left == 0 && at == size;
}

static guint8 *unpack(const guint8 *data, gsize packed, gsize size, TakeFunc take,
                      const LithoRun *run, GError **error)
{
    g_autofree guint8 *out = litho_memory_new(size, 1, "unpacked coefficients", error);
    if (!out)
        return NULL;
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    GError *stopped = NULL;
    const gboolean ok = zstd && unpack_pieces(zstd, (ZSTD_inBuffer){data, packed, 0}, size, take,
                                              out, run, &stopped);
    ZSTD_freeDCtx(zstd);
    if (ok)
        return g_steal_pointer(&out);
    if (stopped)
        g_propagate_error(error, stopped);
    else
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                    _("the coefficient file is damaged: a part of %zu"
                      " bytes does not unpack"),
                    packed);
    return NULL;
}

// --- the description --------------------------------------------------------------------------

// Two segments of an axis end with the volume, whatever they overlap; of more the overlap says
// where the others begin.
static double overlap_of(const WpCuts *c)
{
    return c->count > 2 ? (double)c->overlap : 0;
}

// Names and values that must agree between a file and the plan that reads it, in the order of
// writing.
static guint settings_of(const WpJob *job, const char *names[SETTINGS], double values[SETTINGS])
{
    const WpSpec *s = &job->spec;
    const gint64 last = job->n_blocks > 1 ? job->blocks[job->n_blocks - 1].at[2] : 0;
    const struct {
        const char *name;
        double value;
    } all[] = {
        {"n1", (double)job->n[0]},
        {"n2", (double)job->n[1]},
        {"n3", (double)job->n[2]},
        {"block1", (double)s->n[0]},
        {"block2", (double)s->n[1]},
        {"block3", (double)s->n[2]},
        {"blocks", job->n_blocks},
        {"last_block", (double)last},
        {"overlap1", overlap_of(&job->cuts[0])},
        {"overlap2", overlap_of(&job->cuts[1])},
        {"overlap3", overlap_of(&job->cuts[2])},
        {"design", s->design},
        {"scales", job->geometry->tiling->scales},
        {"directions", s->directions},
        {"kernel", s->kernel},
        {"kernel_width", s->width},
        {"oversampling", s->oversampling},
        {"coefficients", (double)job->geometry->n_points},
    };
    G_STATIC_ASSERT(G_N_ELEMENTS(all) <= SETTINGS);
    for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
        names[i] = all[i].name;
        values[i] = all[i].value;
    }
    return G_N_ELEMENTS(all);
}

typedef struct Sizes {
    guint64 kept, gaps, gaps_packed, values, values_packed;
} Sizes;

static char *describe(const WpJob *job, const Sizes *sizes)
{
    const char *names[SETTINGS];
    double values[SETTINGS];
    guint n = settings_of(job, names, values);
    JsonObject *o = json_object_new();
    for (guint i = 0; i < n; i++)
        json_object_set_double_member(o, names[i], values[i]);
    json_object_set_int_member(o, "kept", (gint64)sizes->kept);
    json_object_set_int_member(o, "gaps", (gint64)sizes->gaps);
    json_object_set_int_member(o, "gaps_packed", (gint64)sizes->gaps_packed);
    json_object_set_int_member(o, "values", (gint64)sizes->values);
    json_object_set_int_member(o, "values_packed", (gint64)sizes->values_packed);
    JsonNode *node = json_node_new(JSON_NODE_OBJECT);
    json_node_take_object(node, o);
    char *text = json_to_string(node, FALSE);
    json_node_unref(node);
    return text;
}

// Files of earlier versions do not tell the overlaps: fine where nothing depends on them.
static gboolean settings_agree(const WpJob *job, JsonObject *o, GError **error)
{
    const char *names[SETTINGS];
    double values[SETTINGS];
    const guint n = settings_of(job, names, values);
    for (guint i = 0; i < n; i++) {
        const gboolean overlap = g_str_has_prefix(names[i], "overlap");
        const double found = litho_json_number_or(o, names[i], overlap ? 0 : -1);
        if (found == values[i])
            continue;
        if (overlap && !json_object_has_member(o, names[i]))
            return litho_refuse(
                error, LITHO_ERROR_GEOMETRY,
                "the coefficient file is of an earlier version, which did not write "
                "how segments overlap, and more than two lie along an axis: "
                "compress the cube once more");
        return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                            "the coefficient file was made with %s = %g, here it is %g", names[i],
                            found, values[i]);
    }
    return TRUE;
}

static void read_sizes(JsonObject *o, Sizes *sizes)
{
    const struct {
        const char *name;
        guint64 *value;
    } counts[] = {{"kept", &sizes->kept},
                  {"gaps", &sizes->gaps},
                  {"gaps_packed", &sizes->gaps_packed},
                  {"values", &sizes->values},
                  {"values_packed", &sizes->values_packed}};
    for (guint i = 0; i < G_N_ELEMENTS(counts); i++)
        *counts[i].value = (guint64)CLAMP(litho_json_number_or(o, counts[i].name, 0), 0, 1e15);
}

// Every coefficient has a gap of 1 to 10 bytes and a value of 4 or 8; a file that says otherwise
// must not make us allocate for it.
static gboolean sizes_can_be(const Sizes *sizes, guint64 points)
{
    return sizes->kept <= points && sizes->gaps <= 10 * sizes->kept &&
           sizes->values <= 8 * sizes->kept;
}

static gboolean read_description(const WpJob *job, JsonNode *root, Sizes *sizes, GError **error)
{
    JsonObject *o = litho_json_node_object(root);
    if (!o)
        return litho_refuse(error, LITHO_ERROR_FORMAT, "the coefficient file has no description");
    if (!settings_agree(job, o, error))
        return FALSE;
    read_sizes(o, sizes);
    if (sizes_can_be(sizes, (guint64)job->geometry->n_points * job->n_blocks))
        return TRUE;
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                _("the coefficient file says %" PRIu64 " coefficients in %" PRIu64
                  " bytes, which cannot be"),
                sizes->kept, sizes->gaps + sizes->values);
    return FALSE;
}

static gboolean check_description(const WpJob *job, const char *text, gsize length, Sizes *sizes,
                                  GError **error)
{
    JsonNode *root = litho_json_parse(text, (gssize)length, error);
    gboolean good = root && read_description(job, root, sizes, error);
    g_clear_pointer(&root, json_node_unref);
    return good;
}

static void report_file(const WpJob *job, guint64 bytes, guint64 kept, LithoRun *run)
{
    if (!run)
        return;
    litho_report_number(run->report, "file_bytes", "Size of the coefficient file", "bytes",
                        (double)bytes);
    litho_report_number(run->report, "file_ratio", "Samples' bytes / file", "",
                        4.0 * (double)job->samples / (double)bytes);
    litho_report_number(run->report, "file_kept", "Coefficients in the file", "", (double)kept);
}

// The sum, and the bytes to a file unless `file` is NULL: piece by piece.
static gboolean sum_up(GChecksum *hash, LithoOutput *file, const void *bytes, gsize n,
                       const LithoRun *run, GError **error)
{
    for (gsize at = 0; at < n; at += PIECE) {
        const guint8 *piece = (const guint8 *)bytes + at;
        const gsize m = MIN((gsize)PIECE, n - at);
        g_checksum_update(hash, piece, (gssize)m);
        if (!goes_on(run, error) || (file && !litho_output_write(file, piece, m, error)))
            return FALSE;
    }
    return TRUE;
}

static void sum_end(GChecksum *hash, guint8 sum[SUM_BYTES])
{
    gsize length = SUM_BYTES;
    g_checksum_get_digest(hash, sum, &length);
}

// --- writing ------------------------------------------------------------------------------------

// *bytes = size of the file.
static gboolean write_file(const char *path, const char *text, const Bytes *gaps,
                           const Bytes *values, guint64 *bytes, LithoRun *run, GError **error)
{
    const gsize length = strlen(text);
    const guint32 prefix = GUINT32_TO_LE((guint32)length);
    const struct {
        const void *data;
        gsize n;
    } parts[] = {{MAGIC, sizeof MAGIC},
                 {&prefix, sizeof prefix},
                 {text, length},
                 {gaps->data, gaps->n},
                 {values->data, values->n}};
    g_autoptr(GChecksum) hash = g_checksum_new(G_CHECKSUM_SHA256);
    g_autoptr(LithoOutput) file =
        litho_output_new(path, run && run->force ? LITHO_REPLACE_ANY : LITHO_REPLACE_OWN, error);
    guint8 sum[SUM_BYTES];
    *bytes = sizeof sum;
    for (guint i = 0; i < G_N_ELEMENTS(parts); i++) {
        if (!file || !sum_up(hash, file, parts[i].data, parts[i].n, run, error))
            return FALSE;
        *bytes += parts[i].n;
    }
    sum_end(hash, sum);
    return litho_output_write(file, sum, sizeof sum, error) && litho_output_finish(file, error);
}

gboolean wp_coefficients_write(WpCoefficients *f, WpJob *job, const char *path, LithoRun *run,
                               GError **error)
{
    Bytes gaps = {0}, values = {0};
    Sizes sizes = {.kept = f->written, .gaps = f->gaps.n, .values = f->values.n};
    guint64 bytes = 0;
    gboolean ok = pack(&f->gaps, give_bytes, &gaps, run, error) &&
                  pack(&f->values, give_planes, &values, run, error);
    if (ok) {
        sizes.gaps_packed = gaps.n;
        sizes.values_packed = values.n;
        g_autofree char *text = describe(job, &sizes);
        ok = write_file(path, text, &gaps, &values, &bytes, run, error);
    }
    if (ok)
        report_file(job, bytes, f->written, run);
    g_free(gaps.data);
    g_free(values.data);
    return ok;
}

// --- reading ------------------------------------------------------------------------------------

typedef struct Reader {
    guint8 *gaps;
    float *values;
    Sizes sizes;
    guint64 bytes;       // of the file
    gsize at;            // in gaps
    guint64 value, next; // next value to use; number of the next kept coefficient
    guint64 used;
    guint64 base; // number of the present piece's first coefficient
    int corrections;
    gboolean damaged;
} Reader;

static void advance(Reader *r)
{
    const guint64 from = r->used ? r->next + 1 : 0;
    guint64 gap;
    r->next = G_MAXUINT64;
    if (r->used == r->sizes.kept)
        return;
    // A gap that wraps around would lead back into a box that has been read.
    if (get_varint(r->gaps, r->sizes.gaps, &r->at, &gap) && gap < G_MAXUINT64 - from) {
        r->next = from + gap;
        r->used++;
    } else {
        r->damaged = TRUE;
    }
}

static gboolean sum_fits(const guint8 *data, gsize n, const char *path, const LithoRun *run,
                         GError **error)
{
    g_autoptr(GChecksum) hash = g_checksum_new(G_CHECKSUM_SHA256);
    guint8 sum[SUM_BYTES];
    if (!sum_up(hash, NULL, data, n, run, error))
        return FALSE;
    sum_end(hash, sum);
    return memcmp(sum, data + n, SUM_BYTES) == 0 ||
           litho_refuse(error, LITHO_ERROR_FORMAT,
                        "%s is damaged: its checksum does not fit its bytes", path);
}

static gboolean open_reader(const WpJob *job, const char *path, Reader *r, const LithoRun *run,
                            GError **error)
{
    g_autofree char *data = NULL;
    gsize size;
    guint32 length;
    data = litho_contents_load(path, G_MAXSSIZE - 1, &size, error);
    if (!data)
        return FALSE;
    const gsize whole = size;
    const gboolean old = size >= 12 && memcmp(data, MAGIC_1, sizeof MAGIC_1) == 0;
    if (!old && (size < 12 + SUM_BYTES || memcmp(data, MAGIC, sizeof MAGIC) != 0))
        return litho_refuse(error, LITHO_ERROR_FORMAT, "%s is not a coefficient file", path);
    if (!old) {
        size -= SUM_BYTES;
        if (!sum_fits((const guint8 *)data, size, path, run, error))
            return FALSE;
    }
    memcpy(&length, data + 8, sizeof length);
    length = GUINT32_FROM_LE(length);
    if (length > size - 12) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT, _("%s ends inside its description"),
                    path);
        return FALSE;
    }
    if (!check_description(job, data + 12, length, &r->sizes, error))
        return FALSE;
    const gsize rest = size - 12 - length;
    if (r->sizes.gaps_packed > rest || r->sizes.values_packed != rest - r->sizes.gaps_packed) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT, _("%s is cut off"), path);
        return FALSE;
    }
    const guint8 *parts = (const guint8 *)data + 12 + length;
    r->bytes = whole;
    r->gaps = unpack(parts, r->sizes.gaps_packed, r->sizes.gaps, take_bytes, run, error);
    if (!r->gaps)
        return FALSE;
    r->values = (float *)unpack(parts + r->sizes.gaps_packed, r->sizes.values_packed,
                                r->sizes.values, take_planes, run, error);
    if (!r->values)
        return FALSE;
    advance(r);
    return TRUE;
}

// The description at the beginning of a file, and the file's size; NULL: it has none.
static JsonNode *load_description(const char *path, guint64 *bytes)
{
    enum { LONGEST = 1 << 20 };
    guint8 head[12];
    guint32 length;
    JsonNode *root = NULL;
    GStatBuf info; // a pipe must not hang the program
    FILE *file = g_stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL;
    *bytes = file ? (guint64)info.st_size : 0;
    if (!file)
        return NULL;
    if (fread(head, sizeof head, 1, file) == 1 &&
        (memcmp(head, MAGIC, sizeof MAGIC) == 0 || memcmp(head, MAGIC_1, sizeof MAGIC_1) == 0)) {
        memcpy(&length, head + 8, sizeof length);
        length = GUINT32_FROM_LE(length);
        g_autofree char *text = length < LONGEST ? g_malloc(length + 1) : NULL;
        if (text && fread(text, 1, length, file) == length)
            root = litho_json_parse(text, (gssize)length, NULL);
    }
    fclose(file);
    return root;
}

gboolean wp_coefficients_sizes(const char *path, guint64 points, guint64 *packed, guint64 *unpacked)
{
    JsonNode *root = load_description(path, packed);
    JsonObject *o = root ? litho_json_node_object(root) : NULL;
    Sizes sizes = {0};
    if (o)
        read_sizes(o, &sizes);
    g_clear_pointer(&root, json_node_unref);
    *unpacked = sizes.gaps + sizes.values;
    return o && sizes_can_be(&sizes, points);
}

// n floats of a box, the first of which is coefficient number r->base, which moves on; *kept counts
// those that the file has.
static gboolean read_piece(Reader *r, float *v, gint64 n, int step, guint64 *kept, GError **error)
{
    const guint64 end = r->base + (guint64)(n / step);
    memset(v, 0, n * sizeof *v);
    while (r->next < end && !r->damaged) {
        if (4 * (r->value + step) > r->sizes.values) {
            r->damaged = TRUE;
            break;
        }
        memcpy(v + step * (r->next - r->base), r->values + r->value, step * sizeof *v);
        r->value += step;
        ++*kept;
        advance(r);
    }
    r->base = end;
    return !r->damaged ||
           litho_refuse(error, LITHO_ERROR_FORMAT,
                        "the coefficient file is damaged: coefficients and values do not match");
}

// One block's coefficients into `c` (engine memory).
static gboolean read_block(WpLane *lane, Reader *r, float *c, GError **error)
{
    const WpGeometry *g = lane->engine->geometry;
    g_autofree float *v = litho_memory_new(PIECE, sizeof *v, "coefficients", error);
    if (!v)
        return FALSE;
    for (int b = 0; b < g->n_boxes; b++) {
        const WpBox *box = &g->boxes[b];
        for (gint64 at = 0; at < box->floats; at += PIECE) {
            const gint64 n = MIN(PIECE, box->floats - at);
            if (!goes_on(lane->run, error) ||
                !read_piece(r, v, n, step_of(box), &lane->kept[b], error) ||
                !lane->engine->class->upload(lane->engine, v, c, box->at + at, n, error))
                return FALSE;
        }
    }
    return TRUE;
}

static gboolean expand_block(WpJob *job, WpLane *lane, int b, gpointer data, GError **error)
{
    Reader *r = data;
    float *u = wp_lane_target(job, lane, error);
    return u && wp_reserve(lane->engine, &lane->d, WP_COEFFICIENTS, error) &&
           read_block(lane, r, lane->d, error) && wp_job_look(job, lane, b, lane->d, error) &&
           wp_lane_invert(job, lane, lane->d, u, r->corrections, error) &&
           wp_lane_paste(job, lane, u, b, error);
}

gboolean wp_coefficients_expand(WpJob *job, const char *path, int corrections, LithoRun *run,
                                GError **error)
{
    Reader r = {.corrections = corrections};
    const WpWork work = {
        .stage = "inverse", .to = job->result, .each = expand_block, .data = &r, .in_order = TRUE};
    gboolean ok = open_reader(job, path, &r, run, error) && wp_lanes_work(job, &work, run, error);
    if (ok) {
        wp_job_looked(job);
        wp_report_spectrum(job, run);
        report_file(job, r.bytes, r.sizes.kept, run);
    }
    g_free(r.gaps);
    g_free(r.values);
    return ok;
}
