// SPDX-License-Identifier: GPL-3.0-or-later
// Manual pages in troff's man macros.
#include <string.h>

#include "app/cli_help.h"
#include "app/cli_page.h"
#include "core/operator.h"

// --- troff --------------------------------------------------------------------------------------

// Text as it reads: nothing in it is a request, and hyphens and quotes can be copied into a shell.
static void put(GString *to, const char *text)
{
    const gboolean at_start = to->len == 0 || to->str[to->len - 1] == '\n';
    if (at_start && (*text == '.' || *text == '\''))
        g_string_append(to, "\\&");
    for (const char *c = text; *c; c++) {
        switch (*c) {
        case '\\':
            g_string_append(to, "\\e");
            break;
        case '-':
            g_string_append(to, "\\-");
            break;
        case '\'':
            g_string_append(to, "\\(aq");
            break;
        case '`':
            g_string_append(to, "\\(ga");
            break;
        case '^':
            g_string_append(to, "\\(ha");
            break;
        case '~':
            g_string_append(to, "\\(ti");
            break;
        default:
            g_string_append_c(to, *c);
        }
    }
}

static void put_line(GString *to, const char *text)
{
    put(to, text);
    g_string_append_c(to, '\n');
}

// A request such as ".SH" and its one argument.
static void put_request(GString *to, const char *request, const char *text)
{
    g_string_append_printf(to, "%s \"", request);
    put(to, text);
    g_string_append(to, "\"\n");
}

static void put_bold(GString *to, const char *text)
{
    g_string_append(to, "\\fB");
    put(to, text);
    g_string_append(to, "\\fP");
}

// Lines of a help text: those with an indent are shown as they are, the others flow.
static void put_lines(GString *to, const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    gboolean is_shown = FALSE, is_new = FALSE;
    for (char **line = lines; *line; line++) {
        const gboolean is_example = **line == ' ';
        if (!**line) {
            is_new = TRUE;
            continue;
        }
        if (is_shown && !is_example)
            g_string_append(to, ".EE\n");
        if (is_new)
            g_string_append(to, ".PP\n");
        if (is_example && !is_shown)
            g_string_append(to, ".EX\n");
        put_line(to, *line);
        is_shown = is_example;
        is_new = FALSE;
    }
    if (is_shown)
        g_string_append(to, ".EE\n");
}

static GString *page_begin(const char *title, const char *section, const char *name,
                           const char *what)
{
    GString *to = g_string_new("'\\\" t\n.\\\" Made by lithoscope-cli of itself.\n");
    g_string_append_printf(to, ".TH %s %s \"\" \"Lithoscope %s\" \"Lithoscope\"\n.nh\n.ad l\n",
                           title, section, LITHO_VERSION);
    put_request(to, ".SH", "NAME");
    put(to, name);
    g_string_append(to, " \\- ");
    put_line(to, what);
    return to;
}

// --- lithoscope-cli(1) --------------------------------------------------------------------------

static void put_option(GString *to, const LithoCliOption *option)
{
    g_string_append(to, ".TP\n");
    if (option->letter) {
        g_autofree char *letter = g_strdup_printf("-%c", option->letter);
        put_bold(to, letter);
        g_string_append(to, ", ");
    }
    g_autofree char *name = g_strdup_printf("--%s", option->name);
    put_bold(to, name);
    if (option->argument) {
        g_string_append(to, "=\\fI");
        put(to, option->argument);
        g_string_append(to, "\\fP");
    }
    g_string_append_c(to, '\n');
    put(to, option->doc);
    g_string_append(to, ".\n");
}

static void put_options(GString *to, const LithoCliPage *page, gboolean is_input)
{
    for (guint k = 0; k < page->options->len; k++) {
        const LithoCliOption *option = &g_array_index(page->options, LithoCliOption, k);
        if (option->is_input == is_input)
            put_option(to, option);
    }
}

// Options of reading whose usual names the command has taken for itself: "--in-format, ...";
// g_free().
static char *renamed(const LithoCliPage *page)
{
    GString *names = g_string_new(NULL);
    for (guint k = 0; k < page->options->len; k++) {
        const LithoCliOption *option = &g_array_index(page->options, LithoCliOption, k);
        if (option->is_input &&
            (g_str_has_prefix(option->name, "in-") || g_str_has_prefix(option->name, "input-")))
            g_string_append_printf(names, "%s--%s", names->len ? ", " : "", option->name);
    }
    return g_string_free(names, FALSE);
}

