#include "io.h"

#include <algorithm>
#include <cmath>

#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Your helpers go here.
namespace {

constexpr std::int64_t kLogSumExpBytes = 4;

// Bytes of one (length, head_dim) matrix of every head.
std::int64_t matrix_bytes(const AttentionSize& size) {
  return size.heads * size.length * size.head_dim * size.bytes_per_element;
}

// Bytes of one (length, length) matrix of every head.
std::int64_t scores_bytes(const AttentionSize& size) {
  return size.heads * size.length * size.length * size.bytes_per_element;
}

// Bytes on the device with inputs, outputs and what `form` needs beside them.
std::int64_t memory_of(const AttentionSize& size, Form form) {
  const std::int64_t inputs_and_output = 4 * matrix_bytes(size);
  return inputs_and_output + (form == Form::standard ? standard_memory(size) : flash_memory(size));
}

}  // namespace

// END SOLUTION
std::int64_t attention_flops(const AttentionSize& size) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("how many pairs of a query and a key are there, and what does one cost?");
  const std::int64_t n = size.length;
  const std::int64_t pairs = size.causal ? n * (n + 1) / 2 : n * n;
  const std::int64_t macs_per_pair = 2 * size.head_dim;  // one dot product, one weighted row
  return 2 * size.heads * pairs * macs_per_pair;
  // END SOLUTION
}

std::int64_t standard_traffic(const AttentionSize& size) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("list what each of the three kernels reads and writes");
  const std::int64_t scores = 2 * matrix_bytes(size) + scores_bytes(size);
  const std::int64_t softmax = 2 * scores_bytes(size);
  const std::int64_t weighted_sum = scores_bytes(size) + 2 * matrix_bytes(size);
  return scores + softmax + weighted_sum;
  // END SOLUTION
}

std::int64_t query_rows_that_fit(const AttentionSize& size, std::int64_t key_rows,
                                 std::int64_t on_chip_bytes) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("how many rows of head_dim elements does the chip hold?");
  const std::int64_t rows = on_chip_bytes / (size.head_dim * size.bytes_per_element);
  return std::max<std::int64_t>(0, (rows - 2 * key_rows) / 2);
  // END SOLUTION
}

std::int64_t flash_traffic(const AttentionSize& size, const FlashTiles& tiles) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("how often is each key read, when every tile of queries needs it?");
  std::int64_t rows_read = 0;  // of keys; as many of values
  for (std::int64_t first = 0; first < size.length; first += tiles.query_rows) {
    const std::int64_t end = std::min(first + tiles.query_rows, size.length);
    const std::int64_t seen = size.causal ? end : size.length;
    const std::int64_t key_tiles = (seen + tiles.key_rows - 1) / tiles.key_rows;
    rows_read += std::min(key_tiles * tiles.key_rows, size.length);
  }
  const std::int64_t keys_and_values =
      2 * size.heads * rows_read * size.head_dim * size.bytes_per_element;
  const std::int64_t queries_and_result = 2 * matrix_bytes(size);
  return queries_and_result + keys_and_values + flash_memory(size);
  // END SOLUTION
}

std::int64_t standard_memory(const AttentionSize& size) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("how large is the matrix of scores?");
  return scores_bytes(size);
  // END SOLUTION
}

std::int64_t flash_memory(const AttentionSize& size) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("how many log-sum-exps are there?");
  return size.heads * size.length * kLogSumExpBytes;
  // END SOLUTION
}

std::int64_t longest_sequence(const AttentionSize& size, Form form, std::int64_t memory_bytes) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("memory grows with the length: search for the last one that fits");
  const auto fits = [&](std::int64_t length) {
    AttentionSize longer = size;
    longer.length = length;
    return memory_of(longer, form) <= memory_bytes;
  };
  std::int64_t too_long = 1;
  while (fits(too_long)) too_long *= 2;
  std::int64_t longest = too_long / 2;
  while (longest + 1 < too_long) {
    const std::int64_t middle = (longest + too_long) / 2;
    (fits(middle) ? longest : too_long) = middle;
  }
  return longest;
  // END SOLUTION
}

std::int64_t smallest_compute_bound_query_rows(const rooflab::Gpu& gpu,
                                               std::int64_t bytes_per_element) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("what does one key and one value bring, for a tile of query_rows?");
  // A key and a value of d elements are 2 d e bytes and serve 4 d FLOPs of each query row, so the
  // intensity is 2 query_rows / e. It has to reach the ridge point.
  const double ridge_point = gpu.flops_per_second / gpu.bytes_per_second;
  return static_cast<std::int64_t>(
      std::ceil(ridge_point * static_cast<double>(bytes_per_element) / 2));
  // END SOLUTION
}
