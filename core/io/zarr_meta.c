// SPDX-License-Identifier: GPL-3.0-or-later
// The metadata of one Zarr array. Nothing is allocated by what it says.
#include <math.h>
#include <string.h>

#include "core/io/sample_codec.h"
#include "core/io/zarr.h"
#include "core/json.h"
#include "core/text.h"

static gboolean read_sizes(JsonArray *list, gint64 least, LithoZarrMeta *meta, gint64 out[3])
{
    const guint rank = list ? json_array_get_length(list) : 0;
    if (rank < 1 || rank > 32)
        return FALSE;
    out[0] = out[1] = out[2] = 1;
    meta->rank = rank <= 3 ? (int)rank : 0;
    for (guint k = 0; k < rank; k++) {
        double value;
        if (!litho_json_node_number(json_array_get_element(list, k), &value) || value < least ||
            value > G_MAXINT64 / 16 || value != rint(value))
            return FALSE;
        if (meta->rank)
            out[3 - rank + k] = (gint64)value;
    }
    return TRUE;
}

static void cannot_read(LithoZarrMeta *meta, const char *what, const char *name)
{
    g_autofree char *plain = g_utf8_make_valid(name, -1);
    if (!*meta->unread)
        g_snprintf(meta->unread, sizeof meta->unread, litho_text(what), plain);
}

// --- numbers ------------------------------------------------------------------------------------

