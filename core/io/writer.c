// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/io/team.h"
#include "core/io/writer_private.h"
#include "core/text.h"

enum {
    BLOCK_BYTES = 2 << 20, // encoded and written at a time
    WRITERS = 6,           // threads: the file takes what four encode
};

static const double ROUNDED = 1e-4; // of the samples' energy: what rounding may change untold

typedef struct Place {
    gint64 position; // of the trace in the file
    gint64 cell;     // of the slab
} Place;

// --- files ----------------------------------------------------------------------------------

static gboolean kind_for(const char *path, LithoFileKind *kind, GError **error)
{
    if (litho_file_kind_of_name(path, kind))
        return TRUE;
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                _("%s: the format follows the name: .sgy .segy .su .npy .rsf .bin .raw"), path);
    return FALSE;
}

// --- life -------------------------------------------------------------------------------------

// Format and byte order: what is asked for, else the source's, else IEEE big endian (the
// machine's own order in formats that have no tradition). Samples are in the order of the headers.
static gboolean choose_format(LithoWriter *w, GError **error)
{
    const LithoTraceFile *source =
        w->like ? &g_array_index(w->like->files, LithoTraceFile, 0) : NULL;
    gboolean headed = w->kind == LITHO_FILE_SEGY || w->kind == LITHO_FILE_SU;
    gboolean from_headed = source && source->header_bytes >= LITHO_HEADER_BYTES;
    w->format = w->options.format ? w->options.format
                : w->kind == LITHO_FILE_SEGY && w->like && w->like->kind == LITHO_FILE_SEGY
                    ? source->format
                    : LITHO_FORMAT_IEEE;
    w->order = headed ? LITHO_ORDER_BIG : litho_order_native();
    if (headed && from_headed)
        w->order = source->order;
    if (w->options.endian)
        w->order = w->options.endian == 1 ? LITHO_ORDER_BIG : LITHO_ORDER_LITTLE;
    w->sample_order = w->order;
    gboolean fits = litho_format_supported(w->format);
    if (w->kind == LITHO_FILE_SU)
        fits = w->format == LITHO_FORMAT_IEEE;
    else if (w->kind != LITHO_FILE_SEGY)
        fits = w->format == LITHO_FORMAT_IEEE || w->format == LITHO_FORMAT_DOUBLE ||
               w->format == LITHO_FORMAT_INT16;
    if (fits)
        return TRUE;
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                _("%s cannot hold sample format %d (%s)"), w->path, w->format,
                litho_text(litho_format_name(w->format)));
    return FALSE;
}

static GByteArray *make_head(LithoWriter *w, GError **error)
{
    const gboolean headed = w->kind == LITHO_FILE_SEGY || w->kind == LITHO_FILE_SU;
    return headed ? litho_segy_head(w, error) : litho_regular_head(w, error);
}

static gboolean write_head(LithoWriter *w, GError **error)
{
    g_autoptr(GByteArray) head = make_head(w, error);
    if (!head)
        return FALSE;
    w->first = head->len;
    w->stride = w->header_bytes + w->grid.axis[2].n * litho_format_bytes(w->format);
    return litho_output_write_at(w->out, head->data, head->len, 0, error);
}

static void hold_source(const LithoSurvey *like, void (*change)(LithoFileId))
{
    for (guint k = 0; like && k < like->files->len; k++)
        change(g_array_index(like->files, LithoTraceFile, k).id);
}

// A writer without a file.
static LithoWriter *begin_writer(const char *path, const LithoGrid *grid, LithoSurvey *like,
                                 const LithoSaveOptions *options, GError **error)
{
    LithoFileKind kind;
    if (!litho_grid_check(grid, error) || !kind_for(path, &kind, error))
        return NULL;
    LithoWriter *w = g_new0(LithoWriter, 1);
    w->path = g_strdup(path);
    w->data_path = kind == LITHO_FILE_RSF ? g_strconcat(path, "@", NULL) : NULL;
    w->kind = kind;
    w->grid = *grid;
    w->like = like ? litho_survey_ref(like) : NULL;
    hold_source(like, litho_input_hold); // the input is sacred: no --force helps, by any name
    w->notes = g_ptr_array_new_with_free_func(g_free);
    if (options)
        w->options = *options;
    w->note = g_strdup(w->options.note);
    w->options.note = w->note;
    if (!choose_format(w, error))
        g_clear_pointer(&w, litho_writer_free);
    return w;
}

gboolean litho_writer_check(const char *path, const LithoGrid *grid, LithoSurvey *like,
                            const LithoSaveOptions *options, GError **error)
{
    LithoWriter *w = begin_writer(path, grid, like, options, error);
    g_autoptr(GByteArray) head = w ? make_head(w, error) : NULL;
    litho_writer_free(w);
    return head != NULL;
}

