// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/twsm/coef.h"

#include <math.h>
#include <string.h>

#include "kernels/twsm/pair.h"

static double complex root_down(double complex z)
{
    // The root with Im >= 0: waves that decay away from the contact.
    double complex r = csqrt(z);
    return cimag(r) < 0 ? -r : r;
}

double complex twsm_coef_plane(const TwsmContact *c, double cos1)
{
    double ratio = c->v2 / c->v1;
    double complex cos2 = root_down(1 - ratio * ratio * (1 - cos1 * cos1));
    double complex r = (c->rho2 * c->v2 * cos1 - c->rho1 * c->v1 * cos2) /
                       (c->rho2 * c->v2 * cos1 + c->rho1 * c->v1 * cos2);
    return c->transmit ? 1 + r : r;
}

double twsm_coef_frozen(const TwsmContact *c, double cos1)
{
    double s = sqrt(fmax(0, 1 - cos1 * cos1));
    if (c->v2 > c->v1) {
        double critical = c->v1 / c->v2, a = 0.80 * critical, width = 0.15 * critical;
        if (s > a)
            s = a + width * tanh((s - a) / width);
    }
    return creal(twsm_coef_plane(c, sqrt(1 - s * s)));
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
    MIN_CHI = 5,
    MOST_CHI = 512, // rows of a table: chi up to 8e12
    LOGS = 4096,    // frequency numbers whose logarithm is kept
    KEPT = 8,       // tables that no model holds, kept for the next
};

#define LOG_STEP 0.055

// Value (i, j) belongs to cosine[i] and to chi = MIN_CHI exp(j LOG_STEP), whatever the table's
// size: a longer one serves shorter needs with equal numbers.
struct TwsmEffective {
    TwsmContact contact;
    double low, fine; // of make_cosines()
    int n_chi, n_cos;
    double *cosine;        // ascending, n_cos
    double complex *value; // [i_chi][i_cos]
    double *logs;          // of 1 .. LOGS - 1
    int refs;              // models that hold it; guarded by `lock`
    guint64 used;          // clock of the last use
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
    g_free(t->logs);
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
                t->value[(gsize)j * t->n_cos + i] =
                    twsm_coef_effective(&t->contact, MIN_CHI * exp(j * LOG_STEP), t->cosine[i]);
        }
    return !stop;
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
    t->logs = g_new(double, LOGS);
    for (int k = 0; k < LOGS; k++)
        t->logs[k] = log(MAX(k, 1));
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
    chi_max = fmax(chi_max, 2 * MIN_CHI);
    const double low = CLAMP(floor(cos_min * 20) / 20, 0.05, 0.95);
    const double octave = exp2(ceil(log2(chi_max)));
    const double fine = critical ? fmin(0.01, 0.1 / sqrt(octave)) : 0.01;
    const int n_chi = MIN(4 + (int)(log(chi_max / MIN_CHI) / LOG_STEP), MOST_CHI);
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
        g_mutex_lock(&lock);
        if (t)
            t->refs--;
        if (!ok) {
            g_mutex_unlock(&lock);
            table_free(longer);
            return NULL;
        }
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

static int find_cosine(const TwsmEffective *t, double cos1)
{
    int lo = 0, hi = t->n_cos - 1;
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;
        if (t->cosine[mid] <= cos1)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

// Lagrange weights at x of the four nodes `at`.
static void lagrange(const double at[4], double x, double w[4])
{
    for (int m = 0; m < 4; m++) {
        w[m] = 1;
        for (int l = 0; l < 4; l++)
            if (l != m)
                w[m] *= (x - at[l]) / (at[m] - at[l]);
    }
}

// Lagrange weights at t of the nodes -1, 0, 1, 2.
static inline void even_weights(double t, double w[4])
{
    const double a = t + 1, b = t - 1, c = t - 2;
    w[0] = -t * b * c / 6;
    w[1] = a * b * c / 2;
    w[2] = -a * t * c / 2;
    w[3] = a * t * b / 6;
}

void twsm_effective_row(const TwsmEffective *t, double chi1, double cos1, int k0, int n,
                        double complex *out)
{
    double wc[4], wk[4], re[MOST_CHI], im[MOST_CHI];
    const double base = log(chi1 / MIN_CHI), top = t->n_chi - 1;
    const int i = CLAMP(find_cosine(t, cos1), 1, t->n_cos - 3);
    lagrange(t->cosine + i - 1, MAX(cos1, t->cosine[0]), wc);
    // The columns that are asked for at this cosine, then every frequency between four of them.
    const int first = CLAMP((int)((base + log(MAX(k0, 1))) / LOG_STEP), 1, t->n_chi - 3) - 1;
    const int last = CLAMP((int)((base + log(k0 + n - 1)) / LOG_STEP), 1, t->n_chi - 3) + 2;
    for (int j = first; j <= last; j++) {
        const double *v = (const double *)(t->value + (gsize)j * t->n_cos + i - 1);
        re[j] = wc[0] * v[0] + wc[1] * v[2] + wc[2] * v[4] + wc[3] * v[6];
        im[j] = wc[0] * v[1] + wc[1] * v[3] + wc[2] * v[5] + wc[3] * v[7];
    }
    for (int k = 0; k < n; k++) {
        const double number = k0 + k < LOGS ? t->logs[k0 + k] : log(k0 + k);
        const double at = CLAMP((base + number) / LOG_STEP, 0, top);
        const int j = CLAMP((int)at, 1, t->n_chi - 3);
        even_weights(at - j, wk);
        const double *x = re + j - 1, *y = im + j - 1;
        out[k] = CMPLX(wk[0] * x[0] + wk[1] * x[1] + wk[2] * x[2] + wk[3] * x[3],
                       wk[0] * y[0] + wk[1] * y[1] + wk[2] * y[2] + wk[3] * y[3]);
    }
}
