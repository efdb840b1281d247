// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz_parsers.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "core/io/npy.h"
#include "core/io/survey.h"
#include "kernels/external/panel.h"
#include "kernels/kernels.h"
#include "kernels/migrate/model.h"
#include "kernels/twsm/heights.h"
#include "kernels/twsm/model.h"
#include "kernels/wavepacket/apply.h"
#include "kernels/wavepacket/coefficients.h"
#include "render/colormap.h"
#include "tests/fuzz_one.h"
#include "ui/import/import_profile.h"
#include "ui/session/history.h"
#include "ui/session/state_store.h"

static char *root; // scratch: memory where the system has it, so that no disk wears

static char *put(const char *name, const uint8_t *data, size_t size)
{
    char *path = g_build_filename(root, name, NULL);
    int fd = g_open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    g_assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
    return path;
}

// A recipe that is taken must print as a recipe that is taken and prints alike.
static void recipe(const uint8_t *data, size_t size)
{
    g_autofree char *text = g_strndup((const char *)data, size);
    g_autoptr(LithoFlow) flow = litho_flow_parse(text, NULL);
    if (!flow)
        return;
    g_autofree char *printed = litho_flow_print(flow);
    g_autoptr(LithoFlow) again = litho_flow_parse(printed, NULL);
    g_assert(again);
    g_autofree char *twice = litho_flow_print(again);
    g_assert_cmpstr(printed, ==, twice);
}

static void use_array(JsonObject *root_object, const char *name, gboolean redo)
{
    JsonNode *node = json_object_get_member(root_object, name);
    if (!node || !JSON_NODE_HOLDS_ARRAY(node))
        return;
    LithoHistory *history = litho_history_new();
    litho_history_from_json(history, redo, json_node_get_array(node));
    json_array_unref(litho_history_to_json(history, redo, LITHO_HISTORY_KEPT));
    litho_history_free(history);
}

static void session(const uint8_t *data, size_t size)
{
    g_autofree char *path = put("lithoscope/sessions/fuzz.json", data, size);
    JsonNode *node = litho_state_read("fuzz", NULL);
    if (node && JSON_NODE_HOLDS_OBJECT(node)) {
        use_array(json_node_get_object(node), "undo", FALSE);
        use_array(json_node_get_object(node), "redo", TRUE);
    }
    g_clear_pointer(&node, json_node_unref);
    g_unlink(path);
}

static void profile(const uint8_t *data, size_t size)
{
    g_autofree char *path = put("lithoscope/import/fuzz.json", data, size);
    LithoOpenOptions options;
    litho_profile_load("fuzz", &options, NULL);
    g_free(litho_profile_match("C 1 CLIENT COMPANY CREW NO"));
    g_unlink(path);
}

// One text as all that an array's folder holds: metadata, attributes and the first chunk. A cube that
// is taken is read.
static void zarr(const uint8_t *data, size_t size)
{
    g_autofree char *folder = g_build_filename(root, "a.zarr", NULL);
    g_mkdir(folder, 0700);
    static const char *const names[] = {"a.zarr/.zarray", "a.zarr/.zattrs", "a.zarr/0.0.0"};
    for (guint k = 0; k < G_N_ELEMENTS(names); k++)
        g_free(put(names[k], data, size));
    const char *const paths[] = {folder, NULL};
    g_autoptr(LithoSurvey) survey = litho_survey_open(paths, NULL, NULL, NULL);
    if (survey && litho_grid_samples(litho_survey_grid(survey)) < 1 << 20) {
        g_autoptr(LithoCube) cube = litho_survey_read(survey, NULL, NULL, NULL);
    }
}

