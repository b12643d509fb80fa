#include "io.h"

#include <algorithm>
#include <cmath>

namespace {
using Int = std::int64_t;

Int ceil_div(Int a, Int b) { return (a + b - 1) / b; }
// elements of one of q, k, v and out
Int matrix(const AttentionSize& s) { return s.heads * s.length * s.head_dim; }
Int square(const AttentionSize& s) { return s.heads * s.length * s.length; }
}  // namespace

Int attention_flops(const AttentionSize& s) {
  const Int pairs = s.causal ? s.length * (s.length + 1) / 2 : s.length * s.length;
  return 4 * s.heads * pairs * s.head_dim;
}

Int standard_traffic(const AttentionSize& s) {
  const Int first = 2 * matrix(s) + square(s);
  const Int second = 2 * square(s);
  const Int third = square(s) + 2 * matrix(s);
  return (first + second + third) * s.bytes_per_element;
}

Int query_rows_that_fit(const AttentionSize& s, Int key_rows, Int on_chip_bytes) {
  const Int row = s.head_dim * s.bytes_per_element;
  const Int left = on_chip_bytes - 2 * key_rows * row;
  if (left < 0) return 0;
  return left / (2 * row);
}

Int flash_traffic(const AttentionSize& s, const FlashTiles& tiles) {
  Int key_reads = 0;  // rows of keys, over all tiles of queries of one head
  for (Int q0 = 0; q0 < s.length; q0 += tiles.query_rows) {
    const Int last_query = std::min(q0 + tiles.query_rows, s.length) - 1;
    Int keys = s.length;
    if (s.causal) {
      const Int needed = ceil_div(last_query + 1, tiles.key_rows);
      keys = std::min(needed * tiles.key_rows, s.length);
    }
    key_reads += keys;
  }
  const Int elements = 2 * matrix(s) + 2 * s.heads * key_reads * s.head_dim;
  return elements * s.bytes_per_element + 4 * s.heads * s.length;
}

Int standard_memory(const AttentionSize& s) { return square(s) * s.bytes_per_element; }

Int flash_memory(const AttentionSize& s) { return 4 * s.heads * s.length; }

Int longest_sequence(const AttentionSize& size, Form form, Int memory_bytes) {
  auto fits = [&](Int length) {
    AttentionSize s = size;
    s.length = length;
    const Int beside = form == Form::standard ? standard_memory(s) : flash_memory(s);
    return 4 * matrix(s) * s.bytes_per_element + beside <= memory_bytes;
  };
  Int good = 0;
  for (Int step = Int{1} << 40; step > 0; step /= 2) {
    // a length of which the q alone would not fit need not be tried, and would overflow
    const Int tried = good + step;
    if (tried > memory_bytes / (size.heads * size.head_dim * size.bytes_per_element)) continue;
    if (form == Form::standard && static_cast<double>(tried) * tried > 4e18 / (size.heads * size.bytes_per_element)) continue;
    if (fits(tried)) good = tried;
  }
  return good;
}

Int smallest_compute_bound_query_rows(const rooflab::Gpu& gpu, Int bytes_per_element) {
  // a key and its value: 2 d elements, and 4 d FLOPs for each query
  const double ridge = gpu.flops_per_second / gpu.bytes_per_second;
  const double rows = ridge * bytes_per_element / 2.0;
  return static_cast<Int>(std::ceil(rows - 1e-9));
}
