// Files that say another inode number than their own. Stores note the number of their data file, so a copy of a recorded
// store is what the store was only if its files have the numbers that they had.

#define _GNU_SOURCE
#include "Recorder.h"
#include "Sanitizer.h"

#if defined(__linux__) && !defined(FAULT_SHIM_OFF)

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct number {
    dev_t device;
    ino_t own, shown;
};

enum { MOST_NUMBERS = 4096 };
static struct number numbers[MOST_NUMBERS];
static atomic_int number_count;

static ino_t shown(dev_t device, ino_t own) {
    for (int index = number_count - 1; index >= 0; index--) {
        if (numbers[index].own == own && numbers[index].device == device) return numbers[index].shown;
    }
    return own;
}

static int renumbered(int result, struct stat *status) {
    if (result == 0 && number_count > 0) status->st_ino = shown(status->st_dev, status->st_ino);
    return result;
}

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

void number_file(const char *path, uint64_t number) {
    struct stat status;
    if (lstat(path, &status) != 0 || number_count == MOST_NUMBERS) abort();
    numbers[number_count] = (struct number){status.st_dev, status.st_ino, number};
    number_count += 1;
}

void number_nothing(void) { number_count = 0; }

int stat(const char *path, struct stat *status) {
    REAL(stat);
    return renumbered(real(path, status), status);
}

int lstat(const char *path, struct stat *status) {
    REAL(lstat);
    return renumbered(real(path, status), status);
}

int fstat(int descriptor, struct stat *status) {
    REAL(fstat);
    return renumbered(real(descriptor, status), status);
}

int fstatat(int directory, const char *path, struct stat *status, int flags) {
    REAL(fstatat);
    return renumbered(real(directory, path, status, flags), status);
}

// Stores ask by the number of the call, where headers may not know it.
long syscall(long number, ...) {
    static long (*real)(long, ...);
    if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    va_list rest;
    va_start(rest, number);
    long values[6];
    for (int index = 0; index < 6; index++) values[index] = va_arg(rest, long);
    va_end(rest);
    long result = real(number, values[0], values[1], values[2], values[3], values[4], values[5]);
    if (number == SYS_statx && result == 0 && number_count > 0) {
        struct statx *status = (struct statx *)values[4];
        status->stx_ino = shown(makedev(status->stx_dev_major, status->stx_dev_minor), status->stx_ino);
    }
    return result;
}

#if defined(__GLIBC__)
// The names that code with large file offsets calls them by.
int stat64(const char *path, struct stat64 *status) { return stat(path, (struct stat *)status); }
int lstat64(const char *path, struct stat64 *status) { return lstat(path, (struct stat *)status); }
int fstat64(int descriptor, struct stat64 *status) { return fstat(descriptor, (struct stat *)status); }
int fstatat64(int directory, const char *path, struct stat64 *status, int flags) {
    return fstatat(directory, path, (struct stat *)status, flags);
}
#endif

#else

void number_file(const char *path, uint64_t number) { (void)path, (void)number; }
void number_nothing(void) {}

#endif
