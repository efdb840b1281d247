// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/colormap.h"

#include <math.h>
#include <string.h>

#include "core/contents.h"
#include "core/error.h"
#include "core/text.h"
#include "core/words.h"

// --- Oklab (B. Ottosson, "A perceptual color space for image processing", 2020) ------------------

typedef struct Lch {
    double L, C, h; // lightness 0..1, chroma, hue in degrees
} Lch;

static double srgb_encode(double x)
{
    return x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055;
}

static double cube(double x)
{
    return x * x * x;
}

// Linear-light sRGB of an Oklab colour; components outside 0..1 are outside the screen's gamut.
static void oklab_to_linear(double L, double a, double b, double rgb[3])
{
    double l = cube(L + 0.3963377774 * a + 0.2158037573 * b);
    double m = cube(L - 0.1055613458 * a - 0.0638541728 * b);
    double s = cube(L - 0.0894841775 * a - 1.2914855480 * b);
    rgb[0] = 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s;
    rgb[1] = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s;
    rgb[2] = -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s;
}

static gboolean in_gamut(const double rgb[3])
{
    for (int k = 0; k < 3; k++)
        if (rgb[k] < -1e-4 || rgb[k] > 1 + 1e-4)
            return FALSE;
    return TRUE;
}

// sRGB of `c`, with chroma lowered as far as the gamut wants: lightness and hue are kept, so the
// map stays monotonic in lightness.
static void lch_to_srgb(Lch c, double rgb[3])
{
    double low = 0, high = c.C, ca = cos(c.h * G_PI / 180), sa = sin(c.h * G_PI / 180);
    oklab_to_linear(c.L, c.C * ca, c.C * sa, rgb);
    if (!in_gamut(rgb)) {
        for (int k = 0; k < 24; k++) {
            double mid = (low + high) / 2;
            oklab_to_linear(c.L, mid * ca, mid * sa, rgb);
            *(in_gamut(rgb) ? &low : &high) = mid;
        }
        oklab_to_linear(c.L, low * ca, low * sa, rgb);
    }
    for (int k = 0; k < 3; k++)
        rgb[k] = srgb_encode(CLAMP(rgb[k], 0, 1));
}

// --- the constructions --------------------------------------------------------------------------

// Two branches of constant hue that leave a neutral middle. Lightness runs linearly with distance
// from the middle (equal steps look equal); chroma follows a parabola that peaks at 0.735 of the
// way and stays inside the gamut for the values below: cut-off chroma would show as a false edge.
typedef struct Diverging {
    double negative_hue, positive_hue, middle_L, end_L, chroma;
} Diverging;

// Smooth path through anchors spaced evenly in lightness.
typedef struct Sequential {
    int n;
    Lch anchor[5];
} Sequential;

// Straight lines in sRGB between colours: the classic maps people know by sight.
typedef struct Classic {
    int n;
    double rgb[5][3];
} Classic;

typedef struct Recipe {
    const char *name, *title;
    gboolean diverging;
    const Diverging *two;
    const Sequential *one;
    const Classic *classic;
} Recipe;

