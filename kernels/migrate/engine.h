// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/migrate/job.h"
#include "kernels/migrate/shots.h"
#include "kernels/migrate/stages.h"

// The arithmetic of a migration on one machine: waves from the record, through the depths, into the
// image. The CPU and the CUDA backend each fill one table; plan.c (grids, frequencies, cards,
// rounds) and modes.c (stack, shots, demigration, partial results) are written once.
//
// An engine keeps sums of its own, image and light [nz][ny][nx] of the image's grid, and one set of
// waves under way ("up" and, for a shot, "down"). It works on bands: band b is the frequencies of
// job[b]. Several engines share a band's frequencies out (cards), or the grids among each other
// (lanes of one card); their sums are added up at the end, in the engines' order. Thread-safety:
// one engine, one thread at a time, after attach().

typedef struct MigEngine MigEngine;

// One of an engine's sums.
typedef enum MigSum {
    MIG_IMAGE,  // of the migration, or the image that a demigration starts from
    MIG_LIGHT,  // a shot's illumination
    MIG_TRACES, // of a demigration: samples of the result
} MigSum;

// Called when planes first .. first + n - 1 of the image are whole.
typedef gboolean (*MigSlab)(int first, int n, gpointer data, GError **error);

// Dealing out of the work: every engine of `cards` has a card's share of the frequencies, engines
// of one card take its grids beside each other, and shares that do not fit into memory are taken in
// turn.
typedef struct MigTeam {
    int cards, lanes, rounds;
    int rank, ranks; // this process among those that share the band
} MigTeam;

enum { MIG_MAX_CARDS = 16, MIG_MAX_LANES = 4 };

typedef struct MigEngineClass {
    int (*devices)(void); // that `open` takes: 0 .. n - 1
    MigEngine *(*open)(const LithoGrid *in, int device, GError **error);
    void (*free)(MigEngine *engine);
    // Makes the engine usable in the calling thread; `fresh` drops times of a pass that failed.
    gboolean (*attach)(MigEngine *engine, gboolean fresh, GError **error);
    // Waits for all that has been asked for and hands over stage times; `run` may be NULL.
    gboolean (*finish)(MigEngine *engine, LithoRun *run, GError **error);
    // After a failure: nothing of the engine is under way on return. Any thread.
    void (*drain)(MigEngine *engine);
    // Lanes that each of so many cards would best have. NULL: one.
    int (*lanes)(const MigEngine *home, const LithoMigrateJobs *jobs, int cards);
    // Sets the rounds in which the open engines' shares fit into memory, and takes the lanes back
    // to one where they do not. NULL: one round always.
    gboolean (*rounds)(MigEngine *(*engine)[MIG_MAX_LANES], const LithoMigrateJobs *jobs,
                       MigTeam *team, GError **error);
    // Engines of several devices are about to copy from each other. NULL: there is one device.
    void (*link)(MigEngine *home, MigEngine *other);

    // LithoPolyMaker.make of an engine that is attached. NULL: the host designs.
    gboolean (*design)(gpointer engine, LithoPoly *const *polys, guint n, LithoRun *run,
                       GError **error);
    // Tables of the steps of band b, after job[b] was set or designed anew.
    gboolean (*tables)(MigEngine *engine, int b, GError **error);
    // Drops tables and record of band b.
    void (*forget)(MigEngine *engine, int b);

    // Room for the result, and in it the traces (zero) when `traces`; engines other than the first
    // have no `out` and traces of their own of that many samples.
    gboolean (*output)(MigEngine *engine, LithoCube *out, gint64 samples, gboolean traces,
                       GError **error);
    // Image, and light if the engine is to have it, zero.
    gboolean (*clear)(MigEngine *engine, GError **error);
    // Traces of the input (dead ones and non-finite samples count as 0) to waves at the surface,
    // kept for passes that change nothing before them.
    gboolean (*keep_record)(MigEngine *engine, int b, const LithoCube *in, LithoRun *run,
                            GError **error);
    // The kept waves become the waves under way.
    gboolean (*take_record)(MigEngine *engine, int b, GError **error);
    // A shot's traces (NULL: all, each at its own cell) to the waves under way, and the source to
    // those that go down.
    gboolean (*take_shot)(MigEngine *engine, int b, const LithoCube *in,
                          const LithoShotTraces *traces, const LithoShot *shot, LithoRun *run,
                          GError **error);
    // The waves under way from the surface to the last depth, added to the sums: 2 / nfft Re sum
    // up, or with `shot` Re sum up * down and |down|^2. `slab` is called on the image's own grid
    // only, and may be NULL.
    gboolean (*down)(MigEngine *engine, int b, gboolean shot, MigSlab slab, gpointer data,
                     LithoRun *run, GError **error);
    // A first look (preview.h) at what down() will make of band b's kept record replaces the image.
    // FALSE in `made`: there is no memory for it, the image is as it was. NULL: the engine has
    // none.
    gboolean (*preview)(MigEngine *engine, int b, gboolean *made, LithoRun *run, GError **error);
    double preview_flops; // of a pass from which on a first look is worth its time
    // A depth image becomes the image; it goes up through band b, the exact adjoint of all of the
    // above, and is added to the traces.
    gboolean (*take_image)(MigEngine *engine, const LithoCube *in, LithoRun *run, GError **error);
    gboolean (*up)(MigEngine *engine, int b, LithoRun *run, GError **error);

    // Planes first .. first + n - 1 of the image as a cube of its own in the engine's memory, at
    // rest on return: times `scale`, or with `divide` over the light as image() does it. `like`
    // lends its grid and name.
    LithoCube *(*part)(MigEngine *engine, const LithoCube *like, int first, int n, float scale,
                       gboolean divide, double stabilise, LithoRun *run, GError **error);
    // sum += that of another engine, which is finished; n floats. NULL where there is one engine.
    gboolean (*gather)(MigEngine *engine, const MigEngine *from, MigSum sum, gsize n,
                       GError **error);
    // The sum becomes that of all processes of the run, of engines that are finished; n floats.
    // NULL: the engine cannot, and every process computes all of it.
    gboolean (*unite)(MigEngine *engine, MigSum sum, gsize n, LithoRun *run, GError **error);
    // Image to samples of `out`; with `divide` over the light plus `stabilise` times the plane's
    // largest.
    gboolean (*image)(MigEngine *engine, gboolean divide, double stabilise, LithoCube *out,
                      LithoRun *run, GError **error);
} MigEngineClass;

struct MigEngine {
    const MigEngineClass *class;
    // Set by plan.c: this engine's share of the band, the finest grid first, and which bands'
    // record is kept.
    LithoMigrateJob *job[LITHO_MIGRATE_MAX_JOBS]; // borrowed, or shares of its own
    gboolean kept[LITHO_MIGRATE_MAX_JOBS];
    int n_bands;
    gboolean has_light; // the pass is of shots
    int lane, lanes;    // where the engine stands among its card's
};
