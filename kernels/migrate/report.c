// SPDX-License-Identifier: GPL-3.0-or-later
//
// Effect of the chosen operators on phase and amplitude, for the panel and the result's notes.
#include <math.h>
#include <string.h>

#include "core/text.h"
#include "kernels/migrate/job.h"

enum { DIPS = 81 }; // 0 to 80 degrees

// Phase error (rad) and amplitude of one step along the coarser axis at dip `theta`: the designed
// polynomial with the real stencil against the exact phase shift.
static void step_error(const LithoMigrateJob *job, int s, int f, double theta, double *phase,
                       double *amplitude)
{
    const double thick = job->dz * job->step, slow = job->slow_max[s];
    const double cell = job->cells.nx > 1 ? job->cells.dx : job->cells.dy;
    double kap = job->omega[f] * slow * thick, k = job->omega[f] * slow * sin(theta);
    double s_real = -litho_migrate_symbol(job->filter[(gsize)s * job->nf + f], k * cell) /
                    (cell * cell) * thick * thick;
    const LithoPoly *poly;
    double at;
    if (job->params.form == LITHO_MIGRATE_POINTWISE) {
        int n = (int)CLAMP(lround((kap - job->table_first) / job->table_step), 0, job->n_table - 1);
        poly = job->table[job->step - 1][n];
        at = s_real + poly->spec.kap * poly->spec.kap - kap * kap;
    } else {
        const LithoEntry *entry = litho_migrate_job_entry(job, s, f);
        poly = entry->poly[job->step - 1];
        at = s_real + entry->big_k * entry->big_k - kap * kap;
    }
    double re[64], im[64], g_re, g_im;
    for (int n = 0; n <= poly->spec.degree; n++) {
        re[n] = poly->re[n];
        im[n] = poly->im[n];
    }
    litho_poly_value(&poly->spec, re, im, at, &g_re, &g_im);
    *amplitude = hypot(g_re, g_im);
    *phase = remainder(atan2(g_im, g_re) - kap * cos(theta), 2 * G_PI);
}

// One frequency's curve, in a plot with the other frequencies' and a line at the largest dip.
static void dip_curve(const LithoMigrateJob *job, LithoReport *report, const char *what,
                      const char *which, const char *title, const char *unit, int f, int n,
                      const double *dip, const double *y)
{
    char key[32], name[32];
    g_snprintf(key, sizeof key, "%s_%s", what, which);
    g_snprintf(name, sizeof name, "%.0f Hz", job->omega[f] / (2 * G_PI));
    litho_report_curve(report, key, title, N_("dip (degrees)"), unit, n, dip, y);
    litho_report_curve_style(report, key, title, name, FALSE, FALSE, FALSE);
    litho_report_curve_marks(report, key, 1, &job->params.max_dip);
}

// Amplitude left at dip `theta` by the polynomial that takes steeper waves away, on the way through
// steps 0 .. n - 1, as if all were like step s.
static double left_by_stops(const LithoMigrateJob *job, int s, int f, double theta, double n)
{
    const double thick = job->dz * job->step;
    const double cell = job->cells.nx > 1 ? job->cells.dx : job->cells.dy;
    int times = 0;
    for (int k = 0; k < job->n_steps && k < n; k++)
        times += litho_migrate_job_stops(job, k);
    int like = -1; // the step nearest to s that has such a polynomial
    for (int k = 0; k < job->n_steps; k++)
        if (litho_migrate_job_stops(job, k) && (like < 0 || abs(k - s) < abs(like - s)))
            like = k;
    if (like < 0)
        return 1;
    const LithoEntry *entry = litho_migrate_job_entry(job, like, f);
    const LithoPoly *poly = entry->stop;
    const double slow = job->slow_max[like], kap = job->omega[f] * slow * thick;
    const double k = job->omega[f] * slow * sin(theta);
    const double at = -litho_migrate_symbol(job->filter[(gsize)like * job->nf + f], k * cell) /
                          (cell * cell) * thick * thick +
                      entry->big_k * entry->big_k - kap * kap;
    double re[64], im[64] = {0}, g_re, g_im;
    for (int m = 0; m <= poly->spec.degree; m++)
        re[m] = poly->re[m];
    litho_poly_value(&poly->spec, re, im, at, &g_re, &g_im);
    return pow(fabs(g_re), times);
}

// A wave that is half a cycle off is lost, whatever follows: the curve ends there, and the small
// errors of the others are seen. Returns the number of points that are left.
static int end_at_half_cycle(int n, double *dip, double *phase)
{
    const double most = 180;
    for (int k = 1; k < n; k++) {
        if (fabs(phase[k]) <= most)
            continue;
        const double end = copysign(most, phase[k]);
        dip[k] = dip[k - 1] + (end - phase[k - 1]) / (phase[k] - phase[k - 1]);
        phase[k] = end;
        return k + 1;
    }
    return n;
}

