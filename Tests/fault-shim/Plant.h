// Planted faults, as the functions in libc's place see them.
#ifndef PLANT_H
#define PLANT_H

#include "Recorder.h"

#include <stddef.h>

// Whether a fault of this kind takes effect now.
int planted(int kind);

// The path that is opened instead, in a buffer of the thread's; the same path where there is none.
const char *redirected(const char *path);

// A shared map that was made.
void planted_map(int descriptor, void *address, size_t size);

#endif
