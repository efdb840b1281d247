// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/wavepacket/boxes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/sort.h"
#include "core/text.h"

int wp_smooth(int n, gboolean even)
{
    for (;; n++) {
        int rest = n;
        for (int p = 2; p <= 7; p++)
            while (rest % p == 0)
                rest /= p;
        if (rest == 1 && (!even || n % 2 == 0))
            return n;
    }
}

static double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross3(const double a[3], const double b[3], double out[3])
{
    for (int c = 0; c < 3; c++)
        out[c] = a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3];
}

int wp_flat_axis(const gint64 n[3])
{
    return n[0] == 1 ? 0 : n[1] == 1 ? 1 : -1;
}

gint64 wp_shortest(const gint64 n[3])
{
    const int flat = wp_flat_axis(n);
    return MIN(flat == 0 ? n[1] : n[0], MIN(flat == 1 ? n[0] : n[1], n[2]));
}

// Frame of a direction of a line: e1 = nu, e2 across the line, e3 within it.
static void flat_frame(const double nu[3], int flat, double R[3][3])
{
    memcpy(R[0], nu, sizeof(double[3]));
    memset(R[1], 0, sizeof(double[3]));
    R[1][flat] = 1;
    cross3(R[0], R[1], R[2]);
}

// Frame with e1 = nu; e2 = nu x (axis nu is least along), e3 = nu x e2.
static void start_frame(const double nu[3], double R[3][3])
{
    int least = 0;
    for (int c = 1; c < 3; c++)
        if (fabs(nu[c]) < fabs(nu[least]))
            least = c;
    double axis[3] = {0};
    axis[least] = 1;
    memcpy(R[0], nu, sizeof(double[3]));
    cross3(nu, axis, R[1]);
    double norm = sqrt(dot3(R[1], R[1]));
    for (int c = 0; c < 3; c++)
        R[1][c] /= norm;
    cross3(R[0], R[1], R[2]);
}

static void spin_frame(const double from[3][3], double angle, double R[3][3])
{
    for (int c = 0; c < 3; c++) {
        R[0][c] = from[0][c];
        R[1][c] = cos(angle) * from[1][c] + sin(angle) * from[2][c];
        R[2][c] = -sin(angle) * from[1][c] + cos(angle) * from[2][c];
    }
}

// --- support of a window ----------------------------------------------------------------------

typedef struct Extent {
    double lo, hi, ht; // along nu, and half width across
} Extent;

static gboolean corners(const WpTiling *t, int k)
{
    return t->design.full && k == t->scales;
}

enum { SHELLS = 49, CONES = 41, AZIMUTHS = 48 };

// One window with its frame, sampled on shells, cones and azimuths about its direction.
typedef struct Sampled {
    const WpTiling *tiling;
    int scale, direction, neighbours;
    int azimuths; // of a circle: those of a line are two
    double from;  // the first one
    WpNeighbour *nb;
    double R[3][3];
} Sampled;

// TRUE when the window is not zero somewhere on a circle.
static gboolean any_on_circle(const Sampled *w, double r, double angle)
{
    float x[3][AZIMUTHS], phi[AZIMUTHS];
    for (int a = 0; a < w->azimuths; a++) {
        double az = w->from + 2 * M_PI * a / w->azimuths;
        for (int d = 0; d < 3; d++)
            x[d][a] = (float)(r * (cos(angle) * w->R[0][d] +
                                   sin(angle) * (cos(az) * w->R[1][d] + sin(az) * w->R[2][d])));
    }
    wp_window_points(w->tiling, w->scale, w->nb, w->neighbours, w->azimuths, x[0], x[1], x[2],
                     phi);
    for (int a = 0; a < w->azimuths; a++)
        if (phi[a] > 0)
            return TRUE;
    return FALSE;
}