LithoWriter *litho_writer_new(const char *path, const LithoGrid *grid, LithoSurvey *like,
                              const LithoSaveOptions *options, GError **error)
{
    LithoWriter *w = begin_writer(path, grid, like, options, error);
    if (!w)
        return NULL;
    LithoReplace replace = w->options.force ? LITHO_REPLACE_ANY : LITHO_REPLACE_NONE;
    if (w->data_path && !(w->text = litho_output_new(path, replace, error)))
        goto fail;
    const char *samples = w->data_path ? w->data_path : path;
    w->out = w->options.lasting ? litho_output_resume(samples, replace, w->options.resume, error)
                                : litho_output_new(samples, replace, error);
    if (!w->out)
        goto fail;
    if (w->options.lasting)
        w->runs = g_array_new(FALSE, FALSE, sizeof(gint64));
    if (!write_head(w, error))
        goto fail;
    return w;
fail:
    litho_writer_free(w);
    return NULL;
}

const GPtrArray *litho_writer_notes(const LithoWriter *writer)
{
    return writer->notes;
}

void litho_writer_free(LithoWriter *w)
{
    if (!w)
        return;
    litho_output_free(w->out);
    litho_output_free(w->text);
    hold_source(w->like, litho_input_release);
    litho_survey_unref(w->like);
    g_ptr_array_unref(w->notes);
    g_free(w->path);
    g_free(w->data_path);
    g_free(w->note);
    g_free(w->blank);
    g_clear_pointer(&w->blank_words, g_array_unref);
    g_clear_pointer(&w->runs, g_array_unref);
    g_free(w);
}

// --- traces -----------------------------------------------------------------------------------

static int compare_places(const void *a, const void *b)
{
    gint64 x = ((const Place *)a)->position, y = ((const Place *)b)->position;
    return (x > y) - (x < y);
}

// Lists the place of each trace of the slab, in file order.
static gint64 list_places(LithoWriter *w, const LithoCube *slab, Place *places)
{
    gboolean headed = w->kind == LITHO_FILE_SEGY || w->kind == LITHO_FILE_SU;
    gint64 n = 0, n2 = w->grid.axis[1].n, cell = 0;
    for (gint64 i = slab->held.lo[0]; i < slab->held.hi[0]; i++)
        for (gint64 j = 0; j < n2; j++, cell++) {
            gint64 source = -1;
            if (headed && !litho_segy_wants_cell(w, i, j, slab->live[cell], &source))
                continue;
            gint64 position = w->source_order ? source : headed ? w->written + n : i * n2 + j;
            places[n++] = (Place){position, cell};
        }
    if (w->source_order)
        qsort(places, n, sizeof *places, compare_places);
    return n;
}

static gboolean all_finite(const float *x, gint64 n)
{
    guint32 top = 0; // NaN and infinity have the largest bits
#pragma omp simd reduction(max : top)
    for (gint64 k = 0; k < n; k++) {
        guint32 w;
        memcpy(&w, x + k, 4);
        w &= 0x7fffffff;
        top = w > top ? w : top;
    }
    return top < 0x7f800000u;
}

// Did the source, a file without trace headers, mark the missing trace of a cell by zeros?
static gboolean marked_by_zeros(const LithoWriter *w, gint64 i, gint64 j)
{
    const LithoSurvey *like = w->like;
    return like && like->kind != LITHO_FILE_SEGY && like->kind != LITHO_FILE_SU && like->state &&
           like->grid.axis[0].n == w->grid.axis[0].n && like->grid.axis[1].n == w->grid.axis[1].n &&
           like->state[i * w->grid.axis[1].n + j] & LITHO_CELL_ZERO;
}

// Samples of one trace; a missing one is NaN where neither a header nor the source's own zeros can
// say so, else zeros.
static void encode_trace(LithoWriter *w, const float *x, gboolean live, gboolean zeros, guint8 *out)
{
    gint64 n = w->grid.axis[2].n;
    if (live) {
        gint64 clipped = litho_encode(x, w->format, w->sample_order, out, n);
        if (clipped)
            __atomic_fetch_add(&w->clipped, clipped, __ATOMIC_RELAXED);
        return;
    }
    memset(out, 0, n * litho_format_bytes(w->format));
    if (zeros || w->format == LITHO_FORMAT_INT16)
        return;
    for (gint64 k = 0; k < n; k++)
        if (w->format == LITHO_FORMAT_DOUBLE)
            litho_put_f64(out + 8 * k, w->sample_order, NAN);
        else
            litho_put_32(out + 4 * k, w->sample_order, 0x7fc00000u);
}

// Adds the energy of one live trace and of its rounding to integers.
static void add_rounded(const float *x, gint64 n, double *rounded, double *energy)
{
    double off = 0, all = 0;
    for (gint64 k = 0; k < n; k++) {
        const double by = x[k] - rint((double)x[k]);
        off += by * by;
        all += (double)x[k] * x[k];
    }
    *rounded += off;
    *energy += all;
}

