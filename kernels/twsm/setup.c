// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/twsm/setup.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "kernels/twsm/depths.h"

enum { MASK_POINTS = 257 };

void twsm_setup_free(TwsmSetup *s)
{
    if (!s)
        return;
    for (int b = 0; b < TWSM_MAX_LAYERS; b++) {
        twsm_points_free(s->mesh[b]);
        twsm_mask_free(s->mask[b]);
    }
    for (int c = 0; c < TWSM_MAX_CODES; c++) {
        twsm_chain_clear(&s->chain[c]);
        twsm_effective_free(s->effective[c]);
        g_free(s->shot[c].rule);
    }
    twsm_points_free(s->receivers);
    g_free(s->model);
    litho_resolved_unref(s->known);
    g_ptr_array_unref(s->notes);
    g_free(s);
}

void twsm_setup_note(TwsmSetup *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(s->notes, litho_text_vprintf(format, args));
    va_end(args);
}

// A source given in the parameters is the only one; coordinates left to the model are those of its
// first.
static void override_source(TwsmModel *m, const TwsmParams *p)
{
    const double at[3] = {p->source_x, p->source_y, p->source_z};
    for (int k = 0; k < 3; k++)
        if (at[k] > TWSM_MODEL_S) {
            m->source[0][k] = at[k];
            m->n_sources = 1;
        }
}

static void override_model(TwsmModel *m, const TwsmParams *p)
{
    override_source(m, p);
    if (p->wavelet > 0)
        m->ricker = p->wavelet;
    if (p->fmax > 0)
        m->fmax = p->fmax;
    if (p->record > 0)
        m->record = p->record;
    if (p->cells_per_wavelength > 0)
        m->cells = p->cells_per_wavelength;
    if (p->taper >= 0)
        m->taper = p->taper;
}

TwsmSetup *twsm_setup_open(const TwsmParams *p, LithoResolved *known, GError **error)
{
    const TwsmModel *stored =
        known ? litho_resolved_data(known) : twsm_model_builtin(p->model.text);
    if (!stored) {
        litho_refuse(error, LITHO_ERROR_PARAMETER, "the model '%s' has not been read",
                     p->model.text);
        return NULL;
    }
    g_autofree TwsmModel *model = g_memdup2(stored, sizeof *stored);
    override_model(model, p);
    if (!twsm_depths_apply(model, p->depths.text, error))
        return NULL;
    double samples = model->record / model->dt;
    if (!(samples >= 2 && samples <= 1e6)) {
        litho_refuse(error, LITHO_ERROR_PARAMETER,
                     "record %g s at dt %g s gives %g samples; 2 to 1000000 are needed",
                     model->record, model->dt, samples);
        return NULL;
    }
    const int n_time = (int)ceil(samples - 1e-6);
    const double record = n_time * model->dt;
    // A model may name any frequency: in double until it is known to be a small number.
    const double frequencies =
        p->frequencies > 0 ? p->frequencies : MAX(ceil(model->fmax * record - 1e-6), 1);
    if (2 * frequencies >= n_time) {
        litho_refuse(error, LITHO_ERROR_PARAMETER,
                     "%.15g frequencies up to %g Hz need a dt under %g s; it is %g s", frequencies,
                     frequencies / record, 0.5 * record / frequencies, model->dt);
        return NULL;
    }
    TwsmSetup *s = g_new0(TwsmSetup, 1);
    s->notes = g_ptr_array_new_with_free_func(g_free);
    s->dt = model->dt;
    s->n_time = n_time;
    s->record = record;
    s->dw = 2 * G_PI / s->record;
    s->sig = p->damping / s->record;
    s->n_frequencies = (int)frequencies;
    s->model = g_steal_pointer(&model);
    s->known = known ? litho_resolved_ref(known) : NULL;
    return s;
}

