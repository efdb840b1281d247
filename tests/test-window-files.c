// SPDX-License-Identifier: GPL-3.0-or-later
//
// Files that leave the window under a virtual display: results and pictures in every format, the
// command, and one sentence for every failure.
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/engine/verify.h"
#include "tests/gui/files.h"
#include "ui/view/cube_view_private.h"
#include "ui/window/window_private.h"
#include "tests/common.h"

static Gui gui;

// --- saving and pictures ------------------------------------------------------------------------

// The text header apart from the lines free for notes, the binary header and every byte of every
// trace header are those of `file`. Read by arithmetic of the test's own.
static void assert_headers(const GByteArray *file, const Make *make, const char *path)
{
    g_autofree char *data = NULL;
    gsize length;
    g_assert_true(g_file_get_contents(path, &data, &length, NULL));
    g_assert_cmpint(length, ==, file->len);
    g_assert_cmpmem(data + 3200, 400, file->data + 3200, 400);
    for (int t = 0; t < make->n1 * make->n2; t++) {
        gsize at = make_first(make) + (gsize)t * make_stride(make);
        g_assert_cmpmem(data + at, 240, file->data + at, 240);
    }
}

// Property: the result comes back from every format it is saved in, sample by sample (all of them
// hold 32-bit floats), and SEG-Y keeps the headers of the file, byte for byte at every trace.
static void test_save_formats(void)
{
    static const char *const names[] = {"saved.sgy", "saved.su", "saved.npy", "saved.rsf"};
    Make make = make_plain();
    make.format = 5;
    g_autoptr(GByteArray) file = make_file(&make);
    for (int t = 0; t < 20; t++)
        for (int byte = 205; byte < 241; byte += 4) // words that mean nothing to the program
            make_put_head32(file, &make, t, byte, 7000 * byte + t);
    g_autofree char *path = gui_path(&gui, "headers.sgy");
    g_assert_true(g_file_set_contents(path, (const char *)file->data, file->len, NULL));
    gui_open_with_gain(&gui, path, 3);
    for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
        g_autofree char *out = gui_path(&gui, names[k]);
        g_autoptr(GError) error = NULL;
        litho_window_save(gui.window, out, FALSE);
        g_assert_true(gui_wait(gui_is_free, &gui, 20));
        g_assert_null(litho_window_error(gui.window));
        g_assert_true(gtk_widget_get_visible(
            litho_notice_widget(litho_tellers_notice(gui.window->tellers)))); // a word that it is done
        g_assert_nonnull(strstr(
            gtk_label_get_text(GTK_LABEL(litho_notice_widget(litho_tellers_notice(gui.window->tellers)))), names[k]));
        g_autoptr(LithoCube) back = litho_cube_load(out, NULL, NULL, &error);
        g_assert_no_error(error);
        gui_assert_same(litho_session_output(gui.session), back);
        if (k > 0)
            continue;
        assert_headers(file, &make, out);
    }
}

// Property: the window tells what a saved file could not hold, as the command line does.
static void test_saved_notes(void)
{
    Make make = make_plain();
    make.format = 8; // whole numbers of 8 bits
    g_autoptr(GByteArray) file = make_file(&make);
    g_autofree char *path = gui_path(&gui, "whole.sgy"), *out = gui_path(&gui, "whole-out.sgy");
    g_assert_true(g_file_set_contents(path, (const char *)file->data, file->len, NULL));
    gui_open_with_gain(&gui, path, 1000); // beyond them
    litho_window_save(gui.window, out, FALSE);
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    g_assert_null(litho_window_error(gui.window));
    const char *told = litho_bar_text(litho_tellers_notes(gui.window->tellers));
    g_assert_nonnull(told);
    g_assert_true(g_str_has_prefix(told, "whole-out.sgy was saved: ") && strstr(told, "clipped"));
}

static gboolean holds(const char *data, gsize length, const char *words)
{
    return memmem(data, length, words, strlen(words)) != NULL;
}

static void count_element(GMarkupParseContext *context, const char *name, const char **keys,
                          const char **values, gpointer data, GError **error)
{
    (void)context, (void)keys, (void)values, (void)error;
    if (strcmp(name, "image") == 0 || strcmp(name, "title") == 0 || strcmp(name, "desc") == 0)
        (*(int *)data)++;
}

