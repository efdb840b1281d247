// SPDX-License-Identifier: GPL-3.0-or-later
//
// The file of cuFFT holds its kernels for all lengths and cards, 270 MB. The first transform of a
// length takes its code from there, which takes ten times as long where the file is on the disk as
// where the system has it in memory. A thread reads it early, beside other work; nobody waits for
// it, and it holds no lock.
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "kernels/cuda/cuda.h"

static int find_cufft(struct dl_phdr_info *library, size_t size, void *data)
{
    (void)size;
    char **path = data;
    if (*path || !strstr(library->dlpi_name, "libcufft.so"))
        return 0;
    *path = g_strdup(library->dlpi_name);
    return 1;
}

// Ends with the program, wherever it is.
static gpointer read_file(gpointer data)
{
    enum { CHUNK = 1 << 20 };
    char *path = data, *chunk = g_malloc(CHUNK);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    while (file >= 0 && read(file, chunk, CHUNK) > 0)
        ;
    if (file >= 0)
        close(file);
    g_free(chunk);
    g_free(path);
    return NULL;
}

void litho_cuda_read_libraries(void)
{
    const guint64 spare = (guint64)4 << 30; // files of others are not driven out for it
    char *path = NULL;
    dl_iterate_phdr(find_cufft, &path);
    if (path && litho_memory_available() > spare)
        g_thread_unref(g_thread_new("litho-libraries", read_file, path));
    else
        g_free(path);
}
