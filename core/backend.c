// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend.h"

#include <gmodule.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/program.h"
#include "core/text.h"

// --- CPU --------------------------------------------------------------------------------------

// Value of the first line "key ... : value" of a /proc file; FALSE when there is none.
static gboolean proc_value(const char *path, const char *key, char *value, size_t size)
{
    g_autofree char *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL))
        return FALSE;
    const char *at = strstr(text, key);
    const char *colon = at ? strchr(at, ':') : NULL;
    if (!colon)
        return FALSE;
    g_strlcpy(value, colon + 1, size);
    value[strcspn(value, "\n")] = '\0';
    g_strstrip(value);
    return TRUE;
}

static gboolean cpu_info(int device, LithoDeviceInfo *info, GError **error)
{
    (void)device;
    (void)error;
    memset(info, 0, sizeof *info);
    char text[128];
    if (!proc_value("/proc/cpuinfo", "model name", info->name, sizeof info->name))
        g_strlcpy(info->name, "CPU", sizeof info->name);
    if (proc_value("/proc/meminfo", "MemTotal", text, sizeof text))
        info->memory_total = g_ascii_strtoull(text, NULL, 10) * 1024;
    if (proc_value("/proc/meminfo", "MemAvailable", text, sizeof text))
        info->memory_free = g_ascii_strtoull(text, NULL, 10) * 1024;
    info->processors = litho_run_threads(NULL);
    return TRUE;
}

static const LithoImpl *cpu_impl(const LithoOperator *op)
{
    return op->cpu;
}

static const LithoBackend cpu_backend = {
    .abi = LITHO_BACKEND_ABI,
    .key = "cpu",
    .title = "CPU",
    .n_devices = 1,
    .device_info = cpu_info,
    .impl = cpu_impl,
};

const LithoBackend *litho_backend_cpu(void)
{
    return &cpu_backend;
}

// --- CUDA module ------------------------------------------------------------------------------

static LithoBackend missing_backend = {
    .abi = LITHO_BACKEND_ABI,
    .key = "cuda",
    .title = "CUDA",
    .why_not = N_("the CUDA module lithoscope-cuda.so was not built or not found"),
};

// The module's runtime opens this library of the driver, too; without it there is no device.
static gboolean has_driver(void)
{
    GModule *driver = g_module_open("libcuda.so.1", G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
    if (!driver)
        return FALSE;
    g_module_make_resident(driver);
    return TRUE;
}

// Without a driver the module stays closed: the libraries that it needs take 0.1 s of processor
// time and 270 MB of memory.
static const LithoBackend *open_module(const char *folder, char *why, size_t size)
{
    g_autofree char *path = g_build_filename(folder, "lithoscope-cuda.so", NULL);
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return NULL;
    if (!has_driver()) {
        g_strlcpy(why, _("no NVIDIA driver is installed on this machine"), size);
        return NULL;
    }
    GModule *module = g_module_open(path, G_MODULE_BIND_LOCAL);
    if (!module) {
        g_snprintf(why, size, _("the CUDA module cannot be loaded: %s"), g_module_error());
        return NULL;
    }
    g_module_make_resident(module); // its threads and the driver's outlive any caller of ours
    gpointer symbol = NULL;
    if (!g_module_symbol(module, LITHO_BACKEND_ENTRY, &symbol)) {
        g_snprintf(why, size, _("%s is not a Lithoscope module"), path);
        return NULL;
    }
    const LithoBackend *backend = ((LithoBackendEntry)symbol)();
    if (backend->abi != LITHO_BACKEND_ABI) {
        g_snprintf(why, size, _("%s speaks version %u of the module interface, this program %u"),
                   path, backend->abi, LITHO_BACKEND_ABI);
        return NULL;
    }
    return backend;
}

GPtrArray *litho_module_folders(void)
{
    GPtrArray *folders = g_ptr_array_new_with_free_func(g_free);
    const char *given = g_getenv("LITHO_MODULE_DIR");
    if (given)
        g_ptr_array_add(folders, g_strdup(given));
    g_autofree char *here = litho_program_folder();
    if (here) {
        g_ptr_array_add(folders, g_strdup(here));
        g_ptr_array_add(folders, g_build_filename(here, LITHO_LIBDIR_FROM_BIN, "lithoscope", NULL));
        g_ptr_array_add(folders, g_build_filename(here, "..", "kernels", "cuda", NULL));
    }
    return folders;
}

const LithoBackend *litho_backend_cuda(void)
{
    static const LithoBackend *backend;
    static gsize once;
    if (g_once_init_enter(&once)) {
        g_autoptr(GPtrArray) folders = litho_module_folders();
        for (guint k = 0; k < folders->len && !backend; k++)
            backend = open_module(g_ptr_array_index(folders, k), missing_backend.why_not,
                                  sizeof missing_backend.why_not);
        if (!backend)
            backend = &missing_backend;
        g_once_init_leave(&once, 1);
    }
    return backend;
}

// --- devices ----------------------------------------------------------------------------------

LithoDevice litho_device_cpu(void)
{
    return (LithoDevice){.backend = &cpu_backend};
}

gboolean litho_device_parse(const char *text, LithoDevice *device, GError **error)
{
    *device = litho_device_cpu();
    if (strcmp(text, "cpu") == 0)
        return TRUE;
    if (strcmp(text, "auto") == 0) {
        if (litho_backend_cuda()->n_devices > 0)
            device->backend = litho_backend_cuda();
        return TRUE;
    }
    int index = 0, last = 0, used = 0;
    const gboolean all = strcmp(text, "cuda:all") == 0;
    if (sscanf(text, "cuda:%d%n", &index, &used) == 1 && text[used] == '\0')
        last = index;
    else if ((sscanf(text, "cuda:%d-%d%n", &index, &last, &used) != 2 || text[used] != '\0' ||
              last < index) &&
             strcmp(text, "cuda") != 0 && !all) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_WORD,
                    _("'%s' is no device; auto, cpu, cuda, cuda:N, cuda:N-M or cuda:all is needed"),
                    text);
        return FALSE;
    }
    const LithoBackend *cuda = litho_backend_cuda();
    if (cuda->n_devices == 0) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_DEVICE, _("CUDA cannot be used: %s"),
                    litho_text(cuda->why_not));
        return FALSE;
    }
    if (all)
        last = cuda->n_devices - 1;
    if (index < 0 || last >= cuda->n_devices) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_DEVICE,
                    _("there is no CUDA device %d; this machine has %d, counted from 0"),
                    index < 0 ? index : last, cuda->n_devices);
        return FALSE;
    }
    *device = (LithoDevice){.backend = cuda, .index = index, .count = last - index + 1};
    return TRUE;
}

