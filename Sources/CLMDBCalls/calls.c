// Turns failed assertions of LMDB into results.
//
// LMDB asserts what a sound file gives it, and ends the process where that does not hold. `mdb_env_set_assert` sets a
// function that is called first: it jumps back into the call of LMDB below, over frames of LMDB alone.
//
// A write transaction that was left so can only be ended. LMDB lists the cursors of each table in its record of the
// transaction, also those on the stack of the functions that were left, and would free them: so the lists are emptied
// first. The cursors that the caller has opened are lost with them, some hundred bytes each. Where the record is not as
// expected, the assertion ends the process as before.

#include <errno.h>
#include <lmdb.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../CLMDB/shim.h"

// The call that an assertion returns to; NULL outside of one, and in those that cannot be left.
static __thread jmp_buf *landing;
static __thread char assertion[256];

static void jump(MDB_env *env, const char *text) {
    (void)env;
    if (!landing) return;
    strncpy(assertion, text, sizeof assertion - 1);
    _longjmp(*landing, 1);
}

void clmdb_watch(MDB_env *env) { mdb_env_set_assert(env, jump); }

void clmdb_unwatch(MDB_env *env) { mdb_env_set_assert(env, NULL); }

const char *clmdb_failed_assertion(void) { return assertion; }

// LMDB's private record of a write transaction (0.9, 64-bit), as far as it is needed. (Source: `struct MDB_txn` and
// `struct MDB_db` of LMDB's mdb.c.)
typedef struct {
    char before_number[24];
    size_t number;
    MDB_env *env;
    size_t *freed;
    char before_trees[40];
    char *trees;
    void *sequence_numbers;
    void **cursors;
    unsigned char *table_flags;
    unsigned int table_count;
    unsigned int flags;
} transaction_record;

enum { tree_size = 48, tables_of_lmdb = 2, flag_error = 0x02, flag_dirty = 0x04 };
enum { table_is_dirty = 0x01, table_is_stale = 0x02, tree_depth = 6, tree_counts = 8, tree_root = 40 };

int clmdb_can_abandon(MDB_txn *txn, unsigned int table_count) {
    const transaction_record *record = (const transaction_record *)txn;
    int major, minor;
    if (sizeof(void *) != 8) return 0;
    mdb_version(&major, &minor, NULL);
    if (major != 0 || minor != 9) return 0;
    unsigned int capacity = table_count + tables_of_lmdb;
    // LMDB makes the trees and the cursors of a write transaction in one piece of memory.
    return record->number == mdb_txn_id(txn) && record->env == mdb_txn_env(txn)
        && (char *)record->cursors == record->trees + tree_size * (size_t)capacity && record->table_count <= capacity;
}

void clmdb_abandon(MDB_txn *txn) {
    transaction_record *record = (transaction_record *)txn;
    for (unsigned int table = 0; table < record->table_count; table++) record->cursors[table] = NULL;
    mdb_txn_abort(txn);
}

// Has LMDB refuse further calls in a transaction.
static void fail(MDB_txn *txn) {
    transaction_record *record = (transaction_record *)txn;
    if (sizeof(void *) == 8 && record->number == mdb_txn_id(txn) && record->env == mdb_txn_env(txn))
        record->flags |= flag_error;
}

// Adds pages to LMDB's list of those that the transaction frees: the first word is their number, the one before it for
// how many there is room. (Source: LMDB's midl.c.)
static int add_freed(transaction_record *record, const size_t *pages, size_t count) {
    size_t *list = record->freed;
    if (count > list[-1] - list[0]) {
        size_t room = list[0] + count + 256;
        size_t *grown = realloc(list - 1, (room + 2) * sizeof *grown);
        if (!grown) return ENOMEM;
        grown[0] = room;
        record->freed = list = grown + 1;
    }
    memcpy(list + 1 + list[0], pages, count * sizeof *pages);
    list[0] += count;
    return 0;
}

int clmdb_empty(
    MDB_txn *txn, const MDB_dbi *tables, unsigned int table_count, const size_t *pages, size_t page_count) {
    transaction_record *record = (transaction_record *)txn;
    if (!record->freed || record->freed[0] > record->freed[-1]) return MDB_INCOMPATIBLE;
    for (unsigned int index = 0; index < table_count; index++) {
        // Has LMDB read the tree's record, but none of its pages.
        MDB_stat stat;
        int result = clmdb_stat(txn, tables[index], &stat);
        if (result) return result;
        if (record->table_flags[tables[index]] & (table_is_dirty | table_is_stale)) return EINVAL;
    }
    int result = add_freed(record, pages, page_count);
    if (result) return result;
    for (unsigned int index = 0; index < table_count; index++) {
        char *tree = record->trees + tree_size * (size_t)tables[index];
        memset(tree + tree_depth, 0, tree_counts - tree_depth);
        memset(tree + tree_counts, 0, tree_root - tree_counts);
        memset(tree + tree_root, 0xFF, tree_size - tree_root);
        record->table_flags[tables[index]] |= table_is_dirty;
    }
    record->flags |= flag_dirty;
    return 0;
}

// Makes a call of LMDB that an assertion can leave.
#define CALL(txn, call) \
    jmp_buf buffer; \
    jmp_buf *outer = landing; \
    int result; \
    if (_setjmp(buffer) == 0) { \
        landing = &buffer; \
        result = (call); \
    } else { \
        result = CLMDB_ASSERTION_FAILED; \
        fail(txn); \
    } \
    landing = outer; \
    return result

int clmdb_txn_commit(MDB_txn *txn) { CALL(txn, mdb_txn_commit(txn)); }

int clmdb_dbi_open(MDB_txn *txn, const char *name, unsigned int flags, MDB_dbi *dbi) {
    CALL(txn, mdb_dbi_open(txn, name, flags, dbi));
}

int clmdb_stat(MDB_txn *txn, MDB_dbi dbi, MDB_stat *stat) { CALL(txn, mdb_stat(txn, dbi, stat)); }

int clmdb_get(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *data) { CALL(txn, mdb_get(txn, dbi, key, data)); }

int clmdb_put(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *data, unsigned int flags) {
    CALL(txn, mdb_put(txn, dbi, key, data, flags));
}

int clmdb_drop(MDB_txn *txn, MDB_dbi dbi) { CALL(txn, mdb_drop(txn, dbi, 0)); }

int clmdb_cursor_open(MDB_txn *txn, MDB_dbi dbi, MDB_cursor **cursor) { CALL(txn, mdb_cursor_open(txn, dbi, cursor)); }

int clmdb_cursor_get(MDB_cursor *cursor, MDB_val *key, MDB_val *data, MDB_cursor_op operation) {
    CALL(mdb_cursor_txn(cursor), mdb_cursor_get(cursor, key, data, operation));
}

int clmdb_cursor_put(MDB_cursor *cursor, MDB_val *key, MDB_val *data, unsigned int flags) {
    CALL(mdb_cursor_txn(cursor), mdb_cursor_put(cursor, key, data, flags));
}

int clmdb_cursor_del(MDB_cursor *cursor) { CALL(mdb_cursor_txn(cursor), mdb_cursor_del(cursor, 0)); }
