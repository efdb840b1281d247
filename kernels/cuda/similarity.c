// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/similarity.h"

#include "core/error.h"
#include "core/text.h"
#include "kernels/cuda/cuda.h"

enum { SUMS = LITHO_SIMILARITY_SUMS };

// Device memory of one question. All of it comes in one piece.
typedef struct Place {
    void *block;
    float *sums[2][SUMS]; // of the first pass and of the second
    float *map;
    float *weights[3];
    unsigned char *present;
} Place;

static LithoSimilarityBox similarity_box(LithoBox box)
{
    LithoSimilarityBox b;
    for (int axis = 0; axis < 3; axis++) {
        b.lo[axis] = box.lo[axis];
        b.n[axis] = litho_box_size(box, axis);
    }
    return b;
}

// Samples that are left after `passes` of the plan's axes.
static LithoBox box_after(const LithoSimilarityPlan *plan, int passes)
{
    LithoBox box = plan->reach;
    for (int k = 0; k < passes; k++) {
        box.lo[plan->order[k]] = plan->box.lo[plan->order[k]];
        box.hi[plan->order[k]] = plan->box.hi[plan->order[k]];
    }
    return box;
}

static gboolean place_new(Place *place, int device, const LithoSimilarityPlan *plan, GError **error)
{
    const gint64 first = litho_box_count(box_after(plan, 1));
    const gint64 second = litho_box_count(box_after(plan, 2)), map = litho_box_count(plan->box);
    gint64 floats = SUMS * (first + second) + map;
    for (int axis = 0; axis < 3; axis++)
        floats += 2 * plan->kernel[axis].reach + 1;
    const gint64 traces = litho_box_size(plan->reach, 0) * litho_box_size(plan->reach, 1);
    if (!litho_cuda_alloc(device, &place->block, (size_t)floats * sizeof(float) + (size_t)traces,
                          error))
        return FALSE;
    float *at = place->block;
    for (int q = 0; q < SUMS; q++, at += first)
        place->sums[0][q] = at;
    for (int q = 0; q < SUMS; q++, at += second)
        place->sums[1][q] = at;
    place->map = at;
    at += map;
    for (int axis = 0; axis < 3; axis++) {
        place->weights[axis] = at;
        at += 2 * plan->kernel[axis].reach + 1;
    }
    place->present = (unsigned char *)at;
    return TRUE;
}

// Which traces of the reach both cubes have, and the weights, to the device. From pageable memory
// the call returns when the bytes have been taken.
static gboolean send(const Place *place, const LithoSimilarityPlan *plan, const LithoCube *in,
                     const LithoCube *out, cudaStream_t stream, GError **error)
{
    const gint64 n1 = litho_box_size(plan->reach, 1);
    const gint64 traces = litho_box_size(plan->reach, 0) * n1;
    g_autofree guint8 *present = g_try_malloc((gsize)traces);
    if (!present)
        return litho_refuse(error, LITHO_ERROR_MEMORY, "no memory for a mask of %" PRId64 " traces",
                            traces);
    for (gint64 x = 0; x < traces; x++) {
        const gint64 i = plan->reach.lo[0] + x / n1, j = plan->reach.lo[1] + x % n1;
        present[x] = litho_cube_is_live(in, i, j) && litho_cube_is_live(out, i, j);
    }
    gboolean ok = LITHO_CUDA(
        cudaMemcpyAsync(place->present, present, (size_t)traces, cudaMemcpyHostToDevice, stream),
        error);
    for (int axis = 0; ok && axis < 3; axis++) {
        const LithoSimilarityKernel *k = &plan->kernel[axis];
        ok = LITHO_CUDA(cudaMemcpyAsync(place->weights[axis], k->weight,
                                        (size_t)(2 * k->reach + 1) * sizeof(float),
                                        cudaMemcpyHostToDevice, stream),
                        error);
    }
    return ok && LITHO_CUDA(cudaStreamSynchronize(stream), error); // `present` goes
}

static gboolean launch(const Place *place, const LithoSimilarityPlan *plan,
                       LithoSimilarityPass pass, cudaStream_t stream, GError **error)
{
    int (*const passes[3])(const LithoSimilarityPass *pass, cudaStream_t stream) = {
        litho_similarity_products_launch, litho_similarity_sums_launch,
        litho_similarity_map_launch};
    pass.present = place->present;
    pass.reach = similarity_box(plan->reach);
    pass.map = place->map;
    for (int k = 0; k < 3; k++) {
        pass.axis = plan->order[k];
        pass.half = plan->kernel[pass.axis].reach;
        pass.weights = place->weights[pass.axis];
        pass.from_box = similarity_box(box_after(plan, k));
        pass.to_box = similarity_box(box_after(plan, k + 1));
        for (int q = 0; q < SUMS; q++) {
            pass.from[q] = k > 0 ? place->sums[k - 1][q] : NULL;
            pass.to[q] = k < 2 ? place->sums[k][q] : NULL;
        }
        if (!LITHO_CUDA(passes[k](&pass, stream), error))
            return FALSE;
    }
    return TRUE;
}

gboolean litho_cuda_similarity(const LithoSimilarityPlan *plan, const LithoCube *in,
                               const LithoCube *out, float *map, GError **error)
{
    const int device = out->device->device;
    const cudaStream_t stream = cudaStreamPerThread;
    void *copy;
    Place place = {0};
    const LithoSimilarityPass pass = {.in = litho_cuda_samples_on(device, in, &copy, error),
                                      .out = out->device->data,
                                      .in_box = similarity_box(in->held),
                                      .out_box = similarity_box(out->held)};
    gboolean ok =
        pass.in && litho_cuda_use(device, error) && place_new(&place, device, plan, error) &&
        send(&place, plan, in, out, stream, error) && launch(&place, plan, pass, stream, error);
    // The memory goes back after the last work that uses it.
    const cudaError_t end = place.block ? cudaStreamSynchronize(stream) : cudaSuccess;
    ok = ok && LITHO_CUDA(end, error) &&
         litho_cuda_download(device, map, place.map, litho_box_count(plan->box), error);
    litho_cuda_free(device, place.block);
    litho_cuda_free(device, copy);
    return ok;
}
