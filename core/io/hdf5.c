// SPDX-License-Identifier: GPL-3.0-or-later
// HDF5: the one array of three dimensions that a file holds, through the HDF5 library.
#include <hdf5.h>
#include <string.h>

#include "core/error.h"
#include "core/io/array.h"
#include "core/io/chunks.h"
#include "core/io/hdf5_packed.h"
#include "core/io/survey_private.h"
#include "core/text.h"

enum { MOST_OBJECTS = 100000 };

typedef struct Hdf5Array {
    LithoArray array;
    char *path;
    hid_t file, set, space;
    LithoChunks *chunks; // where filters packed them; NULL = the library reads
    hsize_t chunk[3];
} Hdf5Array;

static void hdf5_free(LithoArray *array)
{
    Hdf5Array *self = (Hdf5Array *)array;
    litho_array_lock();
    if (self->space > 0)
        H5Sclose(self->space);
    if (self->set > 0)
        H5Dclose(self->set);
    if (self->file > 0)
        H5Fclose(self->file);
    litho_array_unlock();
    litho_chunks_free(self->chunks);
    g_free(self->path);
    g_free(self);
}

static gboolean unpack(gpointer owner, const gint64 at[3], float *out, GError **error)
{
    Hdf5Array *self = owner;
    hsize_t first[3];
    for (int k = 0; k < 3; k++)
        first[k] = (hsize_t)at[k] * self->chunk[k];
    litho_array_lock();
    const gboolean good = litho_hdf5_unpack(self->set, first, self->chunk, out);
    litho_array_unlock();
    return good || litho_refuse(error, LITHO_ERROR_FORMAT,
                                "%s: the chunk at (%" PRId64 ", %" PRId64 ", %" PRId64
                                ") cannot be unpacked, the file is damaged; copy it again",
                                self->path, (gint64)first[0], (gint64)first[1], (gint64)first[2]);
}

