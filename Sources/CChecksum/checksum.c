#include "CChecksum.h"

#include <stdbool.h>
#include <string.h>

// MARK: By table

/// CRC-32C's polynomial, bits reversed.
static const uint32_t polynomial = 0x82F63B78;

/// Tables for eight bytes at a time. (M. Kounavis, F. Berry, "A Systematic Approach to Building High Performance,
/// Software-based, CRC Generators", 2005: slicing by eight.)
static uint32_t tables[8][256];

__attribute__((constructor)) static void make_tables(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ polynomial : crc >> 1;
        tables[0][byte] = crc;
    }
    for (int table = 1; table < 8; table++)
        for (int byte = 0; byte < 256; byte++) {
            uint32_t crc = tables[table - 1][byte];
            tables[table][byte] = tables[0][crc & 0xFF] ^ crc >> 8;
        }
}

static inline uint64_t word_at(const unsigned char *bytes) {
    uint64_t word;
    memcpy(&word, bytes, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static uint32_t by_table(uint32_t crc, const unsigned char *bytes, size_t count) {
    for (; count >= 8; bytes += 8, count -= 8) {
        uint64_t word = word_at(bytes) ^ crc;
        crc = tables[7][word & 0xFF] ^ tables[6][word >> 8 & 0xFF] ^ tables[5][word >> 16 & 0xFF]
            ^ tables[4][word >> 24 & 0xFF] ^ tables[3][word >> 32 & 0xFF] ^ tables[2][word >> 40 & 0xFF]
            ^ tables[1][word >> 48 & 0xFF] ^ tables[0][word >> 56];
    }
    for (; count > 0; bytes++, count--) crc = tables[0][(crc ^ *bytes) & 0xFF] ^ crc >> 8;
    return crc;
}

uint32_t checksum_crc32c_by_table(uint32_t before, const void *bytes, size_t count) {
    return ~by_table(~before, bytes, count);
}

// MARK: By instruction

#if defined(__x86_64__)
#include <cpuid.h>
#define HAS_INSTRUCTION 1
#define CRC_TARGET __attribute__((target("sse4.2")))
#define CRC_WORD(crc, word) ((uint32_t)__builtin_ia32_crc32di((crc), (word)))
#define CRC_BYTE(crc, byte) (__builtin_ia32_crc32qi((crc), (byte)))

static bool find_instruction(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_2);
}
#elif defined(__aarch64__) && (defined(__APPLE__) || defined(__linux__))
#define HAS_INSTRUCTION 1
#define CRC_TARGET __attribute__((target("crc")))
#define CRC_WORD(crc, word) (__builtin_arm_crc32cd((crc), (word)))
#define CRC_BYTE(crc, byte) (__builtin_arm_crc32cb((crc), (byte)))
#if defined(__APPLE__)
static bool find_instruction(void) { return true; }
#else
#include <sys/auxv.h>
// 1 << 7 is HWCAP_CRC32.
static bool find_instruction(void) { return getauxval(AT_HWCAP) & 1 << 7; }
#endif
#endif

#ifdef HAS_INSTRUCTION
static bool has_instruction;

__attribute__((constructor)) static void note_instruction(void) { has_instruction = find_instruction(); }

CRC_TARGET static uint32_t by_instruction(uint32_t crc, const unsigned char *bytes, size_t count) {
    for (; count >= 8; bytes += 8, count -= 8) crc = CRC_WORD(crc, word_at(bytes));
    for (; count > 0; bytes++, count--) crc = CRC_BYTE(crc, *bytes);
    return crc;
}

CRC_TARGET static void quarters_by_instruction(const unsigned char *page, size_t quarter, uint32_t sums[4]) {
    uint32_t a = ~0u, b = ~0u, c = ~0u, d = ~0u;
    const unsigned char *end = page + quarter;
    for (; page < end; page += 8) {
        a = CRC_WORD(a, word_at(page));
        b = CRC_WORD(b, word_at(page + quarter));
        c = CRC_WORD(c, word_at(page + 2 * quarter));
        d = CRC_WORD(d, word_at(page + 3 * quarter));
    }
    sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d;
}
#endif

uint32_t checksum_crc32c(uint32_t before, const void *bytes, size_t count) {
#ifdef HAS_INSTRUCTION
    if (has_instruction) return ~by_instruction(~before, bytes, count);
#endif
    return ~by_table(~before, bytes, count);
}

// MARK: Pages

/// After S. Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016: splitmix64's
/// finisher.
static uint64_t mixed(uint64_t word) {
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9;
    word = (word ^ word >> 27) * 0x94D049BB133111EB;
    return word ^ word >> 31;
}

/// A CRC is linear, so that a CRC of the four would let equal changes of two quarters cancel out.
static uint32_t sum_of(const uint32_t sums[4], uint64_t number) {
    uint64_t word = mixed(number + 0x9E3779B97F4A7C15);
    word = mixed(word ^ ((uint64_t)sums[0] | (uint64_t)sums[1] << 32));
    word = mixed(word ^ ((uint64_t)sums[2] | (uint64_t)sums[3] << 32));
    uint32_t sum = (uint32_t)word;
    return sum ? sum : 1;
}

uint32_t checksum_of_page_by_table(const void *page, size_t size, uint64_t number) {
    uint32_t sums[4];
    for (int index = 0; index < 4; index++)
        sums[index] = by_table(~0u, (const unsigned char *)page + size / 4 * index, size / 4);
    return sum_of(sums, number);
}

uint32_t checksum_of_page(const void *page, size_t size, uint64_t number) {
#ifdef HAS_INSTRUCTION
    if (has_instruction) {
        uint32_t sums[4];
        quarters_by_instruction(page, size / 4, sums);
        return sum_of(sums, number);
    }
#endif
    return checksum_of_page_by_table(page, size, number);
}
