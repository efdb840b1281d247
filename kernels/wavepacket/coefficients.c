// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/wavepacket/coefficients.h"

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

// Room for `more` bytes behind those that are there.
static gboolean reserve(Bytes *b, gsize more, GError **error)
{
    if (b->n + more <= b->room)
        return TRUE;
    const gsize room = MAX(b->n + more, 2 * b->room);
    guint8 *data = g_try_realloc(b->data, room);
    if (!data)
        return litho_refuse(error, LITHO_ERROR_MEMORY,
                            "there is no memory for %.3g GiB of coefficients to write",
                            room / 1073741824.0);
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

gboolean wp_coefficients_append(WpCoefficients *f, WpLane *lane, const float *c, GError **error)
{
    const WpGeometry *g = lane->engine->geometry;
    for (int b = 0; b < g->n_boxes; b++) {
        const WpBox *box = &g->boxes[b];
        const int step = step_of(box);
        g_autofree float *v = litho_memory_new(box->floats, sizeof *v, "coefficients", error);
        if (!v || !lane->engine->class->download(lane->engine, c, box->at, v, box->floats, error))
            return FALSE;
        for (gint64 i = 0; i < box->floats; i += step) {
            if (v[i] == 0 && (step == 1 || v[i + 1] == 0))
                continue;
            guint64 number = f->base + (guint64)(i / step);
            if (!reserve(&f->gaps, LONGEST_VARINT, error) ||
                !reserve(&f->values, step * sizeof *v, error))
                return FALSE;
            put_varint(&f->gaps, number - f->last);
            f->last = number + 1;
            put(&f->values, v + i, step * sizeof *v);
            f->written++;
        }
        f->base += (guint64)(box->floats / step);
    }
    return TRUE;
}

// --- bytes ------------------------------------------------------------------------------------

// Byte k of every value together, and back.
static guint8 *split_bytes(const guint8 *from, gsize n, GError **error)
{
    guint8 *to = litho_memory_new(n, 4, "coefficients to pack", error);
    for (gsize i = 0; to && i < n; i++)
        for (int k = 0; k < 4; k++)
            to[k * n + i] = from[4 * i + k];
    return to;
}

static void join_bytes(const guint8 *from, gsize n, guint8 *to)
{
    for (gsize i = 0; i < n; i++)
        for (int k = 0; k < 4; k++)
            to[4 * i + k] = from[k * n + i];
}

static GBytes *pack(const void *data, gsize size, GError **error)
{
    gsize bound = ZSTD_compressBound(size);
    guint8 *out = litho_memory_new(bound, 1, "packed coefficients", error);
    if (!out)
        return NULL;
    gsize used = ZSTD_compress(out, bound, data, size, ZSTD_EFFORT);
    if (ZSTD_isError(used)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT, _("zstd could not compress: %s"),
                    ZSTD_getErrorName(used));
        g_free(out);
        return NULL;
    }
    guint8 *less = g_try_realloc(out, MAX(used, 1));
    return g_bytes_new_take(less ? less : out, used);
}

static guint8 *unpack(const guint8 *data, gsize packed, gsize size, GError **error)
{
    guint8 *out = litho_memory_new(size, 1, "unpacked coefficients", error);
    if (!out)
        return NULL;
    gsize got = ZSTD_decompress(out, size, data, packed);
    if (ZSTD_isError(got) || got != size) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                    _("the coefficient file is damaged: a part of %zu"
                      " bytes does not unpack"),
                    packed);
        g_free(out);
        return NULL;
    }
    return out;
}

// --- the description --------------------------------------------------------------------------

