// SPDX-License-Identifier: GPL-3.0-or-later
//
// Whether a local level (noise_local.c) tells more than one of the whole survey, and what it tells.
#include <math.h>
#include <string.h>

#include "kernels/common/noise_job.h"
#include "kernels/common/select.h"

enum { GROUPS = NOISE_GROUPS };

// --- does it vary --------------------------------------------------------------------------------

// Mean level of a frequency over the windows.
static double mean_of(const NoiseJob *job, const float *level, int f)
{
    double sum = 0, weight = 0;
    for (gint64 w = 0; w < job->windows; w++) {
        sum += (double)job->share[w] * level[job->windows * f + w];
        weight += job->share[w];
    }
    return weight > 0 ? sum / weight : 0;
}

// Variation of the power over the windows at the frequencies [from, to), in units of its mean,
// which is `energy`.
static double variation_at(const NoiseJob *job, const NoiseLocal *local, int from, int to,
                           double *energy)
{
    double squares = 0, weight = 0;
    *energy = 0;
    for (int f = from; f < to; f++)
        *energy += noise_times_of(job, f) * mean_of(job, local->level, f);
    for (gint64 w = 0; *energy > 0 && w < job->windows; w++) {
        double sum = 0;
        for (int f = from; f < to; f++)
            sum += noise_times_of(job, f) * local->level[job->windows * f + w];
        squares += job->share[w] > 0 ? job->share[w] * pow(sum / *energy - 1, 2) : 0;
        weight += job->share[w];
    }
    return weight > 0 ? sqrt(squares / weight) : 0;
}

// Strong events make bands vary that they are in; noise that varies does so in all bands that hold
// some. The least of these, and their mean by energy.
static double variation_of(const NoiseJob *job, const NoiseLocal *local, double *least)
{
    enum { BAND = 4 };
    const double some = 0.03;
    double squares = 0, all = 0, energy;
    *least = INFINITY;
    variation_at(job, local, 0, job->nf, &all);
    for (int from = 0; from < job->nf; from += BAND) {
        const double own = variation_at(job, local, from, MIN(from + BAND, job->nf), &energy);
        squares += energy * own * own;
        if (energy > some * all)
            *least = fmin(*least, own);
    }
    return all > 0 ? sqrt(squares / all) : 0;
}

static double energy_of_lines(const NoiseJob *job, const NoiseLocal *local)
{
    double lines = 0, all = 0;
    for (int f = 0; f < job->nf; f++) {
        const double energy = noise_times_of(job, f) * mean_of(job, local->level, f);
        lines += local->line[f] ? energy : 0;
        all += energy;
    }
    return all > 0 ? lines / all : 0;
}

// The band that varies least of noise that is alike everywhere does so by 0.08, also below events
// of 30 dB; the others by up to 1.8 there.
#define VARIES 0.2
// Windows of fewer wavenumbers, as those of lines, make it vary by up to 0.2.
#define VARIES_FEW 0.3
enum { FEW_WAVENUMBERS = 128 };
// Strong events raise levels of windows by some percent. Classes of coefficients leave them out,
// and follow noise that varies by no more than so much.
#define EVENTS 0.04
#define MUCH 0.75

// In few wavenumbers strong steep events fill all ranks of a window, and make the level vary: it is
// then beyond that of the classes (by 2 to 6 times in gathers, by 1.25 at most in noise of eight
// times the amplitude at one end), or both are beyond the median of all coefficients (70 times, 3).
static gboolean holds_noise(const NoiseJob *job, const NoiseLocal *local, const double *all,
                            const double *quiet)
{
    const double most = 1.4 * 1.4, most_beyond = 4 * 4;
    double own = 0, classes = 0, median = 0;
    for (int f = 0; f < job->nf; f++) {
        own += noise_times_of(job, f) * mean_of(job, local->level, f);
        classes += noise_times_of(job, f) * quiet[f] * quiet[f];
        median += noise_times_of(job, f) * all[f] * all[f];
    }
    return own < most * classes && classes < most_beyond * median;
}

// Energy of the noise by its local level over that by the levels `quiet` [frequency] of classes.
static double over_classes(const NoiseJob *job, const NoiseLocal *local, const double *quiet)
{
    double own = 0, classes = 0;
    for (int f = 0; f < job->nf; f++) {
        own += noise_times_of(job, f) * mean_of(job, local->level, f);
        classes += noise_times_of(job, f) * quiet[f] * quiet[f];
    }
    return classes > 0 ? own / classes : 1;
}

// Both levels of noise that classes follow agree so far: 0.95 to 1.05. Events raise the local one
// by more than that, and where windows' loudness is wrong classes are further off: noise below a
// quiet water layer had 1.35 times what they told.
#define AGREE 0.1
#define FOLLOW 0.25

// TRUE where it is events that make levels of windows vary, more at some frequencies than at all.
static gboolean are_events(double varies, double least)
{
    return varies * varies - least * least > EVENTS && least < MUCH;
}

