// Records every call that changes files below a directory, so that the states which a power cut may leave can be made
// of it; for test programs only.
#ifndef RECORDER_H
#define RECORDER_H

#include <stdint.h>

// What a record tells. Files and directories have numbers; the recorded directory itself is 0.
enum {
    RECORD_MAKE = 1,    // `object`, a directory if `flags`, is made in `parent` under the name; `offset` is its inode
    RECORD_LINK = 2,    // `object` gets the name in `parent`
    RECORD_REMOVE = 3,  // the name goes from `parent`
    RECORD_RENAME = 4,  // `object` moves from the name in `parent` to the second name in `other`
    RECORD_WRITE = 5,   // bytes of `object` at `offset`; durable by themselves if `flags`
    RECORD_LENGTH = 6,  // `object` is `offset` bytes long; at least that if `flags`
    RECORD_SYNC = 7,    // what `object` had before record `offset` is durable
    RECORD_MARK = 8,    // the program says `offset` and `extent`
    RECORD_BEGUN = 9,   // all before this was there, and durable
    RECORD_MAPPED = 10,   // as a write, by a store to a shared map
    RECORD_EXCHANGE = 11  // the name in `parent` and the second name in `other` exchange what they stand for
};

// The head of a record; two names and the bytes follow.
struct record {
    uint32_t kind, object, parent, other, flags, name_length, other_length, extent;
    uint64_t offset;
};

// Begins: what lies below `root` now is the state that everything starts from. Records go to an open file.
void record_begin(const char *root, int trace);

// Puts a mark; without effect while nothing is recorded.
void record_mark(long kind, long number);

// Ends, and says how many records there are.
long record_end(void);

// From now on the file at this path says that it has this inode number, also under other names.
void number_file(const char *path, uint64_t number);

// Files have their own numbers again.
void number_nothing(void);

// Faults that are planted, so that a campaign can be seen to find them.
enum {
    PLANT_NOTHING,
    PLANT_NO_SYNC,        // data is not synced before the page that names it
    PLANT_HEAD_FIRST,     // that page is durable before the data
    PLANT_UNSYNCED_HEAD,  // that page is not synced either: an acknowledged save is not durable
    PLANT_LOST_WRITE,     // a write is said to be done, and is not
    PLANT_TORN_WRITE,     // half of a write's last page is not done
    PLANT_NO_NAME_SYNC,   // a directory is not synced
    PLANT_NO_LOCK,        // locks between processes are said to be taken, and are not
    PLANT_EARLY_REUSE,    // readers are not seen, so that pages they read are written on
    PLANT_NO_EVENT,       // an event is left out of the log
    PLANT_NO_ENTRY        // an entry of an index is left out
};

// From the nth occasion on, or at the nth only where more would hide it.
void fault_plant(int kind, long nth);

// How often the fault has taken effect.
long fault_planted(void);

// Programs that open the file of this name open the other instead; for the number of the system's start.
void fault_redirect(const char *name, const char *other);

#endif