static gboolean is_known_size(char kind, int bytes)
{
    return kind == 'f'   ? bytes == 4 || bytes == 8
           : kind == 'b' ? bytes == 1
                         : bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

// "<f4", "|u1".
static void read_type(const char *type, LithoZarrMeta *meta)
{
    if (strlen(type) != 3 || !strchr("<>|", type[0]) || !strchr("fiub", type[1]))
        return;
    const int bytes = type[2] - '0';
    if (!is_known_size(type[1], bytes))
        return;
    meta->kind = type[1];
    meta->bytes = bytes;
    meta->is_big_endian = type[0] == '>';
}

// "float32", "uint8".
static void read_type_name(const char *name, LithoZarrMeta *meta)
{
    static const struct {
        const char *name;
        char kind;
    } kinds[] = {{"float", 'f'}, {"int", 'i'}, {"uint", 'u'}};
    for (guint k = 0; k < G_N_ELEMENTS(kinds); k++)
        for (int bytes = 1; bytes <= 8; bytes *= 2) {
            g_autofree char *own = g_strdup_printf("%s%d", kinds[k].name, 8 * bytes);
            if (strcmp(name, own) == 0 && is_known_size(kinds[k].kind, bytes)) {
                meta->kind = kinds[k].kind;
                meta->bytes = bytes;
            }
        }
    if (strcmp(name, "bool") == 0) {
        meta->kind = 'b';
        meta->bytes = 1;
    }
}

// "0x7fc00000": the bits of a float of 4 or 8 bytes; 0 where it is something else.
static double read_bits(const char *text, int bytes)
{
    guint64 bits;
    union {
        guint32 word;
        float number;
    } four;
    union {
        guint64 word;
        double number;
    } eight;
    if (!g_ascii_string_to_unsigned(text + 2, 16, 0, bytes == 4 ? G_MAXUINT32 : G_MAXUINT64, &bits,
                                    NULL))
        return 0;
    four.word = (guint32)bits;
    eight.word = bits;
    return bytes == 4 ? four.number : eight.number;
}

static double read_fill(JsonNode *node, const LithoZarrMeta *meta)
{
    double value = 0;
    const char *text = litho_json_node_string(node);
    if (text && strcmp(text, "NaN") == 0)
        return NAN;
    if (text && (strcmp(text, "Infinity") == 0 || strcmp(text, "-Infinity") == 0))
        return *text == '-' ? -INFINITY : INFINITY;
    if (text && g_str_has_prefix(text, "0x") && meta->kind == 'f')
        return read_bits(text, meta->bytes);
    if (node && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_BOOLEAN)
        return json_node_get_boolean(node);
    return litho_json_node_number(node, &value) ? value : 0;
}

// --- codecs -------------------------------------------------------------------------------------

static void add_codec(LithoZarrMeta *meta, const char *name)
{
    static const struct {
        const char *name;
        LithoZarrCodec codec;
    } known[] = {
        {"zlib", LITHO_ZARR_ZLIB},   {"gzip", LITHO_ZARR_ZLIB},
        {"zstd", LITHO_ZARR_ZSTD},   {"crc32c", LITHO_ZARR_CHECKSUM},
#ifdef LITHO_HAVE_BLOSC
        {"blosc", LITHO_ZARR_BLOSC},
#endif
#ifdef LITHO_HAVE_ZFP
        {"zfpy", LITHO_ZARR_ZFP},    {"zfp", LITHO_ZARR_ZFP},
#endif
    };
    const char *own = g_str_has_prefix(name, "numcodecs.") ? name + 10 : name;
    for (guint k = 0; k < G_N_ELEMENTS(known); k++)
        if (strcmp(own, known[k].name) == 0 && meta->n_codecs < LITHO_ZARR_CODECS) {
            meta->codec[meta->n_codecs++] = known[k].codec;
            return;
        }
    cannot_read(meta, N_("the codec '%.60s'"), name);
}

// Version 3 lists them in the order of packing: arrays to arrays, arrays to bytes, bytes to bytes.
static void read_codecs(JsonArray *list, LithoZarrMeta *meta)
{
    for (guint k = list ? json_array_get_length(list) : 0; k-- > 0;) {
        JsonObject *codec = litho_json_node_object(json_array_get_element(list, k));
        const char *name = codec ? litho_json_string_or(codec, "name", "?") : "?";
        JsonObject *how = codec ? litho_json_object_or_null(codec, "configuration") : NULL;
        if (strcmp(name, "bytes") == 0)
            meta->is_big_endian =
                how && strcmp(litho_json_string_or(how, "endian", "little"), "big") == 0;
        else
            add_codec(meta, name);
    }
}

// --- the two versions ---------------------------------------------------------------------------

static void read_names(JsonArray *list, LithoZarrMeta *meta)
{
    const guint rank = (guint)meta->rank;
    if (!list || json_array_get_length(list) != rank)
        return;
    for (guint k = 0; k < rank; k++) {
        const char *name = litho_json_node_string(json_array_get_element(list, k));
        g_strlcpy(meta->dimension[3 - rank + k], name ? name : "", LITHO_ZARR_NAME);
    }
}

static gboolean read_version_2(JsonObject *object, JsonObject *attributes, LithoZarrMeta *meta)
{
    JsonArray *filters = litho_json_array_or_null(object, "filters");
    JsonObject *compressor = litho_json_object_or_null(object, "compressor");
    if (!read_sizes(litho_json_array_or_null(object, "chunks"), 1, meta, meta->chunk))
        return FALSE;
    read_type(litho_json_string_or(object, "dtype", ""), meta);
    if (compressor)
        add_codec(meta, litho_json_string_or(compressor, "id", "?"));
    for (guint k = filters ? json_array_get_length(filters) : 0; k-- > 0;) {
        JsonObject *filter = litho_json_node_object(json_array_get_element(filters, k));
        cannot_read(meta, N_("the filter '%.60s'"),
                    filter ? litho_json_string_or(filter, "id", "?") : "?");
    }
    if (meta->rank != 1 && strcmp(litho_json_string_or(object, "order", "C"), "C") != 0)
        cannot_read(meta, N_("the order '%.60s' of samples in a chunk"),
                    litho_json_string_or(object, "order", "?"));
    meta->separator = *litho_json_string_or(object, "dimension_separator", ".");
    if (attributes)
        read_names(litho_json_array_or_null(attributes, "_ARRAY_DIMENSIONS"), meta);
    return TRUE;
}

static gboolean read_version_3(JsonObject *object, LithoZarrMeta *meta)
{
    JsonObject *grid = litho_json_object_or_null(object, "chunk_grid");
    JsonObject *regular = grid ? litho_json_object_or_null(grid, "configuration") : NULL;
    JsonObject *keys = litho_json_object_or_null(object, "chunk_key_encoding");
    JsonObject *how = keys ? litho_json_object_or_null(keys, "configuration") : NULL;
    if (!regular ||
        !read_sizes(litho_json_array_or_null(regular, "chunk_shape"), 1, meta, meta->chunk))
        return FALSE;
    read_type_name(litho_json_string_or(object, "data_type", ""), meta);
    read_codecs(litho_json_array_or_null(object, "codecs"), meta);
    meta->has_prefix = !keys || strcmp(litho_json_string_or(keys, "name", "default"), "v2") != 0;
    const char *usual = meta->has_prefix ? "/" : ".";
    meta->separator = *(how ? litho_json_string_or(how, "separator", usual) : usual);
    read_names(litho_json_array_or_null(object, "dimension_names"), meta);
    return TRUE;
}

// xarray writes _FillValue of floats in version 3 as base64 of a little endian double. FALSE:
// `text` is none of that kind.
static gboolean decode_fill(const char *text, double *number)
{
    gsize n = 0;
    g_autofree guchar *bytes = text && strlen(text) == 12 ? g_base64_decode(text, &n) : NULL;
    if (n != sizeof *number)
        return FALSE;
    *number = litho_get_f64(bytes, LITHO_ORDER_LITTLE);
    return TRUE;
}

// Attributes that change samples, as xarray writes them.
static void read_values(JsonObject *attributes, LithoZarrMeta *meta)
{
    const int bytes = meta->kind == 'i' || meta->kind == 'u' ? meta->bytes : 0;
    for (guint k = 0; attributes && litho_array_attributes[k]; k++) {
        const char *key = litho_array_attributes[k];
        JsonNode *node = json_object_get_member(attributes, key);
        if (!node)
            continue;
        double number[LITHO_ARRAY_MISSING];
        JsonArray *list = JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
        guint n = list ? json_array_get_length(list) : 1, found = 0;
        gboolean is_real = FALSE;
        while (n <= G_N_ELEMENTS(number) && found < n) {
            JsonNode *one = list ? json_array_get_element(list, found) : node;
            if (!litho_json_node_number(one, &number[found]))
                break;
            is_real |= json_node_get_value_type(one) == G_TYPE_DOUBLE;
            found++;
        }
        if (n <= G_N_ELEMENTS(number) && found < n)
            n = 0;
        const char *text = litho_json_node_string(node);
        if (meta->version == 3 && meta->kind == 'f' && strcmp(key, "_FillValue") == 0 &&
            decode_fill(text, number)) {
            text = NULL;
            n = found = 1;
        }
        const LithoArrayAttribute attribute = {key, n > 0 && n == found ? number : NULL, n, text,
                                               is_real};
        if (litho_array_values_take(&meta->values, &attribute, bytes))
            cannot_read(meta, N_("an attribute %.60s that makes no sense"), key);
    }
    if (meta->values.is_packed && isfinite(meta->fill))
        litho_array_values_take(&meta->values, &(LithoArrayAttribute){"_FillValue", &meta->fill, 1},
                                0);
}

gboolean litho_zarr_meta_read(JsonObject *object, JsonObject *attributes, LithoZarrMeta *meta)
{
    *meta = (LithoZarrMeta){.version =
                                (int)CLAMP(litho_json_number_or(object, "zarr_format", 0), 0, 9)};
    const gboolean good = meta->version == 2   ? read_version_2(object, attributes, meta)
                          : meta->version == 3 ? read_version_3(object, meta)
                                               : FALSE;
    const int rank = meta->rank;
    meta->fill = read_fill(json_object_get_member(object, "fill_value"), meta);
    read_values(meta->version == 3 ? litho_json_object_or_null(object, "attributes") : attributes,
                meta);
    return good && read_sizes(litho_json_array_or_null(object, "shape"), 0, meta, meta->n) &&
           meta->rank == rank && (meta->separator == '.' || meta->separator == '/');
}