// A panel that is taken has defaults that print as texts which are taken and mean the same.
static void panel(const uint8_t *data, size_t size)
{
    g_autofree char *path = put("panel.json", data, size);
    ExternalPanel *p = external_panel_load(path, NULL);
    if (!p)
        return;
    const LithoParamTable *table = &p->op.params;
    g_autofree void *params = g_malloc0(table->size), *again = g_malloc0(table->size);
    litho_param_defaults(table, params);
    litho_param_defaults(table, again);
    g_assert_true(((const ExternalParams *)params)->panel == p);
    for (guint k = 0; k < table->n; k++) {
        const LithoParam *row = &table->rows[k];
        g_autofree char *text = litho_param_print(row, params);
        g_assert_true(litho_param_parse(table, again, row->key, text, NULL));
        g_assert_true(litho_param_equal(row, params, again));
    }
    for (const LithoPreset *preset = p->op.presets; preset->name; preset++)
        g_assert_true(litho_operator_preset(&p->op, preset->name, params, NULL));
    external_panel_free(p);
}

static void twsm_model(const uint8_t *data, size_t size)
{
    g_autofree char *path = put("model.json", data, size);
    g_autoptr(LithoResolved) files = litho_resolved_new();
    g_autoptr(TwsmModel) model = twsm_model_load(path, files, NULL, NULL);
    if (model)
        twsm_model_trace_codes(model, NULL);
}

// A person presses Cancel after so many looks at it: an interpolation that takes seconds tells a
// fuzzer nothing.
static gboolean has_waited(gpointer looks)
{
    return ++*(int *)looks > 200;
}

static void twsm_grid(const uint8_t *data, size_t size)
{
    int looks = 0;
    LithoRun run = {.threads = 1, .superseded = has_waited, .superseded_data = &looks};
    g_autofree char *grid = put("grid.npy", data, size), *points = put("points.txt", data, size);
    twsm_heights_free(twsm_heights_from_npy(grid, 0, 0, 10, 10, NULL));
    twsm_heights_free(twsm_heights_from_horizon(grid, 10, &run, NULL));
    twsm_heights_free(twsm_heights_from_horizon(points, 0, &run, NULL));
    gint64 shape[3];
    g_free(litho_npy_read(grid, 3, 1 << 20, shape, NULL));
}

static void twsm_sheet(const uint8_t *data, size_t size)
{
    g_autofree char *path = put("sheet.obj", data, size);
    static const double x[2] = {-2, 12}, y[2] = {-3, 11};
    g_autoptr(TwsmSheet) sheet = twsm_sheet_load(path, NULL, NULL);
    if (sheet)
        twsm_heights_free(twsm_sheet_heights(sheet, x, y, 9, 8, NULL, NULL));
}

static void velocity(const uint8_t *data, size_t size)
{
    g_autofree char *path = put("velocity.txt", data, size);
    g_autoptr(LithoResolved) known = litho_migrate_model_resolve(path, NULL, NULL);
    g_autoptr(LithoMigrateModel) model = known ? litho_migrate_model_of(path, known, NULL) : NULL;
    if (model)
        litho_migrate_model_range(model);
}

static void colormap(const uint8_t *data, size_t size)
{
    g_autofree char *path = put("map.csv", data, size);
    g_free(litho_colormap_load(path, NULL));
}

// --- coefficients -------------------------------------------------------------------------------

// The operator's own job, and the reader called directly: the fuzzer instruments the reader of this
// program, which the operator in its library would not call.
typedef struct Packets {
    WpJob *job;
    LithoCube *cube, *out;
    LithoWavepacketParams params;
    char *path;
} Packets;

static guint64 plenty(const LithoRun *run)
{
    (void)run;
    return G_GUINT64_CONSTANT(1) << 32;
}

static void run_job(Packets *p)
{
    LithoRun run = {.threads = 1, .writes = TRUE, .force = TRUE};
    const LithoPass pass = {.params = &p->params,
                            .first_stage = 1,
                            .in = p->cube,
                            .region = litho_box_full(&p->cube->grid),
                            .out = p->out};
    g_assert_true(wp_job_run(p->job, &pass, &run, NULL));
}