// Property: a picture is written in each format, whole (the PDF ends as one, the SVG parses, the
// PNG decodes at the promised size) and says with which parameters it was made.
static void test_pictures(void)
{
    g_autofree char *path = gui_path(&gui, "headers.sgy");
    gui_open_with_gain(&gui, path, 2.5);
    static const char *const suffixes[] = {"png", "pdf", "svg"};
    for (guint k = 0; k < G_N_ELEMENTS(suffixes); k++) {
        g_autofree char *name = g_strdup_printf("picture.%s", suffixes[k]);
        g_autofree char *out = gui_path(&gui, name), *data = NULL;
        g_autoptr(GError) error = NULL;
        gsize length;
        litho_window_export(gui.window, out);
        g_assert_true(gui_wait(gui_is_free, &gui, 60));
        g_assert_null(litho_window_error(gui.window));
        g_assert_true(g_file_get_contents(out, &data, &length, &error));
        if (k == 0) {
            g_autoptr(GdkTexture) picture = gdk_texture_new_from_filename(out, &error);
            g_assert_no_error(error);
            g_assert_cmpint(gdk_texture_get_width(picture), ==, 2560);
            g_assert_true(holds(data, length, "gain=2.5"));
        } else if (k == 1) {
            g_assert_true(g_str_has_prefix(data, "%PDF-"));
            g_assert_true(holds(data + length - 16, 16, "%%EOF"));
            g_assert_true(holds(data, length, "gain=2.5") ||
                          holds(data, length, "g\0a\0i\0n")); // UTF-16 in strings with "−"
        } else {
            int found = 0;
            const GMarkupParser parser = {.start_element = count_element};
            GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, &found, NULL);
            g_assert_true(g_markup_parse_context_parse(context, data, length, &error));
            g_assert_true(g_markup_parse_context_end_parse(context, &error));
            g_assert_cmpint(found, >=, 3);
            g_markup_parse_context_free(context);
            g_assert_true(holds(data, length, "gain=2.5"));
        }
        if (g_getenv("LITHO_SCREENSHOTS")) {
            g_autofree char *copy = g_build_filename(g_getenv("LITHO_SCREENSHOTS"), name, NULL);
            g_file_set_contents(copy, data, length, NULL);
        }
    }
}

// Property: Cancel stops a picture that is being drawn: there is no file, and no word of one.
static void test_picture_cancelled(void)
{
    g_autofree char *out = gui_path(&gui, "cancelled.png");
    litho_window_export(gui.window, out);
    gui_activate(&gui, "win.cancel");
    g_assert_true(gui_wait(gui_is_free, &gui, 60));
    g_assert_null(litho_window_error(gui.window));
    g_assert_false(g_file_test(out, G_FILE_TEST_EXISTS));
}

// --- closing while a file is written ------------------------------------------------------------

// --- the report ---------------------------------------------------------------------------------

static void report_to(const char *path)
{
    litho_window_report(gui.window, path);
    g_assert_true(gui_wait(gui_is_free, &gui, 60));
}

static JsonObject *read_object(const char *path, JsonParser *parser)
{
    g_autoptr(GError) error = NULL;
    json_parser_load_from_file(parser, path, &error);
    g_assert_no_error(error);
    return json_node_get_object(json_parser_get_root(parser));
}

// Energy of input less output over that of the input, in percent, sample by sample.
static double removed_percent(void)
{
    const LithoCube *in = litho_session_input(gui.session),
                    *out = litho_session_output(gui.session);
    double all = 0, gone = 0;
    for (gint64 k = 0; k < litho_grid_samples(&in->grid); k++) {
        const double a = in->samples[k], b = out->samples[k];
        all += a * a;
        gone += (a - b) * (a - b);
    }
    return 100 * gone / all;
}