gboolean litho_device_is_same(LithoDevice a, LithoDevice b)
{
    return a.backend == b.backend && a.index == b.index && MAX(a.count, 1) == MAX(b.count, 1);
}

int litho_device_sharing(LithoDevice device, const LithoOperator *op, const LithoGrid *in,
                         const void *params)
{
    const LithoSplit split = litho_operator_split(op, in, params);
    const gboolean shares = split.kind == LITHO_SPLIT_SUM || split.kind == LITHO_SPLIT_ROWS ||
                            (split.kind == LITHO_SPLIT_REGION && split.unit);
    return shares ? MAX(device.count, 1) : 1;
}

gboolean litho_device_memory(LithoDevice device, guint64 *free_bytes, guint64 *total,
                             GError **error)
{
    if (device.backend->memory)
        return device.backend->memory(device.index, free_bytes, total, error);
    *free_bytes = *total = litho_memory_available();
    return TRUE;
}

gboolean litho_device_upload(LithoDevice device, LithoCube *cube, GError **error)
{
    const LithoBackend *backend = device.backend;
    if (!backend->alloc)
        return TRUE;
    const gint64 count = litho_cube_held_samples(cube);
    gboolean ok = TRUE;
    g_mutex_lock(&cube->device_lock);
    if (!cube->device && cube->samples) {
        LithoBuffer *buffer = backend->alloc(device.index, count, error);
        ok = buffer && backend->upload(buffer, 0, cube->samples, count, error);
        if (ok)
            cube->device = buffer;
        else if (buffer)
            backend->free(buffer);
    }
    g_mutex_unlock(&cube->device_lock);
    return ok;
}

char *litho_device_label(LithoDevice device, int threads)
{
    if (device.backend == &cpu_backend) {
        int n = threads > 0 ? threads : litho_run_threads(NULL);
        return g_strdup_printf(litho_text_plural("CPU, %d thread", "CPU, %d threads", n), n);
    }
    LithoDeviceInfo info;
    if (!device.backend->device_info(device.index, &info, NULL))
        return g_strdup(device.backend->title);
    return device.count > 1 ? g_strdup_printf("%d x %s", device.count, info.name)
                            : g_strdup(info.name);
}

const LithoImpl *litho_device_impl(LithoDevice device, const LithoOperator *op, GError **error)
{
    const LithoImpl *impl = device.backend->impl ? device.backend->impl(op) : NULL;
    if (!impl)
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED, _("%s does not run on %s; use %s"),
                    litho_text(op->title), litho_text(device.backend->title), _("the CPU"));
    return impl;
}
