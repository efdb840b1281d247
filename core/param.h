// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <json-glib/json-glib.h>

#include "core/grid.h"

// One declaration per parameter. An operator's parameters are a plain struct (copied by value
// between threads, compared field by field) and a table of rows made with the macros below; panel,
// help, recipes, presets, tooltips and range checks all come from the table.
//
//     typedef struct { double prewhitening; int window; int solver; bool post; LithoText model; }
//     P; static const LithoParam rows[] = {
//         LITHO_FLOAT(P, prewhitening, .label = "Prewhitening", .unit = "%", .def = 10,
//                     .min = 0.001, .max = 1000, .soft_min = 0.1, .soft_max = 300, .log = true,
//                     .stage = 2, .doc = "..."),
//         LITHO_CHOICE(P, edge, N_("fit") "\0" N_("zero") "\0", .label = "Edge", .stage = 2, .doc =
//         ..),
//
// A row whose field has another type does not compile.

typedef struct LithoText {
    char text[512]; // UTF-8, 0-terminated, 0-filled behind the end
} LithoText;

typedef enum {
    LITHO_PARAM_FLOAT,  // double
    LITHO_PARAM_INT,    // int
    LITHO_PARAM_BOOL,   // bool
    LITHO_PARAM_CHOICE, // int, index into choices
    LITHO_PARAM_TEXT,   // LithoText: free text
    LITHO_PARAM_FILE,   // LithoText: path of a file, or what `doc` allows beside it
} LithoParamType;

// Meaning of a row for pictures of the data.
typedef enum {
    LITHO_ROLE_NONE,
    LITHO_ROLE_BAND_LOW,  // lowest frequency of what the operator works on: the band can be dragged
    LITHO_ROLE_BAND_HIGH, // in the spectrum; Hz, 1/km where samples are depths
    LITHO_ROLE_BALANCE,   // 0: traces whose amplitudes differ are filtered over their gains
    LITHO_ROLE_STEADY,    // 0: a survey's steady noise is taken off its traces (core/qc_steady.h)
    LITHO_ROLE_VELOCITY,  // of the survey: a FILE, offered where it lies beside the input
} LithoParamRole;

// A name that a CHOICE row had once. Recipes that hold it are read with a note; it cannot be
// chosen.
typedef struct LithoRetiredChoice {
    const char *name;    // in older recipes
    const char *instead; // one of the row's choices, taken in its place
    const char *why;     // sentence for the reader of such a recipe
} LithoRetiredChoice;

typedef struct LithoParam {
    LithoParamType type;
    size_t offset;
    const char *key;           // the field's name: recipes, command line
    const char *label;         // the panel, "Prewhitening"
    const char *unit;          // "%", "Hz", "traces"; NULL = none
    const char *depth_unit;    // where samples are depths, "1/km"; NULL = the same unit
    double def;                // default; index for choices, 0/1 for bool
    double min, max;           // legal range, both inclusive
    double soft_min, soft_max; // slider range; both 0 = the legal range
    double special;            // a value that stands for something else, such as "from the model"
    const char
        *special_text; // what it stands for, shown instead of the number; NULL = there is none
    double step;       // slider and spin step; 0 = 1 for int, 1/100 of the slider range
    bool log;          // slider moves in ratios
    bool advanced;     // folded away in the panel
    bool by_data;      // `special` lets the operator choose by the data, and tell its choice
                       // (litho_report_used)
    LithoParamRole role;
    int stage;                // first stage that must run again when this changes (0 = plan)
    const char *when;         // "mode=shot|demigrate geometry=headers": the row matters only while
                              // all of these hold; "!=" instead of "="; NULL = always
    const char *written_when; // FILE, as `when`: conditions under which the operator writes the
                              // file; it reads it under all others. NULL = it always reads
    const char *choices;      // "a\0b\0"; CHOICE only. N_("a") "\0": windows show it translated
    const LithoRetiredChoice *retired; // a choice that older recipes hold; NULL = there is none
    const char *def_text;              // default of TEXT and FILE; NULL = ""
    const char *doc;                   // one sentence: what it physically does, typical values
} LithoParam;

