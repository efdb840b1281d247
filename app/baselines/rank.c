// SPDX-License-Identifier: GPL-3.0-or-later
//
// Damped rank reduction: at one frequency a window of n1 x n2 traces makes a block Hankel matrix,
// whose rank is the number of plane waves (Oropeza and Sacchi, 2011). Its `rank` leading singular
// vectors stay, damped by 1 - (s[rank] / s[i])^4 (Huang et al., 2016, damping factor 4), and the
// mean over entries of the same trace gives the window back. Missing traces: the same again and
// again, recorded traces put back in between.
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "app/baselines/baselines.h"
#include "app/baselines/slices.h"
#include "core/memory.h"

enum { WINDOW = 20, OVERLAP = 8 };         // traces
enum { RANK = 5, FILL_RANK = 10 };         // against noise; without noise more waves can be told
enum { DAMPING = 4, STEPS = 12 };

// LAPACK: eigenvalues il .. iu (from 1, ascending) of a Hermitian matrix, and their vectors.
void zheevr_(const char *job, const char *range, const char *uplo, const int *n, double complex *a,
             const int *lda, const double *vl, const double *vu, const int *il, const int *iu,
             const double *abstol, int *m, double *w, double complex *z, const int *ldz,
             int *isuppz, double complex *work, const int *lwork, double *rwork, const int *lrwork,
             int *iwork, const int *liwork, int *info);

// One window's sizes and memory; one thread each.
typedef struct Hankel {
    int n1, n2, k1, k2, l1, l2; // traces; blocks: k + l - 1 = n per axis
    int rows, columns;          // l1 l2 and k1 k2
    int rank;
    double complex *m, *gram, *vectors, *image, *work;
    double *values, *rwork;
    int *iwork, *support;
    int lwork, lrwork, liwork;
} Hankel;

static void hankel_init(Hankel *h, int n1, int n2, int rank)
{
    h->rank = rank;
    h->n1 = n1;
    h->n2 = n2;
    h->l1 = n1 / 2 + 1;
    h->l2 = n2 / 2 + 1;
    h->k1 = n1 + 1 - h->l1;
    h->k2 = n2 + 1 - h->l2;
    h->rows = h->l1 * h->l2;
    h->columns = h->k1 * h->k2;
    h->lwork = 34 * h->columns;
    h->lrwork = 24 * h->columns;
    h->liwork = 10 * h->columns;
    h->m = g_new(double complex, (gsize)h->rows * h->columns);
    h->gram = g_new(double complex, (gsize)h->columns * h->columns);
    h->vectors = g_new(double complex, (gsize)h->columns * (rank + 1));
    h->image = g_new(double complex, (gsize)h->rows * (rank + 1));
    h->work = g_new(double complex, h->lwork);
    h->values = g_new(double, h->columns);
    h->rwork = g_new(double, h->lrwork);
    h->iwork = g_new(int, h->liwork);
    h->support = g_new(int, 2 * h->columns);
}

static void hankel_clear(Hankel *h)
{
    gpointer all[] = {h->m,    h->gram,   h->vectors, h->image,  h->work,
                      h->values, h->rwork, h->iwork,   h->support};
    for (guint k = 0; k < G_N_ELEMENTS(all); k++)
        g_free(all[k]);
}

// Leading eigenpairs of M^H M: right singular vectors v_i and s_i^2, ascending. FALSE: LAPACK gave
// up.
static gboolean leading(Hankel *h)
{
    const double complex one = 1, zero = 0;
    const double tolerance = 0;
    const int n = h->columns, il = MAX(n - h->rank, 1);
    int found = 0, info = 0;
    // Columns of h->m are stored behind each other.
    cblas_zgemm(CblasColMajor, CblasConjTrans, CblasNoTrans, n, n, h->rows, &one, h->m, h->rows,
                h->m, h->rows, &zero, h->gram, n);
    zheevr_("V", "I", "L", &n, h->gram, &n, NULL, NULL, &il, &n, &tolerance, &found, h->values,
            h->vectors, &n, h->support, h->work, &h->lwork, h->rwork, &h->lrwork, h->iwork,
            &h->liwork, &info);
    return info == 0 && found == n - il + 1;
}

