#include "io.h"

#include <algorithm>
#include <cmath>

namespace {

using Wide = __int128;

std::int64_t pieces(std::int64_t whole, std::int64_t piece) { return (whole + piece - 1) / piece; }

// Bytes of one array of all heads with a row of head_dim elements for each token.
std::int64_t rows_of(const AttentionSize& size) {
  return size.heads * size.length * size.head_dim * size.bytes_per_element;
}

std::int64_t matrix_of(const AttentionSize& size) {
  return size.heads * size.length * size.length * size.bytes_per_element;
}

}  // namespace

std::int64_t attention_flops(const AttentionSize& size) {
  const std::int64_t n = size.length;
  const std::int64_t pairs = size.causal ? n * (n + 1) / 2 : n * n;
  const std::int64_t steps = 2 * size.head_dim;  // a dot product, and a weighted value
  return 2 * steps * pairs * size.heads;
}

std::int64_t standard_traffic(const AttentionSize& size) {
  const std::int64_t first = 2 * rows_of(size) + matrix_of(size);
  const std::int64_t softmax = 2 * matrix_of(size);
  const std::int64_t second = matrix_of(size) + 2 * rows_of(size);
  return first + softmax + second;
}

std::int64_t query_rows_that_fit(const AttentionSize& size, std::int64_t key_rows,
                                 std::int64_t on_chip_bytes) {
  const std::int64_t row = size.head_dim * size.bytes_per_element;
  const std::int64_t left = on_chip_bytes - 2 * key_rows * row;
  return left > 0 ? left / (2 * row) : 0;
}

std::int64_t flash_traffic(const AttentionSize& size, const FlashTiles& tiles) {
  const std::int64_t row = size.head_dim * size.bytes_per_element;
  std::int64_t bytes = 0;
  for (std::int64_t begin = 0; begin < size.length; begin += tiles.query_rows) {
    const std::int64_t end = std::min(size.length, begin + tiles.query_rows);
    bytes += (end - begin) * (2 * row + 4);
    const std::int64_t seen = size.causal ? end : size.length;
    const std::int64_t read = std::min(size.length, pieces(seen, tiles.key_rows) * tiles.key_rows);
    bytes += 2 * read * row;
  }
  return size.heads * bytes;
}

std::int64_t standard_memory(const AttentionSize& size) { return matrix_of(size); }

std::int64_t flash_memory(const AttentionSize& size) { return size.heads * size.length * 4; }

std::int64_t longest_sequence(const AttentionSize& size, Form form, std::int64_t memory_bytes) {
  const auto fits = [&](std::int64_t length) {
    const Wide arrays = Wide{4} * size.heads * length * size.head_dim * size.bytes_per_element;
    const Wide scores = Wide{size.heads} * length * length * size.bytes_per_element;
    const Wide sums = Wide{size.heads} * length * 4;
    const Wide beside = form == Form::standard ? scores : sums;
    return arrays + beside <= memory_bytes;
  };
  std::int64_t good = 0;
  std::int64_t bad = memory_bytes + 1;
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

// A key and its value are 2 head_dim elements; a query row takes 4 head_dim FLOPs with them.
std::int64_t smallest_compute_bound_query_rows(const rooflab::Gpu& gpu,
                                               std::int64_t bytes_per_element) {
  const double ridge = gpu.flops_per_second / gpu.bytes_per_second;
  const double flops_of_row = 4.0;
  const double bytes = 2.0 * static_cast<double>(bytes_per_element);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(ridge * bytes / flops_of_row)));
}
