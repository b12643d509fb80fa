#include "io.h"

#include <algorithm>
#include <cmath>

#include "toolkit/todo.h"

// Your helpers go here.
std::int64_t attention_flops(const AttentionSize& size) {
  rooflab::todo("how many pairs of a query and a key are there, and what does one cost?");
}

std::int64_t standard_traffic(const AttentionSize& size) {
  rooflab::todo("list what each of the three kernels reads and writes");
}

std::int64_t query_rows_that_fit(const AttentionSize& size, std::int64_t key_rows,
                                 std::int64_t on_chip_bytes) {
  rooflab::todo("how many rows of head_dim elements does the chip hold?");
}

std::int64_t flash_traffic(const AttentionSize& size, const FlashTiles& tiles) {
  rooflab::todo("how often is each key read, when every tile of queries needs it?");
}

std::int64_t standard_memory(const AttentionSize& size) {
  rooflab::todo("how large is the matrix of scores?");
}

std::int64_t flash_memory(const AttentionSize& size) {
  rooflab::todo("how many log-sum-exps are there?");
}

std::int64_t longest_sequence(const AttentionSize& size, Form form, std::int64_t memory_bytes) {
  rooflab::todo("memory grows with the length: search for the last one that fits");
}

std::int64_t smallest_compute_bound_query_rows(const rooflab::Gpu& gpu,
                                               std::int64_t bytes_per_element) {
  rooflab::todo("what does one key and one value bring, for a tile of query_rows?");
}