// Widens the extent by one shell. Cones that would not widen it are left out, and so are those
// beyond the bump.
static void widen_by_shell(const Sampled *w, double r, double wide, Extent *e)
{
    const double edge = 1.0001 * wp_radius(w->tiling, w->scale, w->direction, r);
    for (int c = CONES - 1; c >= 0; c--) {
        const double angle = wide * c / (CONES - 1);
        if (angle > edge)
            continue;
        if (r * sin(angle) <= e->ht && r * cos(angle) >= e->lo)
            break;
        if (any_on_circle(w, r, angle)) {
            e->lo = MIN(e->lo, r * cos(angle));
            e->ht = MAX(e->ht, r * sin(angle));
            break;
        }
    }
    for (int c = 0; c < CONES; c++) {
        const double angle = wide * c / (CONES - 1);
        if (angle > edge || r * cos(angle) <= e->hi)
            break;
        if (any_on_circle(w, r, angle)) {
            e->hi = r * cos(angle);
            break;
        }
    }
}

static Extent sample_extent(const WpTiling *t, int k, int m, int flat)
{
    Sampled w = {.tiling = t, .scale = k, .direction = m, .azimuths = AZIMUTHS};
    double r0 = t->a[k], r1 = corners(t, k) ? sqrt(3) * (0.5 + t->taper) : t->b[k + 1];
    double wide = MIN(wp_radius(t, k, m, r0), M_PI / 2);
    w.nb = wp_neighbours(t, k, m, &w.neighbours);
    if (flat < 0) {
        start_frame(t->dir[k].nu[m], w.R);
    } else {
        flat_frame(t->dir[k].nu[m], flat, w.R);
        w.azimuths = 2;
        w.from = M_PI / 2; // along e3
    }
    Extent e = {.lo = G_MAXDOUBLE, .hi = -G_MAXDOUBLE};
    for (int s = SHELLS - 1; s >= 0; s--)
        widen_by_shell(&w, r0 + (r1 - r0) * s / (SHELLS - 1), wide, &e);
    g_free(w.nb);
    // The edges may lie between two shells.
    const double slack = 0.15, dr = (r1 - r0) / (SHELLS - 1);
    e.lo -= slack * dr;
    e.hi += slack * dr;
    return e;
}

// Number of the first direction that a symmetry of the cube maps on each.
static int *classes_of(const WpDirections *d)
{
    int *class = g_new(int, d->n);
    g_autofree double *keys = g_new(double, 3 * d->n); // of the first ones
    g_autofree int *firsts = g_new(int, d->n);
    int n = 0;
    for (int m = 0; m < d->n; m++) {
        double *key = keys + 3 * n;
        int i = 0;
        for (int c = 0; c < 3; c++)
            key[c] = fabs(d->nu[m][c]);
        qsort(key, 3, sizeof *key, litho_compare_double);
        while (i < n && fabs(key[0] - keys[3 * i]) + fabs(key[1] - keys[3 * i + 1]) +
                                fabs(key[2] - keys[3 * i + 2]) >=
                            1e-9)
            i++;
        if (i == n)
            firsts[n++] = m;
        class[m] = firsts[i];
    }
    return class;
}

// Directions that a symmetry of the cube maps on each other have the same extent. FALSE: told to
// stop.
static gboolean scale_extents(const WpTiling *t, int k, int flat, const LithoRun *run, Extent *out)
{
    const WpDirections *d = &t->dir[k];
    g_autofree int *class = classes_of(d);
    gint stopped = 0;
#pragma omp parallel for schedule(dynamic) num_threads(litho_run_threads(run))
    for (int m = 0; m < d->n; m++)
        if (class[m] != m)
            continue;
        else if (litho_run_checkpoint(run))
            out[m] = sample_extent(t, k, m, flat);
        else
            g_atomic_int_set(&stopped, 1);
    for (int m = 0; m < d->n; m++)
        out[m] = out[class[m]];
    return !stopped;
}

// Extents do not depend on the volume: those of the last scales are kept, for the next size and the
// next turn of a slider.
typedef struct KeptExtents {
    WpDesign design;
    double a[2], b[2]; // of the scale's radial transitions
    int edge, n;
    gboolean corners;
    Extent *extent; // [n], NULL = nothing is kept here
} KeptExtents;

enum { KEPT_SCALES = 64 };
static GMutex extents_lock;
static KeptExtents kept_extents[KEPT_SCALES];
static int next_extents;

static gboolean has_extents_of(const KeptExtents *e, const WpTiling *t, int k)
{
    const WpDesign *d = &e->design, *o = &t->design;
    return e->extent && e->edge == t->dir[k].edge && e->n == t->dir[k].n && e->corners == corners(t, k) &&
           e->a[0] == t->a[k] && e->a[1] == t->a[k + 1] && e->b[0] == t->b[k] &&
           e->b[1] == t->b[k + 1] && d->alpha == o->alpha && d->gamma == o->gamma &&
           d->beta == o->beta && d->full == o->full;
}

