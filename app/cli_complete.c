// SPDX-License-Identifier: GPL-3.0-or-later
// Completion for bash, zsh and fish: one table of words, made of the declarations, printed as a
// function that answers "which words may stand here", and for each shell a fixed part that asks it.
#include <string.h>

#include "app/baselines/baselines.h"
#include "app/cli_help.h"
#include "app/cli_page.h"
#include "core/operator.h"
#include "core/show/script.h"
#include "core/synth/synth.h"
#include "render/colormap.h"

// --- the table ----------------------------------------------------------------------------------

// Words that may stand at one place: "commands", "operators", "synths", "demos", "words:run" (the
// table that the words of a command come from), "options:run", "argument:run:--backend", "keys:fx",
// "values:fx:mode". A word "@file" stands for the names of files, "@list" says that several
// words may stand there with commas between them.
typedef struct Place {
    char *name;
    GPtrArray *words, *docs; // owned texts, as many of one as of the other
} Place;

static void place_free(gpointer data)
{
    Place *place = data;
    g_free(place->name);
    g_ptr_array_unref(place->words);
    g_ptr_array_unref(place->docs);
    g_free(place);
}

static Place *place_add(GPtrArray *table, char *name)
{
    Place *place = g_new0(Place, 1);
    place->name = name;
    place->words = g_ptr_array_new_with_free_func(g_free);
    place->docs = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(table, place);
    return place;
}

static void word_add(Place *place, const char *word, const char *doc)
{
    g_ptr_array_add(place->words, g_strdup(word));
    g_ptr_array_add(place->docs, g_strdup(doc ? doc : ""));
}

static void words_add(Place *place, const char *words, const char *separator)
{
    g_auto(GStrv) list = g_strsplit(words, separator, -1);
    for (char **word = list; *word; word++)
        word_add(place, *word, NULL);
}

// Words that options take. An option that is not listed takes a number or a text.
static const struct {
    const char *option, *words;
} option_words[] = {
    {"backend", "auto cpu cuda"},
    {"backends", "cpu1 cpu cuda cpu1,cpu,cuda"},
    {"gpus", "all"},
    {"progress", "auto plain jsonl none"},
    {"endian", "big little"},
    {"in-endian", "big little"},
    {"format", "ibm ieee float64 int8 int16 int24 int32 uint8 uint16 uint24 uint32"},
    {"in-format", "ibm ieee float64 int8 int16 int24 int32 uint8 uint16 uint24 uint32"},
    {"missing", "omit dead"},
    {"duplicates", "first last mean"},
    {"dtype", "float32 float64 ibm int8 int16 int32 uint8 uint16 uint32"},
    {"show", "output removed similarity"},
    {"completion", "bash zsh fish"},
};

static void add_operators(Place *place)
{
    for (const LithoOperator *const *op = litho_operators(); *op; op++)
        word_add(place, (*op)->key, (*op)->title);
}

static void add_argument(GPtrArray *table, const char *command, const LithoCliOption *option)
{
    Place *place = place_add(table, g_strdup_printf("argument:%s:--%s", command, option->name));
    if (g_str_equal(option->name, "colormap")) {
        g_autofree char *names = litho_colormap_names();
        words_add(place, names, ", ");
    }
    // bench has an option of a name whose words are another command's
    for (guint k = 0; k < G_N_ELEMENTS(option_words); k++)
        if (g_str_equal(option_words[k].option, option->name) &&
            !(g_str_equal(option->name, "missing") && g_str_equal(option->argument, "%")))
            words_add(place, option_words[k].words, " ");
    if (option->is_file)
        word_add(place, "@file", "");
    if (g_str_equal(option->name, "methods")) {
        add_operators(place);
        for (const LithoBaseline *const *b = litho_baselines(); *b; b++)
            word_add(place, (*b)->name, (*b)->title);
        word_add(place, "@list", NULL);
    }
}