static const Recipe recipes[] = {
    // Hues 257 and 27, near the blue and red primaries: apart for every common colour blindness.
    {"blue-white-red", N_("Blue, white, red (perceptual)"), TRUE,
     .two = &(const Diverging){257, 27, 0.985, 0.37, 0.155}},
    {"grey", N_("Grey"), TRUE, .classic = &(const Classic){2, {{0, 0, 0}, {1, 1, 1}}}},
    {"red-white-blue", N_("Red, white, blue (classic)"), TRUE,
     .classic = &(const Classic){3, {{0.75, 0, 0}, {1, 1, 1}, {0, 0, 0.75}}}},
    {"black-white-brown", N_("Black, white, brown"), TRUE,
     .classic =
         &(const Classic){
             5, {{0, 0, 0}, {0.5, 0.5, 0.5}, {1, 1, 1}, {0.74, 0.47, 0.2}, {0.36, 0.16, 0.02}}}},
    {"seismic", N_("Seismic (saturated)"), TRUE,
     .classic = &(const Classic){5, {{0, 0, 0.3}, {0, 0, 1}, {1, 1, 1}, {1, 0, 0}, {0.5, 0, 0}}}},
    {"purple-white-green", N_("Purple, white, green"), TRUE,
     .two = &(const Diverging){315, 150, 0.985, 0.36, 0.115}},
    {"blue-black-amber", N_("Blue, black, amber"), TRUE,
     .two = &(const Diverging){245, 75, 0.16, 0.8, 0.11}},
    {"white-black", N_("Grey, reversed"), TRUE,
     .classic = &(const Classic){2, {{1, 1, 1}, {0, 0, 0}}}},
    {"lagoon", N_("Lagoon (energy)"), FALSE,
     .one = &(const Sequential){5,
                                {{0.22, 0.10, 305},
                                 {0.40, 0.11, 275},
                                 {0.58, 0.085, 215},
                                 {0.76, 0.13, 155},
                                 {0.94, 0.16, 108}}}},
    {"ember", N_("Ember (energy)"), FALSE,
     .one = &(const Sequential){5,
                                {{0.12, 0.04, 290},
                                 {0.33, 0.13, 325},
                                 {0.54, 0.185, 378},
                                 {0.75, 0.15, 415},
                                 {0.97, 0.06, 465}}}},
    {"velocity", N_("Velocity"), FALSE,
     .one = &(const Sequential){5,
                                {{0.34, 0.16, 275},
                                 {0.49, 0.10, 235},
                                 {0.64, 0.10, 170},
                                 {0.79, 0.13, 108},
                                 {0.93, 0.055, 75}}}},
    {"ink", N_("Ink on paper"), FALSE,
     .one = &(const Sequential){2, {{0.98, 0.0, 250}, {0.2, 0.05, 250}}}},
};

static void diverging_at(const Diverging *d, double t, double rgb[3])
{
    double u = fabs(2 * t - 1);
    double w = 0.68 * u;
    Lch c = {d->middle_L + (d->end_L - d->middle_L) * u, d->chroma * 4 * w * (1 - w),
             t < 0.5 ? d->negative_hue : d->positive_hue};
    lch_to_srgb(c, rgb);
}

// Monotone in lightness because lightness is linear; chroma and hue follow a Catmull-Rom spline.
static double spline(double p0, double p1, double p2, double p3, double f)
{
    return p1 + 0.5 * f *
                    (p2 - p0 + f * (2 * p0 - 5 * p1 + 4 * p2 - p3 + f * (3 * (p1 - p2) + p3 - p0)));
}

static void sequential_at(const Sequential *s, double t, double rgb[3])
{
    int k = CLAMP((int)(t * (s->n - 1)), 0, s->n - 2);
    double f = t * (s->n - 1) - k;
    const Lch *b = &s->anchor[k], *c = &s->anchor[k + 1];
    const Lch *a = &s->anchor[MAX(k - 1, 0)], *d = &s->anchor[MIN(k + 2, s->n - 1)];
    Lch at = {b->L + (c->L - b->L) * f, MAX(spline(a->C, b->C, c->C, d->C, f), 0),
              spline(a->h, b->h, c->h, d->h, f)};
    lch_to_srgb(at, rgb);
}

static void classic_at(const Classic *s, double t, double rgb[3])
{
    int k = CLAMP((int)(t * (s->n - 1)), 0, s->n - 2);
    double f = t * (s->n - 1) - k;
    for (int c = 0; c < 3; c++)
        rgb[c] = s->rgb[k][c] + (s->rgb[k + 1][c] - s->rgb[k][c]) * f;
}

static void set_entry(LithoColormap *map, int k, const double rgb[3])
{
    for (int c = 0; c < 3; c++)
        map->rgba[k][c] = (guint8)lrint(CLAMP(rgb[c], 0, 1) * 255);
    map->rgba[k][3] = 255;
}

static void build(LithoColormap *map, const Recipe *recipe)
{
    g_strlcpy(map->name, recipe->name, sizeof map->name);
    g_strlcpy(map->title, litho_text(recipe->title), sizeof map->title);
    map->diverging = recipe->diverging;
    for (int k = 0; k < LITHO_COLORMAP_SIZE; k++) {
        double rgb[3], t = k / (LITHO_COLORMAP_SIZE - 1.0);
        if (recipe->two)
            diverging_at(recipe->two, t, rgb);
        else if (recipe->one)
            sequential_at(recipe->one, t, rgb);
        else
            classic_at(recipe->classic, t, rgb);
        set_entry(map, k, rgb);
    }
}

