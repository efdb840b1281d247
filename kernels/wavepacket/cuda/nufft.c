// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/wavepacket/cuda/nufft.h"

#include <gmodule.h>

#include "core/text.h"

#ifdef LITHO_HAVE_CUFINUFFT
#include <cufinufft.h>

struct WpNufft {
    cufinufftf_plan plan;
};

// The library's functions, NULL before it was opened.
static struct Library {
    __typeof__(&cufinufft_default_opts) defaults;
    __typeof__(&cufinufftf_makeplan) make;
    __typeof__(&cufinufftf_setpts) points;
    __typeof__(&cufinufftf_execute) run;
    __typeof__(&cufinufftf_destroy) destroy;
} library;

static gboolean open_library(void)
{
    static gsize once;
    static gboolean there;
    if (g_once_init_enter(&once)) {
        GModule *module = g_module_open("libcufinufft.so", G_MODULE_BIND_LOCAL);
        there = module &&
                g_module_symbol(module, "cufinufft_default_opts", (gpointer *)&library.defaults) &&
                g_module_symbol(module, "cufinufftf_makeplan", (gpointer *)&library.make) &&
                g_module_symbol(module, "cufinufftf_setpts", (gpointer *)&library.points) &&
                g_module_symbol(module, "cufinufftf_execute", (gpointer *)&library.run) &&
                g_module_symbol(module, "cufinufftf_destroy", (gpointer *)&library.destroy);
        if (module)
            g_module_make_resident(module);
        g_once_init_leave(&once, 1);
    }
    return there;
}

gboolean wp_nufft_there(char *why, gsize size)
{
    if (open_library())
        return TRUE;
    g_snprintf(why, size, _("libcufinufft.so is not found; LD_LIBRARY_PATH may name its folder"));
    return FALSE;
}

WpNufft *wp_nufft_new(const WpNufftPoints *p, const WpNufftSettings *s)
{
    cufinufft_opts o;
    cufinufftf_plan plan = NULL;
    const int64_t modes[3] = {p->modes[2], p->modes[1], p->modes[0]}; // fastest first
    library.defaults(&o);
    o.upsampfac = s->sigma;
    o.gpu_method = s->method;
    o.gpu_binsizex = o.gpu_binsizey = o.gpu_binsizez = s->bin > 0 ? s->bin : o.gpu_binsizex;
    o.gpu_kerevalmeth = s->sigma == 2.0 || s->sigma == 1.25; // others have no polynomials
    o.gpu_device_id = p->ordinal;
    o.gpu_stream = p->stream;
    if (library.make(s->type, 3, modes, s->type == 2 ? -1 : 1, 1, s->tolerance, &plan, &o) > 1)
        return NULL; // 1 is a warning: the tolerance is finer than float32 bears
    if (library.points(plan, p->n, p->at[2], p->at[1], p->at[0], 0, NULL, NULL, NULL) != 0) {
        library.destroy(plan);
        return NULL;
    }
    WpNufft *nufft = g_new0(WpNufft, 1);
    nufft->plan = plan;
    return nufft;
}

gboolean wp_nufft_run(WpNufft *nufft, void *values, void *modes)
{
    return library.run(nufft->plan, values, modes) == 0;
}

void wp_nufft_free(WpNufft *nufft)
{
    if (nufft)
        library.destroy(nufft->plan);
    g_free(nufft);
}

#else

gboolean wp_nufft_there(char *why, gsize size)
{
    g_snprintf(why, size, _("cufinufft.h was not found when the program was built"));
    return FALSE;
}

WpNufft *wp_nufft_new(const WpNufftPoints *points, const WpNufftSettings *settings)
{
    (void)points;
    (void)settings;
    return NULL;
}

gboolean wp_nufft_run(WpNufft *plan, void *values, void *modes)
{
    (void)plan;
    (void)values;
    (void)modes;
    return FALSE;
}

void wp_nufft_free(WpNufft *plan)
{
    (void)plan;
}

#endif
