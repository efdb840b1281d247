// SPDX-License-Identifier: GPL-3.0-or-later
// Zarr and MDIO folders: the largest array of numbers with three dimensions, and the coordinates of
// its dimensions. zarr_traces.c: what there is of each trace.
#include "core/io/zarr.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/error.h"
#include "core/io/chunks.h"
#include "core/io/coordinates.h"
#include "core/io/survey_private.h"
#include "core/json.h"
#include "core/text.h"

enum {
    MOST_LEVELS = 5,        // of folders in one another
    MOST_ARRAYS = 10000,    // and groups
    MOST_CHUNKS = 1 << 22,  // files of one array
    MOST_VALUES = 1 << 24,  // of an array of coordinates
    NAME_ROOM = 4 * 21 + 2, // of a chunk's name
};

typedef struct ZarrArray {
    LithoArray array;
    char *path, *folder; // as it was opened; the array's own
    LithoZarrMeta meta;
    LithoChunks *chunks;
} ZarrArray;

static void zarr_free(LithoArray *array)
{
    ZarrArray *self = (ZarrArray *)array;
    litho_chunks_free(self->chunks);
    g_free(self->path);
    g_free(self->folder);
    g_free(self);
}

static gboolean zarr_read(LithoArray *array, const gint64 first[3], const gint64 count[3],
                          float *out, GError **error)
{
    return litho_chunks_read(((ZarrArray *)array)->chunks, first, count, out, error);
}

// --- chunks -------------------------------------------------------------------------------------

// Path of a chunk; g_free(). Made of numbers only: no text of a file leads anywhere.
static char *chunk_path(const char *folder, const LithoZarrMeta *meta, const gint64 at[3])
{
    char name[NAME_ROOM] = "";
    gsize used = meta->has_prefix ? g_strlcpy(name, "c", sizeof name) : 0;
    for (int k = 3 - meta->rank; k < 3; k++) {
        if (used > 0)
            name[used++] = meta->separator;
        used += (gsize)g_snprintf(name + used, sizeof name - used, "%" PRId64, at[k]);
    }
    return g_build_filename(folder, name, NULL);
}

// A chunk as it lies in its file; *n is 0 where there is none. NULL: cannot be read, or longer than
// `most`. g_free().
static guint8 *read_file(const char *path, gsize most, gsize *n, gint64 *changed_ns)
{
    struct stat info;
    *n = 0;
    *changed_ns = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? g_malloc(1) : NULL;
    const gboolean good = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 &&
                          (guint64)info.st_size <= most;
    guint8 *bytes = good ? g_try_malloc((gsize)info.st_size) : NULL;
    if (good)
        *changed_ns = (gint64)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
    if (bytes && litho_read_at(fd, bytes, info.st_size, 0) != info.st_size)
        g_clear_pointer(&bytes, g_free);
    *n = bytes ? (gsize)info.st_size : 0;
    close(fd);
    return bytes;
}

typedef struct Chunk {
    gboolean is_missing; // it was never written
    gint64 changed_ns;   // its file; 0 = there is none that can be read
} Chunk;

// The numbers of a chunk as bytes. NULL: missing or damaged. g_free().
static guint8 *read_chunk(const char *folder, const LithoZarrMeta *meta, const gint64 at[3],
                          gsize samples, Chunk *chunk)
{
    gsize n;
    g_autofree char *path = chunk_path(folder, meta, at);
    g_autofree guint8 *packed =
        read_file(path, litho_zarr_most_packed(meta, samples), &n, &chunk->changed_ns);
    chunk->is_missing = packed && n == 0;
    return packed && n > 0 ? litho_zarr_unpack(meta, packed, n, samples) : NULL;
}

