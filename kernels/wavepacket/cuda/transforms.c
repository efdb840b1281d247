// SPDX-License-Identifier: GPL-3.0-or-later
//
// The FFTs of the boxes: by kernels of our own (cuda/boxfft.cu), which need no plan, and by cuFFT
// where a plane of a box does not fit into a block's shared memory. A plan of cuFFT takes half a
// millisecond of the host, and new directions have a hundred new sizes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "kernels/wavepacket/cuda/wavepacket.h"

enum {
    LARGEST_RADIX = 16,
    WIDTH = 16, // columns of a block, where there is room for them
    LEAST_WIDTH = 4,
    BLOCK_POINTS = 1024, // small planes share a block up to here
    PLANE_POINTS = 14,   // of a thread, about
    COLUMN_POINTS = 12,  // likewise
    MOST_CLASSES = WP_MOST_LAUNCHES / 2
};

// Radices of n whose number, then whose sum is the smallest, the largest first; how many.
static int split(int n, int most, guint32 *radices, int *sum)
{
    int best = G_MAXINT;
    *radices = 0;
    *sum = 0;
    if (n == 1)
        return 0;
    for (int r = MIN(n, most); r > 1; r--) {
        guint32 rest;
        int of_rest;
        if (n % r != 0 || r == 11 || r == 13)
            continue;
        const int passes = split(n / r, r, &rest, &of_rest);
        if (passes < 0 || passes + 1 > best || (passes + 1 == best && r + of_rest >= *sum))
            continue;
        best = passes + 1;
        *radices = rest << 4 | (guint32)(r - 1);
        *sum = r + of_rest;
    }
    return best == G_MAXINT ? -1 : best;
}

// Bytes of shared memory: roots, and as many pieces as lie between passes, two at most.
static gsize shared_bytes(int passes, gsize piece, int roots)
{
    return sizeof(float2) * (CLAMP(passes - 1, 0, 2) * piece + (gsize)roots);
}

static gsize shared_of_planes(const WpDevFft *f)
{
    return shared_bytes(f->passes[1] + f->passes[2], (gsize)f->share * f->n[1] * (f->n[2] | 1),
                        f->n[1] + f->n[2]);
}

static gsize shared_of_columns(const WpDevFft *f)
{
    return shared_bytes(f->passes[0], (gsize)f->share * f->n[0], f->n[0]);
}

// Boxes of one size in one of the kernels.
typedef struct Item {
    WpDevFft fft;
    int boxes;
    gsize shared;
    gint64 points;
} Item;

static WpDevFft describe(const WpBox *box)
{
    WpDevFft f = {.at = (guint32)(box->at / 2), .distance = (guint32)((box->floats + 15) / 16 * 8)};
    for (int a = 0; a < 3; a++) {
        int sum;
        f.n[a] = box->n[a];
        f.passes[a] = split(box->n[a], LARGEST_RADIX, &f.radices[a], &sum);
    }
    return f;
}

// FALSE: a plane or a column is too large for the card's blocks.
static gboolean make_items(const WpBox *box, int boxes, gsize most, Item *planes, Item *columns)
{
    const gint64 points = (gint64)boxes * box->n[0] * box->n[1] * box->n[2];
    const int plane = box->n[1] * box->n[2];
    *planes = *columns = (Item){.fft = describe(box), .boxes = boxes, .points = points};
    planes->fft.share = CLAMP(BLOCK_POINTS / plane, 1, box->n[0]);
    planes->fft.blocks = (box->n[0] + planes->fft.share - 1) / planes->fft.share;
    planes->shared = shared_of_planes(&planes->fft);
    columns->fft.share = WIDTH;
    while (columns->fft.share > LEAST_WIDTH && shared_of_columns(&columns->fft) > most)
        columns->fft.share /= 2;
    columns->fft.blocks = (plane + columns->fft.share - 1) / columns->fft.share;
    columns->shared = shared_of_columns(&columns->fft);
    return planes->shared <= most && columns->shared <= most;
}

// --- launches ------------------------------------------------------------------------------------

static int compare_items(gconstpointer a, gconstpointer b)
{
    const Item *x = a, *y = b;
    if (x->shared != y->shared)
        return x->shared > y->shared ? -1 : 1;
    return x->fft.at < y->fft.at ? -1 : 1;
}

static int threads_of(const Item *item, gboolean columns)
{
    const WpDevFft *f = &item->fft;
    const int threads =
        columns ? f->n[0] * f->share / COLUMN_POINTS : f->n[1] * f->n[2] * f->share / PLANE_POINTS;
    return CLAMP(threads / 32 * 32, 64, 512);
}

// Blocks of a launch have as much shared memory as its largest item needs: items that need much
// less wait for a launch of their own, unless few points are left.
static void form_launches(WpCuda *cuda, GArray *items, gboolean columns, GArray *list)
{
    gint64 all = 0, left;
    int classes = 0;
    for (guint i = 0; i < items->len; i++)
        all += g_array_index(items, Item, i).points;
    left = all;
    g_array_sort(items, compare_items);
    for (guint i = 0; i < items->len;) {
        const Item *largest = &g_array_index(items, Item, i);
        WpFftLaunch *l = &cuda->launches[cuda->n_launches++];
        *l = (WpFftLaunch){.columns = columns,
                           .first = (int)list->len,
                           .threads = threads_of(largest, columns),
                           .shared = (int)largest->shared};
        classes++;
        for (; i < items->len; i++) {
            Item *item = &g_array_index(items, Item, i);
            if (5 * item->shared < 3 * largest->shared && 10 * left > all && classes < MOST_CLASSES)
                break;
            item->fft.first_block = l->blocks;
            l->blocks += item->boxes * item->fft.blocks;
            l->n++;
            left -= item->points;
            g_array_append_val(list, item->fft);
        }
    }
}

