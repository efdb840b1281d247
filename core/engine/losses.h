// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/similarity.h"

// Events that leave with the noise, by bands of time: the energies of a survey whose amplitudes
// fall by orders of magnitude are those of its first arrivals, and neither an error nor a share
// over all samples sees what happens to weak reflections below them. Two figures of each band, as
// parts of the removed energy r = input - output:
//
// * similar: the share that resembles the output, beside the noise where a probe tells how alike
//   that is which passes (LithoLeak.beside_noise): a lower threshold lets more of it pass, and is
//   no loss;
// * common: the share that neighbouring traces have in common, found also where an event is removed
//   whole and the output holds nothing like it. Windows of 32 samples of two neighbours are
//   correlated over lags of up to 6 samples; the greatest correlation squared, less that of windows
//   32 samples apart, which no event shares, is the square of the common share.
//
// Thread-safety: values of their maker; any thread.

enum { LITHO_LOSS_BANDS = 8 };

typedef struct LithoLosses {
    guint n; // bands of equal length in time, at least 64 samples each where there are two
    struct LithoLossBand {
        gint64 from, to;        // samples
        double input, removed;  // energies
        double similar, common; // shares of `removed`, 0..1
    } band[LITHO_LOSS_BANDS];
    LithoLeak leak; // of all bands
} LithoLosses;

// `in` and `out` on one grid, both hold `area`; `noise` NULL = not known. FALSE: cancelled, no
// memory.
gboolean litho_losses(const LithoCube *in, const LithoCube *out, LithoBox area,
                      const LithoSimilarityNoise *noise, LithoRun *run, LithoLosses *losses,
                      GError **error);
// TRUE where events leave (a share above 15 %) with `found` in a band or over all, clearly more of
// them than with `now`, and more than 1 % of the input's energy there; `why` then says so, in a
// sentence. Both of one area.
gboolean litho_losses_grow(const LithoLosses *now, const LithoLosses *found, const LithoGrid *grid,
                           char *why, gsize size);
