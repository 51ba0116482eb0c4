// What the functions in libc's place tell the recorder.
#ifndef RECORDING_H
#define RECORDING_H

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

int recording(void);
// The number of records so far: a sync covers those before it.
long recorded_before(void);

// Where a path leads: its directory, if that is recorded, and its last name.
struct place {
    int directory;  // -1 if it is not recorded
    char name[256];
};
struct place place_of(int directory, const char *path);

void recorded_open(int descriptor, struct place place, int was_there, int flags);
// Directory and path are those under which the new name is found.
void recorded_make_directory(struct place place, int directory, const char *path);
void recorded_link(struct place to, int directory, const char *path);
void recorded_remove(struct place place);
void recorded_rename(struct place from, struct place to, int directory, const char *path);
void recorded_exchange(struct place one, struct place other);
void recorded_write(int descriptor, const void *bytes, size_t count, off_t offset, int is_durable);
void recorded_length(int descriptor, off_t length, int is_least);
void recorded_sync(int descriptor, long before);
void recorded_map(int descriptor);

#endif
