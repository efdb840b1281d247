// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/error.h"
#include "core/io/output.h"
#include "core/io/survey_private.h"
#include "core/io/writer_private.h"
#include "core/json.h"
#include "core/operator_files.h"
#include "core/stamp.h"
#include "core/text.h"

enum { FORMAT = 5 };

// A slab that waits in the journal: a line of JSON, samples, and a byte a trace that is 1 where it
// is live.
typedef struct Piece {
    LithoBox box;
    gint64 line, start, end; // bytes of the journal: its line, its samples, behind it
    guint64 samples, live;   // hashes
} Piece;

struct LithoJournal {
    char *path; // of the output
    char *name; // of the journal
    int fd;
    JsonNode *head;  // of an earlier run, or NULL
    LithoFlow *flow; // its flow
    GArray *marks;   // of LithoWriterMark; owns their runs
    GArray *ends;    // of gint64: byte behind each mark's line
    gint64 head_end; // byte behind the first line
    GArray *pieces;  // of Piece, behind the last mark
    gint64 end;      // byte behind all that counts
    guint n_marks;   // in the file
    gboolean broken; // a line could not be written
    gboolean is_new; // no earlier run had one
};

// --- what a run computes --------------------------------------------------------------------------

static void add_stamp(GString *text, const LithoStamp *stamp)
{
    g_string_append_printf(text,
                           "%" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_MODIFIER "x\n",
                           stamp->bytes, stamp->changed_ns, stamp->listing);
}

// A file or a store; a parameter that names neither adds nothing.
static void add_file(GString *text, const char *name, const char *path)
{
    LithoStamp stamp;
    if (!litho_stamp_take(path, &stamp, NULL))
        return;
    g_string_append_printf(text, "%s ", name);
    add_stamp(text, &stamp);
}

// Files that steps read.
static void add_step_files(GString *text, const LithoStep *step)
{
    const LithoParamTable *table = &step->op->params;
    for (guint k = 0; k < table->n; k++) {
        const LithoParam *row = &table->rows[k];
        if (!litho_param_is_read(table, row, step->params))
            continue;
        g_autofree char *path = litho_param_print(row, step->params);
        add_file(text, row->key, path);
    }
}

static void add_grid(GString *text, const LithoGrid *grid)
{
    for (int a = 0; a < 3; a++)
        g_string_append_printf(text, "%" G_GINT64_FORMAT " %.17g %.17g\n", grid->axis[a].n,
                               grid->axis[a].first, grid->axis[a].step);
}

static char *hash_of(GString *text)
{
    char *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text->str, (gssize)text->len);
    g_string_free(text, TRUE);
    return hash;
}

// Panels and programs of operators that are the user's own; "" = there are none.
static char *programs_of(const LithoFlow *flow)
{
    GString *text = g_string_new(NULL);
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        char *const *file = step->enabled ? litho_operator_files(step->op) : NULL;
        for (; file && *file; file++)
            add_file(text, *file, *file);
    }
    return text->len > 0 ? hash_of(text) : g_string_free(text, FALSE);
}

void litho_journal_head_init(LithoJournalHead *head, const LithoFlow *asked, LithoSurvey *survey,
                             const LithoGrid *out, const LithoSaveOptions *save, const char *device)
{
    GString *input = g_string_new(NULL), *output = g_string_new(NULL);
    for (guint k = 0; survey && k < survey->files->len; k++)
        add_stamp(input, &g_array_index(survey->files, LithoTraceFile, k).stamp);
    if (survey)
        add_grid(input, &survey->grid);
    for (guint k = 0; k < litho_flow_length(asked); k++)
        if (litho_flow_step(asked, k)->enabled)
            add_step_files(input, litho_flow_step(asked, k));
    add_grid(output, out);
    g_string_append_printf(output, "%d %d %d\n", save->format, save->endian, save->missing);
    g_autofree char *recipe = litho_flow_print(asked);
    *head =
        (LithoJournalHead){.input = hash_of(input),
                           .reading = g_strdup(survey && survey->reading ? survey->reading : ""),
                           .output = hash_of(output),
                           .recipe = g_compute_checksum_for_string(G_CHECKSUM_SHA256, recipe, -1),
                           .programs = programs_of(asked),
                           .device = device};
}