static void report_frequency(const LithoMigrateJob *job, LithoReport *report, int f,
                             const char *which)
{
    double dip[DIPS], phase[DIPS], amplitude[DIPS];
    const double steps = 1000 / (job->dz * job->step);
    const int s = job->n_steps / 2;
    // The design keeps the phase up to the largest dip; beyond it waves are damped, and their phase
    // would fill the plot.
    const int kept = CLAMP((int)floor(job->params.max_dip) + 1, 2, DIPS);
    double before = 0; // error of a step at the dip before: the angle goes on from there
    for (int k = 0; k < DIPS; k++) {
        dip[k] = k;
        step_error(job, s, f, k * G_PI / 180, &phase[k], &amplitude[k]);
        phase[k] += 2 * G_PI * rint((before - phase[k]) / (2 * G_PI));
        before = phase[k];
        phase[k] *= steps * 180 / G_PI;
        amplitude[k] = pow(amplitude[k], steps) * left_by_stops(job, s, f, k * G_PI / 180, steps);
    }
    double shown[DIPS];
    memcpy(shown, dip, sizeof shown);
    const int n = end_at_half_cycle(kept, shown, phase);
    dip_curve(job, report, "phase", which, _("Phase error after 1000 m"), "degrees", f, n, shown,
              phase);
    dip_curve(job, report, "amplitude", which, _("Amplitude after 1000 m"), _("of exact"), f, DIPS,
              dip, amplitude);
}

static void report_designs(LithoMigrateJob *const *jobs, int n, LithoReport *report)
{
    double worst = 0;
    guint polynomials = 0;
    for (int j = 0; j < n; j++) {
        const LithoMigrateJob *job = jobs[j];
        for (guint k = 0; k < job->entries->len; k++)
            for (int m = 0; m < job->step; m++)
                worst = fmax(worst, g_array_index(job->entries, LithoEntry, k).poly[m]->tau);
        polynomials += job->params.form == LITHO_MIGRATE_POINTWISE
                           ? (guint)(job->n_table * job->step)
                           : job->entries->len * job->step;
    }
    litho_report_number(report, "designs", "Polynomials in use", "", polynomials);
    if (worst > 0)
        litho_report_number(report, "tau", "Largest design error of a step", "", worst);
}

// Frequency k of the whole band, lowest first: the coarsest job holds the lowest ones.
static void report_kth(LithoMigrateJob *const *jobs, int n, int k, LithoReport *report,
                       const char *which)
{
    for (int j = n - 1; j >= 0; j--) {
        if (k < jobs[j]->nf) {
            report_frequency(jobs[j], report, k, which);
            return;
        }
        k -= jobs[j]->nf;
    }
}

// Two-way vertical time against depth under the image's middle trace: what a cursor goes by between
// a record and its image.
static void report_depth_time(const LithoMigrateJob *job, LithoReport *report)
{
    const gsize cells = (gsize)job->cells.nx * job->cells.ny;
    const gsize middle =
        (gsize)(job->pad_y + job->data_ny / 2) * job->cells.nx + job->pad_x + job->data_nx / 2;
    g_autofree double *depth = g_new(double, job->nz), *time = g_new(double, job->nz);
    double t = 0;
    for (int z = 0; z < job->nz; z++) {
        depth[z] = z * job->dz;
        time[z] = t;
        const int s = z / job->step;
        if (s < job->n_steps)
            t += (job->half ? 1 : 2) * job->dz *
                 (job->slowness ? job->slowness[cells * s + middle] : job->slow_min[s]);
    }
    litho_report_curve(report, N_("depth_time"), N_("Two-way time under the middle trace"),
                       N_("depth (m)"), N_("two-way time (s)"), job->nz, depth, time);
    litho_report_curve_role(report, "depth_time", LITHO_CURVE_DEPTH_TIME);
}

// A grid of every by[]-th line and depth of the image.
static LithoGrid thinned(LithoGrid grid, gint64 by[3])
{
    enum { LINES = 96, DEPTHS = 384 }; // at most
    for (int a = 0; a < 3; a++) {
        const gint64 most = a == LITHO_SAMPLE ? DEPTHS : LINES;
        by[a] = (grid.axis[a].n + most - 1) / most;
        grid.axis[a].n = (grid.axis[a].n - 1) / by[a] + 1;
        grid.axis[a].step *= by[a];
    }
    return grid;
}

