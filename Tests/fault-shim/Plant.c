#define _GNU_SOURCE
#include "Plant.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static atomic_int kind_now;
static atomic_long occasions_before;
static atomic_long effects;

static const char *redirected_name;
static const char *redirected_to;

void fault_plant(int kind, long nth) {
    effects = 0;
    occasions_before = nth - 1;
    kind_now = kind;
}

long fault_planted(void) { return effects; }

// A write that is lost may be made good by the next one of the same page, and a second one may hide the first.
static int is_single(int kind) { return kind == PLANT_LOST_WRITE || kind == PLANT_TORN_WRITE || kind >= PLANT_NO_EVENT; }

int planted(int kind) {
    if (kind_now != kind || atomic_fetch_sub(&occasions_before, 1) > 0) return 0;
    return atomic_fetch_add(&effects, 1) == 0 || !is_single(kind);
}

void fault_redirect(const char *name, const char *other) {
    redirected_name = strdup(name);
    redirected_to = strdup(other);
}

const char *redirected(const char *path) {
    static _Thread_local char other[4096];
    if (redirected_name && strcmp(path, redirected_name) == 0) return redirected_to;
    if (kind_now != PLANT_NO_LOCK) return path;
    // LMDB's lock file has its mutex: with one of its own a process takes none that others know.
    static const char name[] = "/lock.mdb";
    size_t length = strlen(path);
    if (length < sizeof name || strcmp(path + length - strlen(name), name) != 0) return path;
    planted(kind_now);
    snprintf(other, sizeof other, "%s-%d", path, (int)getpid());
    return other;
}

// MARK: LMDB

// As in lmdb.h.
typedef struct MDB_val {
    size_t mv_size;
    void *mv_data;
} MDB_val;
enum { RESERVE = 0x10000, READ_ONLY = 0x20000, MOST_TABLES = 128 };

static char tables[MOST_TABLES][32];

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

int mdb_dbi_open(void *transaction, const char *name, unsigned flags, unsigned *table) {
    REAL(mdb_dbi_open);
    int result = real(transaction, name, flags, table);
    if (result == 0 && name && *table < MOST_TABLES) snprintf(tables[*table], sizeof tables[0], "%s", name);
    return result;
}

static int is_left_out(unsigned table, MDB_val *value, unsigned flags) {
    static char nowhere[1 << 16];
    if (table >= MOST_TABLES || value->mv_size > sizeof nowhere) return 0;
    int is_hit = (strcmp(tables[table], "events") == 0 && planted(PLANT_NO_EVENT))
        || (strncmp(tables[table], "indexes", 7) == 0 && planted(PLANT_NO_ENTRY));
    if (is_hit && flags & RESERVE) value->mv_data = nowhere;
    return is_hit;
}

int mdb_put(void *transaction, unsigned table, MDB_val *key, MDB_val *value, unsigned flags) {
    REAL(mdb_put);
    return is_left_out(table, value, flags) ? 0 : real(transaction, table, key, value, flags);
}

int mdb_cursor_put(void *cursor, MDB_val *key, MDB_val *value, unsigned flags) {
    REAL(mdb_cursor_put);
    static unsigned (*table)(void *);
    if (!table) table = (unsigned (*)(void *))dlsym(RTLD_DEFAULT, "mdb_cursor_dbi");
    return is_left_out(table(cursor), value, flags) ? 0 : real(cursor, key, value, flags);
}

static uint64_t *readers;
static size_t readers_size;

void planted_map(int descriptor, void *address, size_t size) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 9 || strncmp(path + length - 9, "/lock.mdb", 9) != 0) return;
    readers = address;
    readers_size = size;
}

// Takes a reader out of the table of those whose pages are kept: its transaction and its process, in words beside
// each other.
static int hide_reader(void *transaction, int result) {
    static uint64_t (*number)(void *);
    if (!number) number = (uint64_t(*)(void *))dlsym(RTLD_DEFAULT, "mdb_txn_id");
    if (result != 0 || !readers || !planted(PLANT_EARLY_REUSE)) return result;
    for (size_t index = 16; index + 1 < readers_size / 8; index += 8) {
        uint64_t *slot = readers + index;
        if (slot[0] == number(transaction) && (pid_t)slot[1] == getpid()) slot[0] = UINT64_MAX;
    }
    return result;
}

int mdb_txn_begin(void *environment, void *parent, unsigned flags, void **transaction) {
    REAL(mdb_txn_begin);
    int result = real(environment, parent, flags, transaction);
    return flags & READ_ONLY && result == 0 ? hide_reader(*transaction, result) : result;
}

int mdb_txn_renew(void *transaction) {
    REAL(mdb_txn_renew);
    return hide_reader(transaction, real(transaction));
}

#else

void fault_plant(int kind, long nth) { (void)kind, (void)nth; }
long fault_planted(void) { return 0; }
void fault_redirect(const char *name, const char *other) { (void)name, (void)other; }

#endif
