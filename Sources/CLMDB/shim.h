#include <lmdb.h>

#if defined(__linux__)
#include <linux/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

long syscall(long number, ...);
// Libraries of C before glibc 2.28 do not have it, and headers declare it only for GNU sources.
int renameat2(int from, const char *name, int to, const char *other, unsigned int flags) __attribute__((weak));
#else
#include <sys/mount.h>
#include <sys/param.h>

int renamex_np(const char *path, const char *other, unsigned int flags);
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

/// Exchanges what two paths stand for, in one step. Returns -1 with errno set, -2 where the system does not know how.
static inline int clmdb_exchange(const char *path, const char *other) {
#if defined(__linux__)
    // -100 is AT_FDCWD, and 2 is RENAME_EXCHANGE: Swift has modules of their own for their headers.
    return renameat2 ? renameat2(-100, path, -100, other, 2) : -2;
#else
    // RENAME_SWAP
    return renamex_np(path, other, 2);
#endif
}

/// Asks for the cache line at an address, which need not be one that can be read.
static inline void clmdb_prefetch(const void *address) { __builtin_prefetch(address); }

/// Has the system begin to write what its cache has of a file to the disk, and not wait for it. Returns -1 with errno set
/// where it cannot be asked.
static inline int clmdb_begin_writing(int file) {
#if defined(__linux__) && defined(SYS_sync_file_range) && defined(__LP64__)
    // 2 is SYNC_FILE_RANGE_WRITE; no length is all of the file.
    return (int)syscall(SYS_sync_file_range, file, 0L, 0L, 2);
#else
    (void)file;
    return -1;
#endif
}

/// Device and number of the file that a name in an open directory stands for, a link not followed. Linux is asked for
/// nothing else: where somebody has looked at a file's times, its next write must change them, however soon it comes
/// (multigrain timestamps, Linux 6.13), and each fdatasync then writes the block of the inode too, a fifth of a small
/// commit (strata-bench run --filter "one durable commit"). Returns -1 with errno set where that fails, and elsewhere.
static inline int clmdb_identify(
    int directory, const char *name, unsigned int *major, unsigned int *minor, unsigned long long *number) {
#if defined(__linux__) && defined(SYS_statx)
    struct statx found;
    // 0x100 is AT_SYMLINK_NOFOLLOW, whose header Swift has a module of its own for.
    if (syscall(SYS_statx, directory, name, 0x100, STATX_INO, &found) == 0) {
        *major = found.stx_dev_major;
        *minor = found.stx_dev_minor;
        *number = found.stx_ino;
        return 0;
    }
#endif
    return -1;
}

/// The length of an open plain file in bytes, without a look at its times (see `clmdb_identify`). Returns -1 for another
/// kind of file, and -2 where the system cannot be asked for the length alone.
static inline long long clmdb_length(int descriptor) {
#if defined(__linux__) && defined(SYS_statx)
    struct statx found;
    // 0x1000 is AT_EMPTY_PATH; 0170000 and 0100000 are S_IFMT and S_IFREG.
    if (syscall(SYS_statx, descriptor, "", 0x1000, STATX_TYPE | STATX_SIZE, &found) == 0)
        return (found.stx_mode & 0170000) == 0100000 ? (long long)found.stx_size : -1;
#endif
    (void)descriptor;
    return -2;
}

/// The number of the mount below a descriptor, which the system gives to no other mount until it is started again; 0
/// where it has no such numbers.
static inline unsigned long long clmdb_mount(int descriptor) {
#if defined(__linux__) && defined(SYS_statx)
    struct statx found;
    // 0x1000 is AT_EMPTY_PATH, 0x4000 STATX_MNT_ID_UNIQUE (Linux 6.8).
    if (syscall(SYS_statx, descriptor, "", 0x1000, 0x4000, &found) == 0 && (found.stx_mask & 0x4000))
        return found.stx_mnt_id;
#endif
    (void)descriptor;
    return 0;
}

// Calls that may meet a damaged page: where an assertion of LMDB fails they return CLMDB_ASSERTION_FAILED. Without them
// LMDB ends the process. (Sources/CLMDBCalls)

enum { CLMDB_ASSERTION_FAILED = -30600 };

/// Has the calls below return where an assertion of LMDB fails. Comes before the first transaction.
void clmdb_watch(MDB_env *env);

/// Has failed assertions end the process again.
void clmdb_unwatch(MDB_env *env);

/// The assertion of LMDB that failed last on this thread.
const char *clmdb_failed_assertion(void);

/// Whether a write transaction in which an assertion failed can be ended: LMDB's record of it is as expected.
int clmdb_can_abandon(MDB_txn *txn, unsigned int table_count);

/// Ends a write transaction in which an assertion failed. Its cursors are lost: they must not be closed.
void clmdb_abandon(MDB_txn *txn);

/// Empties tables that the transaction has not written to, and frees their pages, without a look at any. Only where
/// `clmdb_can_abandon` is true, and while no cursor is in the tables.
int clmdb_empty(
    MDB_txn *txn, const MDB_dbi *tables, unsigned int table_count, const size_t *pages, size_t page_count);

int clmdb_txn_commit(MDB_txn *txn);
int clmdb_dbi_open(MDB_txn *txn, const char *name, unsigned int flags, MDB_dbi *dbi);
int clmdb_stat(MDB_txn *txn, MDB_dbi dbi, MDB_stat *stat);
int clmdb_get(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *data);
int clmdb_put(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *data, unsigned int flags);
int clmdb_drop(MDB_txn *txn, MDB_dbi dbi);
int clmdb_cursor_open(MDB_txn *txn, MDB_dbi dbi, MDB_cursor **cursor);
int clmdb_cursor_get(MDB_cursor *cursor, MDB_val *key, MDB_val *data, MDB_cursor_op operation);
int clmdb_cursor_put(MDB_cursor *cursor, MDB_val *key, MDB_val *data, unsigned int flags);
int clmdb_cursor_del(MDB_cursor *cursor);