// Property: the report is a whole page with the figures as JSON beside it, which are those of the
// result (to 1 %: the judge leaves out samples before the first that is not zero). The JSON of
// another page is not replaced, a page that is replaced takes its JSON with it, and a folder that
// takes no files gives one sentence.
static void test_report(void)
{
    g_autofree char *path = gui_write_cube(&gui, "judged.sgy", 12, 14, 60);
    g_autofree char *page = gui_path(&gui, "judged-report.pdf"), *data = NULL, *kept = NULL;
    g_autofree char *json = gui_path(&gui, "judged-report.json");
    g_autofree char *other = gui_path(&gui, "other.png"), *in_way = gui_path(&gui, "other.json");
    gsize length;
    gui_open_with_gain(&gui, path, 0.5);
    gui_settle(&gui);
    report_to(page);
    g_assert_null(litho_window_error(gui.window));
    g_assert_true(g_file_get_contents(page, &data, &length, NULL));
    g_assert_true(g_str_has_prefix(data, "%PDF-"));
    g_assert_true(holds(data + length - 16, 16, "%%EOF"));
    g_autoptr(JsonParser) parser = json_parser_new();
    JsonObject *figures = read_object(json, parser);
    g_assert_cmpfloat_with_epsilon(json_object_get_double_member(figures, "removed_percent"),
                                   removed_percent(), 0.01 * removed_percent());
    g_assert_true(json_object_has_member(figures, "recipe"));
    g_assert_true(json_object_has_member(figures, "version"));
    g_assert_nonnull(strstr(json_object_get_string_member(figures, "command"), "gain=0.5"));

    g_assert_true(g_file_set_contents(in_way, "mine", -1, NULL));
    report_to(other);
    g_assert_nonnull(litho_window_error(gui.window));
    g_assert_false(g_file_test(other, G_FILE_TEST_EXISTS));
    g_assert_true(g_file_get_contents(in_way, &kept, NULL, NULL));
    g_assert_cmpstr(kept, ==, "mine");
    litho_window_clear_error(gui.window);

    gui_set_gain(&gui, 2);
    gui_settle(&gui);
    report_to(page); // replaces both
    g_assert_null(litho_window_error(gui.window));
    figures = read_object(json, parser);
    g_assert_cmpfloat_with_epsilon(json_object_get_double_member(figures, "removed_percent"),
                                   removed_percent(), 0.01 * removed_percent());
    report_to("/proc/report.pdf");
    g_assert_nonnull(litho_window_error(gui.window));
    litho_window_clear_error(gui.window);
}

// --- the command --------------------------------------------------------------------------------

// Runs the window's command in a shell, in the test's folder.
static void run_command(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *command = litho_window_command(gui.window);
    g_autofree char *tools = g_path_get_dirname(g_getenv("LITHO_CLI"));
    g_autofree char *line = g_strdup_printf("PATH=%s:$PATH; %s", tools, command);
    char *argv[] = {"sh", "-c", line, NULL};
    g_autofree char *complaint = NULL;
    int status;
    g_test_message("%s", command);
    g_assert_null(strchr(command, '\n'));
    g_assert_true(g_spawn_sync(gui.folder, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL,
                               &complaint, &status, &error));
    if (status != 0)
        g_test_message("%s", complaint);
    g_assert_cmpint(status, ==, 0);
}

// Two files of eight inlines each.
static void open_two(const Make *like)
{
    static const char *const names[] = {"west.sgy", "east.sgy"};
    char *paths[3] = {NULL};
    for (int k = 0; k < 2; k++) {
        Make half = *like;
        half.inline_byte = half.xline_byte = 0;
        half.inline_first = 1 + 8 * k;
        half.inline_step = 1;
        g_autoptr(GByteArray) file = make_file(&half);
        paths[k] = gui_path(&gui, names[k]);
        g_assert_true(g_file_set_contents(paths[k], (char *)file->data, file->len, NULL));
    }
    gui_forget_flow(&gui);
    litho_window_open(gui.window, (const char *const *)paths);
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    g_assert_null(litho_window_error(gui.window));
    g_assert_cmpstr(litho_header_title(gui.window->header), ==, "west.sgy and 1 more");
    g_free(paths[0]);
    g_free(paths[1]);
}