void litho_journal_head_clear(LithoJournalHead *head)
{
    g_free(head->input);
    g_free(head->reading);
    g_free(head->output);
    g_free(head->recipe);
    g_free(head->programs);
}

// --- reading --------------------------------------------------------------------------------------

static void clear_mark(gpointer data)
{
    g_clear_pointer(&((LithoWriterMark *)data)->runs, g_array_unref);
}

static gboolean read_mark(JsonNode *node, LithoWriterMark *mark)
{
    JsonObject *object = litho_json_node_object(node);
    JsonArray *runs = object ? litho_json_array_or_null(object, "runs") : NULL;
    const char *hash = object ? litho_json_string_or(object, "hash", NULL) : NULL;
    if (!runs || !hash)
        return FALSE;
    *mark = (LithoWriterMark){.next_inline = (gint64)litho_json_number_or(object, "inlines", 0),
                              .written = (gint64)litho_json_number_or(object, "traces", 0),
                              .clipped = (gint64)litho_json_number_or(object, "clipped", 0),
                              .not_finite = (gint64)litho_json_number_or(object, "not_finite", 0),
                              .rounded = litho_json_number_or(object, "rounded", 0),
                              .energy = litho_json_number_or(object, "energy", 0),
                              .hash = g_ascii_strtoull(hash, NULL, 16),
                              .runs = g_array_new(FALSE, FALSE, sizeof(gint64))};
    for (guint k = 0; k < json_array_get_length(runs); k++) {
        double value = 0;
        litho_json_node_number(json_array_get_element(runs, k), &value);
        const gint64 number = (gint64)value;
        g_array_append_val(mark->runs, number);
    }
    return TRUE;
}

static gint64 piece_traces(const Piece *piece)
{
    return litho_box_size(piece->box, 0) * litho_box_size(piece->box, 1);
}

static gint64 piece_samples_bytes(const Piece *piece)
{
    return litho_box_count(piece->box) * (gint64)sizeof(float);
}

// The line of a piece; its bytes stand behind it, in a file of `size` bytes.
static gboolean read_piece(JsonNode *node, gint64 line, gint64 start, gint64 size, Piece *piece)
{
    JsonObject *object = litho_json_node_object(node);
    JsonArray *box = object ? litho_json_array_or_null(object, "piece") : NULL;
    const char *samples = object ? litho_json_string_or(object, "hash", NULL) : NULL;
    const char *live = object ? litho_json_string_or(object, "live", NULL) : NULL;
    double value[6];
    if (!box || json_array_get_length(box) != 6 || !samples || !live)
        return FALSE;
    *piece = (Piece){.line = line,
                     .start = start,
                     .samples = g_ascii_strtoull(samples, NULL, 16),
                     .live = g_ascii_strtoull(live, NULL, 16)};
    double bytes = sizeof(float);
    for (int k = 0; k < 6; k++)
        if (!litho_json_node_number(json_array_get_element(box, (guint)k), &value[k]) ||
            !(value[k] >= 0 && value[k] < G_MAXINT32))
            return FALSE;
    for (int a = 0; a < 3; a++) {
        piece->box.lo[a] = (gint64)value[a];
        piece->box.hi[a] = (gint64)value[a + 3];
        bytes *= value[a + 3] - value[a];
    }
    if (litho_box_empty(piece->box) || bytes > (double)size)
        return FALSE;
    piece->end = start + piece_samples_bytes(piece) + piece_traces(piece);
    return piece->end <= size;
}

// One line of the journal, which ends at byte `behind`: the head, a mark or a piece. FALSE: none.
static gboolean read_line(LithoJournal *j, JsonNode *node, gint64 line, gint64 behind, gint64 size)
{
    LithoWriterMark mark;
    Piece piece;
    if (!j->head) {
        j->head = json_node_ref(node);
        j->head_end = j->end = behind;
        return TRUE;
    }
    if (read_piece(node, line, behind, size, &piece)) {
        g_array_append_val(j->pieces, piece);
        j->end = piece.end;
        return TRUE;
    }
    if (!read_mark(node, &mark))
        return FALSE;
    g_array_set_size(j->pieces, 0); // their inlines are in the file
    g_array_append_val(j->marks, mark);
    g_array_append_val(j->ends, behind);
    j->end = behind;
    return TRUE;
}

