// The functions here have the names of libc's, so that the program and every shared library that it is linked with
// call them instead. Each looks whether it is to fail and else goes on to libc.

#define _GNU_SOURCE
#include "FaultShim.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define FAULT_SHIM_OFF 1
#endif
#endif

#if defined(__linux__) && !defined(FAULT_SHIM_OFF)

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_int armed_classes;
static atomic_int failing_error;
static atomic_int first_manner;
static atomic_long calls_before;
static atomic_long failures_left;
static atomic_long hits;
// Set by a meta page that was written and denied: LMDB then puts the old one back, which must fail too for the new
// one to be found.
static atomic_int next_write_fails;

static atomic_long written_bytes;
static atomic_long syncs;
static atomic_long allocations;

int fault_available(void) { return 1; }

long fault_written_bytes(void) { return written_bytes; }
long fault_syncs(void) { return syncs; }
long fault_allocations(void) { return allocations; }

#if defined(__GLIBC__)
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *bytes, size_t size);

void *malloc(size_t size) {
    allocations += 1;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    allocations += 1;
    return __libc_calloc(count, size);
}

void *realloc(void *bytes, size_t size) {
    allocations += 1;
    return __libc_realloc(bytes, size);
}
#endif

void fault_arm(int classes, long nth, long count, int error, int manner) {
    hits = 0;
    next_write_fails = 0;
    calls_before = nth - 1;
    failures_left = count;
    failing_error = error;
    first_manner = manner;
    armed_classes = classes;
}

long fault_disarm(void) {
    armed_classes = 0;
    return hits;
}

// -1 when the call shall go on as it is, else the manner in which it fails.
static int verdict(int class) {
    if (!(armed_classes & class)) return -1;
    if (atomic_fetch_sub(&calls_before, 1) > 0) return -1;
    if (atomic_fetch_sub(&failures_left, 1) <= 0) return -1;
    int first = atomic_fetch_add(&hits, 1) == 0;
    errno = failing_error;
    return first ? first_manner : FAULT_REFUSE;
}

static int is_plain_file(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

static int write_verdict(int descriptor) {
    if (!armed_classes || !is_plain_file(descriptor)) return -1;
    if (atomic_exchange(&next_write_fails, 0)) {
        errno = failing_error;
        return FAULT_REFUSE;
    }
    int is_meta = fcntl(descriptor, F_GETFL) & O_DSYNC;
    int manner = verdict(is_meta ? FAULT_WRITE | FAULT_META : FAULT_WRITE);
    if (is_meta && manner == FAULT_LIE) next_write_fails = 1;
    return manner;
}

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define WRITING(call, half) \
    switch (write_verdict(descriptor)) { \
        case -1: return call; \
        case FAULT_SHORT: if (count > 1) return half; errno = failing_error; return -1; \
        case FAULT_LIE: (void)!(call); errno = failing_error; return -1; \
        default: return -1; \
    }

static void count_bytes(int descriptor, size_t count) {
    if (is_plain_file(descriptor)) written_bytes += (long)count;
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    REAL(write);
    count_bytes(descriptor, count);
    WRITING(real(descriptor, bytes, count), real(descriptor, bytes, count / 2))
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    REAL(pwrite);
    count_bytes(descriptor, count);
    WRITING(real(descriptor, bytes, count, offset), real(descriptor, bytes, count / 2, offset))
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    REAL(writev);
    for (int part = 0; part < count; part++) count_bytes(descriptor, parts[part].iov_len);
    WRITING(real(descriptor, parts, count), real(descriptor, parts, count / 2))
}

#define PLAIN(class, call) \
    switch (verdict(class)) { \
        case -1: return call; \
        case FAULT_LIE: (void)!(call); errno = failing_error; return -1; \
        default: return -1; \
    }

int fsync(int descriptor) {
    REAL(fsync);
    syncs += 1;
    PLAIN(FAULT_SYNC, real(descriptor))
}

int fdatasync(int descriptor) {
    REAL(fdatasync);
    syncs += 1;
    PLAIN(FAULT_SYNC, real(descriptor))
}

int ftruncate(int descriptor, off_t length) {
    REAL(ftruncate);
    PLAIN(FAULT_NAME, real(descriptor, length))
}

int mkdir(const char *path, mode_t mode) {
    REAL(mkdir);
    PLAIN(FAULT_NAME, real(path, mode))
}

int mkdirat(int directory, const char *path, mode_t mode) {
    REAL(mkdirat);
    PLAIN(FAULT_NAME, real(directory, path, mode))
}

int rename(const char *from, const char *to) {
    REAL(rename);
    PLAIN(FAULT_NAME, real(from, to))
}

int renameat(int from, const char *name, int to, const char *newName) {
    REAL(renameat);
    PLAIN(FAULT_NAME, real(from, name, to, newName))
}

int linkat(int from, const char *name, int to, const char *newName, int flags) {
    REAL(linkat);
    PLAIN(FAULT_NAME, real(from, name, to, newName, flags))
}

// Gives the error as its result, and always refuses.
int pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    REAL(pthread_create);
    if (verdict(FAULT_THREAD) != -1) return failing_error;
    return real(thread, attributes, body, argument);
}

#define OPENING(call) \
    mode_t mode = 0; \
    if (flags & O_CREAT) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
        if (verdict(FAULT_NAME) != -1) return -1; \
    } \
    return call;

int open(const char *path, int flags, ...) {
    REAL(open);
    OPENING(real(path, flags, mode))
}

int openat(int directory, const char *path, int flags, ...) {
    REAL(openat);
    OPENING(real(directory, path, flags, mode))
}

#else

int fault_available(void) { return 0; }
void fault_arm(int classes, long nth, long count, int error, int manner) {}
long fault_disarm(void) { return 0; }
long fault_written_bytes(void) { return 0; }
long fault_syncs(void) { return 0; }
long fault_allocations(void) { return 0; }

#endif
