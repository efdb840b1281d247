// SPDX-License-Identifier: GPL-3.0-or-later
//
// The module's table: which devices can run us, what they are, and errors in words.
#include <gmodule.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "kernels/cuda/cuda.h"

static int ordinals[LITHO_CUDA_DEVICES]; // CUDA's number of our device k

// Architectures with real code in this module, ascending; PTX of the last is in it too.
static const int archs[] = {LITHO_GPU_ARCHS};

// --- errors -----------------------------------------------------------------------------------

// The driver loads a kernel's code at its first launch, and calls it an unknown error where that
// finds no memory.
static gboolean is_full(int status)
{
    enum { CODE = 128 << 20 };
    size_t there = 0, total;
    return status == cudaErrorMemoryAllocation ||
           (status == cudaErrorUnknown && cudaMemGetInfo(&there, &total) == cudaSuccess &&
            there < CODE);
}

gboolean litho_cuda_check(int status, const char *call, const char *file, int line, GError **error,
                          const char *format, ...)
{
    if (status == cudaSuccess)
        return TRUE;
    g_autofree char *values = NULL;
    if (format) {
        va_list args;
        va_start(args, format);
        values = g_strdup_vprintf(format, args);
        va_end(args);
    }
    g_autofree char *place = g_path_get_basename(file);
    cudaGetLastError(); // an error that is not sticky must not be found again by the next launch
    // Other programs may have taken the memory since it was looked at.
    if (is_full(status))
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY,
                    _("the GPU has no memory left, which other programs may hold (%s, %s:%d%s%s)"),
                    call, place, line, values ? "; " : "", values ? values : "");
    else
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_DEVICE, _("CUDA refused %s (%s:%d%s%s): %s"),
                    call, place, line, values ? "; " : "", values ? values : "",
                    cudaGetErrorString(status));
    return FALSE;
}

gboolean litho_cuda_check_library(int status, const char *library, const char *call,
                                  const char *file, int line, GError **error)
{
    if (status == 0)
        return TRUE;
    g_autofree char *place = g_path_get_basename(file);
    // ALLOC_FAILED: 2 in cuFFT and cuSOLVER, 3 in cuBLAS.
    const gboolean full = status == (strcmp(library, "cuBLAS") == 0 ? 3 : 2);
    g_set_error(error, LITHO_ERROR, full ? LITHO_ERROR_MEMORY : LITHO_ERROR_DEVICE,
                _("%s refused %s (%s:%d) with status %d%s"), library, call, place, line, status,
                full ? _(": there is too little memory on the GPU") : "");
    return FALSE;
}

// --- devices ----------------------------------------------------------------------------------

// A cubin runs on its own major number with an equal or higher minor one; PTX on anything newer.
static gboolean has_code_for(int major, int minor)
{
    for (gsize k = 0; k < G_N_ELEMENTS(archs); k++)
        if (archs[k] / 10 == major && archs[k] % 10 <= minor)
            return TRUE;
    return 10 * major + minor >= archs[G_N_ELEMENTS(archs) - 1];
}

// Says why no device was counted although CUDA gave `status` and `count`. Creates no context.
static void say_why_not(LithoBackend *backend, cudaError_t status, int count)
{
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    char *why = backend->why_not;
    const size_t size = sizeof backend->why_not;
    if (driver == 0)
        g_snprintf(why, size, _("no NVIDIA driver is installed on this machine"));
    else if (status == cudaErrorInsufficientDriver)
        g_snprintf(why, size,
                   _("the NVIDIA driver supports CUDA %d.%d and this program was built with %d.%d"),
                   driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    else if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0))
        g_snprintf(why, size, _("the driver found no NVIDIA GPU"));
    else if (status != cudaSuccess)
        g_snprintf(why, size, _("the NVIDIA driver answers: %s"), cudaGetErrorString(status));
    else
        g_snprintf(why, size,
                   _("no GPU here can run this program's code, which is for compute capability "
                     "%d.%d and newer"),
                   archs[0] / 10, archs[0] % 10);
}

static void find_devices(LithoBackend *backend)
{
#ifdef LITHO_COMPILED_ONLY
    g_snprintf(backend->why_not, sizeof backend->why_not,
               _("this program's code for GPUs was built to be compiled only, with -Xcicc among "
                 "nvcc_args"));
    return;
#endif
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    cudaGetLastError();
    for (int k = 0; status == cudaSuccess && k < MIN(count, LITHO_CUDA_DEVICES); k++) {
        int major = 0, minor = 0;
        if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, k) == cudaSuccess &&
            cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, k) == cudaSuccess &&
            has_code_for(major, minor))
            ordinals[backend->n_devices++] = k;
    }
    if (backend->n_devices == 0)
        say_why_not(backend, status, count);
}

