// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/qc_steady.h"

#include <math.h>
#include <string.h>

#include "core/qc_methods.h"
#include "core/text.h"

gboolean litho_steady_is_none(const LithoSteady *s)
{
    return !s->offset && !s->drift && s->n == 0;
}

// TRUE where numbers of a recipe can be used.
static gboolean is_sound(const LithoSteady *s)
{
    gboolean sound = s->n >= 0 && s->n <= LITHO_STEADY_LINES && isfinite(s->mean);
    for (int k = 0; sound && k < s->n; k++)
        sound = s->line[k] > 0 && s->line[k] < 0.5 && s->above[k] >= 0;
    return sound;
}

LithoSteady litho_steady_of(const LithoMeasured *measured)
{
    gsize n = 0;
    LithoSteady s = {0};
    gconstpointer bytes = measured ? litho_measured_steady(measured, &n) : NULL;
    if (n == sizeof s)
        memcpy(&s, bytes, sizeof s);
    return is_sound(&s) ? s : (LithoSteady){0};
}

gboolean litho_steady_stands_in(const LithoMeasured *measured)
{
    const LithoSteady steady = litho_steady_of(measured);
    return !litho_steady_is_none(&steady);
}

char *litho_steady_text(const LithoSteady *s, double dt)
{
    g_autoptr(GString) hum = g_string_new(NULL);
    for (int k = 0; k < s->n; k++) {
        char number[32];
        litho_text_put(number, sizeof number, "%.4g", dt > 0 ? s->line[k] / dt : s->line[k]);
        g_string_append_printf(hum, "%s%s", k > 0 ? ", " : "", number);
    }
    const char *offsets = s->drift    ? _("offsets and drifts of traces")
                          : s->offset ? _("offsets of traces")
                                      : NULL;
    if (s->n == 0)
        return g_strdup(offsets ? offsets : "");
    g_autofree char *lines = dt > 0 ? litho_text_printf(_("hum of %s Hz"), hum->str)
                                    : litho_text_printf(_("hum of %s cycles a sample"), hum->str);
    return offsets ? g_strdup_printf("%s, %s", offsets, lines) : g_steal_pointer(&lines);
}

gboolean litho_qc_steady_find(const LithoReader *survey, LithoRun *run, LithoSteady *steady,
                              GError **error)
{
    const LithoQcMethods *m = litho_qc_methods();
    *steady = (LithoSteady){0};
    return !m->steady_find || m->steady_find(survey, run, steady, error);
}

LithoCube *litho_qc_steady_without(const LithoCube *cube, const LithoSteady *steady, LithoRun *run,
                                   LithoSteadyTaken *taken, GError **error)
{
    return litho_qc_methods()->steady_without(cube, steady, run, taken, error);
}

// --- cubes ---------------------------------------------------------------------------------------

// Steady noise of one of the last cubes: a window, its judge and its level of noise ask in turn.
typedef struct Kept {
    guint64 serial; // 0 = none
    LithoSteady of;
} Kept;

enum { KEPT = 16 };
static GMutex kept_lock;
static Kept kept[KEPT];
static int next_kept;

static gboolean recall(guint64 serial, LithoSteady *of)
{
    gboolean known = FALSE;
    g_mutex_lock(&kept_lock);
    for (int k = 0; k < KEPT && !known; k++)
        if ((known = kept[k].serial == serial))
            *of = kept[k].of;
    g_mutex_unlock(&kept_lock);
    return known;
}

static void remember(guint64 serial, LithoSteady of)
{
    g_mutex_lock(&kept_lock);
    kept[next_kept] = (Kept){serial, of};
    next_kept = (next_kept + 1) % KEPT;
    g_mutex_unlock(&kept_lock);
}

static LithoCube *copy_part(const LithoBox *box, LithoRun *run, gpointer data, GError **error)
{
    (void)run;
    const LithoCube *cube = data;
    LithoBox part = *box; // of a grid that begins where the cube does
    for (int a = 0; a < 3; a++) {
        part.lo[a] += cube->held.lo[a];
        part.hi[a] += cube->held.lo[a];
    }
    g_autoptr(LithoCube) copy = litho_cube_fetch_traces(cube, part, error);
    if (!copy)
        return NULL;
    for (int a = 0; a < 3; a++)
        copy->grid.axis[a].n = litho_box_size(cube->held, a);
    copy->held = *box;
    return g_steal_pointer(&copy);
}

gboolean litho_qc_steady_in(const LithoCube *cube, LithoRun *run, LithoSteady *steady,
                            GError **error)
{
    if (recall(cube->serial, steady))
        return TRUE;
    LithoGrid grid = cube->grid;
    for (int a = 0; a < 3; a++)
        grid.axis[a].n = litho_box_size(cube->held, a);
    const LithoReader reader = {.grid = &grid, .read = copy_part, .data = (gpointer)cube};
    if (!litho_qc_steady_find(&reader, run, steady, error))
        return FALSE;
    remember(cube->serial, *steady);
    return TRUE;
}
