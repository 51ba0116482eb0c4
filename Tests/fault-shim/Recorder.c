#define _GNU_SOURCE
#include "Recorder.h"
#include "Recording.h"

#if defined(__linux__)

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// A file or directory that is recorded. `copy` is what a shared map was last seen to hold.
struct object {
    dev_t device;
    ino_t number;
    int map;
    char *copy;
    size_t copy_size;
};

enum { MOST_OBJECTS = 1 << 16, PIECE = 4096 };

// All below is guarded by the lock; `is_on` and `count` may be read without it.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *objects;
static int object_count;
static int trace = -1;
static atomic_int is_on;
static atomic_long count;

int recording(void) { return is_on; }

static void enter(void);
static void leave(void);

long recorded_before(void) {
    // A sync covers what was stored to maps before it.
    if (is_on) {
        enter();
        leave();
    }
    return count;
}

// The program's own calls of these are recorded, so the recorder uses the system's.
static void put(const void *bytes, size_t size) {
    const char *rest = bytes;
    while (size > 0) {
        ssize_t written = syscall(SYS_write, trace, rest, size);
        if (written <= 0) abort();
        rest += written;
        size -= (size_t)written;
    }
}

static void append_names(struct record record, const char *name, const char *other, const void *bytes) {
    record.name_length = (uint32_t)strlen(name);
    record.other_length = (uint32_t)strlen(other);
    put(&record, sizeof record);
    put(name, record.name_length);
    put(other, record.other_length);
    if (record.kind == RECORD_WRITE || record.kind == RECORD_MAPPED) put(bytes, record.extent);
    count += 1;
}

static void append(struct record record) { append_names(record, "", "", NULL); }

// The object of an inode; -1 if there is none. The newest counts: a number may be given again.
static int object_of(const struct stat *status) {
    for (int index = object_count - 1; index >= 0; index--) {
        if (objects[index].number == status->st_ino && objects[index].device == status->st_dev) return index;
    }
    return -1;
}

static int descriptor_object(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 ? object_of(&status) : -1;
}

static int new_object(const struct stat *status) {
    if (object_count == MOST_OBJECTS) abort();
    objects[object_count] = (struct object){status->st_dev, status->st_ino, -1, NULL, 0};
    return object_count++;
}

// Appends a piece of a shared map if it is another than was seen last.
static void note_piece(int index, size_t offset, const char *piece, ssize_t size) {
    struct object *object = &objects[index];
    if (size <= 0) return;
    if (offset + PIECE > object->copy_size) {
        object->copy = realloc(object->copy, offset + PIECE);
        memset(object->copy + object->copy_size, 0, offset + PIECE - object->copy_size);
        object->copy_size = offset + PIECE;
    }
    if (memcmp(object->copy + offset, piece, (size_t)size) == 0) return;
    memcpy(object->copy + offset, piece, (size_t)size);
    append_names(
        (struct record){.kind = RECORD_MAPPED, .object = (uint32_t)index, .extent = (uint32_t)size, .offset = offset},
        "", "", piece);
}

// Appends what programs have stored to shared maps since. The first piece has seals, which say that the others are in
// place: it is read before them and noted after them.
static void poll_maps(void) {
    char first[PIECE], piece[PIECE];
    for (int index = 0; index < object_count; index++) {
        int map = objects[index].map;
        if (map < 0) continue;
        ssize_t first_size = syscall(SYS_pread64, map, first, (size_t)PIECE, (off_t)0);
        for (size_t offset = PIECE;; offset += PIECE) {
            ssize_t size = syscall(SYS_pread64, map, piece, (size_t)PIECE, (off_t)offset);
            if (size <= 0) break;
            note_piece(index, offset, piece, size);
        }
        note_piece(index, 0, first, first_size);
    }
}

static void enter(void) {
    pthread_mutex_lock(&lock);
    poll_maps();
}

static void leave(void) { pthread_mutex_unlock(&lock); }

// MARK: Names