typedef struct Block {
    gint64 from, to;        // of the places, which are neighbours in the file
    guint64 hash;           // of lasting files
    double rounded, energy; // of its samples, in formats of integers
} Block;

// One trace of a block: header and samples into `out`.
static gboolean make_trace(LithoWriter *w, const LithoCube *slab, const float *samples, gint64 cell,
                           Block *block, guint8 *out, GError **error)
{
    gint64 n2 = w->grid.axis[1].n, n3 = w->grid.axis[2].n;
    gboolean live = slab->live[cell] != 0;
    if (live && !all_finite(samples + cell * n3, n3)) {
        live = FALSE;
        __atomic_fetch_add(&w->not_finite, 1, __ATOMIC_RELAXED);
    }
    const gint64 i = slab->held.lo[0] + cell / n2, j = cell % n2;
    if (w->header_bytes > 0 && !litho_segy_put_header(w, i, j, live, out, error))
        return FALSE;
    if (live && litho_format_is_integer(w->format))
        add_rounded(samples + cell * n3, n3, &block->rounded, &block->energy);
    const gboolean headed = w->kind == LITHO_FILE_SEGY || w->kind == LITHO_FILE_SU;
    encode_trace(w, samples + cell * n3, live, headed || marked_by_zeros(w, i, j),
                 out + w->header_bytes);
    return TRUE;
}

// --- blocks of traces ---------------------------------------------------------------------------
//
// Threads encode a block each and write it; the file takes one block at a time, in any order.

typedef struct Blocks {
    LithoWriter *w;
    const LithoCube *slab;
    const float *samples;
    const Place *places;
    GArray *list; // of Block
    gint64 most;  // traces of the largest
    gint64 done;  // traces written; atomic
    LithoRun *run;
    LithoTeam team;
} Blocks;

// Neighbouring places, at most `limit` traces at a time.
static GArray *cut_blocks(const Place *places, gint64 n, gint64 limit)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(Block));
    for (gint64 k = 0; k < n;) {
        Block b = {.from = k};
        for (k++; k < n && k - b.from < limit && places[k].position == places[k - 1].position + 1;)
            k++;
        b.to = k;
        g_array_append_val(list, b);
    }
    return list;
}

static gint64 block_at(const LithoWriter *w, const Place *places, const Block *b)
{
    return w->first + places[b->from].position * w->stride;
}

static gboolean write_block(Blocks *s, Block *b, guint8 *bytes, GError **error)
{
    LithoWriter *w = s->w;
    const gint64 n = (b->to - b->from) * w->stride;
    for (gint64 k = b->from; k < b->to; k++)
        if (!make_trace(w, s->slab, s->samples, s->places[k].cell, b,
                        bytes + (k - b->from) * w->stride, error))
            return FALSE;
    if (w->runs)
        b->hash = litho_writer_hash(bytes, n);
    return litho_output_write_at(w->out, bytes, n, block_at(w, s->places, b), error);
}

// Block after block; the caller's thread shows progress.
static void write_share(gpointer data, gboolean caller)
{
    Blocks *s = data;
    LithoWriter *w = s->w;
    const gint64 total = litho_grid_traces(&w->grid);
    const gint64 before = w->next_inline * w->grid.axis[1].n;
    GError *problem = NULL;
    g_autofree guint8 *bytes = g_try_malloc(MAX(s->most, 1) * w->stride);
    if (!bytes)
        litho_refuse(&problem, LITHO_ERROR_MEMORY, "no memory for a write buffer");
    gint64 k;
    while (!problem && litho_team_take(&s->team, 1, s->list->len, &k)) {
        Block *b = &g_array_index(s->list, Block, k);
        if (!write_block(s, b, bytes, &problem))
            break;
        const gint64 done = __atomic_add_fetch(&s->done, b->to - b->from, __ATOMIC_RELAXED);
        if (caller ? !litho_run_step(s->run, before + done, total, NULL)
                   : !litho_run_checkpoint(s->run))
            litho_team_stop(&s->team);
    }
    litho_team_fail(&s->team, problem);
}

static gboolean write_blocks(Blocks *s, GError **error)
{
    const int blocks = (int)MIN(MAX(s->list->len, 1), WRITERS);
    litho_team_run(MIN(litho_run_threads(s->run), blocks), write_share, s);
    if (!litho_team_end(&s->team, error))
        return FALSE;
    for (guint k = 0; k < s->list->len; k++) {
        const Block *b = &g_array_index(s->list, Block, k);
        s->w->rounded += b->rounded;
        s->w->energy += b->energy;
        if (!s->w->runs)
            continue;
        litho_writer_count(s->w, b->hash, (b->to - b->from) * s->w->stride,
                           block_at(s->w, s->places, b));
    }
    return TRUE;
}