// --- cuFFT ---------------------------------------------------------------------------------------

// Each size goes to the stream that has least to do so far; stream 1 has the residual box already.
static gboolean make_run(WpCuda *cuda, const WpBox *box, int boxes, gint64 load[WP_STREAMS],
                         GError **error)
{
    WpFftRun *run = &cuda->runs[cuda->n_runs];
    run->at = box->at;
    for (int i = 1; i < WP_STREAMS; i++)
        if (load[i] < load[run->stream])
            run->stream = i;
    load[run->stream] += boxes * box->floats;
    int n[3] = {box->n[0], box->n[1], box->n[2]};
    const WpFftLayout layout = {n, 1, (int)((box->floats + 15) / 16 * 8)};
    if (!wp_cuda_make_fft(cuda, &run->plan,
                          &(WpFftShape){3, n, layout, layout, CUFFT_C2C, boxes, run->stream},
                          error))
        return FALSE;
    cuda->n_runs++;
    return TRUE;
}

static int boxes_of_size(const WpGeometry *g, int first)
{
    int n = 1;
    while (first + n < g->n_boxes && g->boxes[first + n].kind != WP_RESIDUAL &&
           memcmp(g->boxes[first].n, g->boxes[first + n].n, sizeof g->boxes->n) == 0)
        n++;
    return n;
}

static gboolean too_large(const WpBox *box, int boxes, gsize most)
{
    Item planes, columns;
    return !make_items(box, boxes, most, &planes, &columns);
}

static gsize most_shared(const WpCuda *cuda)
{
    enum { FIXED = 1024 }; // of the kernels themselves
    int bytes = 0;
    if (cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, cuda->ordinal) !=
        cudaSuccess)
        bytes = 48 * 1024;
    return (gsize)(bytes - FIXED);
}

gboolean wp_cuda_make_large_box_ffts(WpCuda *cuda, GError **error)
{
    gint64 load[WP_STREAMS] = {0};
    const WpGeometry *g = cuda->engine.geometry;
    const gsize most = most_shared(cuda);
    cuda->runs = g_new0(WpFftRun, g->n_boxes);
    for (int b = 0, n; b < wp_cuda_complex_boxes(g); b += n) {
        n = boxes_of_size(g, b);
        if (too_large(&g->boxes[b], n, most) && !make_run(cuda, &g->boxes[b], n, load, error))
            return FALSE;
    }
    return TRUE;
}

// --- all of them ---------------------------------------------------------------------------------

gboolean wp_cuda_list_box_ffts(WpCuda *cuda, GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    const gsize most = most_shared(cuda);
    g_autoptr(GArray) planes = g_array_new(FALSE, FALSE, sizeof(Item));
    g_autoptr(GArray) columns = g_array_new(FALSE, FALSE, sizeof(Item));
    g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(WpDevFft));
    for (int b = 0, n; b < wp_cuda_complex_boxes(g); b += n) {
        Item plane, column;
        n = boxes_of_size(g, b);
        if (!make_items(&g->boxes[b], n, most, &plane, &column))
            continue;
        plane.fft.first_box = b;
        g_array_append_val(planes, plane);
        g_array_append_val(columns, column);
    }
    form_launches(cuda, planes, FALSE, list);
    form_launches(cuda, columns, TRUE, list);
    return wp_cuda_send(cuda, &cuda->fft_list, list->data, list->len * sizeof(WpDevFft), error);
}

static gboolean launch_large(WpCuda *cuda, float *c, int direction, GError **error)
{
    if (cuda->n_runs == 0)
        return TRUE;
    if (!wp_cuda_branch_off(cuda, error))
        return FALSE;
    for (int r = 0; r < cuda->n_runs; r++) {
        cufftComplex *data = (cufftComplex *)(c + cuda->runs[r].at);
        if (!LITHO_CUFFT(cufftExecC2C(cuda->runs[r].plan, data, data, direction), error))
            return FALSE;
    }
    return wp_cuda_join(cuda, 0, cuda->joined[0], error) &&
           wp_cuda_join(cuda, 1, cuda->joined[1], error);
}

gboolean wp_cuda_box_ffts(WpCuda *cuda, float *c, int direction, GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    const WpDevRule due = cuda->due.rule;
    const gboolean ruled = due.x && cuda->due.to == c && direction == CUFFT_FORWARD;
    const gint64 reals = wp_residual(g) ? wp_residual(g)->floats : 0;
    const double points = (double)(g->n_points - reals);
    if (due.x && !ruled && !wp_cuda_settle(cuda, error))
        return FALSE;
    wp_cuda_mark(cuda, direction == CUFFT_FORWARD ? "box fft" : "box ifft", 32 * points,
                 5 * points * log2(1e5));
    for (int i = 0; i < cuda->n_launches; i++)
        if (!LITHO_CUDA(wp_cuda_box_fft(&cuda->launches[i], cuda->fft_list.data, direction,
                                        ruled ? &due : NULL, (float2 *)c,
                                        litho_cuda_stream(cuda->context)),
                        error))
            return FALSE;
    return (!ruled || wp_cuda_ruled(cuda, error)) && launch_large(cuda, c, direction, error);
}