// Velocity at those lines and depths; NULL = no memory.
static LithoCube *make_layer(const LithoMigrateJob *job, const LithoGrid *grid, const gint64 by[3])
{
    const gsize cells = (gsize)job->cells.nx * job->cells.ny;
    LithoCube *layer = litho_cube_new(grid, NULL);
    float *v = layer ? layer->samples : NULL;
    for (gint64 i = 0; layer && i < grid->axis[0].n; i++)
        for (gint64 j = 0; j < grid->axis[1].n; j++)
            for (gint64 k = 0; k < grid->axis[2].n; k++) {
                const gsize s = (gsize)CLAMP(k * by[2] / job->step, 0, job->n_steps - 1);
                const gsize cell = (gsize)(job->pad_y + i * by[0]) * job->cells.nx +
                                   (gsize)(job->pad_x + j * by[1]);
                const double slow =
                    job->slowness ? job->slowness[cells * s + cell] : job->slow_min[s];
                *v++ = (float)((job->half ? 2 : 1) / slow);
            }
    return layer;
}

// One velocity on one arrangement of cells and steps has one key.
static guint64 velocity_key(const LithoMigrateJob *job)
{
    const gint64 parts[] = {(gint64)job->slowness_serial,
                            job->half,
                            job->step,
                            job->n_steps,
                            job->pad_x,
                            job->pad_y,
                            job->cells.nx,
                            job->cells.ny};
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    guint8 digest[32];
    gsize length = sizeof digest;
    guint64 key;
    g_checksum_update(sum, (const guchar *)parts, sizeof parts);
    if (!job->slowness)
        g_checksum_update(sum, (const guchar *)job->slow_min, job->n_steps * sizeof(double));
    g_checksum_get_digest(sum, digest, &length);
    g_checksum_free(sum);
    memcpy(&key, digest, sizeof key);
    return key;
}

// The velocity under the image, every so many lines and depths: for the eye, and the read-out
// beside the cursor. Images alone: a model of a record has no place among its times.
static void report_velocity(const LithoMigrateJob *job, LithoVelocityLayer *layer,
                            const LithoCube *out, LithoReport *report)
{
    gint64 by[3];
    if (!out->grid.is_depth || job->data_ny != out->grid.axis[0].n ||
        job->data_nx != out->grid.axis[1].n)
        return;
    const LithoGrid grid = thinned(out->grid, by);
    const guint64 key = velocity_key(job);
    if (!layer->cube || layer->key != key || !litho_grid_equal(&layer->cube->grid, &grid)) {
        g_clear_pointer(&layer->cube, litho_cube_unref);
        layer->cube = make_layer(job, &grid, by);
        layer->key = key;
    }
    if (layer->cube)
        litho_report_layer(report, "velocity", "Velocity", "m/s", layer->cube);
}

static void note_sampling(const LithoMigrateJob *job, LithoCube *out)
{
    const double slow = (job->half ? 2 : 1) / job->velocity.min;
    const double k = job->omega[job->nf - 1] * slow; // rad/m
    const double cell =
        fmax(job->cells.nx > 1 ? job->cells.dx : 0, job->cells.ny > 1 ? job->cells.dy : 0);
    if (k * cell * sin(job->params.max_dip * G_PI / 180) > 0.9 * G_PI)
        litho_cube_note(out,
                        "at %.0f Hz dips beyond %.0f degrees are under-sampled by the %.4g m cells "
                        "and lose their place",
                        job->omega[job->nf - 1] / (2 * G_PI),
                        asin(fmin(1, 0.9 * G_PI / (k * cell))) * 180 / G_PI, cell);
    const double kz = job->half ? k : 2 * k;
    if (job->dz * kz > G_PI)
        litho_cube_note(out,
                        "dz = %g m is too coarse for %.0f Hz in the slowest rock; %.3g m would do",
                        job->dz, job->omega[job->nf - 1] / (2 * G_PI), G_PI / kz);
    if (!job->half && !job->params.antialias &&
        k * cell * sin(job->params.max_dip * G_PI / 180) > G_PI / 2)
        litho_cube_note(out, "the product of the two waves folds at the steepest dips and highest "
                             "frequencies; antialias = on keeps that out of the image");
}

// A model that states no place covers the survey, whatever the numbers of traces: two that differ
// may be one whose axes are in another order.
static void note_stretched(const LithoMigrateJob *job, LithoCube *out)
{
    gint64 n[2];
    const LithoAxis *image = job->image.axis;
    if (!job->map.stretched || !litho_migrate_model_traces(job->model, n) ||
        ((n[0] == 1 || n[0] == image[0].n) && (n[1] == 1 || n[1] == image[1].n)))
        return;
    litho_cube_note(out,
                    "the velocity cube's %" PRId64 " x %" PRId64 " traces state no place: they "
                    "were stretched over the survey's %" PRId64 " x %" PRId64,
                    n[0], n[1], image[0].n, image[1].n);
}

