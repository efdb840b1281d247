// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/twsm/coef.h"

#include <math.h>
#include <string.h>

double complex twsm_coef_plane(const TwsmContact *c, double cos1)
{
    double re, im;
    twsm_contact_plane(c, cos1, &re, &im);
    return CMPLX(re, im);
}

double twsm_coef_frozen(const TwsmContact *c, double cos1)
{
    return twsm_contact_frozen(c, cos1);
}

float *twsm_coef_table(const TwsmContact *contact, gboolean plane)
{
    float *table = g_new0(float, 2 * (TWSM_TABLE + 2));
    for (int k = 0; k <= TWSM_TABLE + 1; k++) {
        double cos1 = MIN(k / (double)TWSM_TABLE, 1);
        double complex c = plane ? twsm_coef_plane(contact, cos1) : twsm_coef_frozen(contact, cos1);
        table[2 * k] = (float)creal(c);
        table[2 * k + 1] = (float)cimag(c);
    }
    return table;
}

// --- effective coefficients -------------------------------------------------------------------

enum {
    MOST_CHI = 512, // columns of a table: chi up to 8e12
    KEPT = 8,       // tables that no model holds, kept for the next
    RUN = 64,       // frequencies that a row looks up at a time
};

// Value (i, j) belongs to cosine[i] and to column j of chi, whatever the table's size: a longer one
// serves shorter needs with equal numbers.
struct TwsmEffective {
    TwsmContact contact;
    double low, fine; // of make_cosines()
    int n_chi, n_cos;
    double *cosine;        // ascending, n_cos
    double complex *value; // [i_chi][i_cos]
    double *weight;        // the rest of TwsmPieces
    int *guide;
    float *piece;
    guint64 serial; // unique: tells device copies apart
    int refs;       // models that hold it; guarded by `lock`
    guint64 used;   // clock of the last use
};

static GMutex lock; // of the list below
static GPtrArray *tables;
static guint64 uses;

// Cosines from `low` to 1: a hundredth apart, and within reach of the critical angle as fine as the
// head wave's transition zone at the highest chi (width about 1/sqrt(chi)) asks for.
static double *make_cosines(double low, double critical, double fine, int *count)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(double));
    for (double at = low; at < 1;) {
        g_array_append_val(list, at);
        double reach = fabs(at - critical);
        at += CLAMP(fine + 0.12 * (reach - fine), fine, 0.01);
    }
    double one = 1;
    g_array_append_val(list, one);
    *count = list->len;
    return (double *)g_array_free(list, FALSE);
}

static void table_free(TwsmEffective *t)
{
    g_free(t->cosine);
    g_free(t->value);
    g_free(t->weight);
    g_free(t->guide);
    g_free(t->piece);
    g_free(t);
}

// Columns [from, n_chi) of the table. FALSE: cancelled.
static gboolean fill_table(TwsmEffective *t, int from, LithoRun *run)
{
    gint stop = 0;
    // Long integrals first keep the threads busy to the end.
#pragma omp parallel for collapse(2) schedule(dynamic, 4) num_threads(litho_run_threads(run))
    for (int j = t->n_chi - 1; j >= from; j--)
        for (int i = 0; i < t->n_cos; i++) {
            if (g_atomic_int_get(&stop) || !litho_run_checkpoint(run))
                g_atomic_int_set(&stop, 1);
            else
                t->value[(gsize)j * t->n_cos + i] = twsm_coef_effective(
                    &t->contact, TWSM_CHI_MIN * exp(j * TWSM_CHI_STEP), t->cosine[i]);
        }
    return !stop;
}

// The cosines as look-ups need them: weights of every four, and where to begin to search.
static void index_cosines(TwsmEffective *t)
{
    t->weight = g_new0(double, 4 * t->n_cos);
    t->guide = g_new(int, TWSM_GUIDES + 1);
    for (int i = 1; i <= t->n_cos - 3; i++)
        for (int m = 0; m < 4; m++) {
            double product = 1;
            for (int l = 0; l < 4; l++)
                product *= l == m ? 1 : t->cosine[i - 1 + m] - t->cosine[i - 1 + l];
            t->weight[4 * i + m] = 1 / product;
        }
    for (int g = 0, i = 0; g <= TWSM_GUIDES; g++) {
        while (i < t->n_cos - 2 && t->cosine[i + 1] <= g / (double)TWSM_GUIDES)
            i++;
        t->guide[g] = i;
    }
}

