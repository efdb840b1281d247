// SPDX-License-Identifier: GPL-3.0-or-later
//
// Files and stores are known again: stamps see every change of a file in them, fingerprints outlive
// copying, and a run that goes on or reads on is not given another input than it began with.
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/engine/journal.h"
#include "core/error.h"
#include "core/io/survey.h"
#include "core/stamp.h"
#include "tests/common.h"

enum { N = 4, LONG_AGO = 1000000000 };

static void put(const char *folder, const char *name, const void *bytes, gsize n)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    const struct timespec time[2] = {{.tv_sec = LONG_AGO}, {.tv_sec = LONG_AGO}};
    g_assert_true(g_file_set_contents(path, bytes, (gssize)n, NULL));
    g_assert_cmpint(utimensat(AT_FDCWD, path, time, 0), ==, 0);
}

static void put_chunk(const char *folder, int inline_, float value)
{
    float x[N * N];
    g_autofree char *name = g_strdup_printf("%d.0.0", inline_);
    for (int k = 0; k < N * N; k++)
        x[k] = value + (float)k;
    put(folder, name, x, sizeof x);
}

// A cube of N x N x N samples, a chunk an inline; the caller removes it.
static char *new_store(void)
{
    static const char meta[] =
        "{\"zarr_format\": 2, \"shape\": [4, 4, 4], \"chunks\": [1, 4, 4], \"dtype\": \"<f4\", "
        "\"fill_value\": 0, \"order\": \"C\", \"filters\": null, \"compressor\": null}";
    char *folder = g_dir_make_tmp("litho-stamp-XXXXXX", NULL);
    put(folder, ".zarray", meta, strlen(meta));
    for (int k = 0; k < N; k++)
        put_chunk(folder, k, (float)(k + 1));
    return folder;
}

// Seconds since LONG_AGO of the file's time of change.
static void set_time(const char *folder, const char *name, int seconds)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    const struct timespec time[2] = {{.tv_sec = LONG_AGO + seconds},
                                     {.tv_sec = LONG_AGO + seconds}};
    g_assert_cmpint(utimensat(AT_FDCWD, path, time, 0), ==, 0);
}

static LithoStamp stamp_of(const char *path)
{
    g_autoptr(GError) error = NULL;
    LithoStamp stamp;
    g_assert_true(litho_stamp_take(path, &stamp, &error));
    g_assert_no_error(error);
    return stamp;
}

static LithoSurvey *open_store(const char *folder)
{
    g_autoptr(GError) error = NULL;
    const char *const paths[] = {folder, NULL};
    LithoSurvey *survey = litho_survey_open(paths, NULL, NULL, &error);
    g_assert_no_error(error);
    return survey;
}

// Property: a store's stamp sees a chunk that is gone, has another name or another time; a folder
// that is no store, and nothing, have none.
static void test_stamps(void)
{
    char *folder = new_store();
    const LithoStamp first = stamp_of(folder);
    g_autofree char *chunk = g_build_filename(folder, "2.0.0", NULL);
    g_autofree char *other = g_build_filename(folder, "9.0.0", NULL);
    g_autofree char *meta = g_build_filename(folder, ".zarray", NULL);
    LithoStamp stamp = stamp_of(folder);
    g_assert_true(litho_stamp_equal(&first, &stamp));
    g_assert_cmpint(stamp.changed_ns, ==, (gint64)LONG_AGO * 1000000000);
    set_time(folder, "2.0.0", -5); // an older one moved into its place
    stamp = stamp_of(folder);
    g_assert_false(litho_stamp_equal(&first, &stamp));
    set_time(folder, "2.0.0", 0);
    stamp = stamp_of(folder);
    g_assert_true(litho_stamp_equal(&first, &stamp));
    g_assert_cmpint(g_rename(chunk, other), ==, 0);
    stamp = stamp_of(folder);
    g_assert_false(litho_stamp_equal(&first, &stamp));
    g_assert_cmpint(stamp.bytes, ==, first.bytes);
    g_assert_cmpint(stamp_of(other).bytes, ==, 64);
    g_assert_cmpint(g_unlink(meta), ==, 0);
    g_assert_false(litho_stamp_take(folder, &stamp, NULL));
    g_assert_false(litho_stamp_take(meta, &stamp, NULL));
    test_remove_folder(folder);
}

// Property: a copy has its original's fingerprint whatever its times; another sample gives another
// one.
static void test_fingerprints(void)
{
    char *folder = new_store(), *copy = new_store();
    g_autofree char *first = litho_fingerprint(folder, NULL);
    set_time(copy, "1.0.0", 77);
    g_autofree char *second = litho_fingerprint(copy, NULL);
    g_assert_nonnull(first);
    g_assert_cmpstr(first, ==, second);
    put_chunk(copy, 3, 5);
    g_autofree char *third = litho_fingerprint(copy, NULL);
    g_assert_cmpstr(first, !=, third);
    g_autofree char *chunk = g_build_filename(copy, "3.0.0", NULL);
    g_autofree char *of_file = litho_fingerprint(chunk, NULL);
    g_assert_nonnull(of_file);
    test_remove_folder(folder);
    test_remove_folder(copy);
}

// Property: a chunk that is written after the opening is not read, and one that has gone is seen.
static void test_reading_on(void)
{
    char *folder = new_store();
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoSurvey) survey = open_store(folder);
    const LithoBox first = {{0, 0, 0}, {2, N, N}}, rest = {{2, 0, 0}, {N, N, N}};
    g_autoptr(LithoCube) cube = litho_survey_read(survey, &first, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(litho_survey_unchanged(survey, &error));
    put_chunk(folder, 3, 9);
    set_time(folder, "3.0.0", 1);
    g_autoptr(LithoCube) none = litho_survey_read(survey, &rest, NULL, &error);
    g_assert_null(none);
    g_assert_true(error && strstr(error->message, "was changed after it was opened"));
    g_clear_error(&error);
    g_assert_false(litho_survey_unchanged(survey, &error));
    test_remove_folder(folder);
}

static char *input_of(const char *folder)
{
    g_autoptr(LithoSurvey) survey = open_store(folder);
    g_autoptr(LithoFlow) flow = litho_flow_new();
    LithoJournalHead head;
    const LithoSaveOptions save = {0};
    litho_journal_head_init(&head, flow, survey, litho_survey_grid(survey), &save, "cpu");
    char *input = g_strdup(head.input);
    litho_journal_head_clear(&head);
    return input;
}

// Property: an interrupted run does not go on where a chunk of its input was written anew, though
// no folder has changed.
static void test_going_on(void)
{
    char *folder = new_store();
    g_autofree char *first = input_of(folder), *again = input_of(folder);
    put_chunk(folder, 2, 7);
    set_time(folder, "2.0.0", 3);
    g_autofree char *changed = input_of(folder);
    g_assert_cmpstr(first, ==, again);
    g_assert_cmpstr(first, !=, changed);
    test_remove_folder(folder);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/stamps", test_stamps);
    g_test_add_func("/fingerprints", test_fingerprints);
    g_test_add_func("/reading-on", test_reading_on);
    g_test_add_func("/going-on", test_going_on);
    return test_run();
}
