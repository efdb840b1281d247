// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz_one.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "core/io/survey.h"
#include "tests/segy_make.h"

static const char *const suffixes[] = {".sgy", ".su", ".npy", ".rsf", ".raw"};

// In memory where the system has it, so that a million runs do not wear a disk.
static char *scratch(const char *suffix)
{
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : g_get_tmp_dir();
    return g_strdup_printf("%s/litho-fuzz-%d%s", folder, (int)getpid(), suffix);
}

static void use_survey(LithoSurvey *survey, int choice)
{
    const LithoGrid *g = litho_survey_grid(survey);
    guint8 header[240];
    litho_survey_trace_header(survey, g->axis[0].n - 1, g->axis[1].n - 1, header, NULL);
    LithoBox box = litho_box_full(g);
    // Large grids are read in part: time is better spent on other inputs.
    if (litho_grid_samples(g) > 1 << 20)
        box = litho_box_slice(g, LITHO_SAMPLE, g->axis[2].n / 2);
    if (litho_box_count(box) > 1 << 22)
        return;
    g_autoptr(LithoCube) cube = litho_survey_read(survey, &box, NULL, NULL);
    if (!cube || !litho_box_equal(box, litho_box_full(g)))
        return;
    g_autofree char *out = scratch(choice & 1 ? "-out.sgy" : "-out.npy");
    LithoSaveOptions save = {.force = TRUE,
                             .endian = choice >> 1 & 1 ? 2 : 0,
                             .note = "fuzzed",
                             .missing = choice >> 2 & 1};
    litho_cube_save(cube, out, &save, NULL, NULL);
    g_unlink(out);
}

void litho_fuzz_one(const uint8_t *data, size_t size)
{
    if (size < 2)
        return;
    g_autofree char *path = scratch(suffixes[data[0] % G_N_ELEMENTS(suffixes)]);
    int fd = g_open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    gboolean written = write(fd, data + 2, size - 2) == (ssize_t)(size - 2);
    close(fd);
    int choice = data[1];
    LithoOpenOptions options = {
        .file_order = (choice & 0x18) == 0x18,
        .duplicates = choice >> 5 & 3,
        .strict = choice == 0xff,
        .inline_byte = choice == 0x10 ? 5 : 0,
        .xline_byte = choice == 0x10 ? 21 : 0,
        .shape = {2, 3, 4},
    };
    const char *paths[] = {path, NULL};
    g_autoptr(LithoSurvey) survey = written ? litho_survey_open(paths, &options, NULL, NULL) : NULL;
    if (survey)
        use_survey(survey, choice);
    g_unlink(path);
}

static void seed(const char *folder, int number, int kind, int choice, const void *bytes, gsize n)
{
    g_autofree char *path = g_strdup_printf("%s/seed-%03d", folder, number);
    GByteArray *all = g_byte_array_new();
    guint8 lead[2] = {(guint8)kind, (guint8)choice};
    g_byte_array_append(all, lead, 2);
    g_byte_array_append(all, bytes, (guint)n);
    g_file_set_contents(path, (const char *)all->data, all->len, NULL);
    g_byte_array_unref(all);
}

static void seed_made(const char *folder, int *number, Make make)
{
    make.n1 = make.n2 = 3;
    make.ns = 6;
    g_autoptr(GByteArray) file = make_file(&make);
    seed(folder, *number, make.su ? 1 : 0, *number * 37 % 251, file->data, file->len);
    ++*number;
}

void litho_fuzz_seeds(const char *folder)
{
    static const int formats[] = {1, 2, 3, 5, 6, 7, 8, 10, 11, 15, 16};
    int number = 0;
    for (guint k = 0; k < G_N_ELEMENTS(formats); k++) {
        Make make = make_plain();
        make.format = formats[k];
        make.order = k % 3 == 1 ? LITHO_ORDER_LITTLE : LITHO_ORDER_BIG;
        make.sorting = (MakeSorting)(k % 4);
        make.revision = k % 2 ? 0x0201 : 0x0100;
        make.ext_text = make.ext_declared = k == 3;
        make.additional = k == 5;
        make.offsets = k == 7 ? 2 : 0;
        seed_made(folder, &number, make);
    }
    Make odd = make_plain();
    odd.ext_text = 2;
    odd.ext_declared = -1;
    odd.end_text = TRUE;
    seed_made(folder, &number, odd);
    odd = make_plain();
    odd.inline_byte = odd.xline_byte = -1;
    odd.angle = 0.4;
    seed_made(folder, &number, odd);
    odd = make_plain();
    odd.su = TRUE;
    odd.format = 5;
    seed_made(folder, &number, odd);

    GByteArray *npy = g_byte_array_new();
    g_byte_array_append(npy, (const guint8 *)"\x93NUMPY\1\0\x46\0", 10);
    g_autofree char *text = g_strdup_printf("%-69s\n", "{'descr': '<f4', 'fortran_order': False, "
                                                       "'shape': (2, 3, 4), }");
    g_byte_array_append(npy, (const guint8 *)text, 70);
    guint8 samples[96] = {0};
    g_byte_array_append(npy, samples, sizeof samples);
    seed(folder, number++, 2, 0, npy->data, npy->len);
    g_byte_array_unref(npy);
    GString *rsf = g_string_new("n1=4 n2=3 n3=2 d1=0.004 o1=0 unit1=\"s\" esize=4 "
                                "data_format=\"native_float\" in=\"stdin\"\n\014\014\004");
    g_string_append_len(rsf, (const char *)samples, sizeof samples);
    seed(folder, number++, 3, 0, rsf->str, rsf->len);
    g_string_free(rsf, TRUE);
    seed(folder, number, 4, 0, samples, sizeof samples);
}