// The cubics through every four columns, as powers of the place between the inner two.
static void make_pieces(TwsmEffective *t, int threads)
{
    t->piece = g_new0(float, (gsize)TWSM_PIECE * t->n_cos * t->n_chi);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int i = 0; i < t->n_cos; i++)
        for (int j = 1; j <= t->n_chi - 3; j++) {
            const double complex *v = t->value + (gsize)(j - 1) * t->n_cos + i;
            const double complex a = v[0], b = v[t->n_cos], c = v[2 * t->n_cos],
                                 d = v[3 * t->n_cos];
            const double complex power[4] = {b, c - a / 3 - b / 2 - d / 6, (a + c) / 2 - b,
                                             (d - a) / 6 + (b - c) / 2};
            float *to = t->piece + TWSM_PIECE * ((gsize)i * t->n_chi + j);
            for (int m = 0; m < 4; m++) {
                to[2 * m] = (float)creal(power[m]);
                to[2 * m + 1] = (float)cimag(power[m]);
            }
        }
}

static TwsmEffective *table_new(const TwsmContact *contact, double low, double fine, int n_chi)
{
    const double ratio = contact->v1 / contact->v2;
    const double critical = ratio < 1 ? sqrt(1 - ratio * ratio) : 0;
    TwsmEffective *t = g_new0(TwsmEffective, 1);
    t->contact = *contact;
    t->low = low;
    t->fine = fine;
    t->n_chi = n_chi;
    // At least the four cosines that interpolation asks for.
    t->cosine = make_cosines(low, critical, fine, &t->n_cos);
    t->value = g_new(double complex, (gsize)t->n_cos *n_chi);
    return t;
}

static gboolean same_contact(const TwsmContact *a, const TwsmContact *b)
{
    return a->v1 == b->v1 && a->rho1 == b->rho1 && a->v2 == b->v2 && a->rho2 == b->rho2 &&
           a->transmit == b->transmit;
}

// The list's table of this kind with the most columns, or NULL.
static TwsmEffective *find_table(const TwsmContact *contact, double low, double fine)
{
    TwsmEffective *best = NULL;
    for (guint k = 0; tables && k < tables->len; k++) {
        TwsmEffective *t = g_ptr_array_index(tables, k);
        if (same_contact(&t->contact, contact) && t->low == low && t->fine == fine &&
            (!best || t->n_chi > best->n_chi))
            best = t;
    }
    return best;
}

// Adds `fresh` and lets go of the tables that nobody holds, but for the KEPT used last.
static void keep_table(TwsmEffective *fresh)
{
    if (!tables)
        tables = g_ptr_array_new();
    g_ptr_array_add(tables, fresh);
    for (;;) {
        TwsmEffective *oldest = NULL;
        int idle = 0;
        for (guint k = 0; k < tables->len; k++) {
            TwsmEffective *t = g_ptr_array_index(tables, k);
            idle += t->refs == 0;
            if (t->refs == 0 && (!oldest || t->used < oldest->used))
                oldest = t;
        }
        if (idle <= KEPT)
            return;
        g_ptr_array_remove(tables, oldest);
        table_free(oldest);
    }
}

