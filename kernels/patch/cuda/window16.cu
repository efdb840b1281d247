// SPDX-License-Identifier: GPL-3.0-or-later
//
// Windows of 16 x 16 x 16, the usual ones, with a stride of 2, 4 or 8.
#include "kernels/patch/cuda/window_lines.cuh"

int litho_patch_columns16(const LithoPatchTask *t, int row, int rows, cudaStream_t stream)
{
    switch (t->g.axis[2].stride) {
    case 2:
        return launch_rule<16, 2>(t, row, rows, stream);
    case 4:
        return launch_rule<16, 4>(t, row, rows, stream);
    default:
        return launch_rule<16, 8>(t, row, rows, stream);
    }
}