static gboolean unpack(gpointer owner, const gint64 at[3], float *out, GError **error)
{
    const ZarrArray *self = owner;
    const LithoZarrMeta *m = &self->meta;
    const gsize samples = (gsize)m->chunk[0] * (gsize)m->chunk[1] * (gsize)m->chunk[2];
    const gint64 opened_ns = self->array.opened_ns;
    Chunk chunk;
    g_autofree guint8 *raw = read_chunk(self->folder, m, at, samples, &chunk);
    if (opened_ns && chunk.changed_ns > opened_ns)
        return litho_file_refuse_changed(self->path, error);
    if (raw) {
        litho_zarr_floats(m, raw, samples, out);
        return TRUE;
    }
    for (gsize k = 0; chunk.is_missing && k < samples; k++)
        out[k] = (float)m->fill;
    return chunk.is_missing ||
           litho_refuse(error, LITHO_ERROR_FORMAT,
                        "%s: the chunk at (%" PRId64 ", %" PRId64 ", %" PRId64
                        ") cannot be unpacked, the file is damaged; copy it again",
                        self->path, at[0] * m->chunk[0], at[1] * m->chunk[1], at[2] * m->chunk[2]);
}

// Number of the files that chunks lie in.
static void count_chunks(const char *folder, int levels, guint *n)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir && *n < MOST_CHUNKS && (name = g_dir_read_name(dir))) {
        struct stat info;
        if (!g_ascii_isdigit(*name) && *name != 'c') // "0.0.0", "0", "c", "c.0.0.0"
            continue;
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (lstat(path, &info) != 0)
            continue;
        if (S_ISDIR(info.st_mode) && levels > 0)
            count_chunks(path, levels - 1, n);
        *n += S_ISREG(info.st_mode) != 0;
    }
}

// --- finding the array --------------------------------------------------------------------------

// A JSON text beside the chunks; NULL = there is none that can be read.
static JsonNode *load(const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    return g_file_test(path, G_FILE_TEST_IS_REGULAR) ? litho_json_load(path, NULL) : NULL;
}

gboolean litho_zarr_read_meta(const char *folder, LithoZarrMeta *meta)
{
    JsonNode *array = load(folder, ".zarray"), *attributes = load(folder, ".zattrs");
    if (!array)
        array = load(folder, "zarr.json");
    JsonObject *object = litho_json_node_object(array);
    const gboolean good =
        object && strcmp(litho_json_string_or(object, "node_type", "array"), "array") == 0 &&
        litho_zarr_meta_read(object, litho_json_node_object(attributes), meta);
    g_clear_pointer(&array, json_node_unref);
    g_clear_pointer(&attributes, json_node_unref);
    return good;
}

gboolean litho_zarr_is_array(const char *folder)
{
    LithoZarrMeta meta;
    return litho_zarr_read_meta(folder, &meta);
}

typedef struct Found {
    char *folder; // of the largest array of numbers with three dimensions
    LithoZarrMeta meta;
    double samples;
    guint cubes, looked;
} Found;

static gint by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Names of the folders in a folder, in a fixed order; hidden ones left out.
static GPtrArray *folders_in(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    const char *name;
    while (dir && names->len < MOST_ARRAYS && (name = g_dir_read_name(dir)))
        if (*name != '.')
            g_ptr_array_add(names, g_strdup(name));
    g_ptr_array_sort(names, by_name);
    return names;
}

static void look_in(const char *folder, int levels, Found *found)
{
    LithoZarrMeta meta;
    if (++found->looked > MOST_ARRAYS)
        return;
    if (litho_zarr_read_meta(folder, &meta)) {
        const double samples = (double)meta.n[0] * (double)meta.n[1] * (double)meta.n[2];
        const gboolean is_cube = meta.rank == 3 && meta.kind && meta.kind != 'b' && samples > 0;
        found->cubes += is_cube;
        if (is_cube && samples > found->samples) {
            g_free(found->folder);
            found->folder = g_strdup(folder);
            found->meta = meta;
            found->samples = samples;
        }
        return; // in an array there are chunks only
    }
    g_autoptr(GPtrArray) names = folders_in(folder);
    for (guint k = 0; levels > 0 && k < names->len; k++) {
        g_autofree char *path = g_build_filename(folder, g_ptr_array_index(names, k), NULL);
        if (g_file_test(path, G_FILE_TEST_IS_DIR))
            look_in(path, levels - 1, found);
    }
}

// --- axes ---------------------------------------------------------------------------------------

