#include "io.h"

#include <algorithm>
#include <cmath>

namespace {

std::int64_t up_to_multiple(std::int64_t count, std::int64_t of) { return (count + of - 1) / of * of; }

// Bytes of one array of `length` rows of head_dim, in all heads.
std::int64_t array_bytes(const AttentionSize& size, std::int64_t length) {
  return size.heads * length * size.head_dim * size.bytes_per_element;
}

}  // namespace

std::int64_t attention_flops(const AttentionSize& size) {
  const std::int64_t n = size.length;
  const std::int64_t pairs = size.causal ? n * (n + 1) / 2 : n * n;
  return size.heads * pairs * 2 * 2 * size.head_dim;
}

std::int64_t standard_traffic(const AttentionSize& size) {
  const std::int64_t matrix = standard_memory(size);
  const std::int64_t scores = 2 * array_bytes(size, size.length) + matrix;
  const std::int64_t softmax = matrix + matrix;
  const std::int64_t values = matrix + 2 * array_bytes(size, size.length);
  return scores + softmax + values;
}

std::int64_t query_rows_that_fit(const AttentionSize& size, std::int64_t key_rows,
                                 std::int64_t on_chip_bytes) {
  const std::int64_t rows = on_chip_bytes / (size.head_dim * size.bytes_per_element);
  return std::max<std::int64_t>((rows - 2 * key_rows) / 2, 0);
}

std::int64_t flash_traffic(const AttentionSize& size, const FlashTiles& tiles) {
  std::int64_t keys = 0;  // read by all tiles of queries of one head
  for (std::int64_t first = 0; first < size.length; first += tiles.query_rows) {
    const std::int64_t behind = std::min(first + tiles.query_rows, size.length);
    const std::int64_t seen = size.causal ? behind : size.length;
    keys += std::min(up_to_multiple(seen, tiles.key_rows), size.length);
  }
  return 2 * array_bytes(size, size.length) + 2 * array_bytes(size, keys) + flash_memory(size);
}

std::int64_t standard_memory(const AttentionSize& size) {
  return size.heads * size.length * size.length * size.bytes_per_element;
}

std::int64_t flash_memory(const AttentionSize& size) {
  return size.heads * size.length * static_cast<std::int64_t>(sizeof(float));
}

std::int64_t longest_sequence(const AttentionSize& size, Form form, std::int64_t memory_bytes) {
  const auto fits = [&](std::int64_t length) {
    AttentionSize longer = size;
    longer.length = length;
    const std::int64_t beside = form == Form::standard ? standard_memory(longer) : flash_memory(longer);
    return 4 * array_bytes(longer, length) + beside <= memory_bytes;
  };
  std::int64_t good = 0;
  std::int64_t bad = memory_bytes / array_bytes(size, 1) + 1;
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

std::int64_t smallest_compute_bound_query_rows(const rooflab::Gpu& gpu,
                                               std::int64_t bytes_per_element) {
  // Each key and its value: 4 FLOPs for each query row and dimension, 2 elements.
  const double ridge = gpu.flops_per_second / gpu.bytes_per_second;
  return static_cast<std::int64_t>(std::ceil(ridge * 2 * bytes_per_element / 4));
}