void twsm_setup_grid(const TwsmSetup *s, LithoGrid *grid)
{
    const TwsmModel *m = s->model;
    *grid = litho_grid_new((gint64)m->n_sources * m->receiver_count[1], m->receiver_count[0],
                           s->n_time);
    LithoAxis *time = &grid->axis[LITHO_SAMPLE];
    time->first = 0;
    time->step = s->dt;
    for (int k = 0; k < 3; k++)
        grid->axis[k].source = LITHO_FROM_COMPUTED;
    // Several sources over receivers are stacked along the inlines: no affine map then, and the
    // distances alone are known. Over one line of receivers the next inline is the next source.
    const gboolean shots = m->n_sources > 1, line = m->receiver_count[1] == 1;
    grid->has_xy = TRUE;
    grid->has_no_place = shots;
    grid->xy_source = LITHO_FROM_COMPUTED;
    g_strlcpy(grid->xy_evidence, _("receivers of the model"), sizeof grid->xy_evidence);
    grid->origin[0] = m->receiver_first[0];
    grid->origin[1] = m->receiver_first[1];
    grid->inline_step[0] = shots && line ? m->source[1][0] - m->source[0][0] : 0;
    grid->inline_step[1] = shots && line ? m->source[1][1] - m->source[0][1] : m->receiver_step[1];
    grid->xline_step[0] = m->receiver_step[0];
    grid->xline_step[1] = 0;
    grid->spread = litho_spread_get(m->n_sources, m->receiver_count[1], m->receiver_z, m->source);
}

// --- meshes -----------------------------------------------------------------------------------

// Highest frequency that matters: computed, and above 2 % of the Ricker spectrum's peak (2.61 fp).
static double highest_frequency(const TwsmSetup *s)
{
    return MIN(s->n_frequencies / s->record, 2.61 * s->model->ricker);
}

static double shortest_wave(const TwsmSetup *s, int boundary)
{
    const double *v = s->model->velocity;
    return MIN(v[boundary], v[boundary + 1]) / highest_frequency(s);
}

static void mark_boundaries(const TwsmModel *m, gboolean used[TWSM_MAX_LAYERS])
{
    for (int c = 0; c < m->n_codes; c++)
        for (int h = 0; h < m->code[c].n; h++)
            used[m->code[c].hit[h].boundary] = TRUE;
}

static gboolean check_cells(TwsmSetup *s, int b, const TwsmParams *p, GError **error)
{
    const TwsmPoints *mesh = s->mesh[b];
    double wave = shortest_wave(s, b), cells = wave / mesh->edge;
    double wanted = mesh->cells[0] ? 2.0 : 4.0;
    if (cells < 1.2 && !p->force) {
        litho_refuse(error, LITHO_ERROR_GEOMETRY,
                     "boundary %d has %.2f cells per shortest wavelength (%.3g m); 2.5 are needed, "
                     "and under 1.2 only force=on computes",
                     b, cells, wave);
        return FALSE;
    }
    if (cells < wanted * 0.999)
        twsm_setup_note(
            s,
            _("boundary %d has %.2f cells per shortest wavelength (%.3g m); %s needs %.3g or more"),
            b, cells, wave, mesh->cells[0] ? _("a regular mesh") : _("an irregular mesh"), wanted);
    if (mesh->sag > 0.01 * wave)
        twsm_setup_note(
            s,
            _("boundary %d bends by %.2g m within a cell, more than 1 %% of the shortest "
              "wavelength (%.3g m): use more cells per wavelength"),
            b, mesh->sag, wave);
    return TRUE;
}

static void set_centre(TwsmSetup *s, const gboolean *used)
{
    const TwsmModel *m = s->model;
    double lo = MIN(m->source[0][2], m->receiver_z), hi = MAX(m->source[0][2], m->receiver_z);
    s->centre[0] = 0.5 * (m->x[0] + m->x[1]);
    s->centre[1] = 0.5 * (m->y[0] + m->y[1]);
    for (int b = 0; b < m->n_boundaries; b++)
        if (used[b]) {
            double z = twsm_boundary_depth(&m->boundary[b], s->centre[0], s->centre[1]);
            lo = MIN(lo, z), hi = MAX(hi, z);
        }
    s->centre[2] = isfinite(lo + hi) ? 0.5 * (lo + hi) : 0;
}

