#include <lmdb.h>

#if defined(__linux__)
#include <sys/vfs.h>
#else
#include <sys/mount.h>
#include <sys/param.h>
#endif

/// The kind of file system below a descriptor: statfs's type number on Linux; elsewhere 1 when it is not local, else 0.
/// Swift's Glibc module has no statfs. Returns -1 with errno set on failure.
static inline long clmdb_file_system_type(int descriptor) {
    struct statfs status;
    if (fstatfs(descriptor, &status) != 0) return -1;
#if defined(__linux__)
    return (long)(unsigned int)status.f_type;
#else
    return (status.f_flags & MNT_LOCAL) ? 0 : 1;
#endif
}

/// Asks for the cache line at an address, which need not be one that can be read.
static inline void clmdb_prefetch(const void *address) { __builtin_prefetch(address); }
