// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/io/open_options.h"
#include "core/io/survey_private.h"
#include "core/json.h"
#include "core/text.h"

// --- life -------------------------------------------------------------------------------------

static void clear_file(gpointer data)
{
    litho_file_close(data);
}

static void survey_free(gpointer data)
{
    LithoSurvey *survey = data;
    g_array_unref(survey->files);
    if (survey->candidates)
        g_array_unref(survey->candidates);
    if (survey->repeats)
        g_array_unref(survey->repeats);
    g_ptr_array_unref(survey->notes);
    g_free(survey->name);
    g_free(survey->format);
    g_free(survey->text);
    g_free(survey->reading);
    g_free(survey->table);
    g_free(survey->state);
    g_free(survey->shift);
    g_free(survey);
}

LithoSurvey *litho_survey_bare(void)
{
    LithoSurvey *survey = g_new0(LithoSurvey, 1);
    survey->counted = (LithoOrigin){.refs = 1, .free = survey_free};
    return survey;
}

static LithoSurvey *survey_new(const char *first_path)
{
    LithoSurvey *survey = litho_survey_bare();
    survey->files = g_array_new(FALSE, TRUE, sizeof(LithoTraceFile));
    g_array_set_clear_func(survey->files, clear_file);
    g_autofree char *base = g_path_get_basename(first_path);
    survey->name = g_utf8_make_valid(base, -1); // drawn and written where only text may stand
    survey->notes = g_ptr_array_new_with_free_func(g_free);
    survey->candidates = g_array_new(FALSE, TRUE, sizeof(LithoCandidate));
    return survey;
}

LithoSurvey *litho_survey_ref(LithoSurvey *survey)
{
    return litho_origin_ref(survey);
}

void litho_survey_unref(LithoSurvey *survey)
{
    litho_origin_unref(survey);
}

// --- opening ----------------------------------------------------------------------------------

static gboolean has_suffix(const char *path, const char *suffix)
{
    gsize n = strlen(path), m = strlen(suffix);
    return n > m && g_ascii_strcasecmp(path + n - m, suffix) == 0;
}

gboolean litho_file_kind_of_name(const char *path, LithoFileKind *kind)
{
    static const struct {
        const char *suffix;
        LithoFileKind kind;
    } suffixes[] = {
        {".sgy", LITHO_FILE_SEGY}, {".segy", LITHO_FILE_SEGY}, {".seg", LITHO_FILE_SEGY},
        {".su", LITHO_FILE_SU},    {".npy", LITHO_FILE_NPY},   {".rsf", LITHO_FILE_RSF},
        {".bin", LITHO_FILE_RAW},  {".raw", LITHO_FILE_RAW},
    };
    for (guint k = 0; k < G_N_ELEMENTS(suffixes); k++)
        if (has_suffix(path, suffixes[k].suffix)) {
            *kind = suffixes[k].kind;
            return TRUE;
        }
    return FALSE;
}

gboolean litho_survey_is_name(const char *path)
{
    LithoFileKind kind;
    return litho_file_kind_of_name(path, &kind) || litho_array_is(path);
}

static gboolean kind_of(const char *path, const LithoOpenOptions *options, LithoFileKind *kind,
                        GError **error)
{
    if (litho_array_is(path)) {
        *kind = LITHO_FILE_ARRAY;
        return TRUE;
    }
    if (litho_file_kind_of_name(path, kind))
        return TRUE;
    if (has_suffix(path, ".npz")) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED,
                    _("%s is an .npz archive; save the cube alone as .npy"), path);
        return FALSE;
    }
    // Names say nothing here: NumPy has a signature, a given shape means raw, the rest is tried as
    // SEG-Y, which refuses what it cannot make sense of.
    LithoTraceFile file;
    char magic[6] = "";
    gboolean good = litho_file_open(&file, path, error) &&
                    litho_file_read(&file, magic, sizeof magic, 0, error) >= 0;
    litho_file_close(&file);
    *kind = memcmp(magic, "\x93NUMPY", 6) == 0 ? LITHO_FILE_NPY
            : options->dtype                   ? LITHO_FILE_RAW
                                               : LITHO_FILE_SEGY;
    return good;
}

