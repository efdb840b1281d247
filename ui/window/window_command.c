// SPDX-License-Identifier: GPL-3.0-or-later
//
// "Copy as command": one line for a shell that repeats what the window shows on the whole cube.
#include "ui/window/window_private.h"

#include <string.h>

#define COMMAND "lithoscope-cli"

// A flow of one enabled step reads best as operator and settings; any other goes along as it is.
static gboolean is_plain(const LithoFlow *flow)
{
    return litho_flow_length(flow) == 1 && litho_flow_step(flow, 0)->enabled;
}

// "survey.sgy" -> "survey-result.sgy", in the folder where the command runs.
static char *output_name(const char *in)
{
    g_autofree char *base = g_path_get_basename(in);
    char *dot = strrchr(base, '.');
    g_autofree char *suffix = g_strdup(dot && dot > base ? dot : ".sgy");
    if (dot && dot > base)
        *dot = 0;
    return g_strdup_printf("%s-result%s", base, suffix);
}

// JSON on one line: what is between its strings carries no blanks.
static void compact(char *json)
{
    gboolean inside = FALSE;
    char *to = json;
    for (const char *p = json; *p; p++) {
        if (inside && *p == '\\' && p[1])
            *to++ = *p++;
        else if (*p == '"')
            inside = !inside;
        if (inside || !g_ascii_isspace(*p))
            *to++ = *p;
    }
    *to = 0;
}

// `in` NULL = a source.
static char *run_part(const LithoFlow *flow, const char *in, const char *out)
{
    if (is_plain(flow))
        return litho_flow_command(flow, in, out);
    g_autofree char *text = litho_flow_print(flow);
    compact(text);
    g_autofree char *recipe = g_shell_quote(text);
    g_autofree char *quoted_out = g_shell_quote(out);
    g_autofree char *quoted_in = in ? g_shell_quote(in) : NULL;
    return g_strdup_printf(COMMAND " run %s%s%s -o %s", recipe, in ? " -i " : "",
                           in ? quoted_in : "", quoted_out);
}

// A survey of several files.
static char *other_files(LithoWindow *self)
{
    GString *words = g_string_new(NULL);
    char **paths = litho_open_file_paths(self->file);
    for (char **path = paths && paths[0] ? paths + 1 : NULL; path && *path; path++) {
        g_autofree char *quoted = g_shell_quote(*path);
        g_string_append_printf(words, " -i %s", quoted);
    }
    return g_string_free(words, FALSE);
}

// Where the shell would not find the program but it lies beside this one, as after a build, its
// place is written out.
static char *program(void)
{
    g_autofree char *known = g_find_program_in_path(COMMAND);
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *folder = self ? g_path_get_dirname(self) : NULL;
    g_autofree char *beside = folder ? g_build_filename(folder, COMMAND, NULL) : NULL;
    if (known || !beside || !g_file_test(beside, G_FILE_TEST_IS_EXECUTABLE))
        return g_strdup(COMMAND);
    gboolean plain =
        strspn(beside, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "/._+-") == strlen(beside);
    return plain ? g_steal_pointer(&beside) : g_shell_quote(beside);
}

char *litho_window_short_command(LithoWindow *self, const char *out)
{
    const LithoFlow *flow = litho_session_flow(self->session);
    const char *path = litho_open_file_path(self->file);
    g_autofree char *in =
        litho_flow_needs_input(flow) ? g_path_get_basename(path ? path : "demo.sgy") : NULL;
    g_autofree char *result = out  ? g_path_get_basename(out)
                              : in ? output_name(in)
                                   : g_strdup("result.sgy");
    return litho_flow_command(flow, in, result);
}

char *litho_window_command(LithoWindow *self)
{
    const LithoFlow *flow = litho_session_flow(self->session);
    const char *path = litho_open_file_path(self->file);
    const char *in = !litho_flow_needs_input(flow)         ? NULL
                     : path                                ? path
                     : litho_open_file_is_demo(self->file) ? "demo.sgy"
                                                           : "INPUT.sgy";
    g_autofree char *out = in ? output_name(in) : g_strdup("result.sgy");
    g_autofree char *run = run_part(flow, in, out);
    g_autofree char *words =
        in ? litho_open_options_words(litho_open_file_options(self->file)) : g_strdup("");
    const char *device = litho_session_wanted_device(self->session);
    g_autofree char *backend =
        strcmp(device, "auto") != 0 ? g_strdup_printf(" --backend %s", device) : g_strdup("");
    g_autofree char *more = in ? other_files(self) : g_strdup("");
    g_autofree char *cli = program();
    g_autofree char *make = litho_open_file_is_demo(self->file) && in
                                ? g_strdup_printf("%s synth survey -o demo.sgy && ", cli)
                                : g_strdup("");
    return g_strdup_printf("%s%s%s%s%s%s", make, cli, run + strlen(COMMAND), more, words, backend);
}