static gboolean recall_extents(const WpTiling *t, int k, Extent *out)
{
    gboolean found = FALSE;
    g_mutex_lock(&extents_lock);
    for (int i = 0; i < KEPT_SCALES && !found; i++) {
        found = has_extents_of(&kept_extents[i], t, k);
        if (found)
            memcpy(out, kept_extents[i].extent, t->dir[k].n * sizeof *out);
    }
    g_mutex_unlock(&extents_lock);
    return found;
}

static void keep_extents(const WpTiling *t, int k, const Extent *extent)
{
    g_mutex_lock(&extents_lock);
    KeptExtents *e = &kept_extents[next_extents];
    next_extents = (next_extents + 1) % KEPT_SCALES;
    g_free(e->extent);
    *e = (KeptExtents){.design = t->design,
                       .a = {t->a[k], t->a[k + 1]},
                       .b = {t->b[k], t->b[k + 1]},
                       .edge = t->dir[k].edge,
                       .n = t->dir[k].n,
                       .corners = corners(t, k),
                       .extent = g_memdup2(extent, t->dir[k].n * sizeof *extent)};
    g_mutex_unlock(&extents_lock);
}

// --- periods ----------------------------------------------------------------------------------

// The wrap-around rule: a shift by M_i e_i must move the data block off itself, plus the reach of
// the packet (d_i along e_i).
static void smallest_periods(const gint64 n[3], const double R[3][3], const double d[3],
                             double reach[3], double M[3])
{
    for (int a = 0; a < 3; a++) {
        double s = 0;
        for (int i = 0; i < 3; i++)
            s += d[i] * d[i] * R[i][a] * R[i][a];
        reach[a] = n[a] + sqrt(s);
    }
    for (int i = 0; i < 3; i++) {
        M[i] = G_MAXDOUBLE;
        for (int a = 0; a < 3; a++)
            if (fabs(R[i][a]) > 1e-12)
                M[i] = MIN(M[i], reach[a] / fabs(R[i][a]));
    }
}

// TRUE when every combined shift sum m_i M_i e_i, m in {-2..2}^3, clears the block too.
static gboolean shifts_clear(const double R[3][3], const double reach[3], const double M[3])
{
    for (int code = 0; code < 125; code++) {
        int m[3] = {code % 5 - 2, code / 5 % 5 - 2, code / 25 - 2};
        if (!m[0] && !m[1] && !m[2])
            continue;
        gboolean clear = FALSE;
        for (int a = 0; a < 3; a++) {
            double s = m[0] * M[0] * R[0][a] + m[1] * M[1] * R[1][a] + m[2] * M[2] * R[2][a];
            clear |= fabs(s) >= 0.999 * reach[a];
        }
        if (!clear)
            return FALSE;
    }
    return TRUE;
}

// A line has one frame for each direction, and a period of one sample across it.
static void choose_frame(WpBox *box, const gint64 n[3], const double d[3])
{
    const int flat = wp_flat_axis(n);
    const double reaches[3] = {d[0], flat < 0 ? d[1] : 0, d[2]};
    double start[3][3], reach[3] = {0}, best = G_MAXDOUBLE;
    if (flat < 0)
        start_frame(box->R[0], start);
    else
        flat_frame(box->R[0], flat, start);
    for (int q = 0; q < (flat < 0 ? 18 : 1); q++) {
        double R[3][3], M[3], r[3];
        spin_frame(start, q * 5 * M_PI / 180, R);
        smallest_periods(n, R, reaches, r, M);
        if (M[0] * M[1] * M[2] >= best * (1 - 1e-9))
            continue;
        best = M[0] * M[1] * M[2];
        memcpy(box->R, R, sizeof R);
        memcpy(box->M, M, sizeof M);
        memcpy(reach, r, sizeof r);
    }
    while (!shifts_clear(box->R, reach, box->M))
        for (int i = 0; i < 3; i++)
            if (flat < 0 || i != 1)
                box->M[i] *= 1.01;
}

