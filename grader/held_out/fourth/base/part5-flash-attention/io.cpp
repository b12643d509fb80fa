#include "io.h"

#include <algorithm>
#include <cmath>

namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Bytes of a matrix with head_dim columns.
std::int64_t rows_bytes(const AttentionSize& size, std::int64_t rows) {
  return rows * size.head_dim * size.bytes_per_element;
}

std::int64_t score_bytes(const AttentionSize& size) {
  return size.heads * size.length * size.length * size.bytes_per_element;
}

std::int64_t held(AttentionSize size, Form form, std::int64_t length) {
  size.length = length;
  const std::int64_t arrays = 4 * rows_bytes(size, size.heads * length);
  return arrays + (form == Form::flash ? flash_memory(size) : standard_memory(size));
}

}  // namespace

std::int64_t attention_flops(const AttentionSize& size) {
  const std::int64_t pairs =
      size.causal ? size.length * (size.length + 1) / 2 : size.length * size.length;
  const std::int64_t of_pair = 2 * (2 * size.head_dim);
  return size.heads * pairs * of_pair;
}

std::int64_t standard_traffic(const AttentionSize& size) {
  const std::int64_t matrix = rows_bytes(size, size.heads * size.length);
  const std::int64_t square = score_bytes(size);
  const std::int64_t first = 2 * matrix + square;
  const std::int64_t second = square + square;
  const std::int64_t third = square + matrix + matrix;
  return first + second + third;
}

std::int64_t query_rows_that_fit(const AttentionSize& size, std::int64_t key_rows,
                                 std::int64_t on_chip_bytes) {
  const std::int64_t left = on_chip_bytes - rows_bytes(size, 2 * key_rows);
  if (left <= 0) return 0;
  return left / rows_bytes(size, 2);
}

std::int64_t flash_traffic(const AttentionSize& size, const FlashTiles& tiles) {
  std::int64_t key_rows_read = 0;  // in one head, by all tiles of queries
  for (std::int64_t begin = 0; begin < size.length; begin += tiles.query_rows) {
    std::int64_t end = size.length;
    if (size.causal) {
      const std::int64_t newest = std::min(begin + tiles.query_rows, size.length);
      end = std::min(ceil_div(newest, tiles.key_rows) * tiles.key_rows, size.length);
    }
    key_rows_read += end;
  }
  const std::int64_t of_queries = rows_bytes(size, 2 * size.length) + 4 * size.length;
  return size.heads * (of_queries + rows_bytes(size, 2 * key_rows_read));
}

std::int64_t standard_memory(const AttentionSize& size) { return score_bytes(size); }

std::int64_t flash_memory(const AttentionSize& size) {
  return size.heads * size.length * static_cast<std::int64_t>(sizeof(float));
}

std::int64_t longest_sequence(const AttentionSize& size, Form form, std::int64_t memory_bytes) {
  std::int64_t fits = 0, step = 1;
  while (held(size, form, fits + step) <= memory_bytes) {
    fits += step;
    step *= 2;
  }
  for (; step > 0; step /= 2) {
    if (held(size, form, fits + step) <= memory_bytes) fits += step;
  }
  return fits;
}

std::int64_t smallest_compute_bound_query_rows(const rooflab::Gpu& gpu,
                                               std::int64_t bytes_per_element) {
  // A key and its value: 2 d elements, and 4 d FLOPs for each row.
  const double intensity_of_row = 2.0 / bytes_per_element;
  const double ridge = gpu.flops_per_second / gpu.bytes_per_second;
  return static_cast<std::int64_t>(std::ceil(ridge / intensity_of_row));
}
