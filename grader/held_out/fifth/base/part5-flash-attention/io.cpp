#include "io.h"

#include <algorithm>
#include <cmath>

namespace {

using Int = std::int64_t;

Int row_bytes(const AttentionSize& s) { return s.head_dim * s.bytes_per_element; }
Int pieces(Int length, Int size) { return (length + size - 1) / size; }

}  // namespace

Int attention_flops(const AttentionSize& s) {
  const Int pairs = s.causal ? s.length * (s.length + 1) / 2 : s.length * s.length;
  return s.heads * pairs * 2 * (2 * s.head_dim);
}

Int standard_traffic(const AttentionSize& s) {
  const Int matrix = s.length * row_bytes(s);
  const Int scores = s.length * s.length * s.bytes_per_element;
  const Int first = 2 * matrix + scores, second = scores + scores, third = scores + 2 * matrix;
  return s.heads * (first + second + third);
}

Int query_rows_that_fit(const AttentionSize& s, Int key_rows, Int on_chip_bytes) {
  const Int rows = on_chip_bytes / row_bytes(s);
  return std::max<Int>(rows - 2 * key_rows, 0) / 2;
}

Int flash_traffic(const AttentionSize& s, const FlashTiles& tiles) {
  Int of_head = s.length * (2 * row_bytes(s) + Int{sizeof(float)});
  for (Int first = 0; first < s.length; first += tiles.query_rows) {
    Int keys = s.length;
    if (s.causal) {
      const Int behind = std::min(first + tiles.query_rows, s.length);  // the last query is before it
      keys = std::min(pieces(behind, tiles.key_rows) * tiles.key_rows, s.length);
    }
    of_head += 2 * keys * row_bytes(s);
  }
  return s.heads * of_head;
}

Int standard_memory(const AttentionSize& s) {
  return s.heads * s.length * s.length * s.bytes_per_element;
}

Int flash_memory(const AttentionSize& s) { return s.heads * s.length * Int{sizeof(float)}; }

Int longest_sequence(const AttentionSize& size, Form form, Int memory_bytes) {
  const auto fits = [&](Int length) {
    const __int128 n = length;
    const __int128 arrays = 4 * n * row_bytes(size);
    const __int128 beside = form == Form::standard ? n * n * size.bytes_per_element : 4 * n;
    return (arrays + beside) * size.heads <= memory_bytes;
  };
  Int good = 0, bad = memory_bytes + 1;
  while (bad - good > 1) {
    const Int middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

Int smallest_compute_bound_query_rows(const rooflab::Gpu& gpu, Int bytes_per_element) {
  // One key and its value: 4 head_dim FLOPs for each row, 2 head_dim elements.
  const double ridge = gpu.flops_per_second / gpu.bytes_per_second;
  return static_cast<Int>(std::ceil(ridge * static_cast<double>(bytes_per_element) / 2.0));
}