// Lattice sizes: the rounding up to a fast FFT size is spent on a longer period.
static void choose_lattice(WpBox *box)
{
    for (int i = 0; i < 3; i++) {
        double length = box->hi[i] - box->lo[i];
        if (length == 0) { // across a line: one plane, as flat_frame() has it
            box->n[i] = 1;
            continue;
        }
        box->n[i] = wp_smooth((int)ceil(length * box->M[i]) + 1, FALSE);
        box->M[i] = (box->n[i] - 1) / length;
        box->j0[i] = (int)ceil(box->lo[i] * box->M[i] - 1e-9);
    }
}

// --- the list of boxes ------------------------------------------------------------------------

static void unit_frame(WpBox *box)
{
    memset(box->R, 0, sizeof box->R);
    for (int i = 0; i < 3; i++)
        box->R[i][i] = 1;
}

static void add_coarse(WpGeometry *g)
{
    const WpTiling *t = g->tiling;
    WpBox *box = &g->boxes[g->n_boxes++];
    box->kind = WP_COARSE;
    unit_frame(box);
    for (int i = 0; i < 3; i++) {
        double edge = t->b[1];
        if (g->n[i] == 1) {
            box->n[i] = 1;
            box->M[i] = 1;
            continue;
        }
        int n = (int)ceil(2 * edge * (g->n[i] + t->design.cm / (t->b[1] - t->a[1]))) + 1;
        do
            n = wp_smooth(n + (n % 2 == 0), FALSE);
        while (n % 2 == 0);
        box->n[i] = n;
        box->M[i] = (n - 1) / (2 * edge);
        box->lo[i] = -edge;
        box->hi[i] = edge;
        box->j0[i] = -(n - 1) / 2;
    }
}

// FALSE: told to stop.
static gboolean add_directions(WpGeometry *g, int k, const LithoRun *run)
{
    const WpTiling *t = g->tiling;
    const WpDirections *d = &t->dir[k];
    g_autofree Extent *extent = g_new0(Extent, d->n);
    if (!recall_extents(t, k, extent)) {
        if (!scale_extents(t, k, wp_flat_axis(g->n), run, extent))
            return FALSE;
        keep_extents(t, k, extent);
    }
    double top = corners(t, k) ? 2 * t->taper : t->b[k + 1] - t->a[k + 1];
    double radial = t->design.cm / MIN(t->b[k] - t->a[k], top);
    WpBox *first = g->boxes + g->n_boxes;
    g->n_boxes += d->n;
#pragma omp parallel for schedule(static) num_threads(litho_run_threads(run))
    for (int m = 0; m < d->n; m++) {
        WpBox *box = first + m;
        const Extent *e = &extent[m];
        double across = t->design.cmt / (2 * e->ht);
        // In the corners a box is wide but its edges, the taper at the faces of the cube and the
        // windows between directions, are as steep as elsewhere. With less margin the wrap-around
        // shows in the outer samples: 64^3 white noise errs by 3.9e-3 with 1 x radial, 1.6e-3
        // with 1.5, 9e-4 with 1.8.
        if (corners(t, k))
            across = MAX(across, 1.8 * radial);
        box->kind = WP_DIRECTION;
        box->scale = k;
        box->direction = m;
        memcpy(box->R[0], d->nu[m], sizeof(double[3]));
        box->lo[0] = e->lo;
        box->hi[0] = e->hi;
        box->lo[1] = wp_flat_axis(g->n) < 0 ? -e->ht : 0;
        box->hi[1] = -box->lo[1];
        box->lo[2] = -e->ht;
        box->hi[2] = e->ht;
        choose_frame(box, g->n, (double[3]){radial, across, across});
        choose_lattice(box);
    }
    return TRUE;
}

static void add_residual(WpGeometry *g)
{
    const WpTiling *t = g->tiling;
    WpBox *box = &g->boxes[g->n_boxes++];
    box->kind = WP_RESIDUAL;
    box->scale = t->scales + 1;
    unit_frame(box);
    for (int i = 0; i < 3; i++) {
        double margin = t->design.cm / (t->b[t->scales + 1] - t->a[t->scales + 1]);
        box->n[i] = g->n[i] == 1 ? 1 : wp_smooth((int)ceil(g->n[i] + margin), TRUE);
        box->M[i] = box->n[i];
        box->lo[i] = -0.5;
        box->hi[i] = 0.5;
        box->j0[i] = -box->n[i] / 2;
    }
}