static void put_command(GString *to, const LithoCliPage *page)
{
    put_request(to, ".SS", page->command->name);
    put_bold(to, "lithoscope-cli ");
    put_bold(to, page->command->name);
    g_string_append(to, " ");
    put_line(to, page->words);
    g_string_append(to, ".PP\n");
    put_line(to, page->summary);
    put_options(to, page, FALSE);
    if (litho_cli_page_count(page, TRUE) > 0) {
        g_autofree char *names = renamed(page);
        g_autofree char *line = g_strdup_printf(
            "The options of READING INPUT FILES are taken, too%s%s.",
            *names ? ", under other names where the command has taken theirs: " : "", names);
        g_string_append(to, ".PP\n");
        put_line(to, line);
    }
    if (*page->description) {
        g_string_append(to, ".PP\n");
        put_lines(to, page->description);
    }
}

static void put_environment(GString *to)
{
    static const struct {
        const char *name, *what;
    } known[] = {
        {"LITHO_MEMORY", "GiB of host memory that a process may take (default: what is free)."},
        {"LITHO_CUDA_MEMORY", "Memory of each GPU that may be taken, such as 8G."},
        {"GOMP_SPINCOUNT",
         "Turns that threads of OpenMP wait for each other before they sleep "
         "(2000, unless OMP_WAIT_POLICY is set). More may help a program that has "
         "its processors for itself."},
        {"LITHO_MODULE_DIR", "Folder of the CUDA and MPI modules (default: beside the libraries)."},
    };
    put_request(to, ".SH", "ENVIRONMENT");
    for (guint k = 0; k < G_N_ELEMENTS(known); k++) {
        g_string_append(to, ".TP\n");
        put_bold(to, known[k].name);
        g_string_append_c(to, '\n');
        put_line(to, known[k].what);
    }
}

char *litho_cli_man(const LithoCommand *commands)
{
    GString *to = page_begin("LITHOSCOPE-CLI", "1", "lithoscope-cli",
                             "operators on 3-D seismic cubes from the command line");
    put_request(to, ".SH", "SYNOPSIS");
    g_string_append(to, "\\fBlithoscope\\-cli\\fP [\\fB\\-\\-operators\\fP \\fIDIR\\fP] "
                        "\\fICOMMAND\\fP ...\n");
    put_request(to, ".SH", "DESCRIPTION");
    put_line(to, "A recipe that was tuned in the window of lithoscope(1) gives the bytes of the "
                 "window's result here, on the whole survey. Files are given as -i IN and -o OUT "
                 "or as words in that order; the suffix of a name says its format: .sgy .segy "
                 "SEG-Y, .su Seismic Unix, .npy NumPy, .rsf Madagascar, .bin .raw samples alone. "
                 "Parameters are given as key=value; a number may carry its unit (30%, 60Hz, "
                 "600ms). lithoscope-operators(7) lists them.");
    g_string_append(to, ".PP\n");
    put_line(to, "Programs of your own are operators, too. Their panels lie in "
                 "~/.local/share/lithoscope/operators or in the folder that --operators DIR names "
                 "in front of the command.");
    put_request(to, ".SH", "COMMANDS");
    g_autoptr(GPtrArray) pages =
        g_ptr_array_new_with_free_func((GDestroyNotify)litho_cli_page_free);
    const LithoCliPage *reader = NULL; // whose options of reading have their usual names
    for (const LithoCommand *c = commands; c->name; c++) {
        LithoCliPage *page = litho_cli_page_new(c);
        g_ptr_array_add(pages, page);
        put_command(to, page);
        g_autofree char *names = renamed(page);
        if (litho_cli_page_count(page, TRUE) > 0 && !*names)
            reader = page;
    }
    if (reader) {
        put_request(to, ".SH", "READING INPUT FILES");
        put_options(to, reader, TRUE);
    }
    put_request(to, ".SH", "EXIT STATUS");
    put_line(to, "0 done, 1 failed (one sentence on standard error), 2 wrong usage, 3 cancelled.");
    put_environment(to);
    put_request(to, ".SH", "SEE ALSO");
    g_string_append(to, "\\fBlithoscope\\fP(1), \\fBlithoscope\\-operators\\fP(7)\n");
    return g_string_free(to, FALSE);
}