static gboolean starts_with_text(const LithoTraceFile *file)
{
    guint8 head[LITHO_HEADER_BYTES];
    if (litho_file_read(file, head, sizeof head, 0, NULL) != sizeof head)
        return FALSE;
    guint printable = 0;
    for (guint k = 0; k < sizeof head; k++)
        printable += head[k] >= 0x20;
    return printable > sizeof head * 9 / 10;
}

// Layout of one SEG-Y or SU file; SU under a SEG-Y name is recognised.
static gboolean open_headed(LithoSurvey *survey, LithoTraceFile *file, gboolean su,
                            const LithoOpenOptions *options, GError **error)
{
    if (!su && !starts_with_text(file) && litho_su_plausible(file)) {
        litho_survey_note(survey, "%s has no SEG-Y file headers; it was read as SU", file->path);
        su = TRUE;
    }
    if (survey->files->len == 0)
        survey->kind = su ? LITHO_FILE_SU : LITHO_FILE_SEGY;
    if (su)
        return litho_su_layout(survey, file, options, error);
    return litho_segy_layout(survey, file, options, error);
}

// Arrays have no traces with headers of their own.
static gboolean refuse_joined(const char *path, GError **error)
{
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED,
                _("several files make one survey as SEG-Y or SU only, not with %s"), path);
    return FALSE;
}

// Reads the sample axis of the file that comes next, into `first` where there is none before it.
// Lengths of a file that names no unit are in the first one's.
static gboolean joins(LithoSurvey *survey, LithoTraceFile *file, const LithoOpenOptions *options,
                      LithoGrid *first, GError **error)
{
    if (survey->files->len == 0)
        return litho_survey_read_axis(survey, file, options, first, error);
    const LithoTraceFile *before = &g_array_index(survey->files, LithoTraceFile, 0);
    LithoGrid grid;
    if (file->measurement != 1 && file->measurement != 2)
        file->measurement = before->measurement;
    return litho_survey_read_axis(survey, file, options, &grid, error) &&
           litho_survey_agree(before, first, file, &grid, error);
}

// Traces of zeros are missing traces. An all-zero cube, or one spike in a quiet one, must not lose
// its traces to that rule: more than nine tenths of them are zeros there, and few of those that
// were looked at are not. A survey of which nine tenths are missing has more.
static void judge_zero_traces(LithoSurvey *survey, const LithoOpenOptions *options)
{
    enum { FEW = 8 };
    const gint64 others = survey->looked_at - survey->looked_zero;
    const gboolean quiet = survey->looked_zero * 10 > survey->looked_at * 9 && others < FEW;
    survey->zero_is_live = options->keep_zero_traces;
    if (quiet && !survey->zero_is_live) {
        survey->zero_is_live = TRUE;
        litho_survey_note(survey, "nearly all traces hold nothing but zeros; they count as live");
    }
}

static gboolean open_headed_files(LithoSurvey *survey, const char *const *paths, gboolean su,
                                  const LithoOpenOptions *options, LithoRun *run, GError **error)
{
    LithoGrid first;
    for (int f = 0; paths[f]; f++) {
        LithoTraceFile file;
        LithoFileKind kind = LITHO_FILE_SEGY;
        if (f > 0 && !kind_of(paths[f], options, &kind, error))
            return FALSE;
        if (kind == LITHO_FILE_NPY || kind == LITHO_FILE_RSF || kind == LITHO_FILE_ARRAY)
            return refuse_joined(paths[f], error);
        if (!litho_file_open(&file, paths[f], error) ||
            !open_headed(survey, &file, su, options, error) ||
            (paths[1] && !joins(survey, &file, options, &first, error)) ||
            !litho_segy_check_samples(survey, &file, options, error)) {
            litho_file_close(&file);
            return FALSE;
        }
        file.base = survey->traces;
        survey->traces += file.traces;
        g_array_append_val(survey->files, file);
        if (!litho_run_step(run, 0, 0, error))
            return FALSE;
    }
    judge_zero_traces(survey, options);
    if (!litho_segy_geometry(survey, options, run, error))
        return FALSE;
    if (survey->files->len > 1) // behind what a person may not know: a window shows the first one
        litho_survey_note(survey, "%u files read as one survey", survey->files->len);
    const LithoTraceFile *file = &g_array_index(survey->files, LithoTraceFile, 0);
    if (survey->kind == LITHO_FILE_SU)
        survey->format = g_strdup_printf("SU, %s, %s", litho_text(litho_format_name(file->format)),
                                         litho_text(litho_order_name(file->sample_order)));
    else
        survey->format =
            g_strdup_printf(_("SEG-Y rev %d.%d, %s, %s"), file->revision >> 8, file->revision & 255,
                            litho_text(litho_format_name(file->format)),
                            litho_text(litho_order_name(file->sample_order)));
    return TRUE;
}

