// The functions here have the names of libc's, so that the program and every shared library that it is linked with
// call them instead. Each looks whether it is to fail and else goes on to libc.

#define _GNU_SOURCE
#include "FaultShim.h"
#include "Sanitizer.h"

#if defined(__linux__) && !defined(FAULT_SHIM_OFF)

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "Plant.h"
#include "Recording.h"

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

static int syncs_itself(int descriptor) { return (fcntl(descriptor, F_GETFL) & O_DSYNC) != 0; }

static int write_verdict(int descriptor) {
    if (!armed_classes || !is_plain_file(descriptor)) return -1;
    if (atomic_exchange(&next_write_fails, 0)) {
        errno = failing_error;
        return FAULT_REFUSE;
    }
    int is_meta = syncs_itself(descriptor);
    int manner = verdict(is_meta ? FAULT_WRITE | FAULT_META : FAULT_WRITE);
    if (is_meta && manner == FAULT_LIE) next_write_fails = 1;
    return manner;
}

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static void count_bytes(int descriptor, size_t count) {
    if (is_plain_file(descriptor)) written_bytes += (long)count;
}

// Writes through `call`, as far as faults let it.
#define WRITING(call, half) \
    switch (write_verdict(descriptor)) { \
        case -1: return call; \
        case FAULT_SHORT: if (count > 1) return half; errno = failing_error; return -1; \
        case FAULT_LIE: (void)!(call); errno = failing_error; return -1; \
        default: return -1; \
    }

static ssize_t real_pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    static __typeof__(pwrite) *real;
    if (!real) real = (__typeof__(pwrite) *)dlsym(RTLD_NEXT, "pwrite");
    return real(descriptor, bytes, count, offset);
}

// A sync that is told to the recorder only after the next page that syncs itself.
static atomic_int late_sync = -1;
static atomic_long late_before;

static ssize_t recorded_pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    if (!recording() || !is_plain_file(descriptor)) return real_pwrite(descriptor, bytes, count, offset);
    int is_head = syncs_itself(descriptor);
    ssize_t written = (ssize_t)count;
    if (is_head || !planted(PLANT_LOST_WRITE)) {
        size_t part = !is_head && count > 2048 && planted(PLANT_TORN_WRITE) ? count - 2048 : count;
        written = real_pwrite(descriptor, bytes, part, offset);
        if (written > 0) {
            int is_durable = is_head && !planted(PLANT_UNSYNCED_HEAD);
            recorded_write(descriptor, bytes, (size_t)written, offset, is_durable);
            if (part < count) written = (ssize_t)count;
        }
    }
    int late = is_head ? atomic_exchange(&late_sync, -1) : -1;
    if (late >= 0) recorded_sync(late, late_before);
    return written;
}

static ssize_t recorded_result(int descriptor, const struct iovec *parts, ssize_t written) {
    if (written <= 0 || !recording() || !is_plain_file(descriptor)) return written;
    off_t offset = lseek(descriptor, 0, SEEK_CUR) - written;
    for (ssize_t left = written; left > 0; left -= (ssize_t)parts->iov_len, offset += (off_t)parts->iov_len, parts++) {
        size_t size = parts->iov_len < (size_t)left ? parts->iov_len : (size_t)left;
        recorded_write(descriptor, parts->iov_base, size, offset, syncs_itself(descriptor));
    }
    return written;
}

static ssize_t recorded_plain(int descriptor, const void *bytes, ssize_t written) {
    struct iovec part = {(void *)bytes, (size_t)(written > 0 ? written : 0)};
    return recorded_result(descriptor, &part, written);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    REAL(write);
    count_bytes(descriptor, count);
    WRITING(
        recorded_plain(descriptor, bytes, real(descriptor, bytes, count)),
        recorded_plain(descriptor, bytes, real(descriptor, bytes, count / 2)))
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    count_bytes(descriptor, count);
    WRITING(
        recorded_pwrite(descriptor, bytes, count, offset), recorded_pwrite(descriptor, bytes, count / 2, offset))
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    REAL(writev);
    for (int part = 0; part < count; part++) count_bytes(descriptor, parts[part].iov_len);
    WRITING(recorded_result(descriptor, parts, real(descriptor, parts, count)), real(descriptor, parts, count / 2))
}

#define PLAIN(class, call) \
    switch (verdict(class)) { \
        case -1: return call; \
        case FAULT_LIE: (void)!(call); errno = failing_error; return -1; \
        default: return -1; \
    }

// After a sync that succeeded.
static int synced(int descriptor, long before, int result) {
    if (result != 0 || !recording()) return result;
    if (planted(PLANT_HEAD_FIRST)) {
        late_before = before;
        late_sync = descriptor;
    } else {
        recorded_sync(descriptor, before);
    }
    return result;
}

static int is_left_out(int descriptor) {
    struct stat status;
    if (!recording() || fstat(descriptor, &status) != 0) return 0;
    return planted(S_ISDIR(status.st_mode) ? PLANT_NO_NAME_SYNC : PLANT_NO_SYNC);
}

int fsync(int descriptor) {
    REAL(fsync);
    syncs += 1;
    if (is_left_out(descriptor)) return 0;
    long before = recorded_before();
    PLAIN(FAULT_SYNC, synced(descriptor, before, real(descriptor)))
}

int fdatasync(int descriptor) {
    REAL(fdatasync);
    syncs += 1;
    if (is_left_out(descriptor)) return 0;
    long before = recorded_before();
    PLAIN(FAULT_SYNC, synced(descriptor, before, real(descriptor)))
}

static int lengthened(int descriptor, off_t length, int is_least, int result) {
    if (result == 0 && recording()) recorded_length(descriptor, length, is_least);
    return result;
}