static Packets *packets(void)
{
    static const WpMachine machine = {.engine = wp_engine_cpu, .available = plenty};
    static Packets p;
    if (p.job)
        return &p;
    const LithoOperator *op = litho_operator_find("wavepacket");
    LithoGrid grid = litho_grid_new(12, 12, 24);
    LithoRun run = {.threads = 1};
    p.cube = litho_cube_new(&grid, NULL);
    p.out = litho_cube_new(&grid, NULL);
    for (int k = 0; k < 12 * 12 * 24; k++)
        p.cube->samples[k] = (float)(k * 37 % 101) - 50;
    litho_param_defaults(&op->params, &p.params);
    p.params.mode = WP_COMPRESS;
    p.params.keep = 0.01;
    p.path = g_build_filename(root, "kept.lwp", NULL);
    g_strlcpy(p.params.coefficients.text, p.path, sizeof p.params.coefficients.text);
    p.job = wp_job_new(&grid, &p.params, &machine, &run, NULL);
    g_assert_nonnull(p.job);
    run_job(&p);
    return &p;
}

// Files of the first version: behind the checksum of the second one no mutation would get far.
static void coefficients(const uint8_t *data, size_t size)
{
    Packets *p = packets();
    g_autofree char *path = put("a.lwp", data, size);
    LithoRun run = {.threads = 1};
    if (wp_lanes_begin(p->job, &run, NULL) && wp_coefficients_expand(p->job, path, 0, &run, NULL))
        wp_lanes_finish(p->job, &run, NULL);
}

static void seed_coefficients(const char *folder)
{
    Packets *p = packets();
    g_autofree char *data = NULL, *seed = g_build_filename(folder, "seed-000", NULL);
    gsize n;
    run_job(p);
    g_assert(g_file_get_contents(p->path, &data, &n, NULL) && n > 44);
    data[7] = '1';
    g_file_set_contents(seed, data, (gssize)n - 32, NULL);
    g_free(put("kept.lwp", (const uint8_t *)data, n - 32));
    g_autoptr(GError) error = NULL; // a seed that is refused would lead nowhere
    LithoRun run = {.threads = 1};
    if (!wp_lanes_begin(p->job, &run, &error) ||
        !wp_coefficients_expand(p->job, p->path, 0, &run, &error))
        g_error("%s", error->message);
}

// --- the table ----------------------------------------------------------------------------------

static const char *const recipes[] = {
    "{\"lithoscope\":1,\"flow\":[{\"operator\":\"fx\",\"enabled\":true,\"params\":{\"half_width\":"
    "2,"
    "\"prewhitening\":0.5,\"outband\":\"mute\"}}]}",
    "{\"lithoscope\":1,\"flow\":[{\"operator\":\"wavepacket\",\"params\":{\"mode\":\"compress\","
    "\"keep\":0.1}},{\"operator\":\"migrate\",\"enabled\":false,\"params\":{\"velocity\":\"2000\"}}"
    "]}",
    NULL};
static const char *const sessions[] = {
    "{\"lithoscope-session\":1,\"recipe\":{\"lithoscope\":1,\"flow\":[{\"operator\":\"fx\"}]},"
    "\"undo\":[{\"name\":\"half_width\",\"recipe\":{\"lithoscope\":1,\"flow\":[]}}],\"redo\":[],"
    "\"snapshots\":[{\"letter\":\"A\",\"name\":\"x\",\"recipe\":{\"lithoscope\":1,\"flow\":[]}}],"
    "\"open\":{\"inline_byte\":5,\"dt\":0.004},\"colours_unsigned\":\"grey\"}",
    NULL};
static const char *const profiles[] = {
    "{\"open\":{\"inline_byte\":5,\"xline_byte\":21,\"dt\":0.004,\"file_order\":true},"
    "\"words\":[\"CLIENT\",\"COMPANY\"]}",
    NULL};