// Lines and pieces up to the first that is torn.
static void read_lines(LithoJournal *j)
{
    const int fd = dup(j->fd);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    struct stat info;
    char *text = NULL;
    size_t room = 0;
    gboolean good = file && fstat(fd, &info) == 0;
    while (good) {
        const ssize_t n = getline(&text, &room, file);
        JsonNode *node =
            n > 0 && text[n - 1] == '\n' ? litho_json_parse(text, (gsize)n, NULL) : NULL;
        good = node && read_line(j, node, j->end, j->end + n, info.st_size) &&
               fseeko(file, j->end, SEEK_SET) == 0;
        g_clear_pointer(&node, json_node_unref);
    }
    free(text);
    if (file)
        fclose(file);
    else if (fd >= 0)
        close(fd);
}

static char *name_of(const char *path)
{
    return g_strconcat(path, ".journal", NULL);
}

gboolean litho_journal_exists(const char *path)
{
    g_autofree char *name = name_of(path);
    return g_file_test(name, G_FILE_TEST_EXISTS);
}

static LithoJournal *refuse_to_open(LithoJournal *j, int code, GError **error)
{
    if (code == EWOULDBLOCK)
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_BUSY, _("another process is writing %s"),
                    j->path);
    else
        g_set_error(error, G_IO_ERROR, g_io_error_from_errno(code), _("cannot write %s: %s"),
                    j->name, g_strerror(code));
    litho_journal_close(j, FALSE);
    return NULL;
}

// A journal begins as litho_journal_begin() writes; a run may end before its first line is whole.
static gboolean is_journal(int fd)
{
    static const char start[] = "{\"journal\":";
    char text[sizeof start - 1];
    const ssize_t n = pread(fd, text, sizeof text, 0);
    return n < 0 || memcmp(text, start, (size_t)n) == 0;
}