// Looks at a few hundred traces of a file without trace headers: all of a small one, else runs of
// neighbours at evenly spaced places. A trace that cannot be read is left to the reader.
static void look_for_zeros(LithoSurvey *survey)
{
    enum { MOST = 256, PLACES = 16 };
    const LithoTraceFile *file = &g_array_index(survey->files, LithoTraceFile, 0);
    const gint64 n2 = survey->grid.axis[1].n, cells = survey->grid.axis[0].n * n2;
    const gint64 bytes = survey->grid.axis[2].n * litho_format_bytes(file->format);
    const gint64 take = MIN(cells, MOST), run = cells > MOST ? MOST / PLACES : MOST;
    g_autofree guint8 *trace = g_try_malloc(MAX(bytes, 1));
    for (gint64 k = 0; trace && k < take; k++) {
        const gint64 cell = k / run * (cells / PLACES) + k % run;
        const gint64 t = litho_survey_trace_of(survey, cell / n2, cell % n2);
        if (t < 0 ||
            !litho_file_read_all(file, trace, bytes,
                                 litho_file_trace_at(file, t - file->base) + file->header_bytes,
                                 NULL))
            continue;
        survey->looked_at++;
        survey->looked_zero += litho_file_all_zero(file, trace, survey->grid.axis[2].n);
    }
}

static gboolean open_bare(LithoSurvey *survey, const char *path, const LithoOpenOptions *options,
                          GError **error)
{
    switch (survey->kind) {
    case LITHO_FILE_NPY:
        return litho_npy_open(survey, path, options, error);
    case LITHO_FILE_ARRAY:
        return litho_array_open(survey, path, options, error);
    case LITHO_FILE_RSF:
        return litho_rsf_open(survey, path, options, error);
    default:
        return litho_raw_open(survey, path, options, error);
    }
}

static gboolean open_regular(LithoSurvey *survey, const char *const *paths,
                             const LithoOpenOptions *options, GError **error)
{
    if (paths[1])
        return refuse_joined(paths[0], error);
    if (!open_bare(survey, paths[0], options, error))
        return FALSE;
    look_for_zeros(survey);
    judge_zero_traces(survey, options);
    return TRUE;
}

static gboolean check_options(const LithoOpenOptions *o, GError **error)
{
    int bytes[] = {o->inline_byte, o->xline_byte, o->x_byte, o->y_byte};
    for (guint k = 0; k < G_N_ELEMENTS(bytes); k++)
        if (bytes[k] < 0 || bytes[k] > LITHO_LAST_BYTE) {
            g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                        _("header byte %d lies outside 1 to 237"), bytes[k]);
            return FALSE;
        }
    // Sessions and import profiles come by here, too.
    if (o->dt != 0 && !litho_interval_possible(o->dt))
        return litho_refuse(
            error, LITHO_ERROR_PARAMETER,
            "a sample interval of %g was asked for; it must lie between %g and %g s "
            "(m on depth axes)",
            o->dt, LITHO_LEAST_INTERVAL, LITHO_LARGEST_INTERVAL);
    const gboolean good_dx = isfinite(o->dx) && o->dx >= 0, good_dy = isfinite(o->dy) && o->dy >= 0;
    if (!good_dx || !good_dy)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "a distance of %g m between traces was asked for; it must be above 0",
                            good_dx ? o->dy : o->dx);
    if (o->format && !litho_format_supported(o->format)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    _("sample format %d (%s) is not read; 1 2 3 5 6 7 8 10 11 15 16 are"),
                    o->format, litho_text(litho_format_name(o->format)));
        return FALSE;
    }
    return TRUE;
}