// Property: what "Copy as command" writes runs in a shell as it stands and gives the window's
// samples, bit by bit: for one step, for two steps with one switched off, for a file with odd
// letters in its name, for one read with bytes given by hand, and for a survey of two files.
static void test_command(void)
{
    if (!g_getenv("LITHO_CLI")) {
        g_test_skip("LITHO_CLI does not name the command-line program");
        return;
    }
    const LithoOperator *fx = litho_operator_find("fx");
    const LithoParam *window = litho_param_find(&fx->params, "window");
    g_autoptr(GError) error = NULL;
    g_autofree char *path = gui_write_cube(&gui, "it's a \"survey\" $x.sgy", 12, 14, 60);
    gui_open_with_gain(&gui, path, 2);
    gui_forget_flow(&gui);
    litho_session_add_step(gui.session, fx);
    g_assert_true(litho_session_set_param(gui.session, 0, window, 9, NULL, &error));
    g_assert_true(gui_wait(gui_has_output, &gui, 30));
    run_command();
    g_autofree char *out = gui_path(&gui, "it's a \"survey\" $x-result.sgy");
    g_autoptr(LithoCube) one = litho_cube_load(out, NULL, NULL, &error);
    g_assert_no_error(error);
    gui_assert_same(litho_session_output(gui.session), one);
    g_remove(out);

    litho_session_add_step(gui.session, fx);
    litho_session_add_step(gui.session, fx);
    litho_session_enable_step(gui.session, 2, FALSE);
    g_assert_true(litho_session_set_param(gui.session, 1, window, 11, NULL, &error));
    g_assert_true(gui_wait(gui_has_output, &gui, 30));
    run_command();
    g_autoptr(LithoCube) two = litho_cube_load(out, NULL, NULL, &error);
    g_assert_no_error(error);
    gui_assert_same(litho_session_output(gui.session), two);

    Make make = gui_odd_make();
    make.n1 = make.n2 = 8;
    make.format = 5;
    g_autofree char *odd = gui_write_odd(&gui, "bytes.sgy", &make, "ACME");
    LithoOpenOptions bytes = {.inline_byte = 61, .xline_byte = 65, .dx = 12.5, .dy = 20};
    gui_forget_flow(&gui);
    litho_window_open_as(gui.window, (const char *const[]){odd, NULL}, &bytes, LITHO_OPEN_NORMAL);
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    litho_session_add_step(gui.session, fx);
    g_assert_true(litho_session_set_param(gui.session, 0, window, 7, NULL, &error));
    g_assert_true(gui_wait(gui_has_output, &gui, 30));
    run_command();
    g_autofree char *odd_out = gui_path(&gui, "bytes-result.sgy");
    g_autoptr(LithoCube) three = litho_cube_load(odd_out, &bytes, NULL, &error);
    g_assert_no_error(error);
    gui_assert_same(litho_session_output(gui.session), three);

    open_two(&make);
    litho_session_add_step(gui.session, fx);
    g_assert_true(litho_session_set_param(gui.session, 0, window, 9, NULL, &error));
    g_assert_true(gui_wait(gui_has_output, &gui, 30));
    run_command();
    g_autofree char *both_out = gui_path(&gui, "west-result.sgy");
    g_autoptr(LithoCube) both = litho_cube_load(both_out, NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpint(both->grid.axis[0].n, ==, 16);
    gui_assert_same(litho_session_output(gui.session), both);
}

// --- what goes wrong ----------------------------------------------------------------------------

// One sentence stands in the bar; the window still works.
static void assert_survived(const char *what)
{
    const char *sentence = litho_window_error(gui.window);
    g_test_message("%s: %s", what, sentence);
    g_assert_nonnull(sentence);
    g_assert_null(strchr(sentence, '\n'));
    g_assert_cmpuint(strlen(sentence), <, 300);
    g_assert_nonnull(litho_session_grid(gui.session));
    g_assert_false(litho_window_is_busy(gui.window));
    litho_bar_hide(litho_tellers_error(gui.window->tellers));
}

static void save_to(const char *path)
{
    litho_window_save(gui.window, path, TRUE);
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
}

// Property: a result that the window saves, in memory or computed piece by piece, has its
// provenance beside it, from which its samples are computed again, bit by bit. The demo lies in no
// file: its result has none, not even that of an earlier output of the same name. A file of another
// kind that has its name is not replaced.
static void test_provenance(void)
{
    g_autofree char *path = gui_write_cube(&gui, "origin.sgy", 40, 40, 300);
    g_autofree char *out = gui_path(&gui, "proven.npy"), *beside = litho_provenance_path(out);
    for (int paged = 0; paged < 2; paged++) {
        if (paged) { // the flow stays
            g_setenv("LITHO_MEMORY", "0.002", TRUE);
            gui_open_file(&gui, path);
            g_unsetenv("LITHO_MEMORY");
        } else {
            gui_open_with_gain(&gui, path, 3);
        }
        g_assert_cmpint(litho_session_is_paged(gui.session), ==, paged);
        save_to(out);
        g_autoptr(GError) error = NULL;
        g_autoptr(LithoProvenance) p = litho_provenance_load(out, &error);
        g_assert_no_error(error);
        g_assert_cmpstr(p->inputs[0], ==, path);
        LithoRun run = {0};
        LithoVerified told;
        LithoVerifyAsk ask = {out, p, .device = litho_session_device(gui.session), .slabs = 2};
        g_assert_true(litho_verify_run(&ask, &run, &told, NULL));
        g_assert_cmpint(told.agreement, ==, LITHO_AGREES_BITS);
    }
    g_autoptr(LithoFlow) none = litho_flow_new();
    litho_window_open_demo(gui.window);
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    litho_session_set_flow(gui.session, none, "test");
    save_to(out);
    g_assert_false(g_file_test(beside, G_FILE_TEST_EXISTS));
    gui_open_with_gain(&gui, path, 5);
    g_autofree char *kept = gui_path(&gui, "other.npy"), *own = litho_provenance_path(kept);
    g_assert_true(g_file_set_contents(own, "a diary", -1, NULL));
    litho_window_save(gui.window, kept, FALSE);
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    assert_survived("a provenance in a diary's place");
}

// Property: without the right to write a folder, or to read a file, there is one sentence that says
// so and names the file that the person named, not the provenance beside it; nothing else happens.
// Whoever may do everything becomes somebody else for the while.
static void test_permission(void)
{
    g_autofree char *path = gui_write_cube(&gui, "closed.sgy", 8, 9, 40);
    g_autofree char *open = gui_write_cube(&gui, "mine.sgy", 8, 9, 40);
    g_autofree char *folder = gui_path(&gui, "closed-folder");
    g_autofree char *out = g_build_filename(folder, "result.sgy", NULL);
    g_autofree char *picture = g_build_filename(folder, "picture.pdf", NULL);
    gui_open_with_gain(&gui, open, 2);
    g_assert_cmpint(g_mkdir(folder, 0555), ==, 0);
    g_assert_cmpint(g_chmod(path, 0), ==, 0);
    gboolean root = geteuid() == 0;
    if (root && seteuid(65534) != 0) {
        g_test_skip("this user may read and write everything");
        return;
    }
    gui_open_file(&gui, path);
    g_autofree char *reading = g_strdup(litho_window_error(gui.window));
    assert_survived("a file that may not be read");
    save_to(out);
    g_autofree char *saving = g_strdup(litho_window_error(gui.window));
    assert_survived("a folder that may not be written");
    litho_window_export(gui.window, picture);
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    assert_survived("a picture there");
    g_assert_true(!root || seteuid(0) == 0);
    g_assert_nonnull(strstr(reading, "Permission denied"));
    g_assert_nonnull(strstr(saving, "Permission denied"));
    g_assert_true(strstr(saving, out) && !strstr(saving, ".provenance"));
    g_assert_cmpstr(litho_session_path(gui.session), ==, open);
    g_assert_cmpint(g_rmdir(folder), ==, 0); // and nothing was left in it
}

// Property: a folder that cannot be written, a full disk, a file that is not there, may not be
// read, or becomes shorter while it is looked at: one sentence each, no half-written file stays
// behind, and what is open stays open.
static void test_errors(void)
{
    g_autofree char *path = gui_path(&gui, "headers.sgy");
    gui_open_with_gain(&gui, path, 2);
    save_to("/proc/no/such/folder/result.sgy");
    assert_survived("no such folder");
    save_to("/proc/result.npy");
    assert_survived("a folder that takes no files");
    litho_window_export(gui.window, "/proc/picture.png");
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    assert_survived("a picture there");
    litho_window_export(gui.window, "/proc/picture.svg");
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    assert_survived("a vector picture there");
    save_to(path); // the file that is open
    assert_survived("the input itself");
    gui_open_file(&gui, "/no/such/file.sgy");
    assert_survived("a file that is not there");
    gui_open_file(&gui, gui.folder);
    assert_survived("a folder in place of a file");
    litho_window_load_recipe(gui.window, path);
    assert_survived("a recipe that is none");

    // Larger than its pages, so that slices are read after it was cut.
    g_autofree char *cut = gui_write_cube(&gui, "cut.sgy", 40, 40, 300);
    g_setenv("LITHO_MEMORY", "0.002", TRUE);
    gui_open_file(&gui, cut);
    g_unsetenv("LITHO_MEMORY");
    g_assert_true(litho_session_is_paged(gui.session));
    gui_settle(&gui);
    g_assert_cmpint(truncate(cut, 100000), ==, 0);
    for (int k = 0; k < 40 && !litho_window_error(gui.window); k++) {
        litho_session_set_slice(gui.session, 0, k);
        gui_spin(&gui, 0.1);
    }
    assert_survived("a file cut while it is open");
    gui_open_file(&gui, path);
    g_assert_null(litho_window_error(gui.window));
    GDir *dir = g_dir_open(gui.folder, 0, NULL);
    for (const char *name; (name = g_dir_read_name(dir));)
        g_assert_null(strstr(name, ".part"));
    g_dir_close(dir);
}

// The model of a step that is switched off behind the filter.
static void name_velocity(const char *velocity)
{
    g_autoptr(LithoFlow) flow = litho_flow_copy(litho_session_flow(gui.session));
    if (litho_flow_length(flow) == 1)
        litho_flow_append(flow, litho_operator_find("migrate"));
    LithoStep *step = litho_flow_step(flow, 1);
    step->enabled = FALSE;
    g_assert_true(litho_param_parse(&step->op->params, step->params, "velocity", velocity, NULL));
    litho_session_set_flow(gui.session, flow, "test");
    gui_settle(&gui);
}

static void assert_input_stays(const char *path, void (*write)(const char *path))
{
    g_autofree char *before = NULL, *after = NULL;
    gsize size, size_after;
    g_assert_true(g_file_get_contents(path, &before, &size, NULL));
    write(path);
    g_assert_nonnull(strstr(litho_window_error(gui.window), "is an input"));
    assert_survived("an output in an input's place");
    g_assert_true(g_file_get_contents(path, &after, &size_after, NULL));
    g_assert_cmpmem(before, size, after, size_after);
}

static void points_to(const char *path)
{
    litho_window_save_points(gui.window, path);
}

static void export_to(const char *path)
{
    litho_window_export(gui.window, path);
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
}

static gboolean compares(Gui *g)
{
    return litho_session_reference_name(g->session) != NULL && gui_is_free(g);
}

// Property: no file that the window reads is replaced by one that it writes, whatever is written:
// the survey, the truth beside it, the velocity model of a step, also of one that is off, and any
// reference file. The name is free again when the step names another model, or the reference is
// forgotten.
static void test_inputs_stay(void)
{
    g_autofree char *path = gui_write_cube(&gui, "kept.sgy", 8, 9, 40);
    g_autofree char *truth = gui_write_cube(&gui, "kept-truth.sgy", 8, 9, 40);
    g_autofree char *velocity = gui_write_cube(&gui, "velocity.sgy", 8, 9, 40);
    g_autofree char *table = gui_path(&gui, "velocity.png"); // a name that says nothing
    g_assert_true(g_file_set_contents(table, "0 2000\n1000 3000\n", -1, NULL));
    gui_open_with_gain(&gui, path, 2);
    name_velocity(velocity);
    assert_input_stays(path, save_to);
    assert_input_stays(path, points_to);
    assert_input_stays(truth, save_to);
    assert_input_stays(velocity, save_to);
    name_velocity(table);
    assert_input_stays(table, export_to);
    save_to(velocity);
    g_assert_null(litho_window_error(gui.window));

    g_autofree char *reference = gui_write_cube(&gui, "reference.sgy", 8, 9, 40);
    litho_window_compare_file(gui.window, reference);
    g_assert_true(gui_wait(compares, &gui, 20));
    assert_input_stays(reference, save_to);
    gui_activate(&gui, "win.truth"); // the input again: Ctrl+T still knows the reference
    g_assert_null(litho_session_reference_name(gui.session));
    assert_input_stays(reference, save_to);
    gui_activate(&gui, "win.reference-forget");
    save_to(reference);
    g_assert_null(litho_window_error(gui.window));
}

// Property: a file of one line is shown as the section it is, of the line or across it, by the title
// "Line", since there is no other one that a number could tell it from, and the cube behind it in
// four views again; a view that a person maximised stays. Where coordinates are assumed, none are
// told.
static void test_line(void)
{
    static const struct {
        int n1, n2, shown;
    } lines[] = {{1, 40, LITHO_INLINE}, {20, 24, -1}, {40, 1, LITHO_XLINE}, {20, 24, -1}};
    LithoCanvas *canvas = litho_window_canvas(gui.window);
    gui_forget_flow(&gui);
    for (guint k = 0; k < G_N_ELEMENTS(lines); k++) {
        g_autofree char *name = g_strdup_printf("line-%u.npy", k);
        g_autofree char *path = gui_write_cube(&gui, name, lines[k].n1, lines[k].n2, 60);
        gui_open_file(&gui, path);
        g_assert_cmpint(litho_canvas_maximised(canvas), ==, lines[k].shown);
        gui_settle(&gui);
        g_autofree char *title =
            litho_cube_view_title(litho_canvas_view(canvas, MAX(lines[k].shown, 0)),
                                  litho_session_grid(gui.session), 0);
        g_assert_cmpstr(title, ==, lines[k].shown < 0 ? "Inline 1" : "Line");
        g_assert_cmpint(litho_session_input(gui.session)->grid.xy_source, ==, LITHO_FROM_ASSUMED);
        GtkWidget *place = gui_find_type(gui.window->status, GTK_TYPE_LABEL);
        const char *place_of = lines[k].shown < 0 ? "XL " : "Trace ";
        g_assert_nonnull(strstr(gtk_label_get_text(GTK_LABEL(place)), place_of));
        g_assert_null(strstr(gtk_label_get_text(GTK_LABEL(place)), "   X "));
    }
    gui_activate(&gui, "win.maximise(2)");
    g_autofree char *cube = gui_path(&gui, "line-1.npy");
    g_autofree char *other = gui_write_cube(&gui, "line-other.npy", 12, 12, 60);
    gui_open_file(&gui, other);
    g_assert_cmpint(litho_canvas_maximised(canvas), ==, 2);
    gui_activate(&gui, "win.maximise(2)");
    gui_open_file(&gui, cube);
}

// A file system of one mebibyte, if this process may mount one (in a namespace of its own that
// would need another process: as root it just mounts).
static char *make_tiny_disk(void)
{
    char *where = gui_path(&gui, "tiny");
    g_autofree char *command =
        g_strdup_printf("mkdir -p '%s' && mount -t tmpfs -o size=256k none '%s'", where, where);
    char *argv[] = {"sh", "-c", command, NULL};
    int status = 1;
    if (g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                     NULL, NULL, &status, NULL) &&
        status == 0)
        return where;
    g_free(where);
    return NULL;
}

