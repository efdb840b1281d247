// SPDX-License-Identifier: GPL-3.0-or-later
//
// Warnings about a model that computes, but whose traces are not those of the rock.
#include <math.h>

#include "core/text.h"
#include "kernels/twsm/report.h"
#include "kernels/twsm/setup.h"

enum { SIDE = 64 }; // intervals of an area that is looked at

// Every hit of the ray that comes back to the source should lie a Fresnel radius inside what the
// taper leaves alone: sqrt(lambda h / 2) with h the harmonic mean of the path before and behind,
// which for a reflector at depth z is sqrt(lambda z / 2).
static void check_fresnel(TwsmSetup *s)
{
    const TwsmModel *m = s->model;
    for (int c = 0; c < m->n_codes; c++) {
        const TwsmCode *code = &m->code[c];
        double p[TWSM_MAX_HITS + 2][3];
        twsm_normal_ray(m, code, p);
        for (int h = 0; h < code->n; h++) {
            double before = 0, behind = 0, inside = INFINITY;
            for (int k = 0; k < 3; k++) {
                before += (p[h + 1][k] - p[h][k]) * (p[h + 1][k] - p[h][k]);
                behind += (p[h + 2][k] - p[h + 1][k]) * (p[h + 2][k] - p[h + 1][k]);
            }
            before = sqrt(before), behind = sqrt(behind);
            double radius =
                sqrt(m->velocity[code->layer[h]] / m->ricker * before * behind / (before + behind));
            for (int axis = 0; axis < 2; axis++) {
                const double *range = axis ? m->y : m->x;
                double fade = m->taper * (range[1] - range[0]);
                inside =
                    MIN(inside, MIN(p[h + 1][axis] - range[0], range[1] - p[h + 1][axis]) - fade);
            }
            if (inside < radius)
                twsm_setup_note(
                    s,
                    _("wave %s meets boundary %d at (%.0f, %.0f) m, %.0f m %s the untapered "
                      "part; "
                      "a Fresnel radius is %.0f m: widen the extent or narrow the taper"),
                    code->text, code->hit[h].boundary, p[h + 1][0], p[h + 1][1], fabs(inside),
                    inside < 0 ? _("outside") : _("inside"), radius);
        }
    }
}

// Time of a wave from the source to (x, y): vertical legs to the boundaries half way between the
// two, lengthened by the offset. Close enough for a warning.
static double time_to(const TwsmModel *m, const TwsmCode *code, const double source[3], double x,
                      double y)
{
    const double offset = hypot(x - source[0], y - source[1]);
    double time = 0, vertical = 0, depth = source[2];
    for (int h = 0; h <= code->n; h++) {
        const double z = h < code->n ? twsm_boundary_depth(&m->boundary[code->hit[h].boundary],
                                                           (source[0] + x) / 2, (source[1] + y) / 2)
                                     : m->receiver_z;
        time += fabs(z - depth) / m->velocity[code->layer[h]];
        vertical += fabs(z - depth);
        depth = z;
    }
    return vertical > 0 ? time * sqrt(1 + offset * offset / (vertical * vertical)) : time;
}

// Arrivals at the corners of the receivers, and back at the sources, against the record.
static void check_record(TwsmSetup *s)
{
    const TwsmModel *m = s->model;
    for (int c = 0; c < m->n_codes; c++) {
        const TwsmCode *code = &m->code[c];
        double latest = 0, soonest = INFINITY;
        for (int q = 0; q < m->n_sources; q++) {
            const double *from = m->source[q];
            for (int corner = 0; corner < 4; corner++) {
                double at[3];
                twsm_model_receiver(m, corner & 1 ? m->receiver_count[0] - 1 : 0,
                                    corner & 2 ? m->receiver_count[1] - 1 : 0, at);
                latest = MAX(latest, time_to(m, code, from, at[0], at[1]));
            }
            soonest = MIN(soonest, time_to(m, code, from, from[0], from[1]));
        }
        if (soonest + m->delay + 0.8 / m->ricker < 0)
            twsm_setup_note(s,
                            _("wave %s arrives at %.3g s with the delay of %.3g s, before the "
                              "record begins, and wraps around to its end: use a longer delay"),
                            code->text, soonest + m->delay, m->delay);
        if (latest + m->delay + 1.5 / m->ricker > s->record)
            twsm_setup_note(
                s,
                _("wave %s arrives after about %.3g s; with a record of %.4g s it wraps around: "
                  "use a longer record"),
                code->text, latest + m->delay, s->record);
    }
}