// An axis of a few cells is a slit: below a depth its Fresnel zone is wider, and a flat reflector
// comes out with the part of its amplitude that the slit is of the zone, and an eighth of a wave
// too deep.
static void note_slit(const LithoMigrateJob *job, LithoCube *out)
{
    if (job->params.mode != LITHO_MIGRATE_ZERO_OFFSET)
        return;
    const LithoAxis *axis = job->image.axis;
    const double depth = job->depths * axis[2].step / 2;
    const double f = job->omega[job->nf / 2] / (2 * G_PI);
    const double zone = sqrt(job->velocity.min / f * depth / 2);
    for (int a = 0; a < 2; a++) {
        const double width = axis[a].n * (a ? job->cells.dx : job->cells.dy);
        if (axis[a].n > 1 && width < zone / 2)
            litho_cube_note(out,
                            "the %" PRId64 " %s span %.3g m, and a flat reflector at %.0f m takes "
                            "%.3g m at %.0f Hz: it keeps about %.2g of its amplitude and lies an "
                            "eighth of a wavelength too deep; %s = 1000 takes every line by itself",
                            axis[a].n, a ? _("crosslines") : _("inlines"), width, depth, zone, f,
                            width / zone, a ? "dx" : "dy");
    }
}

static void report_numbers(LithoMigrateJob *const *jobs, int n, int frequencies,
                           LithoReport *report)
{
    const LithoMigrateJob *job = jobs[0];
    litho_report_number(report, "frequencies", "Frequencies", "", frequencies);
    if (n > 1) {
        litho_report_number(report, "coarse_frequencies", "Frequencies on wider cells", "",
                            frequencies - job->nf);
        litho_report_number(report, "coarse_cells", "Widest cells", "image cells",
                            jobs[n - 1]->ratio);
    }
    litho_report_number(report, "step", "Depth of a step", "m", job->dz * job->step);
    litho_report_used(report, "migrate", "step", job->step);
    litho_report_used(report, "migrate", "fmax", job->omega[job->nf - 1] / (2 * G_PI));
    litho_report_used(report, "migrate", "pad", litho_migrate_padding(&job->params));
    litho_report_used(report, "migrate", "nz", job->image.axis[LITHO_SAMPLE].n);
    litho_report_used(report, "migrate", "dx", job->cells.dx / job->ratio);
    litho_report_used(report, "migrate", "dy", job->cells.dy / job->ratio);
    if (job->map.depth_step > 0)
        litho_report_used(report, "migrate", "velocity_dz", job->map.depth_step);
    if (job->n_steps == 0 || job->params.engine != LITHO_MIGRATE_CHEBYSHEV)
        return;
    report_designs(jobs, n, report);
    if (job->cells.nx == 1 && job->cells.ny == 1)
        return;
    report_kth(jobs, n, 0, report, "low");
    report_kth(jobs, n, frequencies / 2, report, "middle");
    report_kth(jobs, n, frequencies - 1, report, "high");
}

void litho_migrate_jobs_report(LithoMigrateJob *const *jobs, int n, LithoVelocityLayer *layer,
                               LithoRun *run, LithoCube *out)
{
    const LithoMigrateJob *job = jobs[0];
    const GPtrArray *notes = litho_migrate_model_notes(job->model);
    for (guint k = 0; k < notes->len; k++)
        litho_cube_note(out, "%s", (const char *)g_ptr_array_index(notes, k));
    if (job->map.assumed)
        litho_cube_note(out,
                        "the velocity cube states no depth interval: %g m, as of the image, is "
                        "assumed, so that it reaches %g m; velocity_dz tells it",
                        job->map.depth_step, job->map.bottom);
    note_stretched(job, out);
    if (job->nf == 0)
        return;
    note_sampling(job, out);
    note_slit(job, out);
    double ratio = 1;
    for (int s = 0; s < job->n_steps; s++)
        ratio = fmax(ratio, job->slow_max[s] / job->slow_min[s]);
    if (ratio > 3)
        litho_cube_note(out,
                        "velocity changes by a factor of %.1f within one depth: steep dips in the "
                        "fast rock lose accuracy",
                        ratio);
    if (job->params.coarse && n == 1)
        litho_cube_note(
            out,
            "coarse = on changes nothing: wider cells or depths would hold too little of the band, "
            "or would be too few");
    LithoReport *report = run ? run->report : NULL;
    if (!report)
        return;
    int frequencies = 0;
    for (int k = 0; k < n; k++)
        frequencies += jobs[k]->nf;
    report_numbers(jobs, n, frequencies, report);
    if (job->n_steps > 0)
        report_velocity(job, layer, out, report);
    report_depth_time(job, report); // last: the panel shows the first curves first
}
