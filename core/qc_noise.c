// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/qc_noise.h"

#include <math.h>
#include <string.h>

#include "core/qc_methods.h"

gboolean litho_qc_guess_gaps(LithoCube *cube, LithoRun *run, GError **error)
{
    const LithoQcMethods *m = litho_qc_methods();
    return !m->gaps || m->gaps(cube, run, error);
}

LithoCube *litho_qc_without_gaps(const LithoCube *cube, LithoBox box, int axis, int around,
                                 LithoRun *run)
{
    LithoRun quiet = {.cancel = run ? run->cancel : NULL, .threads = run ? run->threads : 0};
    LithoBox wide = box;
    guint missing = 0;
    for (gint64 i = box.lo[0]; i < box.hi[0]; i++)
        for (gint64 j = box.lo[1]; j < box.hi[1]; j++)
            missing += !litho_cube_is_live(cube, i, j);
    if (missing == 0)
        return NULL;
    wide.lo[axis] = MAX(box.lo[axis] - around, cube->held.lo[axis]);
    wide.hi[axis] = MIN(box.hi[axis] + around, cube->held.hi[axis]);
    LithoCube *guessed = litho_cube_copy_box(cube, wide, NULL);
    if (guessed && !litho_qc_guess_gaps(guessed, &quiet, NULL))
        g_clear_pointer(&guessed, litho_cube_unref);
    return guessed;
}

gboolean litho_qc_swell(const LithoCube *cube, const LithoBox *box, LithoRun *run, double *level,
                        GError **error)
{
    const LithoQcMethods *m = litho_qc_methods();
    *level = 0;
    return !m->swell || m->swell(cube, box, run, level, error);
}

gboolean litho_qc_bursts(const LithoCube *cube, LithoRun *run, LithoCube **guesses, GError **error)
{
    const LithoQcMethods *m = litho_qc_methods();
    *guesses = NULL;
    return !m->bursts || m->bursts(cube, run, guesses, error);
}

// Guesses for the bursts of single traces in `box` of the cube (NULL = in all of it), found among
// the traces around them; *guesses is NULL where there are none.
static gboolean without_bursts(const LithoCube *cube, const LithoBox *box, LithoRun *run,
                               LithoCube **guesses, GError **error)
{
    enum { TRACES = 32, SAMPLES = 192 }; // more than bursts are found and guessed by
    LithoRun search = {.cancel = run ? run->cancel : NULL, .threads = run ? run->threads : 0};
    g_autoptr(LithoCube) part = NULL;
    *guesses = NULL;
    if (!litho_qc_methods()->bursts || !cube->samples)
        return TRUE;
    if (box) {
        const LithoBox around = litho_box_intersect(
            litho_box_grow(&cube->grid, *box, (const gint64[3]){TRACES, TRACES, SAMPLES}),
            cube->held);
        if (!litho_box_empty(around) && !litho_box_equal(around, cube->held) &&
            !(part = litho_cube_copy_box(cube, around, error)))
            return FALSE;
    }
    return litho_qc_bursts(part ? part : cube, &search, guesses, error);
}

// Guesses for bursts hold next to no noise: the level is that of the other samples of `box`.
static void leave_out_guesses(const LithoCube *cube, const LithoCube *guesses, const LithoBox *box,
                              LithoNoise *noise)
{
    const LithoBox area = box ? litho_box_intersect(*box, cube->held) : cube->held;
    const gsize nt = (gsize)litho_box_size(area, 2);
    gint64 all = 0, guessed = 0;
    for (gint64 i = area.lo[0]; i < area.hi[0]; i++)
        for (gint64 j = area.lo[1]; j < area.hi[1]; j++) {
            if (!litho_cube_is_live(cube, i, j))
                continue;
            const float *x = litho_cube_trace(cube, i, j) + area.lo[2] - cube->held.lo[2];
            const float *guess = litho_cube_trace(guesses, i, j) + area.lo[2] - guesses->held.lo[2];
            for (gsize t = 0; t < nt; t++)
                guessed += guess[t] != x[t] && x[t] - x[t] == 0;
            all += (gint64)nt;
        }
    const double more = guessed < all ? sqrt((double)all / (double)(all - guessed)) : 1;
    for (guint f = 0; f < noise->n; f++)
        noise->sigma[f] *= more;
    noise->total *= more;
    noise->low *= more;
    noise->high *= more;
}

gboolean litho_qc_noise_windows(const LithoCube *cube, const LithoBox *box, const int window[3],
                                int most, LithoRun *run, LithoNoise *noise, GError **error)
{
    const LithoQcMethods *m = litho_qc_methods();
    g_autoptr(LithoCube) guesses = NULL;
    memset(noise, 0, sizeof *noise);
    if (!m->noise)
        return litho_qc_no_transform(error);
    const gboolean ok = without_bursts(cube, box, run, &guesses, error) &&
                        m->noise(guesses ? guesses : cube, box, window, most, run, noise, error);
    if (ok && guesses)
        leave_out_guesses(cube, guesses, box, noise);
    return ok;
}