// The window `s` of traces becomes its damped approximation.
static void reduce(Hankel *h, double complex *s)
{
    const double complex one = 1, zero = 0;
    double energy = 0;
    for (int k = 0; k < h->n1 * h->n2; k++)
        energy += creal(s[k]) * creal(s[k]) + cimag(s[k]) * cimag(s[k]);
    for (int c = 0; c < h->columns; c++)
        for (int r = 0; r < h->rows; r++)
            h->m[(gsize)c * h->rows + r] =
                s[(c / h->k2 + r / h->l2) * h->n2 + c % h->k2 + r % h->l2];
    if (energy <= 0 || h->columns <= h->rank || !leading(h))
        return;
    // values[0] is s^2 of the first wave that is left out, values[1 .. rank] those that stay.
    cblas_zgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, h->rows, h->rank + 1, h->columns, &one,
                h->m, h->rows, h->vectors, h->columns, &zero, h->image, h->rows);
    for (int i = 0; i <= h->rank; i++) {
        const double ratio = h->values[i] > 0 ? MAX(h->values[0], 0) / h->values[i] : 1;
        const double keep = i ? 1 - pow(ratio, DAMPING / 2.0) : 0;
        for (int r = 0; r < h->rows; r++)
            h->image[(gsize)i * h->rows + r] *= keep;
    }
    cblas_zgemm(CblasColMajor, CblasNoTrans, CblasConjTrans, h->rows, h->columns, h->rank + 1, &one,
                h->image, h->rows, h->vectors, h->columns, &zero, h->m, h->rows);
    memset(s, 0, (gsize)h->n1 * h->n2 * sizeof *s);
    for (int c = 0; c < h->columns; c++)
        for (int r = 0; r < h->rows; r++)
            s[(c / h->k2 + r / h->l2) * h->n2 + c % h->k2 + r % h->l2] +=
                h->m[(gsize)c * h->rows + r];
    for (int k = 0; k < h->n1 * h->n2; k++) {
        const int i = k / h->n2, j = k % h->n2;
        const int times = MIN(MIN(i + 1, h->n1 - i), MIN(h->l1, h->k1)) *
                          MIN(MIN(j + 1, h->n2 - j), MIN(h->l2, h->k2));
        s[k] /= times;
    }
}

// Reduction of one window; with `live` what is recorded goes back between STEPS of them.
static void treat(Hankel *h, double complex *s, const guint8 *live)
{
    const int n = h->n1 * h->n2;
    g_autofree double complex *recorded = live ? g_memdup2(s, n * sizeof *s) : NULL;
    for (int step = 0; step < (live ? STEPS : 1); step++) {
        reduce(h, s);
        for (int k = 0; live && k < n; k++)
            if (live[k])
                s[k] = recorded[k];
    }
}

static void filter_slice(double complex *slice, gint64 n1, gint64 n2, gconstpointer data)
{
    const LithoCube *mask = data; // NULL = no traces are filled
    const gint64 w1 = MIN(WINDOW, n1), w2 = MIN(WINDOW, n2);
    const gint64 count1 = litho_baseline_windows(n1, w1, OVERLAP);
    const gint64 count2 = litho_baseline_windows(n2, w2, OVERLAP);
    g_autofree double complex *out = g_new0(double complex, n1 * n2);
    g_autofree double complex *window = g_new(double complex, w1 * w2);
    g_autofree double *weight = g_new0(double, n1 * n2);
    g_autofree guint8 *live = g_new(guint8, w1 * w2);
    Hankel h;
    hankel_init(&h, (int)w1, (int)w2, mask ? FILL_RANK : RANK);
    for (gint64 w = 0; w < count1 * count2; w++) {
        const gint64 at1 = litho_baseline_start(n1, w1, count1, w / count2);
        const gint64 at2 = litho_baseline_start(n2, w2, count2, w % count2);
        for (gint64 k = 0; k < w1 * w2; k++) {
            const gint64 trace = (at1 + k / w2) * n2 + at2 + k % w2;
            window[k] = slice[trace];
            live[k] = mask ? mask->live[trace] : 1;
        }
        treat(&h, window, mask ? live : NULL);
        for (gint64 k = 0; k < w1 * w2; k++) {
            const gint64 trace = (at1 + k / w2) * n2 + at2 + k % w2;
            const double ramp = litho_baseline_ramp(k / w2, w1, OVERLAP) *
                                litho_baseline_ramp(k % w2, w2, OVERLAP);
            out[trace] += ramp * window[k];
            weight[trace] += ramp;
        }
    }
    for (gint64 k = 0; k < n1 * n2; k++)
        slice[k] = out[k] / weight[k];
    hankel_clear(&h);
}

// Matrices are small: one thread a frequency, none within BLAS.
static gboolean filter(const LithoCube *in, const LithoCube *mask, LithoCube *out, LithoRun *run,
                       GError **error)
{
    openblas_set_num_threads(1);
    return litho_baseline_slices(in, filter_slice, mask, out, run, error);
}

static gboolean denoise(const LithoCube *in, LithoCube *out, LithoRun *run, GError **error)
{
    return filter(in, NULL, out, run, error);
}

static gboolean fill(const LithoCube *in, LithoCube *out, LithoRun *run, GError **error)
{
    const gint64 n = in->grid.axis[2].n, traces = litho_grid_traces(&in->grid);
    if (!filter(in, in, out, run, error))
        return FALSE;
    for (gint64 t = 0; t < traces; t++)
        if (in->live[t])
            memcpy(out->samples + t * n, in->samples + t * n, n * sizeof *out->samples);
    return TRUE;
}

const LithoBaseline litho_baseline_rank = {
    .name = "drr3d",
    .title = "Damped rank reduction",
    .doc = "Windows of 20 x 20 traces and 150 samples: the 5 leading singular vectors of each "
           "frequency's block Hankel matrix, damped (Huang et al., 2016); 12 repetitions with 10 "
           "of them fill missing traces.",
    .denoise = denoise,
    .fill = fill,
};
