// SPDX-License-Identifier: GPL-3.0-or-later
//
// Triangulated sheets of tip-wave modelling: what their files may hold, and depths beside them.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "kernels/twsm/heights.h"
#include "tests/common.h"

static TwsmSheet *load(const char *text, GError **error)
{
    g_autofree char *folder = g_dir_make_tmp("sheet-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "sheet.obj", NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    TwsmSheet *sheet = twsm_sheet_load(path, NULL, error);
    remove(path);
    remove(folder);
    return sheet;
}

#define SIX "v 0 0 1\nv 1 0 2.5\nv\t2  1 -3e1 0.5\nv 1 2 4\r\nv 0 2 5\nv -1 1 6 # the last\n"

// Property: a face of any number of corners becomes a fan of triangles without a hole, in every
// way in which corners are written; lines that are no geometry are passed over. A file read as
// triangles of its first three corners lacks half of every quadrangle and says nothing.
static void test_faces(void)
{
    static const struct {
        const char *text;
        int n, triangle[4][3];
    } cases[] = {
        {SIX "f 1 2 3\n", 1, {{0, 1, 2}}},
        {SIX "f 1 2 3 4\n", 2, {{0, 1, 2}, {0, 2, 3}}},
        {SIX "g hull\nf 1/7 2/8 3/9 4/10\r\n", 2, {{0, 1, 2}, {0, 2, 3}}},
        {SIX "vn 0 0 1\nvt 0 1\nf\t6//1  5//2\t4//3 # and no more\n", 1, {{5, 4, 3}}},
        {SIX "usemtl f\nf 1/1/1 2/2/2 3/3/3 4/4/4 5/5/5 6/6/6\n",
         4,
         {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}}},
        {SIX "f -6 -5 -4 -3\n", 2, {{0, 1, 2}, {0, 2, 3}}},
        {"GOCAD TSurf 1\nHEADER {\nname: f\n}\nZPOSITIVE Depth\nTFACE\nVRTX 7 0 0 1\n"
         "PVRTX 9 1 0 2.5 0.3\nVRTX 3 2 1 -30\nVRTX 4 1 2 4 CNXYZ\nTRGL 9 3 7\nTRGL 7 3 4\nEND\n",
         2,
         {{1, 2, 0}, {0, 2, 3}}},
    };
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(TwsmSheet) sheet = load(cases[k].text, &error);
        g_assert_no_error(error);
        g_assert_cmpint(sheet->n_triangles, ==, cases[k].n);
        g_assert_cmpmem(sheet->triangle, sizeof(int[3]) * cases[k].n, cases[k].triangle,
                        sizeof(int[3]) * cases[k].n);
        g_assert_cmpfloat(sheet->vertex[1][2], ==, 2.5);
        g_assert_cmpfloat(sheet->vertex[2][2], ==, -30);
    }
    g_autoptr(TwsmSheet) up = load("ZPOSITIVE Elevation\nVRTX 1 0 0 -8\nVRTX 2 1 0 -8\n"
                                   "VRTX 3 1 1 -8\nTRGL 1 2 3\n",
                                   NULL);
    g_assert_cmpfloat(up->vertex[2][2], ==, 8);
}

// Property: a line that begins as geometry and is none is refused with its number, not skipped.
static void test_refused(void)
{
    static const char *const last[] = {
        "f 1 2",      "f 1 2 7",           "f 1 2 3 7",  "f 1 2 3 x", "f 0 1 2", "f 1 2 -7",
        "f 1 2 2.5",  "f 1 2 99999999999", "f",          "v 1 2",     "v 1 2 x", "v 1 2 nan",
        "VRTX 1 2 3", "VRTX x 1 2 3",      "TRGL 1 2 3", "TRGL 1 2",
    };
    for (guint k = 0; k < G_N_ELEMENTS(last); k++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = g_strconcat(SIX "f 1 2 3\n", last[k], "\n", NULL);
        g_assert_null(load(text, &error));
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, "line 8 "));
        g_assert_nonnull(strstr(error->message, last[k]));
    }
}

