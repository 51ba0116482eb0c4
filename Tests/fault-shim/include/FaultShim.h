// Makes the nth call of the operating system that writes fail, and counts such calls; for test programs only.
#ifndef FAULT_SHIM_H
#define FAULT_SHIM_H

#include "Recorder.h"

// Which calls count.
enum {
    FAULT_WRITE = 1,  // write, pwrite, writev
    FAULT_SYNC = 2,   // fsync, fdatasync
    FAULT_NAME = 4,   // mkdir, rename, link, ftruncate, open that makes a file
    FAULT_META = 8,   // pwrite to a descriptor that syncs each write: the meta page of a commit
    FAULT_THREAD = 16 // pthread_create
};

// How the first failing call fails; the others of the same arming have no effect.
enum {
    FAULT_REFUSE = 0,  // without effect
    FAULT_SHORT = 1,   // writes half and says so
    FAULT_LIE = 2      // does all of it and says it failed
};

// Whether calls go through here: not under a sanitizer, and only on Linux.
int fault_available(void);

// Lets `count` matching calls fail from the nth on.
void fault_arm(int classes, long nth, long count, int error, int manner);

// Stops that; the result is how many calls failed.
long fault_disarm(void);

// What the process has been asked to write to files so far, and how often it has synced (the meta page of a commit is
// written through a descriptor that syncs by itself and is not among these); 0 where calls do not go through here.
long fault_written_bytes(void);
long fault_syncs(void);

// How often memory has been asked for.
long fault_allocations(void);

#endif