// Boundaries are counted from the top. Where one lies above its predecessor the layer between them
// is inside out, and waves cross it with the wrong rock.
static void check_order(TwsmSetup *s)
{
    const TwsmModel *m = s->model;
    for (int b = 1; b < m->n_boundaries; b++) {
        double worst = 0.01, at[2] = {0, 0};
        for (int k = 0; k < (SIDE + 1) * (SIDE + 1); k++) {
            const double x = m->x[0] + (m->x[1] - m->x[0]) * (k % (SIDE + 1)) / SIDE;
            const double y = m->y[0] + (m->y[1] - m->y[0]) * (k / (SIDE + 1)) / SIDE;
            const double above = twsm_boundary_depth(&m->boundary[b - 1], x, y) -
                                 twsm_boundary_depth(&m->boundary[b], x, y);
            if (above > worst)
                worst = above, at[0] = x, at[1] = y;
        }
        if (worst > 0.01)
            twsm_setup_note(
                s,
                _("boundary %d lies up to %.0f m above boundary %d, most at (%.0f, %.0f) m; "
                  "boundaries are counted from the top and must not cross"),
                b, ceil(worst), b - 1, at[0], at[1]);
    }
}

// A sum over cells does not hold nearer to them than their own width: at 0.75 of it a mirror is 5 %
// off, at a half 20 %.
static void check_end(TwsmSetup *s, const char *what, int number, const double at[3], int b)
{
    const double edge = s->mesh[b]->edge;
    const double off = fabs(twsm_boundary_depth(&s->model->boundary[b], at[0], at[1]) - at[2]);
    if (off < 0.75 * edge)
        twsm_setup_note(s,
                        _("%s %d lies %.3g m from boundary %d, whose cells are %.3g m wide: "
                          "amplitudes there are more than 5 %% off; use %.0f times as many cells "
                          "per wavelength or another place"),
                        what, number, off, b, edge, ceil(edge / fmax(off, 1e-3 * edge)));
}

// The receiver that lies nearest to boundary b, of at most so many a side.
static void check_receivers(TwsmSetup *s, int b)
{
    const TwsmModel *m = s->model;
    const int *n = m->receiver_count, by[2] = {n[0] / SIDE + 1, n[1] / SIDE + 1};
    double nearest = INFINITY, at[3], place[3] = {0};
    int number = 0;
    for (int iy = 0; iy < n[1]; iy += by[1])
        for (int ix = 0; ix < n[0]; ix += by[0]) {
            twsm_model_receiver(m, ix, iy, at);
            const double off = fabs(twsm_boundary_depth(&m->boundary[b], at[0], at[1]) - at[2]);
            if (off < nearest) {
                nearest = off;
                number = iy * n[0] + ix + 1;
                for (int k = 0; k < 3; k++)
                    place[k] = at[k];
            }
        }
    check_end(s, _("receiver"), number, place, b);
}

// Layer between two boundaries that a wave meets one after the other. A pair coefficient errs by
// 2 / (k r), a fifth at 1.6 wavelengths; where it is exact the cells are the limit.
static void check_layer(TwsmSetup *s, int a, int b, double wave, gboolean exact)
{
    const TwsmModel *m = s->model;
    double thin = INFINITY, at[2] = {0, 0};
    for (int k = 0; k < (SIDE + 1) * (SIDE + 1); k++) {
        const double x = m->x[0] + (m->x[1] - m->x[0]) * (k % (SIDE + 1)) / SIDE;
        const double y = m->y[0] + (m->y[1] - m->y[0]) * (k / (SIDE + 1)) / SIDE;
        const double thick = fabs(twsm_boundary_depth(&m->boundary[b], x, y) -
                                  twsm_boundary_depth(&m->boundary[a], x, y));
        if (thick < thin)
            thin = thick, at[0] = x, at[1] = y;
    }
    if (!exact && thin < 1.5 * wave)
        twsm_setup_note(s,
                        _("boundaries %d and %d lie %.3g m apart at (%.0f, %.0f) m, %.2g "
                          "wavelengths: waves from one to the other are off by a fifth or more "
                          "there, and under half a wavelength they mean nothing"),
                        MIN(a, b), MAX(a, b), thin, at[0], at[1], thin / wave);
    else if (exact && thin < fmax(s->mesh[a]->edge, s->mesh[b]->edge))
        twsm_setup_note(s,
                        _("boundaries %d and %d lie %.3g m apart at (%.0f, %.0f) m, less than a "
                          "cell (%.3g m): use more cells per wavelength"),
                        MIN(a, b), MAX(a, b), thin, at[0], at[1],
                        fmax(s->mesh[a]->edge, s->mesh[b]->edge));
}

