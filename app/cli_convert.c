// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdio.h>

#include "app/cli.h"
#include "app/cli_files.h"
#include "app/cli_open.h"
#include "app/cli_pipe.h"
#include "app/progress.h"
#include "core/engine/loudness.h"
#include "core/error.h"
#include "core/io/survey.h"
#include "core/text.h"

typedef struct Convert {
    LithoCliFiles files;
    LithoOpenOptions open;
    LithoSaveOptions save;
    char *missing, *endian, *format, *note, *progress;
    double scale;
} Convert;

enum { SLAB_BYTES = 256 << 20 }; // samples in memory at a time, so that any size converts

static gboolean copy_slabs(LithoSurvey *survey, double scale, LithoWriter *writer, LithoRun *run,
                           GError **error)
{
    const LithoGrid *g = litho_survey_grid(survey);
    gint64 line = g->axis[1].n * g->axis[2].n * 4, step = CLAMP(SLAB_BYTES / line, 1, g->axis[0].n);
    LithoBox box = litho_box_full(g);
    float loudest = 0;
    for (gint64 i = 0; i < g->axis[0].n; i += step) {
        box.lo[0] = i;
        box.hi[0] = MIN(i + step, g->axis[0].n);
        g_autoptr(LithoCube) slab = litho_survey_read(survey, &box, run, error);
        for (gint64 k = 0; slab && scale != 1 && k < litho_cube_held_samples(slab); k++)
            slab->samples[k] = (float)(scale * slab->samples[k]);
        litho_run_begin(run, "writing", "traces");
        if (!slab || !litho_writer_put(writer, slab, run, error))
            return FALSE;
        loudest = MAX(loudest, slab->loudest);
    }
    return litho_loudness_check_masked(survey, loudest, error) &&
           litho_writer_finish(writer, error);
}

static gboolean convert(Convert *c, LithoRun *run, GError **error)
{
    if (!litho_cli_files_check(&c->files, NULL, NULL, NULL, c->save.force, error))
        return FALSE;
    g_autoptr(LithoSurvey) survey =
        litho_survey_open((const char *const *)c->files.in, &c->open, run, error);
    if (!survey)
        return FALSE;
    LithoWriter *writer =
        litho_writer_new(c->files.out, litho_survey_grid(survey), survey, &c->save, error);
    if (!writer)
        return FALSE;
    gboolean good = copy_slabs(survey, c->scale, writer, run, error);
    litho_cli_progress_erase(); // notes follow
    const GPtrArray *notes[] = {litho_survey_notes(survey), litho_writer_notes(writer)};
    for (int list = 0; good && list < 2; list++)
        for (guint k = 0; k < notes[list]->len; k++)
            fprintf(stderr, _("note: %s\n"), (const char *)g_ptr_array_index(notes[list], k));
    if (good)
        litho_cli_tell_masked(survey);
    litho_writer_free(writer);
    return good;
}

static gboolean check(Convert *c, char **words, GError **error)
{
    if (!litho_cli_files_add(&c->files, words, G_MAXUINT, TRUE, error))
        return FALSE;
    if (!c->files.in || !c->files.out)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "an input and an output are needed: -i IN -o OUT");
    if (!litho_cli_pipe_begin(&c->files, error))
        return FALSE;
    if (c->format && !litho_cli_format(c->format, &c->save.format, error))
        return FALSE;
    if (c->endian && !litho_cli_endian(c->endian, &c->save.endian, error))
        return FALSE;
    if (c->missing && !g_str_equal(c->missing, "dead") && !g_str_equal(c->missing, "omit")) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER, _("--missing %s: omit or dead"),
                    c->missing);
        return FALSE;
    }
    if (!isfinite(c->scale) || c->scale == 0)
        return litho_refuse(error, LITHO_ERROR_PARAMETER, "--scale must be a number other than 0");
    c->save.missing = c->missing && g_str_equal(c->missing, "dead");
    c->save.note = c->note;
    return TRUE;
}

static void convert_clear(Convert *c)
{
    litho_cli_files_clear(&c->files);
    g_free(c->missing);
    g_free(c->endian);
    g_free(c->format);
    g_free(c->note);
    g_free(c->progress);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Convert, convert_clear)

int litho_cli_convert(int argc, char **argv)
{
    g_auto(Convert) c = {.scale = 1};
    const GOptionEntry entries[] = {
        LITHO_CLI_INPUT(&c.files, _("Survey to read; may be repeated")),
        LITHO_CLI_OUTPUT(&c.files, _("File to write")),
        {"format", 0, 0, G_OPTION_ARG_STRING, &c.format,
         _("Sample format of the output: ibm, ieee, int16, ... or SEG-Y's code"), "FORMAT"},
        {"endian", 0, 0, G_OPTION_ARG_STRING, &c.endian, _("Byte order of the output: big, little"),
         "ORDER"},
        {"missing", 0, 0, G_OPTION_ARG_STRING, &c.missing,
         _("SEG-Y and SU: omit missing traces or write dead ones"), "omit|dead"},
        {"scale", 0, 0, G_OPTION_ARG_DOUBLE, &c.scale, _("Factor for all samples (1)"), "FACTOR"},
        {"note", 0, 0, G_OPTION_ARG_STRING, &c.note, _("Line for the text header"), "TEXT"},
        {"force", 0, 0, G_OPTION_ARG_NONE, &c.save.force, _("Replace an existing output"), NULL},
        LITHO_CLI_PROGRESS(&c.progress),
        {NULL},
    };
    g_autoptr(GOptionContext) context = litho_cli_options(
        _("-i IN [-i IN ...] -o OUT"),
        _("Reads one survey (of one or several files) and writes it in the format that the "
          "name of OUT says:\n.sgy .segy .su .npy .rsf .bin .raw. The words IN ... OUT mean the "
          "same "
          "as -i and "
          "-o. A pipe is '-' (-i -.su, -o -.npy where it is not SEG-Y)."),
        entries, litho_cli_input_group(&c.open));
    g_option_context_set_description(context,
                                     _("Example: lithoscope-cli convert survey.sgy cube.npy"));
    GError *error = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &error) || !check(&c, argv + 1, &error))
        return litho_cli_misused("convert", error);
    LithoRun run = {0};
    LithoCliProgress progress;
    if (!litho_cli_progress_init(&progress, c.progress ? c.progress : "auto", &run, &error))
        return litho_cli_misused("convert", error);
    gboolean good = convert(&c, &run, &error);
    litho_cli_progress_end(&progress);
    good = good && litho_cli_pipe_end(&c.files, &error);
    if (good && !litho_cli_pipe_to_stdout(&c.files))
        litho_cli_wrote(&progress, c.files.out);
    return good ? LITHO_EXIT_OK : litho_cli_fail(error);
}
