// SPDX-License-Identifier: GPL-3.0-or-later
// The folder of sessions as it is found: damaged files, files of other versions, a clock that was
// set back.
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/error.h"
#include "kernels/kernels.h"
#include "ui/import/import_profile.h"
#include "ui/session/state_store.h"

static void put_session(const char *key, const char *text)
{
    g_assert_true(litho_state_write(key, text, g_get_monotonic_time(), NULL));
}

// Property: every damaged session of a file is kept, one of a newer program is told as such; sets
// of paths have keys of their own; the session written last is the newest one and stays, also where
// the clock was set back and a hundred others lie in the future.
static void test_state_store(void)
{
    static const char *const bad[] = {"{", "{\"lithoscope-session\": 2}", "[]"};
    static const char good[] =
        "{\"lithoscope-session\": 1, \"recipe\": {\"lithoscope\": 1, \"flow\": []}}";
    g_autofree char *folder =
        g_build_filename(g_get_user_state_dir(), "lithoscope", "sessions", NULL);
    for (guint k = 0; k < G_N_ELEMENTS(bad); k++) {
        g_autoptr(GError) error = NULL;
        put_session("odd", bad[k]);
        g_assert_null(litho_state_read("odd", &error));
        g_assert_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT);
        g_assert_true(k != 1 || strstr(error->message, "a newer version of the program wrote it"));
        g_autofree char *name =
            k == 0 ? g_strdup("odd.json.damaged") : g_strdup_printf("odd.json.damaged-%u", k + 1);
        g_autofree char *path = g_build_filename(folder, name, NULL), *kept = NULL;
        g_assert_true(g_file_get_contents(path, &kept, NULL, NULL));
        g_assert_cmpstr(kept, ==, bad[k]);
        g_assert_nonnull(strstr(error->message, name));
    }
    g_autofree char *one = litho_state_key((const char *const[]){"/a\n/b", NULL});
    g_autofree char *two = litho_state_key((const char *const[]){"/a", "/b", NULL});
    g_assert_cmpstr(one, !=, two);
    const struct timespec future[] = {{.tv_sec = 4000000000}, {.tv_sec = 4000000000}};
    for (int k = 0; k < 100; k++) {
        g_autofree char *key = g_strdup_printf("future-%d", k);
        g_autofree char *path = g_strdup_printf("%s/%s.json", folder, key);
        put_session(key, good);
        g_assert_cmpint(utimensat(AT_FDCWD, path, future, 0), ==, 0);
    }
    for (int k = 0; k < 2; k++) {
        put_session(k ? "second" : "first", good);
        g_autofree char *newest = litho_state_newest();
        g_assert_cmpstr(newest, ==, k ? "second" : "first");
    }
    JsonNode *first = litho_state_read("first", NULL);
    g_assert_nonnull(first);
    json_node_unref(first);
}

// Property: of an import profile that was edited by hand nothing is left out in silence, and the
// options stay as they were where it is refused.
static void test_profiles(void)
{
    static const struct {
        const char *text, *words; // NULL = it is taken
    } cases[] = {
        {"{\"open\": {\"inline_byte\": 9, \"strict\": true, \"dt\": 0.002, \"file_order\": false}}",
         NULL},
        {"{\"open\": {}}", NULL},
        {"{\"words\": []}", "it has no object 'open'"},
        {"{\"open\": {\"inline_byt\": 9}}", "its member 'inline_byt' is not known"},
        {"{\"open\": {\"dt\": \"2ms\"}}", "its member 'dt' is not known here, or has a value of"},
        {"{\"open\": {\"inline_byte\": 9.5}}", "its member 'inline_byte'"},
        {"{\"open\": {\"shape\": [10, 20]}}", "its member 'shape'"},
        {"{\"open\": [", "cannot be read"},
    };
    g_autofree char *folder =
        g_build_filename(g_get_user_config_dir(), "lithoscope", "import", NULL);
    g_autofree char *path = g_build_filename(folder, "mine.json", NULL);
    g_autofree char *odd = g_build_filename(folder, "\xff.json", NULL);
    g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
    g_assert_true(g_file_set_contents(odd, "{}", -1, NULL));
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autoptr(GError) error = NULL;
        LithoOpenOptions options = {.inline_byte = 77};
        g_assert_true(g_file_set_contents(path, cases[k].text, -1, NULL));
        const gboolean taken = litho_profile_load("mine", &options, &error);
        g_test_message("%s: %s", cases[k].text, error ? error->message : "taken");
        g_assert_cmpint(taken, ==, cases[k].words == NULL);
        g_assert_true(taken || strstr(error->message, cases[k].words));
        g_assert_cmpint(options.inline_byte, ==, !taken ? 77 : k == 0 ? 9 : 0);
    }
    g_auto(GStrv) names = litho_profiles(); // a label shows text only
    g_assert_cmpuint(g_strv_length(names), ==, 1);
}

// The folder `path` and all below it.
static void remove_all(const char *path)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *inner = g_build_filename(path, name, NULL);
        remove_all(inner);
    }
    g_remove(path);
}

int main(int argc, char **argv)
{
    g_autofree char *states = g_dir_make_tmp("lithoscope-state-XXXXXX", NULL);
    g_setenv("XDG_STATE_HOME", states, TRUE); // before anything asks for it
    g_setenv("XDG_CONFIG_HOME", states, TRUE);
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/state-store/sessions", test_state_store);
    g_test_add_func("/state-store/profiles", test_profiles);
    const int status = g_test_run();
    remove_all(states);
    return status;
}