int litho_cuda_ordinal(int device)
{
    return ordinals[device];
}

gboolean litho_cuda_use(int device, GError **error)
{
    int n = litho_cuda_backend()->n_devices;
    if (device < 0 || device >= n) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_DEVICE,
                    _("there is no CUDA device %d; this machine has %d, counted from 0"), device,
                    n);
        return FALSE;
    }
    return LITHO_CUDA_SAYING(cudaSetDevice(ordinals[device]), error, "device %d", device);
}

static gboolean device_info(int device, LithoDeviceInfo *info, GError **error)
{
    memset(info, 0, sizeof *info);
    struct cudaDeviceProp properties;
    int driver = 0;
    if (!litho_cuda_use(device, error) ||
        !LITHO_CUDA(cudaGetDeviceProperties(&properties, ordinals[device]), error) ||
        !LITHO_CUDA(cudaDriverGetVersion(&driver), error) ||
        !litho_cuda_memory(device, &info->memory_free, &info->memory_total, error))
        return FALSE;
    g_strlcpy(info->name, properties.name, sizeof info->name);
    info->compute_major = properties.major;
    info->compute_minor = properties.minor;
    info->processors = properties.multiProcessorCount;
    g_autofree char *version = NULL;
    char release[32] = "";
    // "NVRM version: NVIDIA UNIX ... Module for x86_64  580.159.04  Release Build ..."
    if (g_file_get_contents("/proc/driver/nvidia/version", &version, NULL, NULL)) {
        g_auto(GStrv) words = g_strsplit_set(version, " \n", 64);
        for (guint k = 0; words[k] && !release[0]; k++)
            if (g_ascii_isdigit(words[k][0]) && strchr(words[k], '.'))
                g_strlcpy(release, words[k], sizeof release);
    }
    g_snprintf(info->driver, sizeof info->driver, "CUDA %d.%d%s%s", driver / 1000,
               driver % 1000 / 10, release[0] ? _(", driver ") : "", release);
    return TRUE;
}

static const LithoImpl *impl(const LithoOperator *op)
{
    return litho_cuda_impl(op->key);
}

static LithoBackend cuda_backend = {
    .abi = LITHO_BACKEND_ABI,
    .key = "cuda",
    .title = "CUDA",
    .device_info = device_info,
    .impl = impl,
    .memory = litho_cuda_memory,
    .limit_memory = litho_cuda_limit_memory,
    .alloc = litho_cuda_buffer_alloc,
    .free = litho_cuda_buffer_free,
    .upload = litho_cuda_buffer_upload,
    .download = litho_cuda_buffer_download,
    .pin = litho_cuda_pin,
    .unpin = litho_cuda_unpin,
    .keep_mute = litho_cuda_keep_mute,
    .similarity = litho_cuda_similarity,
    .histogram = litho_cuda_histogram,
    .gl = &litho_cuda_gl,
    .probe_roof = litho_cuda_probe_roof,
    .probe_link = litho_cuda_probe_link,
};

const LithoBackend *litho_cuda_backend(void)
{
    return &cuda_backend;
}

// LITHO_CUDA_MEMORY=3000000000 or 2.5G (also K, M): for a card that others use too.
static void limit_from_environment(void)
{
    const char *text = g_getenv("LITHO_CUDA_MEMORY");
    if (!text)
        return;
    char *unit;
    const double number = g_ascii_strtod(text, &unit);
    static const char units[] = "KMG";
    const char *at = *unit ? strchr(units, g_ascii_toupper(*unit)) : NULL;
    const int shift = at ? 10 * (int)(at - units + 1) : 0;
    if (number > 0 && number < 1e18 && (!*unit || (at && !unit[1])))
        litho_cuda_limit_memory((guint64)(number * (double)((guint64)1 << shift)));
    else
        g_warning("LITHO_CUDA_MEMORY is '%s'; bytes, or a number with K, M or G are needed", text);
}

G_MODULE_EXPORT const LithoBackend *litho_backend_entry(void);

const LithoBackend *litho_backend_entry(void)
{
    static gsize once;
    if (g_once_init_enter(&once)) {
        find_devices(&cuda_backend);
        limit_from_environment();
        if (cuda_backend.n_devices > 0)
            litho_cuda_read_libraries();
        g_once_init_leave(&once, 1);
    }
    return &cuda_backend;
}