struct place place_of(int directory, const char *path) {
    struct place place = {-1, ""};
    if (!is_on) return place;
    char parent[4096];
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length -= 1;
    if (length == 0 || length >= sizeof parent) return place;
    size_t start = length;
    while (start > 0 && path[start - 1] != '/') start -= 1;
    if (length - start >= sizeof place.name) return place;
    memcpy(place.name, path + start, length - start);
    place.name[length - start] = 0;
    memcpy(parent, path, start);
    parent[start] = 0;
    struct stat status;
    if (fstatat(directory, start == 0 ? "." : parent, &status, 0) != 0) return place;
    pthread_mutex_lock(&lock);
    place.directory = object_of(&status);
    pthread_mutex_unlock(&lock);
    return place;
}

void recorded_open(int descriptor, struct place place, int was_there, int flags) {
    if (place.directory < 0) return;
    int error = errno;
    struct stat status;
    enter();
    if (fstat(descriptor, &status) == 0) {
        if (!was_there) {
            int object = new_object(&status);
            append_names(
                (struct record){
                    .kind = RECORD_MAKE, .object = (uint32_t)object, .parent = (uint32_t)place.directory,
                    .offset = status.st_ino},
                place.name, "", NULL);
        } else if (flags & O_TRUNC && object_of(&status) >= 0) {
            append((struct record){.kind = RECORD_LENGTH, .object = (uint32_t)object_of(&status)});
        }
    }
    leave();
    errno = error;
}