static void add_command(GPtrArray *table, const LithoCommand *command)
{
    LithoCliPage *page = litho_cli_page_new(command);
    Place *words = place_add(table, g_strdup_printf("words:%s", command->name));
    if (strstr(page->words, "OPERATOR"))
        word_add(words, "operators", NULL);
    else if (g_str_equal(command->name, "synth"))
        word_add(words, "synths", NULL);
    else if (g_str_equal(command->name, "demo"))
        word_add(words, "demos", NULL);
    Place *options = place_add(table, g_strdup_printf("options:%s", command->name));
    for (guint k = 0; k < page->options->len; k++) {
        const LithoCliOption *option = &g_array_index(page->options, LithoCliOption, k);
        g_autofree char *name = g_strdup_printf("--%s", option->name);
        word_add(options, name, option->doc);
        if (option->argument)
            add_argument(table, command->name, option);
        else if (g_str_equal(option->name, "operators")) // no cube follows, other options do
            words_add(place_add(table, g_strdup_printf("argument:%s:%s", command->name, name)),
                      "--output --methods --rows --pictures --size --seconds", " ");
        if (option->letter) {
            g_autofree char *letter = g_strdup_printf("-%c", option->letter);
            word_add(options, letter, option->doc);
            word_add(place_add(table, g_strdup_printf("argument:%s:%s", command->name, letter)),
                     "@file", NULL);
        }
    }
    word_add(options, "--help", "What the command takes");
    litho_cli_page_free(page);
}

static void add_values(GPtrArray *table, const char *subject, const LithoParam *row)
{
    Place *place = place_add(table, g_strdup_printf("values:%s:%s", subject, row->key));
    if (row->type == LITHO_PARAM_CHOICE)
        for (guint k = 0; k < litho_param_n_choices(row); k++)
            word_add(place, litho_param_choice(row, k), NULL);
    else if (row->type == LITHO_PARAM_BOOL)
        words_add(place, "on off", " ");
    else if (row->type == LITHO_PARAM_FILE)
        word_add(place, "@file", NULL);
}

static void add_keys(GPtrArray *table, const char *subject, const LithoParamTable *params,
                     const LithoPreset *presets)
{
    Place *keys = place_add(table, g_strdup_printf("keys:%s", subject));
    for (guint k = 0; k < params->n; k++) {
        word_add(keys, params->rows[k].key, params->rows[k].label);
        add_values(table, subject, &params->rows[k]);
    }
    if (!presets)
        return;
    word_add(keys, "preset", "Settings by name");
    Place *names = place_add(table, g_strdup_printf("values:%s:preset", subject));
    for (const LithoPreset *p = presets; p->name; p++)
        word_add(names, p->name, p->doc);
}

static GPtrArray *make_table(const LithoCommand *commands)
{
    GPtrArray *table = g_ptr_array_new_with_free_func(place_free);
    Place *names = place_add(table, g_strdup("commands"));
    for (const LithoCommand *c = commands; c->name; c++)
        word_add(names, c->name, c->what);
    word_add(names, "help", "what a command takes");
    word_add(place_add(table, g_strdup("words:help")), "commands", NULL);
    add_operators(place_add(table, g_strdup("operators")));
    Place *synths = place_add(table, g_strdup("synths"));
    for (const LithoSynth *const *s = litho_synths(); *s; s++)
        word_add(synths, (*s)->key, (*s)->title);
    Place *demos = place_add(table, g_strdup("demos"));
    g_auto(GStrv) scripts = litho_script_names();
    for (char **name = scripts; name && *name; name++)
        word_add(demos, *name, NULL);
    for (const LithoCommand *c = commands; c->name; c++)
        add_command(table, c);
    for (const LithoOperator *const *op = litho_operators(); *op; op++)
        add_keys(table, (*op)->key, &(*op)->params, (*op)->presets);
    for (const LithoSynth *const *s = litho_synths(); *s; s++)
        add_keys(table, (*s)->key, &(*s)->params, NULL);
    return table;
}