gboolean litho_qc_colour(const LithoNoise *noise, const gint64 at[3], const gint64 n[3],
                         const float *from, float *to, LithoRun *run, GError **error)
{
    const LithoQcMethods *m = litho_qc_methods();
    return m->colour ? m->colour(noise, at, n, from, to, run, error) : litho_qc_no_transform(error);
}

gboolean litho_qc_noise(const LithoCube *cube, const LithoBox *box, LithoRun *run,
                        LithoNoise *noise, GError **error)
{
    return litho_qc_noise_windows(cube, box, (const int[3]){16, 16, 16}, 2048, run, noise, error);
}

void litho_noise_map_clear(LithoNoiseMap *map)
{
    g_free(map->at);
    g_free(map->level);
    *map = (LithoNoiseMap){0};
}

LithoNoiseMap litho_noise_map_copy(const LithoNoiseMap *map)
{
    const gsize knots = (gsize)map->n[0] + map->n[1] + map->n[2];
    const gsize cells = (gsize)map->n[0] * map->n[1] * map->n[2];
    LithoNoiseMap copy = *map;
    copy.at = g_memdup2(map->at, knots * sizeof *map->at);
    copy.level = g_memdup2(map->level, MAX(map->bands, 1) * cells * sizeof *map->level);
    return copy;
}

void litho_noise_clear(LithoNoise *noise)
{
    litho_noise_map_clear(&noise->map);
    litho_noise_map_clear(&noise->bands);
    g_clear_pointer(&noise->sigma, g_free);
    g_clear_pointer(&noise->used, g_free);
    g_clear_pointer(&noise->shape, g_free);
    g_clear_pointer(&noise->local, g_free);
    noise->n = 0;
}

LithoNoise litho_noise_copy(const LithoNoise *noise)
{
    LithoNoise copy = *noise;
    copy.sigma = g_memdup2(noise->sigma, noise->n * sizeof *noise->sigma);
    copy.used = noise->used ? g_memdup2(noise->used, noise->n * sizeof *noise->used) : NULL;
    copy.shape = noise->shape ? g_memdup2(noise->shape, sizeof *noise->shape * noise->n *
                                                            noise->window[0] * noise->window[1])
                              : NULL;
    const int *places = noise->n_places;
    copy.local = noise->local ? g_memdup2(noise->local, sizeof *noise->local * noise->n *
                                                            places[0] * places[1] * places[2])
                              : NULL;
    copy.map = litho_noise_map_copy(&noise->map);
    copy.bands = litho_noise_map_copy(&noise->bands);
    return copy;
}

void litho_noise_local(const LithoNoise *noise, const double at[3], double *amplitude)
{
    const int *n = noise->n_places;
    gint64 below[3];
    double part[3];
    for (guint f = 0; f < noise->n; f++)
        amplitude[f] = noise->local ? 0 : 1;
    if (!noise->local)
        return;
    for (int a = 0; a < 3; a++) {
        const double step = noise->place_step[a];
        const double x = step > 0 ? (at[a] - noise->first_place[a]) / step : 0;
        below[a] = (gint64)CLAMP(floor(x), 0, MAX(n[a] - 2, 0));
        part[a] = n[a] > 1 ? CLAMP(x, -0.5, n[a] - 0.5) - (double)below[a] : 0;
    }
    for (int corner = 0; corner < 8; corner++) {
        gint64 place = 0;
        double weight = 1;
        for (int a = 0; a < 3; a++) {
            const int up = corner >> a & 1;
            weight *= up ? part[a] : 1 - part[a];
            place = place * n[a] + MIN(below[a] + up, n[a] - 1);
        }
        for (guint f = 0; weight != 0 && f < noise->n; f++)
            amplitude[f] += weight * noise->local[f * n[0] * n[1] * n[2] + place];
    }
    for (guint f = 0; f < noise->n; f++)
        amplitude[f] = sqrt(fmax(amplitude[f], 0));
}

double litho_noise_shape(const LithoNoise *noise, const double xi[3])
{
    if (!noise->shape)
        return 1;
    const double along = xi[2] - rint(xi[2]); // in -1/2 .. 1/2
    const double sign = along < 0 ? -1 : 1;   // the opposite coefficient is as large
    const double at[3] = {sign * xi[0] * noise->window[0], sign * xi[1] * noise->window[1],
                          2 * fabs(along) * (noise->n - 1)};
    const int *n = noise->window, last = (int)noise->n - 1;
    double sum = 0;
    for (int corner = 0; corner < 8; corner++) {
        double weight = 1;
        gint64 k[3];
        for (int a = 0; a < 3; a++) {
            const double below = floor(at[a]), up = corner >> a & 1;
            weight *= up ? at[a] - below : 1 - (at[a] - below);
            k[a] = (gint64)below + (gint64)up;
        }
        k[2] = MIN(k[2], last);
        for (int a = 0; a < 2; a++)
            k[a] = (k[a] % n[a] + n[a]) % n[a];
        sum += weight * noise->shape[(k[2] * n[0] + k[0]) * n[1] + k[1]];
    }
    return sum;
}