static const double longest_interval = 0.1; // s; records are sampled every 0.25 to 16 ms

char *litho_interval_note(double dt, const char *option)
{
    if (!(dt > longest_interval))
        return NULL;
    return g_strdup_printf(_("a sample interval of %g s was given; milliseconds have their unit "
                             "behind them: %s%gms"),
                           dt, option, dt);
}

gboolean litho_interval_meant(double dt, gboolean is_bare, gboolean may_be_depth, GError **error)
{
    static const double least_micro = 100; // nobody samples that many milliseconds
    if (!is_bare || !(dt > longest_interval))
        return TRUE;
    const char *unit = dt >= least_micro ? "us" : "ms";
    return may_be_depth
               ? litho_refuse(error, LITHO_ERROR_PARAMETER,
                              "--dt %g is a sample interval of %g s; --dt %g%s is probably meant, "
                              "--dt %gs says seconds, and --depth makes it metres",
                              dt, dt, dt, unit, dt)
               : litho_refuse(error, LITHO_ERROR_PARAMETER,
                              "--dt %g is a sample interval of %g s; --dt %g%s is probably meant, "
                              "and --dt %gs says seconds",
                              dt, dt, dt, unit, dt);
}

gboolean litho_interval_possible(double step)
{
    return step >= LITHO_LEAST_INTERVAL && step <= LITHO_LARGEST_INTERVAL;
}

void litho_survey_judge_interval(LithoSurvey *survey)
{
    LithoAxis *axis = &survey->grid.axis[LITHO_SAMPLE];
    if (litho_interval_possible(axis->step))
        return;
    litho_survey_note(survey,
                      "a sample interval of %g %s cannot be true; %s is assumed, give --dt",
                      axis->step, survey->grid.is_depth ? "m" : "s",
                      survey->grid.is_depth ? "4 m" : "4 ms");
    axis->step = survey->grid.is_depth ? 4 : 0.004;
    axis->first = 0;
    axis->source = LITHO_FROM_ASSUMED;
    *axis->evidence = '\0';
}

// An origin that swallows steps of its axis leaves all its numbers equal. 32-bit line numbers and
// starts within 1000 s at any sample interval of a survey lie far below.
static gboolean origin_possible(const LithoAxis *axis)
{
    static const double most_steps = 1e10;
    return fabs(axis->first) <= most_steps * fabs(axis->step);
}

static void judge_origins(LithoSurvey *survey)
{
    static const char *const word[3] = {N_("inlines"), N_("crosslines"), N_("samples")};
    for (int a = 0; a < 3; a++) {
        LithoAxis *axis = &survey->grid.axis[a];
        if (origin_possible(axis))
            continue;
        const double start = a == LITHO_SAMPLE ? 0 : 1;
        litho_survey_note(survey,
                          "%s that start at %g with a step of %g cannot be true; the axis starts "
                          "at %g",
                          litho_text(word[a]), axis->first, axis->step, start);
        axis->first = start;
    }
}

static gboolean judge_given_interval(LithoSurvey *survey, const LithoOpenOptions *options,
                                     GError **error)
{
    if (survey->grid.is_depth)
        return TRUE;
    g_autofree char *note = litho_interval_note(options->dt, "--dt ");
    if (note)
        litho_survey_note(survey, "%s", note);
    return litho_interval_meant(options->dt, options->dt_is_bare, TRUE, error);
}