// --- the table as a function --------------------------------------------------------------------

static void put_header(GString *to, const char *first, const char *shell)
{
    g_string_append_printf(to, "%s# Made by 'lithoscope-cli help --completion %s'.\n\n", first,
                           shell);
}

// bash: the words of a place, parted by blanks.
static void put_bash_table(GString *to, const GPtrArray *table)
{
    g_string_append(to, "_lithoscope_cli_words() {\n  case $1 in\n");
    for (guint k = 0; k < table->len; k++) {
        const Place *place = table->pdata[k];
        g_string_append_printf(to, "    %s) echo \"", place->name);
        for (guint w = 0; w < place->words->len; w++)
            g_string_append_printf(to, "%s%s", w ? " " : "", (char *)place->words->pdata[w]);
        g_string_append(to, "\" ;;\n");
    }
    g_string_append(to, "    *) return 1 ;;\n  esac\n}\n");
}

// zsh: reply=(word:doc ...), with colons in both escaped.
static void put_zsh_table(GString *to, const GPtrArray *table)
{
    g_string_append(to, "_lithoscope_cli_words() {\n  reply=()\n  case $1 in\n");
    for (guint k = 0; k < table->len; k++) {
        const Place *place = table->pdata[k];
        g_string_append_printf(to, "    %s) reply=(", place->name);
        for (guint w = 0; w < place->words->len; w++) {
            g_auto(GStrv) word = g_strsplit(place->words->pdata[w], ":", -1);
            g_auto(GStrv) doc = g_strsplit(place->docs->pdata[w], ":", -1);
            g_autofree char *a = g_strjoinv("\\:", word), *b = g_strjoinv("\\:", doc);
            g_autofree char *entry = *b ? g_strdup_printf("%s:%s", a, b) : g_strdup(a);
            g_autofree char *quoted = g_shell_quote(entry);
            g_string_append_printf(to, "%s%s", w ? " " : "", quoted);
        }
        g_string_append(to, ") ;;\n");
    }
    g_string_append(to, "    *) return 1 ;;\n  esac\n}\n");
}

// fish: a line "word<tab>doc" for each word.
static void put_fish_table(GString *to, const GPtrArray *table)
{
    g_string_append(to, "function __lithoscope_cli_words\n    switch $argv[1]\n");
    for (guint k = 0; k < table->len; k++) {
        const Place *place = table->pdata[k];
        g_string_append_printf(to, "        case '%s'\n", place->name);
        if (place->words->len > 0)
            g_string_append(to, "            printf '%s\\t%s\\n'");
        for (guint w = 0; w < place->words->len; w++) {
            g_autofree char *word = g_shell_quote(place->words->pdata[w]);
            g_autofree char *doc = g_shell_quote(place->docs->pdata[w]);
            g_string_append_printf(to, " %s %s", word, doc);
        }
        if (place->words->len > 0)
            g_string_append_c(to, '\n');
    }
    g_string_append(to, "        case '*'\n            return 1\n    end\nend\n");
}

// --- the fixed parts ----------------------------------------------------------------------------