gboolean noise_local_matters(const NoiseJob *job, const NoiseLocal *local, const double *all,
                             const double *quiet, gboolean unequal)
{
    double least;
    const gboolean few = noise_wavenumbers(job) < FEW_WAVENUMBERS;
    if (few && !holds_noise(job, local, all, quiet))
        return FALSE;
    const double varies = variation_of(job, local, &least);
    const gboolean follow = few || !unequal || fabs(over_classes(job, local, quiet) - 1) < FOLLOW;
    return (least > (few ? VARIES_FEW : VARIES) && !(are_events(varies, least) && follow)) ||
           energy_of_lines(job, local) > LITHO_NOISE_LINES || local->levelled < 0;
}

gboolean noise_local_is_alike(const NoiseJob *job, const NoiseLocal *local, const double *quiet)
{
    double least;
    if (noise_wavenumbers(job) < FEW_WAVENUMBERS || over_classes(job, local, quiet) < 1 + AGREE)
        return FALSE;
    variation_of(job, local, &least);
    return least < VARIES;
}

// --- the result ----------------------------------------------------------------------------------

// Places that no window was taken from, or none with enough traces, get the mean of those beside.
static void fill_places(const int n[3], gint64 places, float *power)
{
    const gint64 step[3] = {(gint64)n[1] * n[2], n[2], 1};
    g_autofree float *next = g_new(float, places);
    for (int pass = 0; pass < n[0] + n[1] + n[2]; pass++) {
        memcpy(next, power, places * sizeof *next);
        for (gint64 p = 0; p < places; p++) {
            const gint64 at[3] = {p / step[0], p / step[1] % n[1], p % n[2]};
            double sum = 0;
            int count = 0;
            for (int side = 0; power[p] < 0 && side < 6; side++) {
                const int a = side / 2;
                const gint64 to = at[a] + (side % 2 ? 1 : -1);
                const gint64 other = p + (side % 2 ? step[a] : -step[a]);
                if (to >= 0 && to < n[a] && power[other] >= 0) {
                    sum += power[other];
                    count++;
                }
            }
            if (count > 0)
                next[p] = (float)(sum / count);
        }
        memcpy(power, next, places * sizeof *next);
    }
}

void noise_put_places(const NoiseJob *job, LithoNoise *noise)
{
    for (int a = 0; a < 3; a++) {
        const double first = (double)noise_start_of(job, a, 0), n = (double)job->count[a];
        noise->n_places[a] = (int)job->count[a];
        noise->first_place[a] = first + 0.5 * (job->n[a] - 1);
        noise->place_step[a] =
            n > 1 ? ((double)noise_start_of(job, a, job->count[a] - 1) - first) / (n - 1) : 0;
    }
}

static void put_local(const NoiseJob *job, const NoiseLocal *local, LithoNoise *noise)
{
    const gint64 places = job->count[0] * job->count[1] * job->count[2];
    noise->window[0] = job->n[0];
    noise->window[1] = job->n[1];
    noise->local = g_new(float, places * job->nf);
    for (int f = 0; f < job->nf; f++) {
        float *to = noise->local + f * places;
        const double mean = mean_of(job, local->level, f);
        for (gint64 p = 0; p < places; p++)
            to[p] = -1;
        for (gint64 w = 0; w < job->windows; w++) {
            gint64 place[3];
            noise_places_of(job, w, place);
            if (job->share[w] > 0)
                to[noise_place_index(job, place)] = local->level[job->windows * f + w];
        }
        fill_places(noise->n_places, places, to);
        for (gint64 p = 0; p < places; p++)
            to[p] = mean > 0 && to[p] >= 0 ? to[p] / (float)mean : 1;
    }
    for (gint64 p = 0; p < places; p++) {
        double own = 0, all = 0;
        for (int f = 0; f < job->nf; f++) {
            const double power = noise_times_of(job, f) * mean_of(job, local->level, f);
            own += power * noise->local[f * places + p];
            all += power;
        }
        for (int f = 0; own > 0 && f < job->nf; f++)
            noise->local[f * places + p] *= (float)(all / own);
    }
}

// The strongest line, in bins: the mean of the frequencies beside it by their power.
static double strongest_line(const NoiseJob *job, const NoiseLocal *local)
{
    enum { BESIDE = 2 }; // the taper spreads a line so far
    double most = 0, sum = 0, weight = 0;
    int at = 0;
    for (int f = 0; f < job->nf; f++)
        if (local->line[f] && mean_of(job, local->level, f) > most) {
            most = mean_of(job, local->level, f);
            at = f;
        }
    for (int f = MAX(at - BESIDE, 0); f <= MIN(at + BESIDE, job->nf - 1); f++) {
        const double power = noise_times_of(job, f) * mean_of(job, local->level, f);
        sum += f * power;
        weight += power;
    }
    return weight > 0 ? sum / weight : at;
}

