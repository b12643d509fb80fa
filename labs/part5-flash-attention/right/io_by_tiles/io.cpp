#include "io.h"

#include <algorithm>
#include <ranges>

namespace {

using Bytes = std::int64_t;

/// One tensor of all heads.
Bytes tensor(const AttentionSize& s, std::int64_t rows, std::int64_t columns) {
  return s.heads * rows * columns * s.bytes_per_element;
}

/// Everything that a form keeps in memory.
Bytes footprint(AttentionSize s, Form form, std::int64_t length) {
  s.length = length;
  Bytes bytes = 0;
  for (int matrix = 0; matrix < 4; ++matrix) bytes += tensor(s, length, s.head_dim);
  switch (form) {
    case Form::standard:
      return bytes + standard_memory(s);
    case Form::flash:
      return bytes + flash_memory(s);
  }
  return bytes;
}

/// Rows of keys that one tile of queries reads, tile by tile.
std::int64_t keys_read(const AttentionSize& s, const FlashTiles& tiles, std::int64_t last_query) {
  std::int64_t rows = 0;
  for (std::int64_t key = 0; key < s.length; key += tiles.key_rows) {
    if (s.causal && key > last_query) break;
    rows += std::min(tiles.key_rows, s.length - key);
  }
  return rows;
}

}  // namespace

std::int64_t attention_flops(const AttentionSize& s) {
  std::int64_t pairs = 0;
  for (std::int64_t query = 0; query < s.length; ++query) pairs += s.causal ? query + 1 : s.length;
  return 4 * s.head_dim * pairs * s.heads;
}

std::int64_t standard_traffic(const AttentionSize& s) {
  const Bytes scores = tensor(s, s.length, s.length), rows = tensor(s, s.length, s.head_dim);
  const Bytes first = rows + rows + scores;  // q, k -> scores
  const Bytes second = scores + scores;      // scores -> weights
  const Bytes third = scores + rows + rows;  // weights, v -> out
  return first + second + third;
}

std::int64_t query_rows_that_fit(const AttentionSize& s, std::int64_t key_rows,
                                 std::int64_t on_chip_bytes) {
  const Bytes row = s.head_dim * s.bytes_per_element;
  Bytes left = on_chip_bytes - 2 * key_rows * row;
  if (left < 0) return 0;
  return left / (2 * row);
}

std::int64_t flash_traffic(const AttentionSize& s, const FlashTiles& tiles) {
  Bytes bytes = 0;
  for (std::int64_t query = 0; query < s.length; query += tiles.query_rows) {
    const std::int64_t rows = std::min(tiles.query_rows, s.length - query);
    bytes += tensor(s, rows, s.head_dim);                                       // queries
    bytes += 2 * tensor(s, keys_read(s, tiles, query + rows - 1), s.head_dim);  // keys, values
    bytes += tensor(s, rows, s.head_dim) + s.heads * rows * 4;                  // results
  }
  return bytes;
}

std::int64_t standard_memory(const AttentionSize& s) { return tensor(s, s.length, s.length); }

std::int64_t flash_memory(const AttentionSize& s) {
  return s.heads * s.length * static_cast<Bytes>(sizeof(float));
}

std::int64_t longest_sequence(const AttentionSize& s, Form form, std::int64_t memory_bytes) {
  // Queries, keys, values and results alone limit the length.
  const Bytes of_token = 4 * tensor(s, 1, s.head_dim);
  const auto lengths = std::views::iota(std::int64_t{1}, memory_bytes / of_token + 2);
  const auto too_long = std::ranges::partition_point(
      lengths, [&](std::int64_t length) { return footprint(s, form, length) <= memory_bytes; });
  return too_long - lengths.begin();
}

std::int64_t smallest_compute_bound_query_rows(const rooflab::Gpu& gpu,
                                               std::int64_t bytes_per_element) {
  const double ridge = gpu.flops_per_second / gpu.bytes_per_second;
  std::int64_t rows = 1;
  while (2.0 * static_cast<double>(rows) / static_cast<double>(bytes_per_element) < ridge) ++rows;
  return rows;
}