static const char bash_part[] = //
    "\n"
    "_lithoscope_cli() {\n"
    "  local words=() known current previous command kind subject= k\n"
    "  for ((k = 0; k <= COMP_CWORD; k++)); do # readline breaks key=value at the sign\n"
    "    if ((k > 1)) && [[ ${COMP_WORDS[k]} == = || ${COMP_WORDS[k - 1]} == = ]]; then\n"
    "      words[-1]+=${COMP_WORDS[k]}\n"
    "    else\n"
    "      words+=(\"${COMP_WORDS[k]}\")\n"
    "    fi\n"
    "  done\n"
    "  current=${words[-1]} previous=${words[-2]} command=${words[1]}\n"
    "  COMPREPLY=()\n"
    "  if ((${#words[@]} == 2)); then\n"
    "    COMPREPLY=($(compgen -W \"$(_lithoscope_cli_words commands)\" -- \"$current\"))\n"
    "    return\n"
    "  fi\n"
    "  kind=$(_lithoscope_cli_words \"words:$command\")\n"
    "  for k in \"${words[@]:2:${#words[@]}-3}\"; do # the last operator on the line counts\n"
    "    [[ -n $kind && \" $(_lithoscope_cli_words $kind) \" == *\" $k \"* ]] && subject=$k\n"
    "  done\n"
    "  if known=$(_lithoscope_cli_words \"argument:$command:$previous\"); then\n"
    "    :\n"
    "  elif [[ $current == -* ]]; then\n"
    "    known=$(_lithoscope_cli_words \"options:$command\")\n"
    "  elif [[ $current == *=* ]]; then\n"
    "    known=$(_lithoscope_cli_words \"values:$subject:${current%%=*}\")\n"
    "    current=${current#*=}\n"
    "  elif [[ $previous == + || ( -n $kind && -z $subject ) ]]; then\n"
    "    known=\"$(_lithoscope_cli_words $kind) @file\"\n"
    "  elif [[ -n $subject ]] && known=$(_lithoscope_cli_words \"keys:$subject\"); then\n"
    "    known+=' '\n"
    "    known=\"${known// /= }@file\"\n"
    "    compopt -o nospace 2>/dev/null\n"
    "  else\n"
    "    known=@file\n"
    "  fi\n"
    "  local before=\n"
    "  if [[ $known == *@list* ]]; then # what stands before the last comma stays\n"
    "    known=${known//@list/}\n"
    "    [[ $current == *,* ]] && before=${current%,*}, current=${current##*,}\n"
    "    compopt -o nospace 2>/dev/null\n"
    "  fi\n"
    "  COMPREPLY=($(compgen -P \"$before\" -W \"${known//@file/}\" -- \"$current\"))\n"
    "  if [[ $known == *@file* ]]; then\n"
    "    local IFS=$'\\n'\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    COMPREPLY+=($(compgen -f -- \"$current\"))\n"
    "  fi\n"
    "}\n"
    "complete -F _lithoscope_cli lithoscope-cli\n";

static const char zsh_part[] = //
    "\n"
    "_lithoscope_cli() {\n"
    "  local -a reply keys\n"
    "  local command=$words[2] previous=$words[CURRENT-1] kind= subject= k\n"
    "  if ((CURRENT == 2)); then\n"
    "    _lithoscope_cli_words commands\n"
    "    _describe command reply\n"
    "    return\n"
    "  fi\n"
    "  _lithoscope_cli_words words:$command && kind=$reply[1]\n"
    "  if [[ -n $kind ]]; then\n"
    "    _lithoscope_cli_words $kind\n"
    "    for k in $words[3,CURRENT-1]; do # the last operator on the line counts\n"
    "      [[ -n ${reply[(r)$k:*]} ]] && subject=$k\n"
    "    done\n"
    "  fi\n"
    "  if _lithoscope_cli_words argument:$command:$previous; then\n"
    "    :\n"
    "  elif [[ $PREFIX == -* ]]; then\n"
    "    _lithoscope_cli_words options:$command\n"
    "  elif [[ $PREFIX == *=* ]]; then\n"
    "    _lithoscope_cli_words values:$subject:${PREFIX%%=*}\n"
    "    compset -P '*='\n"
    "  elif [[ $previous == + || ( -n $kind && -z $subject ) ]]; then\n"
    "    _lithoscope_cli_words $kind\n"
    "    reply+=(@file)\n"
    "  elif [[ -n $subject ]] && _lithoscope_cli_words keys:$subject; then\n"
    "    _describe parameter reply -S =\n"
    "    reply=(@file)\n"
    "  else\n"
    "    reply=(@file)\n"
    "  fi\n"
    "  if [[ -n ${reply[(r)@list]} ]]; then\n"
    "    reply=(${reply:#@list})\n"
    "    compset -P '*,'\n"
    "  fi\n"
    "  if [[ -n ${reply[(r)@file]} ]]; then\n"
    "    reply=(${reply:#@file})\n"
    "    _files\n"
    "  fi\n"
    "  (($#reply)) && _describe value reply\n"
    "}\n"
    "if [[ $funcstack[1] == _lithoscope-cli ]]; then\n"
    "  _lithoscope_cli \"$@\"\n"
    "elif (($+functions[compdef])); then\n"
    "  compdef _lithoscope_cli lithoscope-cli\n"
    "fi\n";