static gboolean hdf5_read(LithoArray *array, const gint64 first[3], const gint64 count[3],
                          float *out, GError **error)
{
    Hdf5Array *self = (Hdf5Array *)array;
    if (self->chunks)
        return litho_chunks_read(self->chunks, first, count, out, error);
    hsize_t start[3], size[3];
    for (int k = 0; k < 3; k++) {
        start[k] = (hsize_t)first[k];
        size[k] = (hsize_t)count[k];
    }
    litho_array_lock();
    const hid_t memory = H5Screate_simple(3, size, NULL);
    const gboolean good =
        memory > 0 &&
        H5Sselect_hyperslab(self->space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
        H5Dread(self->set, H5T_NATIVE_FLOAT, memory, self->space, H5P_DEFAULT, out) >= 0;
    if (memory > 0)
        H5Sclose(memory);
    litho_array_unlock();
    return good || litho_refuse(error, LITHO_ERROR_FORMAT,
                                "%s: the HDF5 library cannot read the samples: the file is "
                                "damaged, or packed with a filter that is not installed",
                                self->path);
}

// --- finding the array --------------------------------------------------------------------------

enum { MOST_LEVELS = 32, MOST_LISTED = 3 };

typedef struct Found {
    char *name; // of the largest array of numbers with three dimensions
    gint64 n[3];
    double samples;
    guint cubes, objects, others, too_deep;
    GString *listed;     // arrays that are no cube of numbers, the first of them
    GHashTable *seen;    // groups that more than one name leads to
    gboolean has_unsafe; // some array of numbers that is not to be read
} Found;

static void found_begin(Found *found)
{
    found->listed = g_string_new(NULL);
    found->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

static void found_end(Found *found)
{
    g_free(found->name);
    g_string_free(found->listed, TRUE);
    g_hash_table_unref(found->seen);
}

// Plain numbers of 1, 2, 4 or 8 bytes, all bits of them used. A damaged type of another size than
// the chunks were made for would let the library read beyond them.
static gboolean is_plain_number(hid_t type)
{
    const H5T_class_t kind = H5Tget_class(type);
    const size_t size = H5Tget_size(type);
    return (kind == H5T_FLOAT || kind == H5T_INTEGER) &&
           (size == 1 || size == 2 || size == 4 || size == 8) &&
           H5Tget_precision(type) == 8 * size && H5Tget_offset(type) == 0;
}

static gboolean sizes_of(hid_t set, gint64 n[3])
{
    hsize_t size[H5S_MAX_RANK];
    const hid_t space = H5Dget_space(set), type = H5Dget_type(set);
    const int rank = space > 0 ? H5Sget_simple_extent_dims(space, size, NULL) : -1;
    gboolean good = rank == 3 && type > 0 && is_plain_number(type);
    for (int k = 0; good && k < 3; k++) {
        good = size[k] >= 1 && size[k] <= G_MAXINT64 / 16;
        n[k] = good ? (gint64)size[k] : 0;
    }
    if (type > 0)
        H5Tclose(type);
    if (space > 0)
        H5Sclose(space);
    return good;
}

static gboolean is_safe(hid_t set);

// TRUE when the samples are packed and are unpacked here.
static gboolean is_unpacked_here(hid_t set)
{
    const hid_t layout = H5Dget_create_plist(set);
    const gboolean good = layout > 0 && litho_hdf5_can_unpack(layout);
    if (layout > 0)
        H5Pclose(layout);
    return good;
}

// "/c (9 x 33 numbers)", for the sentence of a file without a cube.
static void list_other(Found *found, const char *name, hid_t set)
{
    if (found->others++ >= MOST_LISTED)
        return;
    g_autofree char *plain = litho_text_plain(name, 60);
    g_string_append_printf(found->listed, "%s/%s (", found->others > 1 ? ", " : "", plain);
    hsize_t size[H5S_MAX_RANK];
    const hid_t space = set > 0 ? H5Dget_space(set) : -1, type = set > 0 ? H5Dget_type(set) : -1;
    const int rank = space > 0 ? H5Sget_simple_extent_dims(space, size, NULL) : -1;
    for (int k = 0; k < rank; k++)
        g_string_append_printf(found->listed, "%s%" PRIu64, k ? " x " : "", (uint64_t)size[k]);
    unsigned version[3] = {0, 0, 0};
    H5get_libversion(&version[0], &version[1], &version[2]);
    if (rank < 0 || type <= 0)
        g_string_append_printf(found->listed, _("not readable by HDF5 %u.%u.%u"), version[0],
                               version[1], version[2]);
    else
        g_string_append_printf(found->listed, "%s%s", rank > 0 ? " " : "",
                               H5Tget_class(type) == H5T_STRING ? _("texts")
                               : is_plain_number(type)          ? _("numbers")
                                                                : _("values of another type"));
    g_string_append_c(found->listed, ')');
    if (type > 0)
        H5Tclose(type);
    if (space > 0)
        H5Sclose(space);
}

static void look_at_set(Found *found, const char *name, hid_t set)
{
    gint64 n[3];
    const gboolean is_cube = set > 0 && sizes_of(set, n);
    found->has_unsafe |= set <= 0 || !((is_cube && is_unpacked_here(set)) || is_safe(set));
    if (!is_cube) {
        list_other(found, name, set);
        return;
    }
    const double samples = (double)n[0] * (double)n[1] * (double)n[2];
    found->cubes++;
    if (samples > found->samples) {
        g_free(found->name);
        found->name = g_strdup(name);
        found->samples = samples;
        memcpy(found->n, n, sizeof n);
    }
}

// FALSE when the object has been seen under another name.
static gboolean is_new(Found *found, hid_t object)
{
    char *key = NULL;
#if H5_VERSION_GE(1, 12, 0)
    H5O_info2_t info;
    if (H5Oget_info3(object, &info, H5O_INFO_BASIC) >= 0 && info.rc > 1)
        key = g_base64_encode((const guchar *)&info.token, sizeof info.token);
#else
    H5O_info_t info;
    if (H5Oget_info2(object, &info, H5O_INFO_BASIC) >= 0 && info.rc > 1)
        key = g_strdup_printf("%" G_GUINT64_FORMAT, (guint64)info.addr);
#endif
    return !key || g_hash_table_add(found->seen, key);
}

typedef struct Level {
    Found *found;
    const char *path; // of the group, "" = of the root
    int depth;
} Level;

static herr_t look_at(hid_t group, const char *name, const H5L_info_t *info, void *data);

// The library's own walk over all objects has no end to its depth, and takes the square of it in
// time.
static void look_in(hid_t group, const Level *level)
{
    if (level->depth > MOST_LEVELS)
        level->found->too_deep++;
    else
        H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, look_at, (void *)level);
}

static herr_t look_at(hid_t group, const char *name, const H5L_info_t *info, void *data)
{
    const Level *level = data;
    Found *found = level->found;
    if (++found->objects > MOST_OBJECTS)
        return 1;
    if (info->type != H5L_TYPE_HARD)
        return 0;
    g_autofree char *path =
        *level->path ? g_strdup_printf("%s/%s", level->path, name) : g_strdup(name);
    const hid_t object = H5Oopen(group, name, H5P_DEFAULT);
    const H5I_type_t kind = object > 0 ? H5Iget_type(object) : H5I_BADID;
    if (kind == H5I_BADID || (kind == H5I_DATASET && is_new(found, object)))
        look_at_set(found, path, object);
    else if (kind == H5I_GROUP && is_new(found, object))
        look_in(object, &(Level){found, path, level->depth + 1});
    if (object > 0)
        H5Oclose(object);
    return found->objects > MOST_OBJECTS;
}

static void look_through(hid_t file, Found *found)
{
    const hid_t root = H5Gopen2(file, "/", H5P_DEFAULT);
    if (root <= 0)
        return;
    is_new(found, root);
    look_in(root, &(Level){found, "", 0});
    H5Gclose(root);
}

static int sample_bytes(hid_t set)
{
    const hid_t type = set > 0 ? H5Dget_type(set) : -1;
    const size_t bytes = type > 0 ? H5Tget_size(type) : 0;
    if (type > 0)
        H5Tclose(type);
    return (int)CLAMP(bytes, 1, 16);
}

// Where samples lie that the library is not to read; NULL = in the file itself.
static const char *elsewhere(hid_t layout)
{
    if (H5Pget_layout(layout) == H5D_VIRTUAL)
        return _("is a virtual array, its samples lie in other files");
    return H5Pget_external_count(layout) > 0 ? _("keeps its samples in another file") : NULL;
}

// TRUE when the library can read no further than it has read in: samples as they are, in one piece
// or in whole chunks. HDF5 1.10 trusts what a filter unpacks to be as large as it should be and
// reads beyond it where a file is damaged.
static gboolean is_safe(hid_t set)
{
    enum { MOST_CHUNKS = 4 << 20 };
    hsize_t size[H5S_MAX_RANK], chunks = 0;
    const hid_t layout = H5Dget_create_plist(set), space = H5Dget_space(set);
    gboolean good = layout > 0 && space > 0;
    good = good && !elsewhere(layout);
    if (good && H5Pget_layout(layout) == H5D_COMPACT) {
        const hssize_t samples = H5Sget_simple_extent_npoints(space);
        good = samples > 0 && H5Dget_storage_size(set) == (hsize_t)samples * sample_bytes(set);
    } else if (good && H5Pget_layout(layout) != H5D_CONTIGUOUS) {
        const int rank = H5Pget_chunk(layout, H5S_MAX_RANK, size);
        hsize_t bytes = (hsize_t)sample_bytes(set);
        for (int k = 0; k < rank; k++)
            bytes *= size[k];
        good = rank > 0 && H5Pget_nfilters(layout) == 0 &&
               H5Dget_num_chunks(set, space, &chunks) >= 0 && chunks <= MOST_CHUNKS;
        for (hsize_t k = 0; good && k < chunks; k++) {
            hsize_t at[H5S_MAX_RANK], held = 0;
            unsigned filters = 0;
            haddr_t address;
            good = H5Dget_chunk_info(set, space, k, at, &filters, &address, &held) >= 0 &&
                   held == bytes;
        }
    }
    if (layout > 0)
        H5Pclose(layout);
    if (space > 0)
        H5Sclose(space);
    return good;
}

static void refuse_packed(const char *path, const char *name, hid_t layout, GError **error)
{
    g_autofree char *filter = layout > 0 ? litho_hdf5_other_filter(layout) : NULL;
    g_autofree char *plain = litho_text_plain(name, 60);
    if (filter)
        litho_refuse(error, LITHO_ERROR_UNSUPPORTED,
                     "%s: the array /%s is packed with the filter %s, which is not read (at "
                     "most four are, deflate and shuffle); 'h5repack -f NONE IN OUT' makes a file "
                     "that is read, where "
                     "HDF5 has that filter",
                     path, plain, filter);
    else
        litho_refuse(
            error, LITHO_ERROR_FORMAT,
            "%s: chunks of the array /%s are damaged, cut off or more than 4 million; copy "
            "the file again, or 'h5repack -l CONTI IN OUT' makes one piece of them",
            path, plain);
}

// Opens the array with a cache for its chunks.
static gboolean open_set(Hdf5Array *self, const char *name, GError **error)
{
    const hid_t plain = H5Dopen2(self->file, name, H5P_DEFAULT);
    const hid_t layout = plain > 0 ? H5Dget_create_plist(plain) : -1;
    const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    hsize_t size[3] = {1, 1, 1};
    const gboolean is_packed = layout > 0 && litho_hdf5_can_unpack(layout);
    gboolean good = is_packed || (layout > 0 && is_safe(plain));
    const char *where = layout > 0 ? elsewhere(layout) : NULL;
    if (!good && where)
        litho_refuse(error, LITHO_ERROR_UNSUPPORTED,
                     "%s: the array /%s %s; 'h5repack -l CONTI IN OUT' makes a file that is read",
                     self->path, name, where);
    else if (!good)
        refuse_packed(self->path, name, layout, error);
    self->array.is_packed = good && H5Pget_layout(layout) == H5D_CHUNKED;
    self->array.sample_bytes = sample_bytes(plain);
    if (self->array.is_packed && H5Pget_chunk(layout, 3, size) == 3) {
        const gint64 chunk[3] = {(gint64)size[0], (gint64)size[1], (gint64)size[2]};
        good = litho_array_check_chunk(self->path, chunk, error);
        if (good && is_packed) {
            self->chunks = litho_chunks_new(self->array.n, chunk, unpack, self);
            memcpy(self->chunk, size, sizeof size);
        } else if (good)
            H5Pset_chunk_cache(access, 12421, litho_array_cache_bytes(self->array.n, chunk), 1);
    }
    if (layout > 0)
        H5Pclose(layout);
    if (plain > 0)
        H5Dclose(plain);
    self->set = good ? H5Dopen2(self->file, name, access) : -1;
    H5Pclose(access);
    self->space = self->set > 0 ? H5Dget_space(self->set) : -1;
    return good && (self->space > 0 ||
                    litho_refuse(error, LITHO_ERROR_FORMAT, "%s: the HDF5 library cannot open /%s",
                                 self->path, name));
}

// Text of a fixed length; "" = none, or of another kind.
static void attribute_text(hid_t attribute, hid_t type, char *text, gsize size)
{
    *text = 0;
    if (H5Tis_variable_str(type) == 0 && H5Tget_size(type) < size &&
        H5Aread(attribute, type, text) >= 0)
        text[H5Tget_size(type)] = 0;
    else
        *text = 0;
}

// Reads the attributes that netCDF and others write beside packed samples.
static gboolean read_attributes(Hdf5Array *self, const char *name, GError **error)
{
    const hid_t stored = H5Dget_type(self->set);
    const int bytes = H5Tget_class(stored) == H5T_INTEGER ? self->array.sample_bytes : 0;
    g_autofree char *plain = litho_text_plain(name, 60);
    gboolean good = TRUE;
    H5Tclose(stored);
    for (guint k = 0; good && litho_array_attributes[k]; k++) {
        const char *key = litho_array_attributes[k];
        const hid_t a = H5Aexists(self->set, key) > 0 ? H5Aopen(self->set, key, H5P_DEFAULT) : -1;
        if (a <= 0)
            continue;
        const hid_t type = H5Aget_type(a), space = H5Aget_space(a);
        const hssize_t n = space > 0 ? H5Sget_simple_extent_npoints(space) : 0;
        double number[LITHO_ARRAY_MISSING];
        char text[32] = "";
        const gboolean is_number = type > 0 && is_plain_number(type);
        const gboolean fits = is_number && n >= 1 && n <= (hssize_t)G_N_ELEMENTS(number) &&
                              H5Aread(a, H5T_NATIVE_DOUBLE, number) >= 0;
        if (!is_number && type > 0 && n == 1 && H5Tget_class(type) == H5T_STRING)
            attribute_text(a, type, text, sizeof text);
        const LithoArrayAttribute attribute = {
            key, fits ? number : NULL, fits || (is_number && n > 1) ? (guint)MIN(n, G_MAXINT) : 0,
            is_number ? NULL : text, is_number && H5Tget_class(type) == H5T_FLOAT};
        good = litho_array_values_read(&self->array.values, self->path, plain, &attribute, bytes,
                                       error);
        if (type > 0)
            H5Tclose(type);
        if (space > 0)
            H5Sclose(space);
        H5Aclose(a);
    }
    return good;
}

static gboolean refuse_others(const char *path, const Found *found, GError **error)
{
    GString *listed = g_string_new(found->others ? found->listed->str : _("no array"));
    if (found->others > MOST_LISTED)
        g_string_append_printf(listed, _(" and %u more"), found->others - MOST_LISTED);
    if (found->too_deep)
        g_string_append_printf(listed, _(", and groups more than %d levels deep"), MOST_LEVELS);
    litho_refuse(error, LITHO_ERROR_GEOMETRY,
                 "%s is an HDF5 file without an array of plain numbers with three dimensions; "
                 "(inline, crossline, sample) is needed, found: %s",
                 path, listed->str);
    g_string_free(listed, TRUE);
    return FALSE;
}

static gboolean open_array(Hdf5Array *self, Found *found, GError **error)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); // sentences are ours
    self->file = H5Fopen(self->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (self->file <= 0)
        return litho_refuse(error, LITHO_ERROR_FORMAT,
                            "%s: the HDF5 library cannot open the file, it is damaged or still "
                            "being written; copy it again",
                            self->path);
    look_through(self->file, found);
    if (!found->name)
        return refuse_others(self->path, found, error);
    memcpy(self->array.n, found->n, sizeof found->n);
    return open_set(self, found->name, error) && read_attributes(self, found->name, error);
}