LithoJournal *litho_journal_open(const char *path, gboolean anew, GError **error)
{
    LithoJournal *j = g_new0(LithoJournal, 1);
    j->fd = -1;
    j->path = g_strdup(path);
    j->name = name_of(path);
    j->marks = g_array_new(FALSE, FALSE, sizeof(LithoWriterMark));
    g_array_set_clear_func(j->marks, clear_mark);
    j->ends = g_array_new(FALSE, FALSE, sizeof(gint64));
    j->pieces = g_array_new(FALSE, FALSE, sizeof(Piece));
    j->is_new = !g_file_test(j->name, G_FILE_TEST_EXISTS);
    if (!litho_outputs_check((const char *const[]){j->name, NULL}, LITHO_REPLACE_ANY, error)) {
        litho_journal_close(j, FALSE);
        return NULL;
    }
    j->fd = g_open(j->name, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (j->fd < 0)
        return refuse_to_open(j, errno, error);
    if (flock(j->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return refuse_to_open(j, errno, error);
    if (!is_journal(j->fd)) {
        litho_refuse(error, LITHO_ERROR_PARAMETER,
                     "%s exists and is no journal of an interrupted run; choose another name for "
                     "the output",
                     j->name);
        litho_journal_close(j, FALSE);
        return NULL;
    }
    if (anew && ftruncate(j->fd, 0) != 0)
        return refuse_to_open(j, errno, error);
    if (!anew)
        read_lines(j);
    return j;
}

gboolean litho_journal_is_new(const LithoJournal *j)
{
    return j->is_new;
}

static gboolean is_same(const LithoJournal *j, const char *key, const char *value,
                        const char *sentence, GError **error)
{
    const char *was = litho_json_string_or(litho_json_node_object(j->head), key, "");
    return strcmp(was, value) == 0 ||
           litho_refuse(error, LITHO_ERROR_PARAMETER,
                        "%s.journal is of an interrupted run %s; --restart begins anew", j->path,
                        sentence);
}

gboolean litho_journal_resumes(LithoJournal *j, const LithoJournalHead *head, GError **error)
{
    JsonObject *object = j->head ? litho_json_node_object(j->head) : NULL;
    if (!object || j->marks->len + j->pieces->len == 0)
        return FALSE;
    if (!is_same(j, "version", LITHO_VERSION, _("of another version of the program"), error) ||
        !is_same(j, "recipe", head->recipe, _("with other parameters"), error) ||
        !is_same(j, "input", head->input, _("on an input that has changed since"), error) ||
        !is_same(j, "reading", head->reading, _("on an input that was read with other options"),
                 error) ||
        !is_same(j, "output", head->output, _("with another output format or grid"), error) ||
        !is_same(j, "programs", head->programs,
                 _("with another panel or program of an operator of your own"), error) ||
        !is_same(j, "device", head->device, _("on another kind of device (--backend)"), error))
        return FALSE;
    JsonNode *flow = json_object_get_member(object, "flow");
    j->flow = flow ? litho_flow_from_json(flow, NULL) : NULL;
    return j->flow != NULL;
}

const LithoFlow *litho_journal_flow(const LithoJournal *j)
{
    return j->flow;
}

void litho_journal_reach(LithoJournal *j, LithoWriter *writer)
{
    while (j->n_marks < j->marks->len &&
           litho_writer_reach(writer, &g_array_index(j->marks, LithoWriterMark, j->n_marks)))
        j->n_marks++;
    if (j->n_marks < j->marks->len) {
        g_array_set_size(j->pieces, 0);
        j->end = j->n_marks ? g_array_index(j->ends, gint64, j->n_marks - 1) : j->head_end;
    }
    j->broken = ftruncate(j->fd, j->end) != 0;
}

// --- writing --------------------------------------------------------------------------------------

static gboolean write_all(int fd, const void *bytes, gsize n)
{
    for (gsize done = 0; done < n;) {
        const ssize_t put = write(fd, (const char *)bytes + done, n - done);
        if (put < 0 && errno != EINTR)
            return FALSE;
        done += put > 0 ? (gsize)put : 0;
    }
    return TRUE;
}

static void write_line(LithoJournal *j, JsonObject *object)
{
    JsonNode *node = json_node_new(JSON_NODE_OBJECT);
    json_node_take_object(node, object);
    g_autofree char *json = json_to_string(node, FALSE), *line = g_strconcat(json, "\n", NULL);
    json_node_unref(node);
    const gsize n = strlen(line);
    j->broken = j->broken || !write_all(j->fd, line, n);
    j->end += (gint64)n;
}

void litho_journal_begin(LithoJournal *j, const LithoJournalHead *head)
{
    JsonObject *object = json_object_new();
    j->n_marks = 0;
    j->end = 0;
    g_array_set_size(j->pieces, 0);
    j->broken = ftruncate(j->fd, 0) != 0;
    json_object_set_int_member(object, "journal", FORMAT);
    json_object_set_string_member(object, "version", LITHO_VERSION);
    json_object_set_string_member(object, "device", head->device);
    json_object_set_string_member(object, "input", head->input);
    json_object_set_string_member(object, "reading", head->reading);
    json_object_set_string_member(object, "recipe", head->recipe);
    json_object_set_string_member(object, "output", head->output);
    json_object_set_string_member(object, "programs", head->programs);
    json_object_set_member(object, "flow", litho_flow_to_json(head->flow));
    write_line(j, object);
}

static void add_hash(JsonObject *object, const char *key, guint64 hash)
{
    char text[20];
    g_snprintf(text, sizeof text, "%016" G_GINT64_MODIFIER "x", hash);
    json_object_set_string_member(object, key, text);
}

// Drops the pieces from number `from` on. Where that fails they stand in front of a later line, and
// reading passes over them.
static void forget_pieces(LithoJournal *j, guint from)
{
    if (from >= j->pieces->len)
        return;
    const gint64 end = g_array_index(j->pieces, Piece, from).line;
    g_array_set_size(j->pieces, from);
    if (ftruncate(j->fd, end) == 0)
        j->end = end;
}

void litho_journal_mark(LithoJournal *j, LithoWriter *writer)
{
    LithoWriterMark mark;
    litho_writer_mark(writer, &mark);
    JsonObject *object = json_object_new();
    JsonArray *runs = json_array_sized_new(mark.runs->len);
    for (guint k = 0; k < mark.runs->len; k++)
        json_array_add_int_element(runs, g_array_index(mark.runs, gint64, k));
    g_array_unref(mark.runs);
    json_object_set_int_member(object, "inlines", mark.next_inline);
    json_object_set_int_member(object, "traces", mark.written);
    json_object_set_int_member(object, "clipped", mark.clipped);
    json_object_set_int_member(object, "not_finite", mark.not_finite);
    if (mark.energy > 0) { // of integers
        json_object_set_double_member(object, "rounded", mark.rounded);
        json_object_set_double_member(object, "energy", mark.energy);
    }
    add_hash(object, "hash", mark.hash);
    json_object_set_array_member(object, "runs", runs);
    forget_pieces(j, 0);
    write_line(j, object);
    j->n_marks += !j->broken;
}

void litho_journal_keep(LithoJournal *j, const LithoCube *cube)
{
    Piece piece = {.box = cube->held, .line = j->end};
    const gint64 bytes = piece_samples_bytes(&piece), traces = piece_traces(&piece);
    JsonObject *object = json_object_new();
    JsonArray *box = json_array_sized_new(6);
    if (j->broken) {
        json_array_unref(box);
        json_object_unref(object);
        return;
    }
    piece.samples = litho_writer_hash((const guint8 *)cube->samples, bytes);
    piece.live = litho_writer_hash(cube->live, traces);
    for (int k = 0; k < 6; k++)
        json_array_add_int_element(box, k < 3 ? cube->held.lo[k] : cube->held.hi[k - 3]);
    json_object_set_array_member(object, "piece", box);
    add_hash(object, "hash", piece.samples);
    add_hash(object, "live", piece.live);
    write_line(j, object);
    piece.start = j->end;
    piece.end = j->end + bytes + traces;
    if (j->broken || !write_all(j->fd, cube->samples, (gsize)bytes) ||
        !write_all(j->fd, cube->live, (gsize)traces)) {
        // A later piece or mark stands behind what is whole.
        j->end = piece.line;
        j->broken = ftruncate(j->fd, j->end) != 0;
        return;
    }
    j->end = piece.end;
    g_array_append_val(j->pieces, piece);
}

guint litho_journal_pieces(const LithoJournal *j)
{
    return j->pieces->len;
}

LithoCube *litho_journal_piece(LithoJournal *j, guint k, const LithoGrid *grid, LithoBox box)
{
    const Piece *p = &g_array_index(j->pieces, Piece, k);
    const gint64 bytes = piece_samples_bytes(p), traces = piece_traces(p);
    g_autoptr(LithoCube) cube =
        litho_box_equal(p->box, box) ? litho_cube_new_box(grid, box, NULL) : NULL;
    if (cube && litho_read_at(j->fd, cube->samples, bytes, p->start) == bytes &&
        litho_read_at(j->fd, cube->live, traces, p->start + bytes) == traces &&
        litho_writer_hash((const guint8 *)cube->samples, bytes) == p->samples &&
        litho_writer_hash(cube->live, traces) == p->live)
        return g_steal_pointer(&cube);
    forget_pieces(j, k);
    return NULL;
}

guint litho_journal_marks(const LithoJournal *j)
{
    return j->n_marks;
}

void litho_journal_close(LithoJournal *j, gboolean remove)
{
    if (!j)
        return;
    if (remove && j->fd >= 0)
        g_unlink(j->name);
    if (j->fd >= 0)
        close(j->fd);
    if (j->head)
        json_node_unref(j->head);
    g_clear_pointer(&j->flow, litho_flow_free);
    g_array_unref(j->marks);
    g_array_unref(j->ends);
    g_array_unref(j->pieces);
    g_free(j->path);
    g_free(j->name);
    g_free(j);
}