void recorded_make_directory(struct place place, int directory, const char *path) {
    struct stat status;
    if (place.directory < 0 || fstatat(directory, path, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    enter();
    int object = new_object(&status);
    append_names(
        (struct record){
            .kind = RECORD_MAKE, .object = (uint32_t)object, .parent = (uint32_t)place.directory, .flags = 1,
            .offset = status.st_ino},
        place.name, "", NULL);
    leave();
}

void recorded_link(struct place to, int directory, const char *path) {
    struct stat status;
    if (to.directory < 0 || fstatat(directory, path, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    enter();
    int object = object_of(&status);
    if (object >= 0) {
        append_names(
            (struct record){.kind = RECORD_LINK, .object = (uint32_t)object, .parent = (uint32_t)to.directory},
            to.name, "", NULL);
    }
    leave();
}

void recorded_remove(struct place place) {
    if (place.directory < 0) return;
    int error = errno;
    enter();
    append_names((struct record){.kind = RECORD_REMOVE, .parent = (uint32_t)place.directory}, place.name, "", NULL);
    leave();
    errno = error;
}

void recorded_rename(struct place from, struct place to, int directory, const char *path) {
    struct stat status;
    if (from.directory < 0 || to.directory < 0) return recorded_remove(from);
    if (fstatat(directory, path, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    enter();
    int object = object_of(&status);
    if (object >= 0) {
        append_names(
            (struct record){
                .kind = RECORD_RENAME, .object = (uint32_t)object, .parent = (uint32_t)from.directory,
                .other = (uint32_t)to.directory},
            from.name, to.name, NULL);
    }
    leave();
}

void recorded_exchange(struct place one, struct place other) {
    // What comes from elsewhere, or goes there, cannot be told.
    if ((one.directory < 0) != (other.directory < 0)) abort();
    if (one.directory < 0) return;
    enter();
    append_names(
        (struct record){
            .kind = RECORD_EXCHANGE, .parent = (uint32_t)one.directory, .other = (uint32_t)other.directory},
        one.name, other.name, NULL);
    leave();
}

// MARK: Content

void recorded_write(int descriptor, const void *bytes, size_t size, off_t offset, int is_durable) {
    int error = errno;
    enter();
    int object = descriptor_object(descriptor);
    if (object >= 0) {
        append_names(
            (struct record){
                .kind = RECORD_WRITE, .object = (uint32_t)object, .flags = (uint32_t)is_durable,
                .extent = (uint32_t)size, .offset = (uint64_t)offset},
            "", "", bytes);
    }
    leave();
    errno = error;
}

void recorded_length(int descriptor, off_t length, int is_least) {
    enter();
    int object = descriptor_object(descriptor);
    if (object >= 0) {
        append((struct record){
            .kind = RECORD_LENGTH, .object = (uint32_t)object, .flags = (uint32_t)is_least,
            .offset = (uint64_t)length});
    }
    leave();
}

void recorded_sync(int descriptor, long before) {
    enter();
    int object = descriptor_object(descriptor);
    if (object >= 0) {
        append((struct record){.kind = RECORD_SYNC, .object = (uint32_t)object, .offset = (uint64_t)before});
    }
    leave();
}

void recorded_map(int descriptor) {
    char path[64];
    int error = errno;
    enter();
    int object = descriptor_object(descriptor);
    if (object >= 0 && objects[object].map < 0) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
        // A file of its own, which stays open.
        objects[object].map = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    }
    leave();
    errno = error;
}

// MARK: The program's part

static void record_tree(int directory, int parent);

static void record_entry(int directory, int parent, const char *name) {
    struct stat status;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    int is_directory = S_ISDIR(status.st_mode);
    int object = object_of(&status);
    int is_new = object < 0;
    if (is_new) object = new_object(&status);
    append_names(
        (struct record){
            .kind = is_new ? RECORD_MAKE : RECORD_LINK, .object = (uint32_t)object, .parent = (uint32_t)parent,
            .flags = (uint32_t)is_directory, .offset = is_new ? status.st_ino : 0},
        name, "", NULL);
    int opened = (int)syscall(SYS_openat, directory, name, O_RDONLY | O_CLOEXEC, 0);
    if (opened < 0) abort();
    if (is_directory) {
        record_tree(opened, object);
    } else if (is_new) {
        char piece[1 << 16];
        off_t offset = 0;
        ssize_t size;
        while ((size = syscall(SYS_pread64, opened, piece, sizeof piece, offset)) > 0) {
            append_names(
                (struct record){
                    .kind = RECORD_WRITE, .object = (uint32_t)object, .extent = (uint32_t)size,
                    .offset = (uint64_t)offset},
                "", "", piece);
            offset += size;
        }
    }
    syscall(SYS_close, opened);
}

static void record_tree(int directory, int parent) {
    DIR *stream = fdopendir(dup(directory));
    if (!stream) abort();
    struct dirent *entry;
    while ((entry = readdir(stream))) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            record_entry(directory, parent, entry->d_name);
        }
    }
    closedir(stream);
}

void record_begin(const char *root, int descriptor) {
    pthread_mutex_lock(&lock);
    objects = calloc(MOST_OBJECTS, sizeof *objects);
    object_count = 0;
    count = 0;
    trace = descriptor;
    struct stat status;
    int opened = (int)syscall(SYS_openat, AT_FDCWD, root, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (!objects || opened < 0 || fstat(opened, &status) != 0) abort();
    new_object(&status);
    record_tree(opened, 0);
    syscall(SYS_close, opened);
    append((struct record){.kind = RECORD_BEGUN});
    is_on = 1;
    pthread_mutex_unlock(&lock);
}

void record_mark(long kind, long number) {
    if (!is_on) return;
    enter();
    append((struct record){.kind = RECORD_MARK, .offset = (uint64_t)kind, .extent = (uint32_t)number});
    leave();
}

long record_end(void) {
    enter();
    is_on = 0;
    for (int index = 0; index < object_count; index++) {
        if (objects[index].map >= 0) syscall(SYS_close, objects[index].map);
        free(objects[index].copy);
    }
    free(objects);
    objects = NULL;
    object_count = 0;
    leave();
    return count;
}

#else

void record_begin(const char *root, int descriptor) { (void)root, (void)descriptor; }
void record_mark(long kind, long number) { (void)kind, (void)number; }
long record_end(void) { return 0; }

#endif
