// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/wavepacket/cpu/fft3.h"

#include <string.h>

static fftwf_complex *at(const WpFft *f, float *data, gint64 i, gint64 j)
{
    return (fftwf_complex *)data + ((i + f->origin[0]) * f->dim[1] + j + f->origin[1]) * f->dim[2] +
           f->origin[2];
}

void wp_fft_init(WpFft *f, const int n[3], const int dim[3], const int origin[3], float *data)
{
    memcpy(f->n, n, sizeof f->n);
    memcpy(f->dim, dim, sizeof f->dim);
    memcpy(f->origin, origin, sizeof f->origin);
    const int half = n[2] / 2 + 1, plane = dim[1] * dim[2];
    float *row = fftwf_alloc_real(n[2]);
    fftwf_complex *u = at(f, data, 0, 0);
    const unsigned how = FFTW_ESTIMATE;
    f->along_z = fftwf_plan_dft_r2c_1d(n[2], row, u, how);
    f->back_z = fftwf_plan_dft_c2r_1d(n[2], u, row, how);
    f->along_y = fftwf_plan_many_dft(1, &n[1], half, u, NULL, dim[2], 1, u, NULL, dim[2], 1,
                                     FFTW_FORWARD, how);
    f->back_y = fftwf_plan_many_dft(1, &n[1], half, u, NULL, dim[2], 1, u, NULL, dim[2], 1,
                                    FFTW_BACKWARD, how);
    f->along_x = fftwf_plan_many_dft(1, &n[0], half, u, NULL, plane, 1, u, NULL, plane, 1,
                                     FFTW_FORWARD, how);
    f->back_x = fftwf_plan_many_dft(1, &n[0], half, u, NULL, plane, 1, u, NULL, plane, 1,
                                    FFTW_BACKWARD, how);
    fftwf_free(row);
}

void wp_fft_clear(WpFft *f)
{
    fftwf_plan *plans[] = {&f->along_z, &f->along_y, &f->along_x,
                           &f->back_x,  &f->back_y,  &f->back_z};
    for (guint i = 0; i < G_N_ELEMENTS(plans); i++)
        g_clear_pointer(plans[i], fftwf_destroy_plan);
}

static inline gint64 wrap(const WpFft *f, const WpFftVolume *v, int axis, gint64 i)
{
    gint64 x = i - v->first[axis];
    return x < 0 ? x + f->n[axis] : x;
}

static inline float scale_at(const WpFftVolume *v, int axis, gint64 i)
{
    return v->scale[axis] ? v->scale[axis][i] : 1;
}

// One plane of samples into its plane of the padded volume: FFT along z and y.
static void plane_forward(const WpFft *f, const WpFftVolume *v, const float *samples, gint64 i,
                          float *row, float *data)
{
    const gint64 p = wrap(f, v, 0, i), tail = v->n[2] - v->first[2];
    const int half = f->n[2] / 2 + 1;
    for (int j = 0; j < f->n[1]; j++)
        memset(at(f, data, p, j), 0, half * sizeof(fftwf_complex));
    memset(row, 0, f->n[2] * sizeof *row);
    for (gint64 j = 0; j < v->n[1]; j++) {
        const float *from = samples + (i * v->n[1] + j) * v->n[2];
        const float s = scale_at(v, 0, i) * scale_at(v, 1, j);
        for (gint64 k = 0; k < v->first[2]; k++)
            row[f->n[2] - v->first[2] + k] = s * scale_at(v, 2, k) * from[k];
        for (gint64 k = 0; k < tail; k++)
            row[k] = s * scale_at(v, 2, k + v->first[2]) * from[k + v->first[2]];
        fftwf_execute_dft_r2c(f->along_z, row, at(f, data, p, wrap(f, v, 1, j)));
        // r2c may use its input as scratch
        if (v->n[2] < f->n[2])
            memset(row + tail, 0, (f->n[2] - v->n[2]) * sizeof *row);
    }
    fftwf_execute_dft(f->along_y, at(f, data, p, 0), at(f, data, p, 0));
}

static void plane_inverse(const WpFft *f, const WpFftVolume *v, float *data, gint64 i, float *row,
                          float *samples)
{
    const gint64 p = wrap(f, v, 0, i), tail = v->n[2] - v->first[2];
    fftwf_execute_dft(f->back_y, at(f, data, p, 0), at(f, data, p, 0));
    for (gint64 j = 0; j < v->n[1]; j++) {
        fftwf_complex *line = at(f, data, p, wrap(f, v, 1, j));
        float *to = samples + (i * v->n[1] + j) * v->n[2];
        const float s = scale_at(v, 0, i) * scale_at(v, 1, j);
        line[0][1] = 0;
        if (f->n[2] % 2 == 0)
            line[f->n[2] / 2][1] = 0;
        fftwf_execute_dft_c2r(f->back_z, line, row);
        for (gint64 k = 0; k < v->first[2]; k++)
            to[k] = s * scale_at(v, 2, k) * row[f->n[2] - v->first[2] + k];
        for (gint64 k = 0; k < tail; k++)
            to[k + v->first[2]] = s * scale_at(v, 2, k + v->first[2]) * row[k];
    }
}

gboolean wp_fft_forward(const WpFft *f, const WpFftVolume *v, const float *samples, float *data,
                        LithoRun *run)
{
    const int threads = litho_run_threads(run);
#pragma omp parallel num_threads(threads)
    {
        float *row = fftwf_alloc_real(f->n[2]);
#pragma omp for schedule(dynamic)
        for (gint64 i = 0; i < v->n[0]; i++)
            if (litho_run_checkpoint(run))
                plane_forward(f, v, samples, i, row, data);
        fftwf_free(row);
        // Planes without samples, then the lines across the planes.
#pragma omp for schedule(static)
        for (gint64 p = v->n[0] - v->first[0]; p < f->n[0] - v->first[0]; p++)
            for (int j = 0; j < f->n[1]; j++)
                memset(at(f, data, p, j), 0, (f->n[2] / 2 + 1) * sizeof(fftwf_complex));
#pragma omp for schedule(dynamic)
        for (int j = 0; j < f->n[1]; j++)
            if (litho_run_checkpoint(run))
                fftwf_execute_dft(f->along_x, at(f, data, 0, j), at(f, data, 0, j));
    }
    return litho_run_checkpoint(run);
}

gboolean wp_fft_inverse(const WpFft *f, const WpFftVolume *v, float *data, float *samples,
                        LithoRun *run)
{
    const int threads = litho_run_threads(run);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(dynamic)
        for (int j = 0; j < f->n[1]; j++)
            if (litho_run_checkpoint(run))
                fftwf_execute_dft(f->back_x, at(f, data, 0, j), at(f, data, 0, j));
        float *row = fftwf_alloc_real(f->n[2]);
#pragma omp for schedule(dynamic)
        for (gint64 i = 0; i < v->n[0]; i++)
            if (litho_run_checkpoint(run))
                plane_inverse(f, v, data, i, row, samples);
        fftwf_free(row);
    }
    return litho_run_checkpoint(run);
}