// Ways from one boundary to the next that are too short, of every wave.
static void check_ways(TwsmSetup *s)
{
    const TwsmModel *m = s->model;
    gboolean ends[2][TWSM_MAX_LAYERS] = {{FALSE}}, layers[TWSM_MAX_LAYERS] = {FALSE};
    for (int c = 0; c < m->n_codes; c++) {
        const TwsmCode *code = &m->code[c];
        ends[0][code->hit[0].boundary] = ends[1][code->hit[code->n - 1].boundary] = TRUE;
        for (int h = 0; h + 1 < code->n; h++) {
            const int a = code->hit[h].boundary, b = code->hit[h + 1].boundary;
            const int layer = code->layer[h + 1];
            if (a == b && m->boundary[a].shape <= TWSM_DIPPING)
                twsm_setup_note(s,
                                _("wave %s meets boundary %d, a plane, twice in a row: no wave "
                                  "does"),
                                code->text, a);
            if (a == b || layers[layer])
                continue;
            layers[layer] = TRUE;
            check_layer(s, a, b, m->velocity[layer] / m->ricker,
                        twsm_setup_is_even(m, code) && s->chain[c].leg[0].near);
        }
    }
    for (int b = 0; b < m->n_boundaries; b++) {
        for (int q = 0; ends[0][b] && q < m->n_sources; q++)
            check_end(s, _("source"), q + 1, m->source[q], b);
        if (ends[1][b])
            check_receivers(s, b);
    }
}

// A Ricker wavelet is 20 % of its peak at twice the peak's frequency: what ends sooner is another
// wavelet. One that begins before the record comes in at its end.
static void check_wavelet(TwsmSetup *s)
{
    const TwsmModel *m = s->model;
    const double top = s->n_frequencies / s->record, needed = 2.5 * m->ricker;
    if (top >= 1.9 * m->ricker)
        return;
    // Their number ends the band where it is stated, whatever fmax says.
    if (top < m->fmax - 1 / s->record)
        twsm_setup_note(s,
                        _("%d frequencies end at %.4g Hz, and a Ricker wavelet of %.4g Hz needs "
                          "%.4g Hz: frequencies=%.0f computes them"),
                        s->n_frequencies, top, m->ricker, needed, ceil(needed * s->record));
    else
        twsm_setup_note(s,
                        _("frequencies end at %.4g Hz, and a Ricker wavelet of %.4g Hz needs "
                          "%.4g Hz: fmax=%.4g computes them"),
                        top, m->ricker, needed, needed);
}

// Densities count by their ratios only: those of one rock in g/cm3 among others in kg/m3 make a
// mirror.
static void check_densities(TwsmSetup *s)
{
    const TwsmModel *m = s->model;
    double low = INFINITY, high = 0;
    for (int l = 0; l < m->n_layers; l++) {
        low = MIN(low, m->density[l]);
        high = MAX(high, m->density[l]);
    }
    if (high > 10 * low)
        twsm_setup_note(s, _("densities lie between %g and %g: are all of them kg/m3?"), low, high);
}

// The convolution is asked for by name, and no leg can take it.
static void check_algorithm(TwsmSetup *s, const TwsmParams *p)
{
    gboolean found = p->algorithm != TWSM_FFT;
    for (int c = 0; c < s->model->n_codes; c++)
        for (int leg = 0; leg < s->chain[c].n_legs; leg++)
            found |= s->chain[c].leg[leg].lattice;
    if (!found)
        twsm_setup_note(s, _("algorithm=fft needs a way from one flat boundary to another, and no "
                             "wave of this model has one: fused takes its place"));
}

void twsm_setup_check(TwsmSetup *s, const TwsmParams *p)
{
    check_densities(s);
    check_algorithm(s, p);
    check_order(s);
    check_wavelet(s);
    check_record(s);
    check_fresnel(s);
    check_ways(s);
}