// Numbers that a source, a depth or a mesh moves a little fall into coarse classes, so that the
// table stays: the lowest cosine in twentieths, the spacing of cosines by octaves of chi.
TwsmEffective *twsm_effective_new(const TwsmContact *contact, double chi_max, double cos_min,
                                  LithoRun *run)
{
    const gboolean critical = contact->v1 < contact->v2;
    chi_max = fmax(chi_max, 2 * TWSM_CHI_MIN);
    const double low = CLAMP(floor(cos_min * 20) / 20, 0.05, 0.95);
    const double octave = exp2(ceil(log2(chi_max)));
    const double fine = critical ? fmin(0.01, 0.1 / sqrt(octave)) : 0.01;
    const int n_chi = MIN(4 + (int)(log(chi_max / TWSM_CHI_MIN) / TWSM_CHI_STEP), MOST_CHI);
    g_mutex_lock(&lock);
    TwsmEffective *t = find_table(contact, low, fine);
    if (!t || t->n_chi < n_chi) { // only the columns that no table has are computed
        TwsmEffective *longer = table_new(contact, low, fine, n_chi);
        const int known = t ? t->n_chi : 0;
        if (t)
            memcpy(longer->value, t->value, (gsize)known * t->n_cos * sizeof *t->value);
        if (t)
            t->refs++; // stays while the lock is open
        g_mutex_unlock(&lock);
        const gboolean ok = fill_table(longer, known, run);
        index_cosines(longer);
        make_pieces(longer, litho_run_threads(run));
        g_mutex_lock(&lock);
        if (t)
            t->refs--;
        if (!ok) {
            g_mutex_unlock(&lock);
            table_free(longer);
            return NULL;
        }
        longer->serial = 1 + uses;
        longer->refs = 1;
        longer->used = ++uses;
        keep_table(longer);
        g_mutex_unlock(&lock);
        return longer;
    }
    t->refs++;
    t->used = ++uses;
    g_mutex_unlock(&lock);
    return t;
}

void twsm_effective_free(TwsmEffective *table)
{
    if (!table)
        return;
    g_mutex_lock(&lock);
    table->refs--;
    g_mutex_unlock(&lock);
}

TwsmPieces twsm_effective_pieces(const TwsmEffective *t)
{
    return (TwsmPieces){.n_chi = t->n_chi,
                        .n_cos = t->n_cos,
                        .cosine = t->cosine,
                        .weight = t->weight,
                        .guide = t->guide,
                        .piece = t->piece};
}

guint64 twsm_effective_serial(const TwsmEffective *t)
{
    return t->serial;
}

typedef float Four __attribute__((vector_size(16), may_alias));

// Pieces first .. last of a row: the four cosines' combined.
static void combine(const TwsmPieces *p, int row, const float w[4], int first, int last, float *to)
{
    const float *a = p->piece + TWSM_PIECE * ((gsize)row * p->n_chi + first);
    const float *b = a + (gsize)TWSM_PIECE * p->n_chi, *c = b + (gsize)TWSM_PIECE * p->n_chi;
    const float *d = c + (gsize)TWSM_PIECE * p->n_chi;
    for (int k = 0; k < TWSM_PIECE * (last - first + 1); k++)
        to[k] = w[0] * a[k] + w[1] * b[k] + w[2] * c[k] + w[3] * d[k];
}

void twsm_effective_row(const TwsmEffective *t, double chi1, double cos1, const double *column,
                        int n, float *value)
{
    const TwsmPieces p = twsm_effective_pieces(t);
    float w[4], unused;
    _Alignas(64) float own[TWSM_PIECE * MOST_CHI];
    int at[RUN];
    float place[RUN];
    const double base = log(chi1 / TWSM_CHI_MIN) / TWSM_CHI_STEP;
    const int row = twsm_pieces_cosine(&p, cos1, w);
    const int first = twsm_pieces_column(&p, base + column[0], &unused);
    const int last = twsm_pieces_column(&p, base + column[n - 1], &unused);
    combine(&p, row, w, first, last, own);
    for (int done = 0; done < n; done += RUN) {
        const int m = MIN(n - done, RUN);
        for (int k = 0; k < m; k++)
            at[k] =
                TWSM_PIECE * (twsm_pieces_column(&p, base + column[done + k], &place[k]) - first);
        // Even and odd powers beside each other: a piece is two vectors of four floats.
        for (int k = 0; k < m; k++) {
            const Four *c = (const Four *)(own + at[k]);
            const float x = place[k];
            const Four sum = c[0] + x * x * c[1];
            value[2 * (done + k)] = sum[0] + x * sum[2];
            value[2 * (done + k) + 1] = sum[1] + x * sum[3];
        }
    }
}

void twsm_effective_columns(int k0, int n, double *column)
{
    for (int k = 0; k < n; k++)
        column[k] = log(k0 + k) / TWSM_CHI_STEP;
}