LithoSurvey *litho_survey_open(const char *const *paths, const LithoOpenOptions *options,
                               LithoRun *run, GError **error)
{
    static const LithoOpenOptions none;
    if (!options)
        options = &none;
    if (!paths || !paths[0]) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER, _("no file was named"));
        return NULL;
    }
    LithoFileKind kind;
    if (!check_options(options, error) || !kind_of(paths[0], options, &kind, error))
        return NULL;
    LithoSurvey *survey = survey_new(paths[0]);
    survey->kind = kind;
    survey->strict = options->strict;
    survey->reading = litho_json_object_line(litho_open_options_to_json(options));
    litho_run_begin(run, "opening", "traces");
    gboolean headed = kind == LITHO_FILE_SEGY || kind == LITHO_FILE_SU;
    gboolean good =
        headed ? open_headed_files(survey, paths, kind == LITHO_FILE_SU, options, run, error)
               : open_regular(survey, paths, options, error);
    survey->counts.traces = survey->traces - (headed ? 0 : survey->counts.missing);
    if (good) {
        judge_origins(survey);
        good = judge_given_interval(survey, options, error);
    }
    if (good && !headed && options->on_first) {
        g_autoptr(LithoCube) line = litho_survey_read(
            survey, &(LithoBox){.hi = {1, survey->grid.axis[1].n, survey->grid.axis[2].n}}, NULL,
            NULL);
        if (line)
            options->on_first(line, options->first_data);
    }
    if (good && litho_run_step(run, survey->traces, survey->traces, error))
        return survey;
    litho_survey_unref(survey);
    return NULL;
}

// --- what is known ----------------------------------------------------------------------------

const LithoGrid *litho_survey_grid(const LithoSurvey *survey)
{
    return &survey->grid;
}

const char *litho_survey_name(const LithoSurvey *survey)
{
    return survey->name;
}

const char *litho_survey_path(const LithoSurvey *survey)
{
    return g_array_index(survey->files, LithoTraceFile, 0).path;
}

const char *litho_survey_format(const LithoSurvey *survey)
{
    return survey->format ? survey->format : "";
}

int litho_survey_sample_format(const LithoSurvey *survey)
{
    gboolean headed = survey->kind == LITHO_FILE_SEGY || survey->kind == LITHO_FILE_SU;
    return headed ? g_array_index(survey->files, LithoTraceFile, 0).format : 0;
}

const GPtrArray *litho_survey_notes(const LithoSurvey *survey)
{
    return survey->notes;
}

const char *litho_survey_text(const LithoSurvey *survey)
{
    return survey->text ? survey->text : "";
}

guint litho_survey_candidates(const LithoSurvey *survey, const LithoCandidate **list)
{
    *list = (const LithoCandidate *)survey->candidates->data;
    return survey->candidates->len;
}

gboolean litho_survey_is_turned(const LithoSurvey *survey)
{
    return survey->is_turned;
}

LithoSurveyCounts litho_survey_counts(const LithoSurvey *survey)
{
    LithoSurveyCounts c = survey->counts;
    c.zero = __atomic_load_n(&survey->counts.zero, __ATOMIC_RELAXED);
    c.flat = __atomic_load_n(&survey->counts.flat, __ATOMIC_RELAXED);
    c.bad = __atomic_load_n(&survey->counts.bad, __ATOMIC_RELAXED);
    c.bad_samples = __atomic_load_n(&survey->counts.bad_samples, __ATOMIC_RELAXED);
    c.left_out = __atomic_load_n(&survey->counts.left_out, __ATOMIC_RELAXED);
    c.masked = __atomic_load_n(&survey->counts.masked, __ATOMIC_RELAXED);
    c.missing = __atomic_load_n(&survey->counts.missing, __ATOMIC_RELAXED);
    c.live = litho_grid_traces(&survey->grid) - c.missing - c.dead - c.zero - c.flat - c.masked;
    return c;
}

LithoCube *litho_cube_load(const char *path, const LithoOpenOptions *options, LithoRun *run,
                           GError **error)
{
    const char *paths[] = {path, NULL};
    g_autoptr(LithoSurvey) survey = litho_survey_open(paths, options, run, error);
    return survey ? litho_survey_read(survey, NULL, run, error) : NULL;
}