void twsm_setup_cells(const TwsmSetup *s, double cell[TWSM_MAX_LAYERS])
{
    const TwsmModel *m = s->model;
    gboolean used[TWSM_MAX_LAYERS] = {FALSE};
    double finest = INFINITY;
    mark_boundaries(m, used);
    for (int b = 0; b < m->n_boundaries; b++) {
        cell[b] = used[b] ? shortest_wave(s, b) / m->cells : 0;
        if (used[b] && m->boundary[b].shape == TWSM_FLAT)
            finest = MIN(finest, cell[b]);
    }
    for (int b = 0; b < m->n_boundaries; b++)
        if (used[b] && m->boundary[b].shape == TWSM_FLAT)
            cell[b] = finest;
}

static gboolean build_meshes(TwsmSetup *s, const TwsmParams *p, int threads, GError **error)
{
    const TwsmModel *m = s->model;
    gboolean used[TWSM_MAX_LAYERS] = {FALSE};
    double cell[TWSM_MAX_LAYERS];
    mark_boundaries(m, used);
    set_centre(s, used);
    twsm_setup_cells(s, cell);
    for (int b = 0; b < m->n_boundaries; b++) {
        if (!used[b])
            continue;
        s->mesh[b] = twsm_mesh_new(m, b, cell[b], m->taper, threads, s->centre, error);
        if (!s->mesh[b]) {
            g_prefix_error(error, _("boundary %d: "), b);
            return FALSE;
        }
        if (!check_cells(s, b, p, error))
            return FALSE;
    }
    s->receivers = twsm_receivers_new(m, s->centre, error);
    return s->receivers != NULL;
}

gboolean twsm_setup_same_traces(const TwsmSetup *a, const TwsmSetup *b)
{
    return a->model->ricker == b->model->ricker && a->model->delay == b->model->delay &&
           a->n_time == b->n_time && a->dt == b->dt;
}

gboolean twsm_setup_same_waves(const TwsmSetup *a, const TwsmSetup *b)
{
    gboolean masked = FALSE; // a mask's edge fades by the wavelet's wavelength
    for (int layer = 0; layer < TWSM_MAX_LAYERS; layer++)
        masked |= a->mask[layer] || b->mask[layer];
    double cell[2][TWSM_MAX_LAYERS] = {{0}};
    if (masked || a->n_frequencies != b->n_frequencies || a->dw != b->dw || a->sig != b->sig)
        return FALSE;
    twsm_setup_cells(a, cell[0]);
    twsm_setup_cells(b, cell[1]);
    if (memcmp(cell[0], cell[1], sizeof cell[0]) != 0)
        return FALSE;
    // Members that the spectra do not know, and those compared above, are made equal; copies byte by
    // byte keep what lies between members.
    g_autofree TwsmModel *m = g_memdup2(b->model, sizeof *m);
    m->ricker = a->model->ricker;
    m->delay = a->model->delay;
    m->fmax = a->model->fmax;
    m->record = a->model->record;
    m->dt = a->model->dt;
    m->cells = a->model->cells;
    return memcmp(m, a->model, sizeof *m) == 0;
}

// --- masks ------------------------------------------------------------------------------------

static float *mask_heights(const TwsmSetup *s, const TwsmMask *mask, int boundary)
{
    float *z = g_new(float, (gsize)mask->nx * mask->ny);
    for (int iy = 0; iy < mask->ny; iy++)
        for (int ix = 0; ix < mask->nx; ix++)
            z[(gsize)iy * mask->nx + ix] =
                (float)(twsm_boundary_depth(&s->model->boundary[boundary],
                                            mask->x0 + ix * mask->dx + s->centre[0],
                                            mask->y0 + iy * mask->dy + s->centre[1]) -
                        s->centre[2]);
    return z;
}

// Mask of a layer, made when first asked for. NULL when its ends are flat: nothing can block then.
static const TwsmMask *layer_mask(TwsmSetup *s, const TwsmParams *p, int layer)
{
    static gint serial;
    const TwsmModel *m = s->model;
    gboolean top = layer > 0, bottom = layer < m->n_boundaries;
    if ((!top || m->boundary[layer - 1].shape == TWSM_FLAT) &&
        (!bottom || m->boundary[layer].shape == TWSM_FLAT))
        return NULL;
    if (s->mask[layer])
        return s->mask[layer];
    TwsmMask *mask = g_new0(TwsmMask, 1);
    mask->nx = mask->ny = MASK_POINTS;
    mask->x0 = (float)(m->x[0] - s->centre[0]);
    mask->y0 = (float)(m->y[0] - s->centre[1]);
    mask->dx = (float)((m->x[1] - m->x[0]) / (MASK_POINTS - 1));
    mask->dy = (float)((m->y[1] - m->y[0]) / (MASK_POINTS - 1));
    mask->top = top ? mask_heights(s, mask, layer - 1) : NULL;
    mask->bottom = bottom ? mask_heights(s, mask, layer) : NULL;
    mask->soft = (float)(p->mask_soft * sqrt(m->velocity[layer] / m->ricker));
    twsm_mask_finish(mask);
    mask->serial = 1 + g_atomic_int_add(&serial, 1);
    return s->mask[layer] = mask;
}

