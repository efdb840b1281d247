// SPDX-License-Identifier: GPL-3.0-or-later
// Preloaded into a program under test: the n-th call of one kind fails.
//
//     LITHO_FAULT=KIND:N   alloc (of LITHO_FAULT_BYTES or more, default 1 MiB), read, write, sync,
//                          close, rename, open; fftw: allocations by FFTW, of any size
//     LITHO_FAULT_HIT=FILE is created when the fault was met
//     LITHO_FAULT_TRACE=1  tells on standard error who called
//
// Loaded as libEGL.so.1 it is a driver that takes for ever to load.
//
// Only regular files count, close and write only those opened for writing.
#undef _FILE_OFFSET_BITS // open and open64 are two names here
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);

static int number = -1; // of the call that fails; 0 = none; -1 = not looked up yet
static char kind[16];
static size_t bytes = 1 << 20;
static int calls;

static void look_up(void)
{
    const char *text = getenv("LITHO_FAULT"), *size = getenv("LITHO_FAULT_BYTES");
    int n = 0;
    if (size)
        bytes = strtoul(size, NULL, 10);
    if (!text || sscanf(text, "%15[^:]:%d", kind, &n) != 2)
        n = 0;
    number = n;
}

// TRUE for the call that shall fail.
static int due(const char *what)
{
    if (number < 0)
        look_up();
    if (number == 0 || strcmp(kind, what) != 0 ||
        __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) != number)
        return 0;
    const char *hit = getenv("LITHO_FAULT_HIT");
    if (hit) {
        long fd = syscall(SYS_openat, AT_FDCWD, hit, O_CREAT | O_WRONLY, 0600);
        syscall(SYS_close, fd);
    }
    if (getenv("LITHO_FAULT_TRACE")) {
        void *frames[24];
        number = 0; // what is allocated here shall not fail
        backtrace_symbols_fd(frames, backtrace(frames, 24), 2);
    }
    return 1;
}

static int regular(int fd, int for_writing)
{
    struct stat info;
    int flags = fcntl(fd, F_GETFL);
    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
           (!for_writing || (flags & O_ACCMODE) != O_RDONLY);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// --- libraries ----------------------------------------------------------------------------------

__attribute__((constructor)) static void load_for_ever(void)
{
    static const char told[] = "loading OpenGL\n";
    Dl_info info;
    if (!dladdr((void *)load_for_ever, &info) || !strstr(info.dli_fname, "libEGL"))
        return;
    syscall(SYS_write, 2, told, sizeof told - 1);
    for (;;)
        pause();
}

// --- memory -------------------------------------------------------------------------------------

static int by_fftw(void *caller)
{
    Dl_info info;
    return strcmp(kind, "fftw") == 0 && dladdr(caller, &info) && strstr(info.dli_fname, "libfftw3");
}

static void *aligned(size_t align, size_t n, void *caller)
{
    if (number < 0)
        look_up();
    if ((n >= bytes && due("alloc")) || (number > 0 && by_fftw(caller) && due("fftw")))
        return errno = ENOMEM, NULL;
    return __libc_memalign(align, n);
}

void *malloc(size_t n)
{
    if (number > 0 && by_fftw(__builtin_return_address(0)) && due("fftw"))
        return errno = ENOMEM, NULL;
    if (n >= bytes && due("alloc"))
        return errno = ENOMEM, NULL;
    return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    if (size && n >= (bytes + size - 1) / size && due("alloc"))
        return errno = ENOMEM, NULL;
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    if (n >= bytes && due("alloc"))
        return errno = ENOMEM, NULL;
    return __libc_realloc(p, n);
}

void *memalign(size_t align, size_t n)
{
    return aligned(align, n, __builtin_return_address(0));
}

void *aligned_alloc(size_t align, size_t n)
{
    return aligned(align, n, __builtin_return_address(0));
}

int posix_memalign(void **p, size_t align, size_t n)
{
    void *got = aligned(align, n, __builtin_return_address(0));
    if (!got)
        return ENOMEM;
    *p = got;
    return 0;
}

// --- files --------------------------------------------------------------------------------------

ssize_t pread64(int fd, void *p, size_t n, off64_t at)
{
    if (regular(fd, 0) && due("read"))
        return errno = EIO, -1;
    return NEXT(pread64)(fd, p, n, at);
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
    return pread64(fd, p, n, at);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
    if (regular(fd, 1) && due("write"))
        return errno = ENOSPC, -1;
    return NEXT(pwrite64)(fd, p, n, at);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
    return pwrite64(fd, p, n, at);
}

int fsync(int fd)
{
    if (regular(fd, 1) && due("sync"))
        return errno = EIO, -1;
    return NEXT(fsync)(fd);
}

int close(int fd)
{
    int fails = regular(fd, 1) && due("close");
    int got = NEXT(close)(fd);
    return fails ? errno = EDQUOT, -1 : got;
}

int rename(const char *from, const char *to)
{
    if (due("rename"))
        return errno = EACCES, -1;
    return NEXT(rename)(from, to);
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
    if (due("rename"))
        return errno = EACCES, -1;
    return NEXT(renameat2)(a, from, b, to, flags);
}

// Files that the test made: those of the present folder.
int open64(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, int) : 0;
    va_end(args);
    if (path[0] != '/' && due("open"))
        return errno = EMFILE, -1;
    return NEXT(open64)(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, int) : 0;
    va_end(args);
    if (path[0] != '/' && due("open"))
        return errno = EMFILE, -1;
    return NEXT(open)(path, flags, mode);
}