#define LITHO_PARAM_CHECK(S, f, T)                                                                 \
    (0 * sizeof(struct {                                                                           \
         _Static_assert(_Generic(&((S *)0)->f, T * : 1, default : 0),                              \
                        "row and field of " #f " differ in type");                                 \
         int unused;                                                                               \
     }))
#define LITHO_PARAM_ROW(S, f, T, kind, ...)                                                        \
    {                                                                                              \
        .type = kind, .key = #f, .offset = offsetof(S, f) + LITHO_PARAM_CHECK(S, f, T),            \
        __VA_ARGS__                                                                                \
    }
#define LITHO_FLOAT(S, f, ...) LITHO_PARAM_ROW(S, f, double, LITHO_PARAM_FLOAT, __VA_ARGS__)
#define LITHO_INT(S, f, ...) LITHO_PARAM_ROW(S, f, int, LITHO_PARAM_INT, __VA_ARGS__)
#define LITHO_BOOL(S, f, ...) LITHO_PARAM_ROW(S, f, bool, LITHO_PARAM_BOOL, .max = 1, __VA_ARGS__)
#define LITHO_CHOICE(S, f, names, ...)                                                             \
    LITHO_PARAM_ROW(S, f, int, LITHO_PARAM_CHOICE, .choices = names,                               \
                    .max = 1e9 /* the table's end decides */, __VA_ARGS__)
#define LITHO_TEXT(S, f, ...) LITHO_PARAM_ROW(S, f, LithoText, LITHO_PARAM_TEXT, __VA_ARGS__)
#define LITHO_FILE(S, f, ...) LITHO_PARAM_ROW(S, f, LithoText, LITHO_PARAM_FILE, __VA_ARGS__)

// A table is `n` rows. All functions are pure with respect to other threads.
typedef struct LithoParamTable {
    const LithoParam *rows;
    guint n;
    size_t size; // bytes of the struct
    // Bytes that every struct begins with, before the first row's value: a table made at run time
    // leaves its owner there. NULL = none.
    const void *head;
    size_t head_bytes;
} LithoParamTable;

const LithoParam *litho_param_find(const LithoParamTable *table, const char *key);
void litho_param_defaults(const LithoParamTable *table, void *params);
// Sentence why a key of older recipes is no parameter of any operator now; NULL = it never was one.
const char *litho_param_retired(const char *key);
// The row's retired choice when `text` is its name, else NULL.
const LithoRetiredChoice *litho_param_retired_choice(const LithoParam *row, const char *text);
// Number of names of a CHOICE row, and name `i` (NULL past the end).
guint litho_param_n_choices(const LithoParam *row);
const char *litho_param_choice(const LithoParam *row, guint i);
// The name in the person's language, for windows; what is typed or written keeps the name itself.
const char *litho_param_choice_shown(const LithoParam *row, guint i);

// Value as a number: int, choice index and bool (0/1) too; NAN for text.
double litho_param_get(const LithoParam *row, const void *params);
// FALSE (LITHO_ERROR_PARAMETER, naming key and legal range) when out of range or not finite.
gboolean litho_param_set(const LithoParam *row, void *params, double value, GError **error);
gboolean litho_param_set_text(const LithoParam *row, void *params, const char *value,
                              GError **error);
// One `word` in units of `unit`, such as 1000 of "s" in "ms", 0.3048 of "ft" in "m"; 0 = it is
// none. Pure.
double litho_param_unit_size(const char *word, const char *unit);
// Parses what a person or a recipe wrote: number (or its special_text), "on/off/true/false/yes/no",
// choice name, text. A number may carry its unit or one that is a multiple of it: "30%", "0.06kHz".
gboolean litho_param_parse(const LithoParamTable *table, void *params, const char *key,
                           const char *value, GError **error);
// litho_param_parse() for data whose samples lie along `axis`: samples may be a time or a depth
// ("600ms"), to the nearest sample, and the other way round ("150samples" for a row in s).
gboolean litho_param_parse_along(const LithoParamTable *table, void *params, const char *key,
                                 const char *value, const LithoAxis *axis, GError **error);
// The number alone, in the row's unit, whether it lies in the row's range or not.
gboolean litho_param_number(const LithoParam *row, const char *text, const LithoAxis *axis,
                            double *value, GError **error);
// TRUE for a number whose unit needs parse_along().
gboolean litho_param_needs_axis(const LithoParamTable *table, const char *key, const char *value);
// The shortest text that reads back as the same double, as people write it: -1000000, 0.00001.
// Powers of ten from 15 on and below -9 have an exponent. g_free().
char *litho_param_number_text(double value);
// Value as text that parse() reads back exactly; g_free().
char *litho_param_print(const LithoParam *row, const void *params);
// Value as a person reads it, without unit: words and decimal mark of the language. g_free().
char *litho_param_shown(const LithoParam *row, const void *params);
// Text of the row's special value when `params` holds that value, else NULL.
const char *litho_param_special(const LithoParam *row, const void *params);
// TRUE when the row matters with these values of the others; it may always be set.
gboolean litho_param_applies(const LithoParamTable *table, const LithoParam *row,
                             const void *params);
// TRUE while all conditions of `when` (LithoParam) hold.
gboolean litho_params_hold(const LithoParamTable *table, const char *when, const void *params);
// TRUE for a FILE row that matters, is not empty and is written, not read.
gboolean litho_param_is_written(const LithoParamTable *table, const LithoParam *row,
                                const void *params);
// TRUE for a FILE row that matters and is read: its text is a path, a number or a built-in name.
gboolean litho_param_is_read(const LithoParamTable *table, const LithoParam *row,
                             const void *params);
gboolean litho_param_equal(const LithoParam *row, const void *a, const void *b);
// Smallest stage over rows that differ, G_MAXINT when none differs.
int litho_params_first_stage(const LithoParamTable *table, const void *a, const void *b);

// JSON object { key: value } of all rows, and back (starting from what `params` holds; an unknown
// key or an illegal value is an error that names it, and leaves `params` as it was; retired keys
// are passed over, retired choices replaced).
JsonObject *litho_params_to_json(const LithoParamTable *table, const void *params);
gboolean litho_params_from_json(const LithoParamTable *table, void *params, JsonObject *object,
                                GError **error);