// "ms" of xarray's {"units": "ms"} and MDIO 1's {"unitsV1": {"time": "ms"}}.
void litho_zarr_read_unit(const char *folder, int version, char *out, gsize size)
{
    JsonNode *node = load(folder, version == 2 ? ".zattrs" : "zarr.json");
    JsonObject *all = litho_json_node_object(node);
    if (all && version == 3)
        all = litho_json_object_or_null(all, "attributes");
    JsonObject *named = all ? litho_json_object_or_null(all, "unitsV1") : NULL;
    g_strlcpy(out, all ? litho_json_string_or(all, "units", "") : "", size);
    g_autoptr(GList) values = named ? json_object_get_values(named) : NULL;
    const char *unit = values ? litho_json_node_string(values->data) : NULL;
    if (unit)
        g_strlcpy(out, unit, size);
    g_clear_pointer(&node, json_node_unref);
}

// The part of the chunk at (at[1], at[2]) that lies within n[0] x n[1].
static void place_numbers(const LithoZarrMeta *m, const guint8 *raw, const gint64 at[3],
                          const gint64 n[2], double *value)
{
    const gint64 i0 = at[1] * m->chunk[1], j0 = at[2] * m->chunk[2];
    for (gint64 i = i0; i < MIN(i0 + m->chunk[1], n[0]); i++)
        for (gint64 j = j0; j < MIN(j0 + m->chunk[2], n[1]); j++) {
            const gsize k = (gsize)((i - i0) * m->chunk[2] + j - j0);
            value[i * n[1] + j] =
                litho_array_value(&m->values, raw ? litho_zarr_number(m, raw, k) : m->fill);
        }
}

double *litho_zarr_read_numbers(const char *folder, int rank, const gint64 n[2])
{
    LithoZarrMeta m;
    if (n[0] < 1 || n[1] < 1 || n[0] > MOST_VALUES / n[1] || !litho_zarr_read_meta(folder, &m) ||
        m.rank != rank || m.n[1] != n[0] || m.n[2] != n[1] || !m.kind || *m.unread ||
        m.chunk[1] > MOST_VALUES / m.chunk[2])
        return NULL;
    const gsize samples = (gsize)m.chunk[1] * (gsize)m.chunk[2];
    double *value = g_new(double, n[0] * n[1]);
    gboolean good = TRUE;
    Chunk chunk;
    for (gint64 p = 0; good && p * m.chunk[1] < n[0]; p++)
        for (gint64 q = 0; good && q * m.chunk[2] < n[1]; q++) {
            const gint64 at[3] = {0, p, q};
            g_autofree guint8 *raw = read_chunk(folder, &m, at, samples, &chunk);
            good = raw || chunk.is_missing;
            if (good)
                place_numbers(&m, raw, at, n, value);
        }
    if (!good)
        g_clear_pointer(&value, g_free);
    return value;
}

// MDIO 0 keeps names and coordinates in the attributes of its root:
// {"dimension": [{"name": "inline", "coords": [1, 2]}]}. g_free().
static double *read_mdio(const char *root, int axis, gint64 n, char name[LITHO_ZARR_NAME])
{
    JsonNode *node = load(root, ".zattrs");
    JsonObject *all = litho_json_node_object(node);
    JsonArray *list = all ? litho_json_array_or_null(all, "dimension") : NULL;
    JsonObject *one = list && json_array_get_length(list) == 3
                          ? litho_json_node_object(json_array_get_element(list, (guint)axis))
                          : NULL;
    JsonArray *coords = one ? litho_json_array_or_null(one, "coords") : NULL;
    double *value = NULL;
    gboolean good = coords && json_array_get_length(coords) == n;
    if (one)
        g_strlcpy(name, litho_json_string_or(one, "name", ""), LITHO_ZARR_NAME);
    if (good)
        value = g_new(double, n);
    for (guint k = 0; good && k < n; k++)
        good = litho_json_node_number(json_array_get_element(coords, k), &value[k]);
    if (!good)
        g_clear_pointer(&value, g_free);
    g_clear_pointer(&node, json_node_unref);
    return value;
}

// A name that may be that of a folder beside the array: no path, nothing hidden.
static gboolean is_plain_name(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/');
}