static const char *const panels[] = {
    "{\"lithoscope_operator\":1,\"key\":\"own\",\"title\":\"Own\",\"summary\":\"S.\",\"command\":"
    "[\"a\",\"b\"],\"halo\":[1,\"2*n\",\"all\"],\"missing\":\"nan\",\"memory\":2.5,\"parameters\":[{\"key\":"
    "\"n\",\"label\":\"N\",\"type\":\"int\",\"default\":3,\"min\":1,\"max\":9,\"slider\":[2,5],\"log\":true,"
    "\"find\":[2,4],\"help\":\"H.\"},{\"key\":\"m\",\"label\":\"M\",\"type\":\"choice\",\"choices\":[\"a\","
    "\"b\"],\"default\":\"b\",\"help\":\"H.\"}],\"presets\":[{\"name\":\"p\",\"settings\":\"n=4 m=a\","
    "\"help\":\"H.\"}]}",
    "{\"lithoscope_operator\":1,\"key\":\"own\",\"title\":\"Own\",\"summary\":\"S.\",\"command\":[\"a\"],"
    "\"halo\":[0,0,\"0.5*w\"],\"fills\":true,\"one_cube\":true,\"parameters\":[{\"key\":\"w\",\"label\":\"W\","
    "\"type\":\"float\",\"unit\":\"ms\",\"default\":1e-3,\"min\":-1e30,\"max\":1e30,\"step\":0.1,\"help\":\"H.\"},"
    "{\"key\":\"t\",\"label\":\"T\",\"type\":\"text\",\"default\":\"x y\",\"help\":\"H.\"},{\"key\":\"f\","
    "\"label\":\"F\",\"type\":\"file\",\"help\":\"H.\"},{\"key\":\"b\",\"label\":\"B\",\"type\":\"bool\",\"default\":"
    "true,\"advanced\":true,\"help\":\"H.\"}]}",
    NULL};
static const char *const zarrs[] = {
    "{\"zarr_format\":2,\"shape\":[2,2,4],\"chunks\":[2,1,4],\"dtype\":\"<f4\",\"fill_value\":\"NaN\","
    "\"order\":\"C\",\"filters\":null,\"compressor\":null,\"dimension_separator\":\".\"}",
    "{\"zarr_format\":2,\"shape\":[2,2,4],\"chunks\":[1,2,9],\"dtype\":\">i2\",\"fill_value\":1e9,"
    "\"filters\":[],\"compressor\":{\"id\":\"zlib\",\"level\":1},\"_ARRAY_DIMENSIONS\":[\"a\",\"b\",\"z\"],"
    "\"dimension\":[{\"name\":\"a\",\"coords\":[1,2]},{\"name\":\"b\",\"coords\":[4,6]},{\"name\":\"t\","
    "\"coords\":[0,4,8,12]}]}",
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[2,2,4],\"data_type\":\"float64\",\"chunk_grid\":"
    "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[1,1,4]}},\"chunk_key_encoding\":{\"name\":"
    "\"v2\",\"configuration\":{\"separator\":\".\"}},\"fill_value\":0,\"codecs\":[{\"name\":\"bytes\","
    "\"configuration\":{\"endian\":\"big\"}},{\"name\":\"zstd\"},{\"name\":\"crc32c\"}],\"attributes\":{},"
    "\"dimension_names\":[\"inline\",\"\",\"twt\"]}",
    NULL};
static const char *const grids[] = {"1 2 300\n# comment\n11, 2, 310\n1 12 305\n11 12 300\n", NULL};
static const char *const sheets[] = {
    "v 0 0 100\nv 10 0 100\nv 0 10 120\nf 1 2 3\n",
    "GOCAD TSurf 1\nZPOSITIVE Elevation\nTFACE\nVRTX 1 0 0 -100\nVRTX 2 10 0 -100\n"
    "VRTX 3 0 10 -120\nTRGL 1 2 3\nEND\n",
    "v 0 0 100\nv 10 0 100\nv 10 10 90\nv 0 10 120\nf 1/1 2//2 -2/3/3 4 # a quadrangle\n", NULL};
static const char *const tables[] = {"# depth velocity\n0 1500\n500 2000 # m, m/s\n2000,3500\n",
                                     NULL};
static const char *const maps[] = {"r,g,b\n0,0,0\n200,80,30\n255,250,240\n",
                                   "0 0 0\n0.5 1 0.2\n1 1 1\n", NULL};