// Names and values that must agree between a file and the plan that reads it, in the order of
// writing.
static guint settings_of(const WpJob *job, const char *names[16], double values[16])
{
    const WpSpec *s = &job->spec;
    gint64 overlap = job->n_blocks > 1 ? job->blocks[job->n_blocks - 1].at[2] : 0;
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
        {"last_block", (double)overlap},
        {"design", s->design},
        {"scales", job->geometry->tiling->scales},
        {"directions", s->directions},
        {"kernel", s->kernel},
        {"kernel_width", s->width},
        {"oversampling", s->oversampling},
        {"coefficients", (double)job->geometry->n_points},
    };
    for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
        names[i] = all[i].name;
        values[i] = all[i].value;
    }
    return G_N_ELEMENTS(all);
}

typedef struct Sizes {
    guint64 kept, gaps, gaps_packed, values, values_packed;
} Sizes;

static char *describe(const WpJob *job, const Sizes *sizes, gsize *length)
{
    const char *names[16];
    double values[16];
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
    *length = strlen(text);
    return text;
}

static gboolean read_description(const WpJob *job, JsonNode *root, Sizes *sizes, GError **error)
{
    const char *names[16];
    double values[16];
    JsonObject *o = litho_json_node_object(root);
    if (!o)
        return litho_refuse(error, LITHO_ERROR_FORMAT, "the coefficient file has no description");
    guint n = settings_of(job, names, values);
    for (guint i = 0; i < n; i++) {
        double found = litho_json_number_or(o, names[i], -1);
        if (found == values[i])
            continue;
        litho_refuse(error, LITHO_ERROR_GEOMETRY,
                     "the coefficient file was made with %s = %g, here it is %g", names[i], found,
                     values[i]);
        return FALSE;
    }
    const struct {
        const char *name;
        guint64 *value;
    } counts[] = {{"kept", &sizes->kept},
                  {"gaps", &sizes->gaps},
                  {"gaps_packed", &sizes->gaps_packed},
                  {"values", &sizes->values},
                  {"values_packed", &sizes->values_packed}};
    // Every coefficient has a gap of 1 to 10 bytes and a value of 4 or 8; a file that says
    // otherwise must not make us allocate for it.
    for (guint i = 0; i < G_N_ELEMENTS(counts); i++)
        *counts[i].value = (guint64)CLAMP(litho_json_number_or(o, counts[i].name, 0), 0, 1e15);
    guint64 total = (guint64)job->geometry->n_points * job->n_blocks;
    if (sizes->kept <= total && sizes->gaps <= 10 * sizes->kept && sizes->values <= 8 * sizes->kept)
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

static void checksum(const guint8 *bytes, gsize n, guint8 sum[SUM_BYTES])
{
    g_autoptr(GChecksum) hash = g_checksum_new(G_CHECKSUM_SHA256);
    gsize length = SUM_BYTES;
    g_checksum_update(hash, bytes, (gssize)n);
    g_checksum_get_digest(hash, sum, &length);
}

// --- writing ------------------------------------------------------------------------------------

gboolean wp_coefficients_write(WpCoefficients *f, WpJob *job, const char *path, LithoRun *run,
                               GError **error)
{
    g_autofree guint8 *planes = split_bytes(f->values.data, f->values.n / 4, error);
    g_autoptr(GBytes) gaps = planes ? pack(f->gaps.data, f->gaps.n, error) : NULL;
    g_autoptr(GBytes) values = gaps ? pack(planes, f->values.n, error) : NULL;
    if (!values)
        return FALSE;
    const Sizes sizes = {f->written, f->gaps.n, g_bytes_get_size(gaps), f->values.n,
                         g_bytes_get_size(values)};
    gsize length;
    g_autofree char *text = describe(job, &sizes, &length);
    guint32 prefix = GUINT32_TO_LE((guint32)length);
    Bytes all = {0};
    gboolean ok = reserve(&all,
                          sizeof MAGIC + sizeof prefix + length + sizes.gaps_packed +
                              sizes.values_packed + SUM_BYTES,
                          error);
    if (ok) {
        put(&all, MAGIC, sizeof MAGIC);
        put(&all, &prefix, sizeof prefix);
        put(&all, text, length);
        put(&all, g_bytes_get_data(gaps, NULL), sizes.gaps_packed);
        put(&all, g_bytes_get_data(values, NULL), sizes.values_packed);
        guint8 sum[SUM_BYTES];
        checksum(all.data, all.n, sum);
        put(&all, sum, sizeof sum);
        ok = litho_output_save(path, (const char *)all.data, (gssize)all.n,
                               run && run->force ? LITHO_REPLACE_ANY : LITHO_REPLACE_OWN, error);
    }
    if (ok)
        report_file(job, all.n, f->written, run);
    g_free(all.data);
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
    guint64 base; // number of the present box's first coefficient
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

static gboolean open_reader(const WpJob *job, const char *path, Reader *r, GError **error)
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
        guint8 sum[SUM_BYTES];
        size -= SUM_BYTES;
        checksum((const guint8 *)data, size, sum);
        if (memcmp(sum, data + size, SUM_BYTES) != 0)
            return litho_refuse(error, LITHO_ERROR_FORMAT,
                                "%s is damaged: its checksum does not fit its bytes", path);
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
    r->gaps = unpack(parts, r->sizes.gaps_packed, r->sizes.gaps, error);
    g_autofree guint8 *planes = r->gaps ? unpack(parts + r->sizes.gaps_packed,
                                                 r->sizes.values_packed, r->sizes.values, error)
                                        : NULL;
    if (!planes)
        return FALSE;
    r->values = litho_memory_new(r->sizes.values, 1, "coefficients", error);
    if (!r->values)
        return FALSE;
    join_bytes(planes, r->sizes.values / 4, (guint8 *)r->values);
    advance(r);
    return TRUE;
}

// One block's coefficients into `c` (engine memory); r->base counts coefficients.
static gboolean read_block(WpLane *lane, Reader *r, float *c, GError **error)
{
    const WpGeometry *g = lane->engine->geometry;
    guint64 *base = &r->base;
    for (int b = 0; b < g->n_boxes; b++) {
        const WpBox *box = &g->boxes[b];
        const int step = step_of(box);
        const guint64 n = (guint64)(box->floats / step);
        g_autofree float *v = litho_memory_new(box->floats, sizeof *v, "coefficients", error);
        if (!v)
            return FALSE;
        while (r->next < *base + n) {
            if (4 * (r->value + step) > r->sizes.values) {
                r->damaged = TRUE;
                break;
            }
            memcpy(v + step * (r->next - *base), r->values + r->value, step * sizeof *v);
            r->value += step;
            lane->kept[b]++;
            advance(r);
        }
        if (r->damaged) {
            g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                        _("the coefficient file is damaged: coefficients and values do not match"));
            return FALSE;
        }
        if (!lane->engine->class->upload(lane->engine, v, c, box->at, box->floats, error))
            return FALSE;
        *base += n;
    }
    return TRUE;
}

static gboolean expand_block(WpJob *job, WpLane *lane, int b, gpointer data, GError **error)
{
    Reader *r = data;
    float *u = wp_lane_target(job, lane, error);
    return u && wp_reserve(lane->engine, &lane->d, WP_COEFFICIENTS, error) &&
           read_block(lane, r, lane->d, error) &&
           wp_lane_invert(job, lane, lane->d, u, r->corrections, error) &&
           wp_lane_paste(job, lane, u, b, error);
}

gboolean wp_coefficients_expand(WpJob *job, const char *path, int corrections, LithoRun *run,
                                GError **error)
{
    Reader r = {.corrections = corrections};
    const WpWork work = {
        .stage = "inverse", .to = job->result, .each = expand_block, .data = &r, .in_order = TRUE};
    gboolean ok = open_reader(job, path, &r, error) && wp_lanes_work(job, &work, run, error);
    if (ok)
        report_file(job, r.bytes, r.sizes.kept, run);
    g_free(r.gaps);
    g_free(r.values);
    return ok;
}
