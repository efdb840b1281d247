// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/segy_odd.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

char *odd_folder;

char *odd_put(const char *name, const GByteArray *bytes)
{
    char *path = g_build_filename(odd_folder, name, NULL);
    g_unlink(path); // and no fsync, which would cost more than all tests together
    g_assert_true(g_file_set_contents_full(path, (const char *)bytes->data, bytes->len,
                                           G_FILE_SET_CONTENTS_NONE, 0600, NULL));
    return path;
}

LithoSurvey *odd_open(const char *name, const GByteArray *bytes, const LithoOpenOptions *options,
                      GError **error)
{
    g_autofree char *path = odd_put(name, bytes);
    const char *paths[] = {path, NULL};
    return litho_survey_open(paths, options, NULL, error);
}

LithoCube *odd_load(const Make *make, GByteArray *bytes, const LithoOpenOptions *options)
{
    GError *error = NULL;
    g_autoptr(LithoSurvey) survey =
        odd_open(make->su ? "odd.su" : "odd.sgy", bytes, options, &error);
    g_assert_no_error(error);
    LithoCube *cube = litho_survey_read(survey, NULL, NULL, &error);
    g_assert_no_error(error);
    return cube;
}

static gboolean has_note(const LithoCube *cube, const char *words)
{
    for (guint k = 0; k < cube->notes->len; k++)
        if (strstr(g_ptr_array_index(cube->notes, k), words))
            return TRUE;
    return FALSE;
}

void odd_assert_note(const LithoCube *cube, const char *words)
{
    if (has_note(cube, words))
        return;
    for (guint k = 0; k < cube->notes->len; k++)
        g_test_message("note: %s", (char *)g_ptr_array_index(cube->notes, k));
    g_error("no note says '%s'", words);
}

void odd_assert_samples(const Make *make, const LithoCube *cube)
{
    for (int i = 0; i < make->n1; i++)
        for (int j = 0; j < make->n2; j++) {
            double il = make->inline_first + i * make->inline_step;
            double xl = make->xline_first + j * make->xline_step;
            gint64 a = (gint64)rint(litho_axis_index(&cube->grid.axis[0], il));
            gint64 b = (gint64)rint(litho_axis_index(&cube->grid.axis[1], xl));
            if (!litho_cube_is_live(cube, a, b))
                continue;
            const float *x = litho_cube_trace(cube, a, b);
            for (int k = 0; k < make->ns; k++)
                g_assert_cmpfloat(x[k], ==, make_value(make, i, j, k));
        }
}

void odd_assert_full(const Make *make, const LithoCube *cube)
{
    g_assert_cmpint(cube->grid.axis[0].n, ==, make->n1);
    g_assert_cmpint(cube->grid.axis[1].n, ==, make->n2);
    g_assert_cmpint(cube->grid.axis[2].n, ==, make->ns);
    g_assert_cmpfloat(fabs(cube->grid.axis[0].step), ==, abs(make->inline_step));
    g_assert_cmpfloat(fabs(cube->grid.axis[1].step), ==, abs(make->xline_step));
    g_assert_cmpint(litho_cube_count_live(cube), ==, make->n1 * make->n2);
    odd_assert_samples(make, cube);
}

void odd_expect_cube(const Make *make, GByteArray *bytes, const char *note)
{
    g_autoptr(LithoCube) cube = odd_load(make, bytes, NULL);
    odd_assert_full(make, cube);
    if (note)
        odd_assert_note(cube, note);
    g_byte_array_unref(bytes);
}

void odd_expect_refusal(const char *name, GByteArray *bytes, const LithoOpenOptions *options,
                        const char *words)
{
    GError *error = NULL;
    LithoSurvey *survey = odd_open(name, bytes, options, &error);
    g_assert_null(survey);
    g_assert_nonnull(error);
    if (!strstr(error->message, words))
        g_error("refused with '%s', expected '%s'", error->message, words);
    g_error_free(error);
    g_byte_array_unref(bytes);
}

GByteArray *odd_bytes(const void *data, gsize n, gsize padded)
{
    GByteArray *bytes = g_byte_array_new();
    g_byte_array_append(bytes, data, (guint)n);
    gsize old = bytes->len;
    g_byte_array_set_size(bytes, (guint)MAX(padded, n));
    if (bytes->len > old)
        memset(bytes->data + old, 'x', bytes->len - old);
    return bytes;
}