const LithoFuzzParser *litho_fuzz_parsers(void)
{
    static const LithoFuzzParser all[] = {
        {"segy", litho_fuzz_one, NULL},   {"recipe", recipe, recipes},
        {"session", session, sessions},   {"profile", profile, profiles},
        {"model", twsm_model, NULL},      {"grid", twsm_grid, grids},
        {"sheet", twsm_sheet, sheets},    {"velocity", velocity, tables},
        {"colormap", colormap, maps},     {"coefficients", coefficients, NULL},
        {"panel", panel, panels},         {"zarr", zarr, zarrs},
        {NULL, NULL, NULL},
    };
    return all;
}

static void seed_models(const char *folder)
{
    int k = 0;
    for (const char *const *name = twsm_model_names(); *name; name++, k++) {
        g_autofree char *path = g_strdup_printf("%s/seed-%03d", folder, k);
        g_file_set_contents(path, twsm_model_text(*name), -1, NULL);
    }
}

static void seed_npy(const char *folder)
{
    g_autofree char *path = g_build_filename(folder, "seed-npy", NULL);
    g_autofree char *text = g_strdup_printf("%-69s\n", "{'descr': '<f8', 'fortran_order': False, "
                                                       "'shape': (2, 3), }");
    g_autoptr(GByteArray) all = g_byte_array_new();
    const double z[6] = {100, 110, 120, 100, 105, 110};
    g_byte_array_append(all, (const guint8 *)"\x93NUMPY\1\0\x46\0", 10);
    g_byte_array_append(all, (const guint8 *)text, 70);
    g_byte_array_append(all, (const guint8 *)z, sizeof z);
    g_file_set_contents(path, (const char *)all->data, all->len, NULL);
}

void litho_fuzz_parsers_seed(const LithoFuzzParser *parser, const char *folder)
{
    for (int k = 0; parser->seeds && parser->seeds[k]; k++) {
        g_autofree char *path = g_strdup_printf("%s/seed-%03d", folder, k);
        g_file_set_contents(path, parser->seeds[k], -1, NULL);
    }
    if (parser->parse == litho_fuzz_one)
        litho_fuzz_seeds(folder);
    if (parser->parse == twsm_model)
        seed_models(folder);
    if (parser->parse == twsm_grid)
        seed_npy(folder);
    if (parser->parse == coefficients)
        seed_coefficients(folder);
}

static void remove_root(void)
{
    static const char *const names[] = {"model.json",
                                        "panel.json",
                                        "grid.npy",
                                        "points.txt",
                                        "sheet.obj",
                                        "velocity.txt",
                                        "map.csv",
                                        "kept.lwp",
                                        "a.lwp",
                                        "b.lwp",
                                        "a.zarr/.zarray",
                                        "a.zarr/.zattrs",
                                        "a.zarr/0.0.0",
                                        "a.zarr",
                                        "lithoscope/sessions/fuzz.json.damaged",
                                        "lithoscope/sessions",
                                        "lithoscope/import",
                                        "lithoscope",
                                        ""};
    for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
        g_autofree char *path = g_build_filename(root, names[k], NULL);
        g_remove(path);
    }
}

void litho_fuzz_parsers_start(void)
{
    const char *top = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : g_get_tmp_dir();
    root = g_strdup_printf("%s/litho-fuzz-%d", top, (int)getpid());
    g_autofree char *sessions_dir = g_build_filename(root, "lithoscope/sessions", NULL);
    g_autofree char *import_dir = g_build_filename(root, "lithoscope/import", NULL);
    g_assert(g_mkdir_with_parents(sessions_dir, 0700) == 0);
    g_assert(g_mkdir_with_parents(import_dir, 0700) == 0);
    g_setenv("XDG_STATE_HOME", root, TRUE);
    g_setenv("XDG_CONFIG_HOME", root, TRUE);
    g_setenv("LITHO_MODULE_DIR", "/nonexistent", TRUE);
    litho_kernels_init();
    atexit(remove_root);
}
