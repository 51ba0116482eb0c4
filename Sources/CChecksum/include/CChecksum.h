#ifndef CCHECKSUM_H
#define CCHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/// CRC-32C (Castagnoli) of bytes, as RFC 3720 has it; `before` is the sum of what comes before them, 0 for nothing. Uses
/// the processor's instruction where there is one.
uint32_t checksum_crc32c(uint32_t before, const void *bytes, size_t count);

/// The same by table, on every processor.
uint32_t checksum_crc32c_by_table(uint32_t before, const void *bytes, size_t count);

/// The sum of one page, bound to its number; never 0. The size is a multiple of 32 bytes.
///
/// Four CRC-32Cs, of the page's quarters, are mixed with the number. A processor computes the four at once: each step of
/// one waits for the step before.
uint32_t checksum_of_page(const void *page, size_t size, uint64_t number);

/// The same by table.
uint32_t checksum_of_page_by_table(const void *page, size_t size, uint64_t number);

#endif
