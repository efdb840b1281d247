// SPDX-License-Identifier: GPL-3.0-or-later
//
// Windows of 12, 20 and 24 samples a side, that overlap four times.
#include "kernels/patch/cuda/window_lines.cuh"

namespace
{

size_t shared_bytes(int length)
{
    return length == 12   ? sizeof(Shared<12, 3>)
           : length == 20 ? sizeof(Shared<20, 5>)
           : length == 24 ? sizeof(Shared<24, 6>)
                          : sizeof(Shared<16, 8>);
}

} // namespace

int litho_patch_knows(const LithoPatchGeometry *g, size_t shared)
{
    const int n = g->axis[0].length, s = g->axis[2].stride;
    if (g->axis[1].length != n || g->axis[2].length != n || shared_bytes(n) > shared)
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