// Property: a disk that becomes full while the result is written costs one sentence that says so,
// and nothing of the result stays on it.
static void test_full_disk(void)
{
    g_autofree char *disk = make_tiny_disk();
    if (!disk) {
        g_test_skip("no small file system can be mounted here");
        return;
    }
    g_autofree char *path = gui_write_cube(&gui, "disk.sgy", 30, 30, 200);
    gui_open_with_gain(&gui, path, 2);
    static const char *const names[] = {"full.sgy", "full.npy", "full.rsf"};
    for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
        g_autofree char *out = g_build_filename(disk, names[k], NULL);
        save_to(out);
        g_assert_nonnull(litho_window_error(gui.window));
        assert_survived("a full disk");
        g_autoptr(GDir) dir = g_dir_open(disk, 0, NULL);
        g_assert_null(g_dir_read_name(dir));
    }
    char *argv[] = {"umount", disk, NULL};
    g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
}

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    gui_open_sized(&gui);
    g_test_add_func("/files/save-formats", test_save_formats);
    g_test_add_func("/files/saved-notes", test_saved_notes);
    g_test_add_func("/files/provenance", test_provenance);
    g_test_add_func("/files/pictures", test_pictures);
    g_test_add_func("/files/picture-cancelled", test_picture_cancelled);
    g_test_add_func("/files/report", test_report);
    g_test_add_func("/files/command", test_command);
    g_test_add_func("/files/line", test_line);
    g_test_add_func("/files/errors", test_errors);
    g_test_add_func("/files/inputs-stay", test_inputs_stay);
    g_test_add_func("/files/permission", test_permission);
    g_test_add_func("/files/full-disk", test_full_disk);
    int status = test_run();
    gui_close(&gui);
    return status;
}