// netCDF reads coordinates too: all arrays must be safe, but for the packed cube, which is read
// here (litho_hdf5_unpacker()). Else the file is read as plain HDF5.
gboolean litho_hdf5_is_netcdf(const char *path)
{
    Found found = {0};
    found_begin(&found);
    litho_array_lock();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    gboolean good = file > 0 && H5Aexists(file, "_NCProperties") > 0;
    if (good)
        look_through(file, &found);
    good = good && !found.has_unsafe && found.objects <= MOST_OBJECTS;
    if (file > 0)
        H5Fclose(file);
    litho_array_unlock();
    found_end(&found);
    return good;
}

gboolean litho_hdf5_unpacker(const char *path, const char *name, const gint64 n[3],
                             LithoArray **array, GError **error)
{
    Hdf5Array *self = g_new0(Hdf5Array, 1);
    self->array = (LithoArray){.read = hdf5_read, .free = hdf5_free};
    memcpy(self->array.n, n, sizeof self->array.n);
    self->path = g_strdup(path);
    *array = NULL;
    litho_array_lock();
    self->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = self->file > 0 ? H5Dopen2(self->file, name, H5P_DEFAULT) : -1;
    gint64 found[3];
    const gboolean is_needed = set > 0 && sizes_of(set, found) && is_unpacked_here(set) &&
                               memcmp(found, n, sizeof found) == 0;
    if (set > 0)
        H5Dclose(set);
    const gboolean good = !is_needed || open_set(self, name, error);
    litho_array_unlock();
    if (good && is_needed)
        *array = &self->array;
    else
        hdf5_free(&self->array);
    return good;
}

LithoArray *litho_hdf5_open(LithoSurvey *survey, const char *path, GError **error)
{
    Hdf5Array *self = g_new0(Hdf5Array, 1);
    Found found = {0};
    found_begin(&found);
    self->array = (LithoArray){.read = hdf5_read, .free = hdf5_free};
    self->path = g_strdup(path);
    litho_array_lock();
    const gboolean good = open_array(self, &found, error);
    litho_array_unlock();
    if (good) {
        g_autofree char *plain = litho_text_plain(found.name, 200);
        survey->format = g_strdup_printf(_("HDF5, array /%s"), plain);
        if (found.cubes > 1)
            litho_survey_note(survey, "%u arrays have three dimensions; the largest is read: /%s",
                              found.cubes, plain);
        if (found.too_deep)
            litho_survey_note(survey, "groups more than %d levels deep were not looked into",
                              MOST_LEVELS);
    }
    found_end(&found);
    if (!good)
        hdf5_free(&self->array);
    return good ? &self->array : NULL;
}