// Coarse first, residual last, equal sizes together.
static int compare_boxes(const void *pa, const void *pb)
{
    const WpBox *a = pa, *b = pb;
    if (a->kind != b->kind)
        return (int)a->kind - (int)b->kind;
    for (int i = 0; i < 3; i++)
        if (a->n[i] != b->n[i])
            return a->n[i] - b->n[i];
    return a->scale != b->scale ? a->scale - b->scale : a->direction - b->direction;
}

static void place_boxes(WpGeometry *g)
{
    qsort(g->boxes, g->n_boxes, sizeof *g->boxes, compare_boxes);
    gint64 reals = 0;
    for (int b = 0; b < g->n_boxes; b++) {
        WpBox *box = &g->boxes[b];
        gint64 points = (gint64)box->n[0] * box->n[1] * box->n[2];
        box->floats = box->kind == WP_RESIDUAL ? points : 2 * points;
        box->at = g->floats;
        g->floats += (box->floats + 15) / 16 * 16;
        g->n_points += points;
        reals += box->kind == WP_DIRECTION ? 2 * points : points;
    }
    g->redundancy = (double)reals / ((double)g->n[0] * g->n[1] * g->n[2]);
}

// --- the fine grid ----------------------------------------------------------------------------

static void fill_grid(WpGeometry *g)
{
    const int w = g->kernel.width;
    double reach = g->tiling->taper; // of the boxes beyond the Nyquist cube
    for (int a = 0; a < 3; a++) {
        int least = MAX((int)ceil(g->kernel.sigma * g->n[a] - 1e-9), 2 * w + 2);
        g->nf[a] = wp_smooth(least, TRUE);
        g->halo[a] = (w + 1) / 2 + 1 + (int)ceil(reach * g->nf[a]);
        g->deconvolve[a] = g_new(double, g->n[a]);
        wp_kernel_deconvolution(&g->kernel, g->n[a], g->nf[a], g->deconvolve[a]);
    }
}

static gboolean check_size(const WpSpec *spec, GError **error)
{
    for (int a = 0; a < 3; a++)
        if (spec->n[a] < WP_THINNEST && a != wp_flat_axis(spec->n)) {
            g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                        _("the volume is %" PRId64 " x %" PRId64 " x %" PRId64
                          "; wave packets need 16 or more along every axis"),
                        spec->n[0], spec->n[1], spec->n[2]);
            return FALSE;
        }
    return TRUE;
}

// All but the windows on the lattices. Told to stop, what there is by then: the step that follows
// refuses it.
static WpGeometry *lay_out(const WpSpec *spec, const LithoRun *run)
{
    int scales = spec->scales > 0 ? spec->scales : wp_auto_scales(wp_shortest(spec->n));
    WpDesign design = wp_design(spec->design, spec->directions);
    WpGeometry *g = g_new0(WpGeometry, 1);
    memcpy(g->n, spec->n, sizeof g->n);
    g->tiling = wp_tiling_new(&design, scales, spec->directions, wp_flat_axis(spec->n));
    wp_kernel_init(&g->kernel, spec->kernel, spec->width, spec->oversampling);
    fill_grid(g);

    int boxes = 2;
    for (int k = 1; k <= scales; k++)
        boxes += g->tiling->dir[k].n;
    g->boxes = g_new0(WpBox, boxes);
    add_coarse(g);
    gboolean ok = TRUE;
    for (int k = 1; ok && k <= scales; k++)
        ok = add_directions(g, k, run);
    if (ok && !design.full)
        add_residual(g);
    place_boxes(g);
    return g;
}

// The boxes that wp_geometry_sizes() laid out last: a plan that asked for its sizes takes them.
static GMutex laid_lock;
static WpGeometry *laid; // NULL: somebody has taken them
static WpSpec laid_for;

static void put_boxes(const WpSpec *spec, WpGeometry *g)
{
    g_mutex_lock(&laid_lock);
    WpGeometry *before = laid;
    laid = g;
    memcpy(&laid_for, spec, sizeof laid_for);
    g_mutex_unlock(&laid_lock);
    wp_geometry_free(before);
}