// --- chains -----------------------------------------------------------------------------------

// Contact met by hit h of a code, seen from the layer the wave comes from.
static TwsmContact contact_of(const TwsmModel *m, const TwsmCode *code, int h)
{
    int from = code->layer[h], b = code->hit[h].boundary, other = from == b ? b + 1 : b;
    return (TwsmContact){m->velocity[from], m->density[from], m->velocity[other], m->density[other],
                         code->hit[h].transmit};
}

gboolean twsm_setup_is_even(const TwsmModel *m, const TwsmCode *code)
{
    for (int h = 0; h < code->n; h++) {
        const TwsmContact contact = contact_of(m, code, h);
        if (contact.v1 != contact.v2)
            return FALSE;
    }
    return TRUE;
}

// Leg from hit h of the code to hit h + 1, or to the receivers.
static void fill_leg(TwsmSetup *s, const TwsmParams *p, int c, int h, TwsmLeg *leg)
{
    const TwsmModel *m = s->model;
    const TwsmCode *code = &m->code[c];
    int b = code->hit[h].boundary, layer = code->layer[h + 1];
    gboolean last = h + 1 == code->n;
    double v = m->velocity[layer];
    leg->from = s->mesh[b];
    leg->to = last ? s->receivers : s->mesh[code->hit[h + 1].boundary];
    leg->pair.turns = (float)(1 / (v * s->record));
    leg->pair.amp = (float)(-s->dw / (2 * G_PI * v));
    leg->pair.side = layer == b ? -1 : 1; // the layer above boundary b has its number
    leg->pair.damp = (float)(s->sig / v);
    leg->near = p->near_field == TWSM_NEAR_ON ||
                (p->near_field == TWSM_NEAR_AUTO &&
                 (s->coef[c] == TWSM_COEF_EFFECTIVE || twsm_setup_is_even(m, code)));
    leg->mask = p->mask == TWSM_MASK_SEGMENT ? layer_mask(s, p, layer) : NULL;
    if (last)
        return;
    leg->pair.arrive = layer == code->hit[h + 1].boundary ? 1 : -1;
    TwsmContact contact = contact_of(m, code, h + 1);
    gboolean plane = s->coef[c] == TWSM_COEF_PLANE;
    leg->coef = twsm_coef_table(&contact, plane);
    leg->pair.coef = plane ? 2 : 1;
    leg->lattice = !leg->mask && twsm_points_lattice(leg->from, leg->to);
}

// The operator that takes out what the first propagation would carry through the other layer: the
// same beams between blocked pairs of one boundary.
static void fill_absorption(const TwsmLeg *next, const TwsmMask *mask, TwsmLeg *leg)
{
    leg->from = leg->to = next->from;
    leg->pair = next->pair;
    leg->pair.coef = 0;
    leg->mask = mask;
    leg->absorb = TRUE;
}

static void build_chain(TwsmSetup *s, const TwsmParams *p, int c)
{
    static gint serial;
    const TwsmCode *code = &s->model->code[c];
    TwsmChain *chain = &s->chain[c];
    s->coef[c] = p->coefficients != TWSM_COEF_AUTO ? p->coefficients
                 : code->n == 1                    ? TWSM_COEF_EFFECTIVE
                                                   : TWSM_COEF_PAIR;
    chain->leg = g_new0(TwsmLeg, 2 * code->n);
    chain->n_rhs = s->model->n_sources;
    chain->sig = s->sig / s->dw;
    chain->serial = 1 + g_atomic_int_add(&serial, 1);
    for (int h = 0; h < code->n; h++) {
        const TwsmMask *mask = p->absorption ? layer_mask(s, p, code->layer[h + 1]) : NULL;
        TwsmLeg leg = {0};
        fill_leg(s, p, c, h, &leg);
        if (mask)
            fill_absorption(&leg, mask, &chain->leg[chain->n_legs++]);
        chain->leg[chain->n_legs++] = leg;
    }
    if (s->coef[c] == TWSM_COEF_PLANE)
        twsm_setup_note(
            s,
            _("plane-wave coefficients have a kink at the critical angle that focuses on the axis: "
              "false events up to 78 %% of a reflection; coefficients=auto is without"));
}

