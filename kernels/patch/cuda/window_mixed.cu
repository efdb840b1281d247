// SPDX-License-Identifier: GPL-3.0-or-later
//
// Windows of 12, 20 and 24 samples a side, that overlap four times.
#include "kernels/patch/cuda/window_lines.cuh"

namespace
{

template <int N, int S> size_t bytes_of(int guided)
{
    return sizeof(Shared<N, S>) + (guided ? sizeof(Guides<N>) : 0);
}

size_t shared_bytes(int length, int stride, int guided)
{
    return length == 12   ? bytes_of<12, 3>(guided)
           : length == 20 ? bytes_of<20, 5>(guided)
           : length == 24 ? bytes_of<24, 6>(guided)
           : stride == 8  ? bytes_of<16, 8>(guided)
                          : bytes_of<16, 4>(guided); // an overlap of 8 takes less
}

} // namespace

int litho_patch_knows(const LithoPatchGeometry *g, int guided, size_t shared)
{
    const int n = g->axis[0].length, s = g->axis[2].stride;
    if (g->axis[1].length != n || g->axis[2].length != n || shared_bytes(n, s, guided) > shared)
        return 0;
    return n == 16 ? s == 2 || s == 4 || s == 8 : (n == 12 || n == 20 || n == 24) && 4 * s == n;
}

int litho_patch_columns(const LithoPatchTask *t, int row, int rows, cudaStream_t stream)
{
    switch (t->g.axis[0].length) {
    case 12:
        return launch_rule<12, 3>(t, row, rows, stream);
    case 20:
        return launch_rule<20, 5>(t, row, rows, stream);
    case 24:
        return launch_rule<24, 6>(t, row, rows, stream);
    default:
        return litho_patch_columns16(t, row, rows, stream);
    }
}