static void read_axis(ZarrArray *self, LithoSurvey *survey, int k)
{
    char unit[16] = "", *name = self->meta.dimension[k];
    double *found = NULL;
    if (is_plain_name(name)) {
        g_autofree char *group = g_path_get_dirname(self->folder);
        g_autofree char *folder = g_build_filename(group, name, NULL);
        found = self->meta.n[k] < 2
                    ? NULL
                    : litho_zarr_read_numbers(folder, 1, (const gint64[2]){1, self->meta.n[k]});
        if (found)
            litho_zarr_read_unit(folder, self->meta.version, unit, sizeof unit);
    }
    g_autofree double *value =
        found ? found : read_mdio(self->path, k, self->meta.n[k], self->meta.dimension[k]);
    if (value && !(k == LITHO_SAMPLE ? litho_coordinates_samples(value, name, unit, survey)
                                     : litho_coordinates_lines(value, name, &survey->grid.axis[k])))
        litho_coordinates_note(survey, name, k == LITHO_SAMPLE);
}

// --- opening ------------------------------------------------------------------------------------

static gboolean check(ZarrArray *self, const char *name, GError **error)
{
    const gint64 *n = self->meta.n;
    const LithoGrid sizes = litho_grid_new(n[0], n[1], n[2]);
    guint chunks = 0;
    if (*self->meta.unread)
        return litho_refuse(error, LITHO_ERROR_UNSUPPORTED,
                            "%s: the array /%s is stored with %s, which is not read here; save it "
                            "again with blosc, zstd or zlib alone",
                            self->path, name, self->meta.unread);
    if (!litho_grid_check(&sizes, error) ||
        !litho_array_check_chunk(self->path, self->meta.chunk, error))
        return FALSE;
    // Chunks count as they are unpacked: those of a constant velocity take next to nothing.
    count_chunks(self->folder, 4, &chunks);
    self->array.stored = (gint64)chunks * self->meta.chunk[0] * self->meta.chunk[1] *
                         self->meta.chunk[2] * self->meta.bytes;
    return chunks > 0 ||
           litho_refuse(error, LITHO_ERROR_FORMAT,
                        "%s: the array /%s has no chunks, no sample was written", self->path, name);
}

static gboolean open_found(ZarrArray *self, LithoSurvey *survey, Found *found, GError **error)
{
    if (!found->folder)
        return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                            "%s is a Zarr or MDIO folder without an array of plain numbers with "
                            "three dimensions; (inline, crossline, sample) is needed",
                            self->path);
    const char *name = found->folder + strlen(self->path);
    name += strspn(name, "/");
    self->folder = g_strdup(found->folder);
    self->meta = found->meta;
    memcpy(self->array.n, self->meta.n, sizeof self->array.n);
    self->array.sample_bytes = self->meta.bytes;
    self->array.is_packed = TRUE;
    self->array.values = self->meta.values;
    if (!check(self, name, error))
        return FALSE;
    survey->grid = litho_grid_new(self->meta.n[0], self->meta.n[1], self->meta.n[2]);
    for (int k = 0; k < 3; k++)
        read_axis(self, survey, k);
    const char *const names[] = {self->meta.dimension[0], self->meta.dimension[1],
                                 self->meta.dimension[2]};
    if (!litho_coordinates_check_order(self->path, name, names, error))
        return FALSE;
    litho_zarr_read_traces(survey, &self->array, self->path, self->folder);
    self->chunks = litho_chunks_new(self->meta.n, self->meta.chunk, unpack, self);
    survey->format = g_strdup_printf(_("Zarr %d, array /%s"), self->meta.version, name);
    if (found->cubes > 1)
        litho_survey_note(survey, "%u arrays have three dimensions; the largest is read: /%s",
                          found->cubes, name);
    return TRUE;
}

LithoArray *litho_zarr_open(LithoSurvey *survey, const char *path, GError **error)
{
    ZarrArray *self = g_new0(ZarrArray, 1);
    Found found = {0};
    self->array = (LithoArray){.read = zarr_read, .free = zarr_free};
    self->path = g_strdup(path);
    look_in(path, MOST_LEVELS, &found);
    const gboolean good = open_found(self, survey, &found, error);
    g_free(found.folder);
    if (!good)
        litho_array_free(&self->array);
    return good ? &self->array : NULL;
}