// Farthest and most grazing incidence of the sources on the first boundary, over live elements.
static void incidence(const TwsmSetup *s, const TwsmPoints *mesh, int threads, double *r_max,
                      double *cos_min)
{
    double far = 0, low = 1;
    for (int q = 0; q < s->model->n_sources; q++) {
        double at[3];
        for (int k = 0; k < 3; k++)
            at[k] = s->model->source[q][k] - s->centre[k];
#pragma omp parallel for simd schedule(static) num_threads(threads) reduction(max                  \
                                                                              : far)               \
    reduction(min                                                                                  \
              : low)
        for (int j = 0; j < mesh->n; j++) {
            double dx = mesh->x[j] - at[0], dy = mesh->y[j] - at[1], dz = mesh->z[j] - at[2];
            double r = sqrt(dx * dx + dy * dy + dz * dz);
            double c = fabs(mesh->nx[j] * dx + mesh->ny[j] * dy + mesh->nz[j] * dz) / r;
            far = MAX(far, r);
            low = MIN(low, c);
        }
    }
    *r_max = far;
    *cos_min = low;
}

static gboolean build_effective(TwsmSetup *s, int c, LithoRun *run)
{
    const TwsmCode *code = &s->model->code[c];
    double r_max, cos_min;
    if (s->coef[c] != TWSM_COEF_EFFECTIVE)
        return FALSE;
    TwsmContact contact = contact_of(s->model, code, 0);
    incidence(s, s->mesh[code->hit[0].boundary], litho_run_threads(run), &r_max, &cos_min);
    double chi = s->dw * s->n_frequencies * r_max / contact.v1;
    s->effective[c] = twsm_effective_new(&contact, chi, cos_min, run);
    return TRUE;
}

// Rules of the sources on the first boundary of code c.
static void build_shot(TwsmSetup *s, int c)
{
    const TwsmModel *m = s->model;
    const TwsmCode *code = &m->code[c];
    const TwsmContact contact = contact_of(m, code, 0);
    const int b = code->hit[0].boundary;
    TwsmShot *shot = &s->shot[c];
    shot->mesh = s->mesh[b];
    shot->effective = s->effective[c];
    shot->rule = g_new(TwsmRayRule, m->n_sources);
    for (int q = 0; q < m->n_sources; q++) {
        TwsmRayRule *rule = &shot->rule[q];
        *rule = (TwsmRayRule){.contact = contact,
                              .first = s->effective[c]                 ? TWSM_FIRST_EFFECTIVE
                                       : s->coef[c] == TWSM_COEF_PLANE ? TWSM_FIRST_PLANE
                                                                       : TWSM_FIRST_FROZEN,
                              .arrive = code->layer[0] == b ? 1 : -1,
                              .turns = s->dw / (2 * G_PI * contact.v1),
                              .fall = s->sig / contact.v1};
        for (int k = 0; k < 3; k++)
            rule->source[k] = m->source[q][k] - s->centre[k];
    }
}

gboolean twsm_setup_build(TwsmSetup *s, const TwsmParams *p, LithoRun *run, GError **error)
{
    if (!twsm_model_trace_codes(s->model, error) ||
        !build_meshes(s, p, litho_run_threads(run), error))
        return FALSE;
    for (int c = 0; c < s->model->n_codes; c++) {
        build_chain(s, p, c);
        build_effective(s, c, run);
        build_shot(s, c);
        if (!litho_run_step(run, c + 1, s->model->n_codes, error))
            return FALSE;
    }
    twsm_setup_check(s, p);
    return TRUE;
}