// Variance of the energy by chance, relative: coefficients that are not quiet hold another energy
// than those that are.
static double chance_of(const NoiseJob *job, const NoiseLocal *local)
{
    const double all = (double)noise_wavenumbers(job);
    double sum = 0, squares = 0;
    for (int f = 0; f < job->nf; f++)
        for (gint64 w = 0; w < job->windows; w++) {
            const gsize at = (gsize)job->windows * f + w;
            const double own = noise_times_of(job, f) * job->share[w] * local->level[at];
            sum += own;
            squares += own * own * (1 / fmax(local->used[at], 1) - 1 / all);
        }
    return sum > 0 ? noise_overlap(job) * squares / (sum * sum) : 0;
}

// Standard deviation of the level by events that leak into quiet coefficients, relative: by what
// some bands vary more than others, and by no more than a part of the events' energy.
static double events_of(const NoiseJob *job, const NoiseLocal *local)
{
    const double by_bands = 0.26, by_energy = 0.00075;
    double least, noise = 0, all = 0;
    const double varies = variation_of(job, local, &least);
    for (int f = 0; f < job->nf; f++) {
        noise += noise_times_of(job, f) * mean_of(job, local->level, f);
        all += noise_times_of(job, f) * mean_of(job, local->mean, f);
    }
    const double bands = fmax(varies * varies - 1.02 * least * least, 0); // 0.02: scatter
    if (local->levelled < 0) // gains spread events, too
        return by_bands * bands;
    return noise > 0 ? fmin(by_bands * bands, by_energy * fmax(all / noise - 1, 0)) : 0;
}

// Standard deviation of the level by what else nothing tells, relative: by chance; by lines, which
// have few independent coefficients, two in a trace; and of gain control over so short a time that
// the gains change within windows.
static double doubt_of(const NoiseJob *job, const NoiseLocal *local)
{
    const double own = 0.0013, lines = 0.3, contrasts = 0.3, short_gain = -0.75;
    const double seen = local->levelled < short_gain ? 0.5 : 1.2;
    const gint64 traces = litho_box_size(job->box, 0) * litho_box_size(job->box, 1);
    double least;
    const double varies = variation_of(job, local, &least);
    const double chance = hypot(own, 0.5 * sqrt(chance_of(job, local)));
    return (local->levelled < 0 ? own + contrasts * fmax(varies - seen, 0) : chance) +
           lines * sqrt(energy_of_lines(job, local) / (double)MAX(traces, 1));
}

// Noise that decays so steeply at an end of the traces that windows see less than two thirds of its
// energy: it is guessed. Amplitudes of 1 / (1 + t / 50 ms)^2 held 3.6 times what was told, 3.4
// times what windows saw.
#define MUCH_AT_ENDS 1.5

// Where neither classes nor ranks leave all events out, and the two disagree, the local level is
// off by a part of that.
#define OF_APART 0.25

void noise_local_conclude(const NoiseJob *job, const NoiseLocal *local, double *sigma,
                          double *leaking, int threads, LithoNoise *noise)
{
    const double ends = noise_local_ends(job, local), of_ends = 0.2;
    g_autofree float *lumps = g_new(float, job->nf);
    const double apart = over_classes(job, local, sigma) - 1;
    double least;
    const double varies = variation_of(job, local, &least);
    int n = 0;
    for (int f = 0; f < job->nf; f++) {
        double power[GROUPS] = {0}, weight[GROUPS] = {0};
        for (gint64 w = 0; w < job->windows; w++) {
            power[w % GROUPS] += (double)job->share[w] * local->level[job->windows * f + w];
            weight[w % GROUPS] += job->share[w];
        }
        sigma[f] = sqrt(ends * mean_of(job, local->level, f));
        leaking[f] = sqrt(ends * mean_of(job, local->leaky, f));
        for (int g = 0; g < GROUPS; g++)
            sigma[(GROUPS - g) * job->nf + f] =
                weight[g] > 0 ? sqrt(ends * power[g] / weight[g]) : sigma[f];
        if (f > 0 && 2 * f != job->n[2] && local->lumps[f] > 0)
            lumps[n++] = local->lumps[f];
    }
    noise->lumps = n > 0 ? litho_select_kth(lumps, n, n / 2) : 0;
    noise->n_times = 0;
    noise->ends = ends;
    noise->events = events_of(job, local);
    noise->doubt = doubt_of(job, local) + noise->events + of_ends * fmax(ends - MUCH_AT_ENDS, 0);
    noise->lines = energy_of_lines(job, local);
    if (are_events(varies, least) && !(local->levelled < 0) && noise->lines <= LITHO_NOISE_LINES)
        noise->doubt += OF_APART * fabs(apart);
    noise->line_at = strongest_line(job, local) / (job->n[2] * job->dt);
    noise->levelled = local->levelled;
    noise->varies = least;
    put_local(job, local, noise);
    noise_put_fine(job, local, threads, noise);
}