// --- lithoscope-operators(7) --------------------------------------------------------------------

// "10 %", "0 Hz = Nyquist", "on".
static char *default_text(const LithoParam *row, const void *defaults)
{
    g_autofree char *value = litho_param_print(row, defaults);
    const char *special = litho_param_special(row, defaults);
    if (!*value)
        return g_strdup("none");
    return g_strdup_printf("%s%s%s%s%s", value, row->unit ? " " : "", row->unit ? row->unit : "",
                           special ? " = " : "", special ? special : "");
}

static char *legal_text(const LithoParam *row)
{
    g_autofree char *min = litho_param_number_text(row->min),
                    *max = litho_param_number_text(row->max);
    g_autofree char *special = litho_param_number_text(row->special);
    GString *text = g_string_new(NULL);
    switch (row->type) {
    case LITHO_PARAM_FLOAT:
    case LITHO_PARAM_INT:
        g_string_printf(text, "%s to %s%s%s", min, max, row->unit ? " " : "",
                        row->unit ? row->unit : "");
        if (row->special_text)
            g_string_append_printf(text, ", %s = %s", special, row->special_text);
        break;
    case LITHO_PARAM_BOOL:
        g_string_assign(text, "on or off");
        break;
    case LITHO_PARAM_CHOICE:
        for (guint k = 0; k < litho_param_n_choices(row); k++)
            g_string_append_printf(text, "%s%s", k ? ", " : "", litho_param_choice(row, k));
        break;
    case LITHO_PARAM_FILE:
        g_string_assign(text, "a file");
        break;
    default:
        g_string_assign(text, "text");
    }
    return g_string_free(text, FALSE);
}

static void put_param(GString *to, const LithoParam *row, const void *defaults)
{
    g_autofree char *def = default_text(row, defaults), *legal = legal_text(row);
    g_autofree char *range = g_strdup_printf("Default: %s. Values: %s.", def, legal);
    g_string_append(to, ".TP\n");
    put_bold(to, row->key);
    g_string_append_c(to, '\n');
    put_line(to, row->doc);
    put_line(to, range);
    if (row->when) {
        g_autofree char *when = g_strdup_printf("Matters with %s.", row->when);
        put_line(to, when);
    }
}

static void put_operator(GString *to, const LithoOperator *op)
{
    g_autofree void *defaults = g_malloc0(op->params.size);
    litho_param_defaults(&op->params, defaults);
    put_request(to, ".SH", op->key);
    put_bold(to, op->title);
    g_string_append(to, "\n.PP\n");
    put_line(to, op->summary);
    put_request(to, ".SS", "Parameters");
    for (guint k = 0; k < op->params.n; k++)
        put_param(to, &op->params.rows[k], defaults);
    if (op->presets)
        put_request(to, ".SS", "Presets");
    for (const LithoPreset *p = op->presets; p && p->name; p++) {
        g_string_append(to, ".TP\n");
        put_bold(to, "preset=");
        put_bold(to, p->name);
        g_string_append_c(to, '\n');
        put_line(to, p->doc ? p->doc : "The defaults.");
        if (*p->settings)
            put_line(to, p->settings);
    }
    if (op->numbers)
        put_request(to, ".SS", "Numbers told after a run");
    for (const LithoNumberDoc *number = op->numbers; number && number->key; number++) {
        g_string_append(to, ".TP\n");
        put_bold(to, number->key);
        g_string_append_c(to, '\n');
        put_line(to, number->doc);
    }
}

char *litho_cli_man_operators(void)
{
    GString *to = page_begin("LITHOSCOPE-OPERATORS", "7", "lithoscope-operators",
                             "operators of Lithoscope and their parameters");
    put_request(to, ".SH", "DESCRIPTION");
    put_line(to, "Parameters have these names in recipes, on the command line and in the window. "
                 "'lithoscope-cli list OPERATOR' prints the part of one operator.");
    for (const LithoOperator *const *op = litho_operators(); *op; op++)
        put_operator(to, *op);
    put_request(to, ".SH", "SEE ALSO");
    g_string_append(to, "\\fBlithoscope\\fP(1), \\fBlithoscope\\-cli\\fP(1)\n");
    return g_string_free(to, FALSE);
}