static const char fish_part[] = //
    "\n"
    "function __lithoscope_cli\n"
    "    set -l words (commandline -opc)\n"
    "    set -l current (commandline -ct)\n"
    "    set -l command $words[2]\n"
    "    if test (count $words) -lt 2\n"
    "        __lithoscope_cli_words commands\n"
    "        return\n"
    "    end\n"
    "    set -l kind (__lithoscope_cli_words words:$command | string replace \\t '')\n"
    "    set -l subject ''\n"
    "    if test -n \"$kind\"\n"
    "        set -l names (__lithoscope_cli_words $kind | string replace -r '\\t.*' '')\n"
    "        for word in $words[3..-1] # the last operator on the line counts\n"
    "            contains -- $word $names; and set subject $word\n"
    "        end\n"
    "    end\n"
    "    set -l argument (__lithoscope_cli_words argument:$command:$words[-1])\n"
    "    if test $status -eq 0\n"
    "        set -l before ''\n"
    "        if contains -- '@list'\\t $argument # what stands before the last comma stays\n"
    "            set before (string replace -r '[^,]*$' '' -- $current)\n"
    "            set -e argument[(contains -i -- '@list'\\t $argument)]\n"
    "        end\n"
    "        for line in $argument\n"
    "            echo \"$before$line\"\n"
    "        end\n"
    "    else if string match -q -- '-*' $current\n"
    "        __lithoscope_cli_words options:$command\n"
    "    else if string match -q -- '*=*' $current\n"
    "        set -l key (string replace -r '=.*' '' -- $current)\n"
    "        for line in (__lithoscope_cli_words values:$subject:$key)\n"
    "            echo $key=$line\n"
    "        end\n"
    "    else if test \"$words[-1]\" = +; or test -n \"$kind\" -a -z \"$subject\"\n"
    "        __lithoscope_cli_words $kind\n"
    "    else if test -n \"$subject\"\n"
    "        __lithoscope_cli_words keys:$subject | string replace \\t '='\\t\n"
    "    end\n"
    "end\n"
    "\n"
    "complete -c lithoscope-cli -n 'test (count (commandline -opc)) -lt 2' -f\n"
    "complete -c lithoscope-cli -a '(__lithoscope_cli | string match -v -r \"@file\")'\n";

static char *completion(const LithoCommand *commands, const char *head, const char *shell,
                        void (*put_table)(GString *to, const GPtrArray *table), const char *part)
{
    g_autoptr(GPtrArray) table = make_table(commands);
    GString *to = g_string_new(NULL);
    put_header(to, head, shell);
    put_table(to, table);
    g_string_append(to, part);
    return g_string_free(to, FALSE);
}

char *litho_cli_completion_bash(const LithoCommand *commands)
{
    return completion(commands, "# bash completion for lithoscope-cli\n", "bash", put_bash_table,
                      bash_part);
}

char *litho_cli_completion_zsh(const LithoCommand *commands)
{
    return completion(commands, "#compdef lithoscope-cli\n", "zsh", put_zsh_table, zsh_part);
}

char *litho_cli_completion_fish(const LithoCommand *commands)
{
    return completion(commands, "# fish completion for lithoscope-cli\n", "fish", put_fish_table,
                      fish_part);
}
