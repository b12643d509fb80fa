#include "io.h"

#include <algorithm>
#include <cmath>

using i64 = std::int64_t;

i64 attention_flops(const AttentionSize& size) {
  const i64 n = size.length;
  const i64 pairs = size.causal ? n * (n + 1) / 2 : n * n;
  const i64 one_pair = 2 * 2 * size.head_dim;  // two products
  return size.heads * pairs * one_pair;
}

i64 standard_traffic(const AttentionSize& size) {
  const i64 scores = size.length * size.length;
  const i64 rows = size.length * size.head_dim;
  const i64 first = 2 * rows + scores;
  const i64 softmax = 2 * scores;
  const i64 second = scores + 2 * rows;
  return size.heads * (first + softmax + second) * size.bytes_per_element;
}

i64 query_rows_that_fit(const AttentionSize& size, i64 key_rows, i64 on_chip_bytes) {
  const i64 row = size.head_dim * size.bytes_per_element;
  const i64 left = on_chip_bytes - 2 * key_rows * row;
  return left > 0 ? left / (2 * row) : 0;
}

i64 flash_traffic(const AttentionSize& size, const FlashTiles& tiles) {
  i64 elements = 0, sums = 0;
  for (i64 q0 = 0; q0 < size.length; q0 += tiles.query_rows) {
    const i64 q1 = std::min(q0 + tiles.query_rows, size.length);
    i64 keys = size.length;
    if (size.causal) {
      const i64 key_tiles = (q1 + tiles.key_rows - 1) / tiles.key_rows;
      keys = std::min(key_tiles * tiles.key_rows, size.length);
    }
    elements += 2 * (q1 - q0) * size.head_dim + 2 * keys * size.head_dim;
    sums += q1 - q0;
  }
  return size.heads * (elements * size.bytes_per_element + 4 * sums);
}

i64 standard_memory(const AttentionSize& size) {
  return size.heads * size.length * size.length * size.bytes_per_element;
}

i64 flash_memory(const AttentionSize& size) { return size.heads * size.length * 4; }

static bool fits(AttentionSize size, Form form, i64 length, i64 memory_bytes) {
  size.length = length;
  const double d = double(size.heads) * length * size.bytes_per_element;
  if (form == Form::standard && d * (4.0 * size.head_dim + length) > 4e18) return false;
  if (form == Form::flash && d * (4.0 * size.head_dim + 4) > 4e18) return false;
  const i64 arrays = 4 * size.heads * length * size.head_dim * size.bytes_per_element;
  const i64 beside = form == Form::standard ? standard_memory(size) : flash_memory(size);
  return arrays + beside <= memory_bytes;
}

i64 longest_sequence(const AttentionSize& size, Form form, i64 memory_bytes) {
  i64 good = 0, bad = 1;
  while (fits(size, form, bad, memory_bytes)) bad *= 2;
  while (bad - good > 1) {
    const i64 middle = good + (bad - good) / 2;
    (fits(size, form, middle, memory_bytes) ? good : bad) = middle;
  }
  return good;
}

i64 smallest_compute_bound_query_rows(const rooflab::Gpu& gpu, i64 bytes_per_element) {
  const double ridge = gpu.flops_per_second / gpu.bytes_per_second;
  return static_cast<i64>(std::ceil(ridge * bytes_per_element / 2));
}