static gboolean check_slab(const LithoWriter *w, const LithoCube *slab, GError **error)
{
    LithoBox b = slab->held;
    if (b.lo[0] == w->next_inline && b.hi[0] <= w->grid.axis[0].n && b.lo[1] == 0 &&
        b.hi[1] == w->grid.axis[1].n && b.lo[2] == 0 && b.hi[2] == w->grid.axis[2].n)
        return TRUE;
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                _("the part to write starts at inline %" PRId64 " of the output; whole "
                  "inlines from %" PRId64 " on are needed"),
                b.lo[0], w->next_inline);
    return FALSE;
}

gboolean litho_writer_put(LithoWriter *w, const LithoCube *slab, LithoRun *run, GError **error)
{
    if (!check_slab(w, slab, error))
        return FALSE;
    const float *samples = litho_cube_host(slab, error);
    if (!samples)
        return FALSE;
    const gint64 n2 = w->grid.axis[1].n, limit = MAX(BLOCK_BYTES / w->stride, 1);
    g_autofree Place *places = g_try_new(Place, litho_box_size(slab->held, 0) * n2);
    if (!places)
        return litho_refuse(error, LITHO_ERROR_MEMORY, "no memory for a list of traces");
    const gint64 n = list_places(w, slab, places);
    g_autoptr(GArray) list = cut_blocks(places, n, limit);
    Blocks blocks = {.w = w,
                     .slab = slab,
                     .samples = samples,
                     .places = places,
                     .list = list,
                     .run = run,
                     .team = LITHO_TEAM_START,
                     .most = MIN(limit, n)};
    if (!write_blocks(&blocks, error))
        return FALSE;
    w->written += n;
    w->next_inline = slab->held.hi[0];
    return TRUE;
}

// --- the end ----------------------------------------------------------------------------------

static void add_notes(LithoWriter *w)
{
    if (w->clipped)
        g_ptr_array_add(
            w->notes,
            g_strdup_printf(
                litho_text_plural("%" PRId64 " sample lies outside the range of format %d (%s) and "
                                  "was clipped; 'convert --format float32' of the input keeps it",
                                  "%" PRId64 " samples lie outside the range of format %d (%s) and "
                                  "were clipped; 'convert --format float32' of the input keeps "
                                  "them",
                                  w->clipped),
                w->clipped, w->format, litho_text(litho_format_name(w->format))));
    if (w->rounded > ROUNDED * w->energy)
        g_ptr_array_add(w->notes,
                        g_strdup_printf(_("samples were rounded to whole numbers: the file is "
                                          "%.1f dB from what was computed; 'convert --format "
                                          "float32' of the input keeps them"),
                                        10 * log10(w->energy / w->rounded)));
    if (w->not_finite)
        g_ptr_array_add(
            w->notes,
            g_strdup_printf(litho_text_plural("%" PRId64 " trace held NaN or infinite samples and "
                                              "was written as missing",
                                              "%" PRId64 " traces held NaN or infinite samples and "
                                              "were written as missing",
                                              w->not_finite),
                            w->not_finite));
    char *axes = litho_regular_note(w);
    if (axes)
        g_ptr_array_add(w->notes, axes);
    for (guint k = 0; w->options.notes && k < w->notes->len; k++)
        g_ptr_array_add(w->options.notes, g_strdup(w->notes->pdata[k]));
}

gboolean litho_writer_finish(LithoWriter *w, GError **error)
{
    if (w->finished)
        return TRUE;
    if (w->next_inline != w->grid.axis[0].n) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                    _("only %" PRId64 " of %" PRId64 " inlines were written"), w->next_inline,
                    w->grid.axis[0].n);
        return FALSE;
    }
    if (w->kind == LITHO_FILE_SEGY && !litho_segy_finish(w, error))
        return FALSE;
    g_autofree char *text = w->text ? litho_rsf_text(w) : NULL;
    if (text && !litho_output_write(w->text, text, strlen(text), error))
        return FALSE;
    if (!litho_output_finish(w->out, error) || (w->text && !litho_output_finish(w->text, error)))
        return FALSE;
    w->finished = TRUE;
    add_notes(w);
    return TRUE;
}

gboolean litho_cube_save(const LithoCube *cube, const char *path, const LithoSaveOptions *options,
                         LithoRun *run, GError **error)
{
    LithoWriter *w = litho_writer_new(path, &cube->grid, cube->survey, options, error);
    if (!w)
        return FALSE;
    litho_run_begin(run, "writing", "traces");
    gboolean good = litho_writer_put(w, cube, run, error) && litho_writer_finish(w, error);
    litho_writer_free(w);
    return good;
}