int ftruncate(int descriptor, off_t length) {
    REAL(ftruncate);
    PLAIN(FAULT_NAME, lengthened(descriptor, length, 0, real(descriptor, length)))
}

int posix_fallocate(int descriptor, off_t offset, off_t length) {
    REAL(posix_fallocate);
    return lengthened(descriptor, offset + length, 1, real(descriptor, offset, length));
}

void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
    REAL(mmap);
    void *result = real(address, length, protection, flags, descriptor, offset);
    int is_shared = descriptor >= 0 && flags & MAP_SHARED && protection & PROT_WRITE;
    if (!is_shared || result == MAP_FAILED) return result;
    planted_map(descriptor, result, length);
    if (recording()) recorded_map(descriptor);
    return result;
}

int flock(int descriptor, int operation) {
    REAL(flock);
    return planted(PLANT_NO_LOCK) ? 0 : real(descriptor, operation);
}

static int made_directory(int directory, const char *path, struct place place, int result) {
    if (result == 0 && recording()) recorded_make_directory(place, directory, path);
    return result;
}

int mkdir(const char *path, mode_t mode) {
    REAL(mkdir);
    struct place place = place_of(AT_FDCWD, path);
    PLAIN(FAULT_NAME, made_directory(AT_FDCWD, path, place, real(path, mode)))
}

int mkdirat(int directory, const char *path, mode_t mode) {
    REAL(mkdirat);
    struct place place = place_of(directory, path);
    PLAIN(FAULT_NAME, made_directory(directory, path, place, real(directory, path, mode)))
}

static int renamed(struct place from, struct place to, int directory, const char *path, int result) {
    if (result == 0 && recording()) recorded_rename(from, to, directory, path);
    return result;
}

int rename(const char *from, const char *to) {
    REAL(rename);
    struct place old = place_of(AT_FDCWD, from), new = place_of(AT_FDCWD, to);
    PLAIN(FAULT_NAME, renamed(old, new, AT_FDCWD, to, real(from, to)))
}

int renameat(int from, const char *name, int to, const char *newName) {
    REAL(renameat);
    struct place old = place_of(from, name), new = place_of(to, newName);
    PLAIN(FAULT_NAME, renamed(old, new, to, newName, real(from, name, to, newName)))
}

static int renamed_or_exchanged(
    struct place from, struct place to, int directory, const char *path, unsigned flags, int result) {
    if (!(flags & RENAME_EXCHANGE)) return renamed(from, to, directory, path, result);
    if (result == 0 && recording()) recorded_exchange(from, to);
    return result;
}

int renameat2(int from, const char *name, int to, const char *newName, unsigned flags) {
    REAL(renameat2);
    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    struct place old = place_of(from, name), new = place_of(to, newName);
    PLAIN(
        FAULT_NAME, renamed_or_exchanged(old, new, to, newName, flags, real(from, name, to, newName, flags)))
}

static int linked(int directory, const char *path, int result) {
    if (result == 0 && recording()) recorded_link(place_of(directory, path), directory, path);
    return result;
}

int link(const char *from, const char *to) {
    REAL(link);
    PLAIN(FAULT_NAME, linked(AT_FDCWD, to, real(from, to)))
}

int linkat(int from, const char *name, int to, const char *newName, int flags) {
    REAL(linkat);
    PLAIN(FAULT_NAME, linked(to, newName, real(from, name, to, newName, flags)))
}

static int removed(struct place place, int result) {
    if (result == 0 && recording()) recorded_remove(place);
    return result;
}

int unlink(const char *path) {
    REAL(unlink);
    struct place place = place_of(AT_FDCWD, path);
    return removed(place, real(path));
}

int unlinkat(int directory, const char *path, int flags) {
    REAL(unlinkat);
    struct place place = place_of(directory, path);
    return removed(place, real(directory, path, flags));
}

int rmdir(const char *path) {
    REAL(rmdir);
    struct place place = place_of(AT_FDCWD, path);
    return removed(place, real(path));
}

// Gives the error as its result, and always refuses.
int pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    REAL(pthread_create);
    if (verdict(FAULT_THREAD) != -1) return failing_error;
    return real(thread, attributes, body, argument);
}

#define OPENING(directory, call) \
    mode_t mode = 0; \
    if (flags & O_CREAT) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
        if (verdict(FAULT_NAME) != -1) return -1; \
    } \
    path = redirected(path); \
    if (!recording() || !(flags & (O_CREAT | O_TRUNC))) return call; \
    struct place place = place_of(directory, path); \
    int was_there = faccessat(directory, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0; \
    int opened = call; \
    if (opened >= 0) recorded_open(opened, place, was_there, flags); \
    return opened

int open(const char *path, int flags, ...) {
    REAL(open);
    OPENING(AT_FDCWD, real(path, flags, mode));
}

int openat(int directory, const char *path, int flags, ...) {
    REAL(openat);
    OPENING(directory, real(directory, path, flags, mode));
}

#if defined(__GLIBC__)
// The names that code with large file offsets calls them by.
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int directory, const char *path, int flags, ...) __attribute__((alias("openat")));
ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off_t offset) __attribute__((alias("pwrite")));
int ftruncate64(int descriptor, off_t length) __attribute__((alias("ftruncate")));
int posix_fallocate64(int descriptor, off_t offset, off_t length) __attribute__((alias("posix_fallocate")));
void *mmap64(void *address, size_t length, int protection, int flags, int descriptor, off_t offset)
    __attribute__((alias("mmap")));
#endif

#else

int fault_available(void) { return 0; }
void fault_arm(int classes, long nth, long count, int error, int manner) {}
long fault_disarm(void) { return 0; }
long fault_written_bytes(void) { return 0; }
long fault_syncs(void) { return 0; }
long fault_allocations(void) { return 0; }

#endif