// --- looking up ---------------------------------------------------------------------------------

const LithoColormap *const *litho_colormaps(void)
{
    static const LithoColormap *list[G_N_ELEMENTS(recipes) + 1];
    static gsize ready;
    if (g_once_init_enter(&ready)) {
        static LithoColormap maps[G_N_ELEMENTS(recipes)];
        for (guint k = 0; k < G_N_ELEMENTS(recipes); k++) {
            build(&maps[k], &recipes[k]);
            list[k] = &maps[k];
        }
        g_once_init_leave(&ready, 1);
    }
    return list;
}

const LithoColormap *litho_colormap_default(void)
{
    return litho_colormaps()[0];
}

const LithoColormap *litho_colormap_unsigned(void)
{
    return litho_colormap_find("velocity");
}

const LithoColormap *litho_colormap_find(const char *name)
{
    for (const LithoColormap *const *m = litho_colormaps(); *m; m++)
        if (strcmp((*m)->name, name) == 0)
            return *m;
    return NULL;
}

char *litho_colormap_names(void)
{
    GString *names = g_string_new(NULL);
    for (const LithoColormap *const *m = litho_colormaps(); *m; m++)
        g_string_append_printf(names, "%s%s", names->len ? ", " : "", (*m)->name);
    return g_string_free(names, FALSE);
}

const LithoColormap *litho_colormap_get(const char *name_or_path, GError **error)
{
    static GMutex lock;
    static GHashTable *loaded; // path -> LithoColormap, for the life of the process
    // Names that other programs gave the nearest of these maps.
    static const char *const aliases[][2] = {{"gray", "grey"},
                                             {"gray_r", "white-black"},
                                             {"viridis", "lagoon"},
                                             {"magma", "ember"},
                                             {"inferno", "ember"}};
    const char *wanted = name_or_path;
    for (guint k = 0; k < G_N_ELEMENTS(aliases); k++)
        if (g_ascii_strcasecmp(name_or_path, aliases[k][0]) == 0)
            wanted = aliases[k][1];
    const LithoColormap *map = litho_colormap_find(wanted);
    if (map)
        return map;
    if (!g_file_test(name_or_path, G_FILE_TEST_EXISTS)) {
        g_autofree char *names = litho_colormap_names();
        g_auto(GStrv) known = g_strsplit(names, ", ", -1);
        g_autofree char *choices = litho_word_choices(name_or_path, (const char *const *)known);
        litho_refuse(error, LITHO_ERROR_PARAMETER,
                     "there is no colour map '%s', nor a file of that name; %s", name_or_path,
                     choices);
        return NULL;
    }
    g_mutex_lock(&lock);
    if (!loaded)
        loaded = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    map = g_hash_table_lookup(loaded, name_or_path);
    if (!map && (map = litho_colormap_load(name_or_path, error)))
        g_hash_table_insert(loaded, g_strdup(name_or_path), (gpointer)map);
    g_mutex_unlock(&lock);
    return map;
}

void litho_colormap_at(const LithoColormap *map, double t, double rgb[3])
{
    double p = isnan(t) ? 127.5 : CLAMP(t, 0, 1) * (LITHO_COLORMAP_SIZE - 1);
    int k = MIN((int)p, LITHO_COLORMAP_SIZE - 2);
    for (int c = 0; c < 3; c++) {
        double a = map->rgba[k][c], b = map->rgba[k + 1][c];
        rgb[c] = (a + (b - a) * (p - k)) / 255;
    }
}

// --- files --------------------------------------------------------------------------------------

// Numbers at the begin of a row, five at most: in "0,5;1;0" the comma is a decimal mark.
static int parse_row(char *line, double number[5])
{
    int n = 0;
    for (char *c = line; strchr(line, ';') && *c; c++)
        if (*c == ',')
            *c = '.';
    for (; n < 5; n++) {
        char *end;
        line += strspn(line, ",; \t");
        number[n] = g_ascii_strtod(line, &end);
        if (end == line || (*end && !strchr(",; \t", *end)))
            break; // a name, such as Infrared or 100%
        line = end;
    }
    return n;
}

