// The functions of this target are declared in Sources/CLMDB/shim.h, so that Swift imports one module.
#ifndef CLMDB_CALLS_H
#define CLMDB_CALLS_H
#endif