static WpGeometry *take_boxes(const WpSpec *spec)
{
    g_mutex_lock(&laid_lock);
    WpGeometry *g = laid && memcmp(&laid_for, spec, sizeof laid_for) == 0 ? laid : NULL;
    if (g)
        laid = NULL;
    g_mutex_unlock(&laid_lock);
    return g;
}

WpGeometry *wp_geometry_new_with(const WpSpec *spec, WpWindowsFunc windows, LithoRun *run,
                                 GError **error)
{
    if (!check_size(spec, error))
        return NULL;
    double start = litho_now_ms();
    WpGeometry *g = take_boxes(spec);
    if (!g)
        g = lay_out(spec, run);
    litho_run_time(run, "boxes", LITHO_STAGE_PLAN, litho_now_ms() - start, 0, 0);
    start = litho_now_ms();
    if (litho_run_step(run, 0, 0, error) && windows(g, run, error)) {
        litho_run_time(run, "windows", LITHO_STAGE_PLAN, litho_now_ms() - start, 0, 0);
        return g;
    }
    wp_geometry_free(g);
    return NULL;
}

WpGeometry *wp_geometry_new(const WpSpec *spec, LithoRun *run, GError **error)
{
    return wp_geometry_new_with(spec, wp_fill_windows, run, error);
}

static WpSizes sizes_of(const WpGeometry *g)
{
    WpSizes s = {.floats = g->floats, .fine = g->nf[0] * (gint64)g->nf[1] * (g->nf[2] / 2 + 1)};
    gint64 batch = 0;
    for (int b = 0; b < g->n_boxes; b++) {
        const WpBox *box = &g->boxes[b];
        const gint64 points = (gint64)box->n[0] * box->n[1] * box->n[2];
        if (box->kind == WP_RESIDUAL) {
            s.residual = points;
            continue;
        }
        s.lattice += points;
        const gboolean same = b > 0 && memcmp(box->n, box[-1].n, sizeof box->n) == 0;
        batch = same ? batch + points : points;
        s.batch = MAX(s.batch, batch);
    }
    return s;
}

gboolean wp_geometry_sizes(const WpSpec *spec, int threads, WpSizes *sizes, GError **error)
{
    // The last answer: a parameter panel asks again and again.
    static GMutex lock;
    static WpSpec known;
    static WpSizes answer;
    if (!check_size(spec, error))
        return FALSE;
    g_mutex_lock(&lock);
    if (memcmp(&known, spec, sizeof known) != 0) {
        const LithoRun run = {.threads = threads};
        WpGeometry *g = lay_out(spec, &run);
        answer = sizes_of(g);
        memcpy(&known, spec, sizeof known);
        put_boxes(spec, g);
    }
    *sizes = answer;
    g_mutex_unlock(&lock);
    return TRUE;
}

void wp_geometry_free(WpGeometry *g)
{
    if (!g)
        return;
    for (int b = 0; b < g->n_boxes; b++) {
        g_free(g->boxes[b].weight);
        g_free(g->boxes[b].profile);
        g_free(g->boxes[b].rows);
    }
    for (int a = 0; a < 3; a++)
        g_free(g->deconvolve[a]);
    g_free(g->boxes);
    wp_tiling_free(g->tiling);
    g_free(g);
}

const WpBox *wp_residual(const WpGeometry *g)
{
    const WpBox *last = &g->boxes[g->n_boxes - 1];
    return last->kind == WP_RESIDUAL ? last : NULL;
}

void wp_box_position(const WpGeometry *g, const WpBox *box, const int p[3], double x[3])
{
    double best = G_MAXDOUBLE;
    for (int code = 0; code < 27; code++) {
        const int m[3] = {code % 3 - 2, code / 3 % 3 - 2, code / 9 - 2};
        double at[3] = {0}, far = 0;
        for (int i = 0; i < 3; i++)
            for (int a = 0; a < 3; a++)
                at[a] += box->R[i][a] * box->M[i] * ((double)p[i] / box->n[i] + m[i] + 1);
        for (int a = 0; a < 3; a++)
            far = MAX(far, fabs(at[a]) / g->n[a]);
        if (far >= best)
            continue;
        best = far;
        for (int a = 0; a < 3; a++)
            x[a] = at[a] + g->n[a] / 2;
    }
}