// A fourth number is how opaque the colour is; another one would be a position before the colour.
static gboolean is_colour(const double number[5], int n)
{
    return n == 3 || (n == 4 && (number[3] == 1 || number[3] == 255));
}

static GArray *parse_rows(char *text, const char *path, GError **error)
{
    GArray *rows = g_array_new(FALSE, FALSE, 3 * sizeof(double));
    g_autoptr(GString) plain = g_string_new(text);
    g_string_replace(plain, "\r\n", "\n", 0);
    g_string_replace(plain, "\r", "\n", 0);
    g_auto(GStrv) lines = g_strsplit(plain->str, "\n", -1);
    gboolean header_seen = FALSE;
    for (int k = 0; lines[k]; k++) {
        char *line = g_strstrip(lines[k]);
        char *comment = strchr(line, '#');
        if (comment)
            *comment = 0;
        if (!*line)
            continue;
        double rgb[5];
        g_autofree char *numbers = g_strdup(line);
        const int n = parse_row(numbers, rgb);
        if (is_colour(rgb, n)) {
            for (int c = 0; c < 3; c++)
                if (!(rgb[c] >= 0 && rgb[c] <= 255)) {
                    g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                                _("%s, line %d: colour %g lies outside 0..255"), path, k + 1,
                                rgb[c]);
                    g_array_unref(rows);
                    return NULL;
                }
            g_array_append_val(rows, rgb);
        } else if (n > 2 || rows->len > 0 || header_seen) {
            g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                        _("%s, line %d: three numbers r,g,b are needed, found '%s'"), path, k + 1,
                        line);
            g_array_unref(rows);
            return NULL;
        } else {
            header_seen = TRUE;
        }
    }
    return rows;
}

static double luma(const guint8 rgba[4])
{
    return 0.2126 * rgba[0] + 0.7152 * rgba[1] + 0.0722 * rgba[2];
}

// As much of a name as fits, cut between letters; bytes that are no text become U+FFFD.
static void copy_name(char *to, const char *name, gsize size)
{
    g_autofree char *valid = g_utf8_make_valid(name, -1);
    const char *end;
    g_strlcpy(to, valid, size);
    if (!g_utf8_validate(to, -1, &end))
        to[end - to] = '\0';
}

LithoColormap *litho_colormap_load(const char *path, GError **error)
{
    g_autofree char *text = litho_contents_load_text(path, LITHO_CONTENTS_TEXT, error);
    if (!text)
        return NULL;
    g_autoptr(GArray) rows = parse_rows(text, path, error);
    if (!rows)
        return NULL;
    if (rows->len < 2) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                    _("%s holds %u colours; a map needs 2 rows r,g,b or more"), path, rows->len);
        return NULL;
    }
    const double(*row)[3] = (const double(*)[3])rows->data;
    double top = 0;
    for (guint k = 0; k < rows->len; k++)
        top = MAX(top, MAX(row[k][0], MAX(row[k][1], row[k][2])));
    double unit = top > 1 ? 255 : 1;

    LithoColormap *map = g_new0(LithoColormap, 1);
    g_autofree char *base = g_path_get_basename(path);
    char *dot = strrchr(base, '.');
    if (dot && dot != base)
        *dot = 0;
    copy_name(map->name, base, sizeof map->name);
    copy_name(map->title, base, sizeof map->title);
    for (int k = 0; k < LITHO_COLORMAP_SIZE; k++) {
        double p = k / (LITHO_COLORMAP_SIZE - 1.0) * (rows->len - 1), rgb[3];
        guint at = MIN((guint)p, rows->len - 2);
        for (int c = 0; c < 3; c++)
            rgb[c] = (row[at][c] + (row[at + 1][c] - row[at][c]) * (p - at)) / unit;
        set_entry(map, k, rgb);
    }
    double a = luma(map->rgba[0]), m = luma(map->rgba[128]), b = luma(map->rgba[255]);
    map->diverging = (m > a + 25 && m > b + 25) || (m < a - 25 && m < b - 25);
    return map;
}