// A sheet of one small triangle and `n` vertices besides, in the part of a rectangle that `wide` is
// of its width; vertex 0 lies twice.
static TwsmSheet *scattered(int n, double wide)
{
    GRand *rand = g_rand_new_with_seed(11);
    TwsmSheet *sheet = g_new0(TwsmSheet, 1);
    *sheet =
        (TwsmSheet){n, 1, g_malloc_n(n, sizeof *sheet->vertex), g_malloc(sizeof *sheet->triangle)};
    for (int k = 0; k < n; k++) {
        sheet->vertex[k][0] = g_rand_double_range(rand, -1000, 1000) * wide;
        sheet->vertex[k][1] = g_rand_double_range(rand, 0, 700);
        sheet->vertex[k][2] = k;
    }
    memcpy(sheet->vertex[n / 2], sheet->vertex[0], sizeof(double[2]));
    for (int c = 0; c < 3; c++)
        sheet->triangle[0][c] = c;
    g_rand_free(rand);
    return sheet;
}

static gboolean in_triangle(const TwsmSheet *sheet, double x, double y)
{
    double turn[3];
    for (int c = 0; c < 3; c++) {
        const double *a = sheet->vertex[c], *b = sheet->vertex[(c + 1) % 3];
        turn[c] = (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
    }
    return (turn[0] >= -1 && turn[1] >= -1 && turn[2] >= -1) ||
           (turn[0] <= 1 && turn[1] <= 1 && turn[2] <= 1);
}

// Property: beside its triangles a sheet has the depth of the vertex that is nearest, the first in
// the file where two are, for clouds of any shape and places far off.
static void test_beside(void)
{
    enum { N = 400, NX = 37, NY = 29 };
    static const double wide[] = {1, 1e-3, 0};
    const double x[2] = {-2500, 1700}, y[2] = {-3000, 2200};
    for (guint k = 0; k < G_N_ELEMENTS(wide); k++) {
        g_autoptr(TwsmSheet) sheet = scattered(N, wide[k]);
        g_autoptr(TwsmHeights) h = twsm_sheet_heights(sheet, x, y, NX, NY, NULL, NULL);
        for (int p = 0; p < NX * NY; p++) {
            const double px = h->x0 + p % NX * h->dx, py = h->y0 + p / NX * h->dy;
            int nearest = 0;
            double least = INFINITY;
            for (int v = 0; v < N; v++) {
                const double dx = sheet->vertex[v][0] - px, dy = sheet->vertex[v][1] - py;
                if (dx * dx + dy * dy < least) {
                    least = dx * dx + dy * dy;
                    nearest = v;
                }
            }
            if (!in_triangle(sheet, px, py))
                g_assert_cmpfloat(h->z[p], ==, nearest);
        }
    }
}

// Property: a grid that lies all beside a sheet of 300,000 vertices is made at once: looking at
// every vertex from every point took seconds, which no cancel ended. A cancel ends it too.
static void test_many(void)
{
    const double x[2] = {-9000, -3000}, y[2] = {800, 5000};
    g_autoptr(TwsmSheet) sheet = scattered(300000, 1);
    const double start = litho_now_ms();
    g_autoptr(TwsmHeights) h = twsm_sheet_heights(sheet, x, y, 128, 128, NULL, NULL);
    g_test_message("%.0f ms", litho_now_ms() - start);
    g_assert_cmpfloat(litho_now_ms() - start, <, TEST_SANITIZED ? 10000 : 1500);
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    g_autoptr(GError) error = NULL;
    LithoRun run = {.cancel = cancel};
    g_cancellable_cancel(cancel);
    g_assert_null(twsm_sheet_heights(sheet, x, y, 128, 128, &run, &error));
    g_assert_true(litho_error_is_cancelled(error));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/twsm-sheet/faces", test_faces);
    g_test_add_func("/twsm-sheet/refused", test_refused);
    g_test_add_func("/twsm-sheet/beside", test_beside);
    g_test_add_func("/twsm-sheet/many", test_many);
    return g_test_run();
}
