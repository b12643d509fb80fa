#include "io.h"

#include <algorithm>

namespace {

using Count = std::int64_t;
__extension__ using Wide = __int128;

constexpr Count kLogSumExpBytes = 4;

Count divide_up(Count whole, Count part) { return whole / part + (whole % part == 0 ? 0 : 1); }

// Bytes of one array of rows of head_dim elements, for one head.
Count rows_bytes(const AttentionSize& size, Count rows) {
  return rows * size.head_dim * size.bytes_per_element;
}

Count scores_bytes(const AttentionSize& size) {
  return size.length * size.length * size.bytes_per_element;
}

// Everything that lies in memory at this length, in as many bits as it may take.
Wide all_memory(const AttentionSize& size, Form form, Count length) {
  const Wide arrays = Wide{4} * length * size.head_dim * size.bytes_per_element;
  const Wide beside = form == Form::standard ? Wide{length} * length * size.bytes_per_element
                                             : Wide{length} * kLogSumExpBytes;
  return size.heads * (arrays + beside);
}

}  // namespace

std::int64_t attention_flops(const AttentionSize& size) {
  const Count n = size.length;
  const Count pairs = size.causal ? n * (n + 1) / 2 : n * n;
  const Count of_pair = 2 * size.head_dim + 2 * size.head_dim;  // q . k, and p v
  return size.heads * pairs * of_pair;
}

std::int64_t standard_traffic(const AttentionSize& size) {
  const Count rows = rows_bytes(size, size.length), scores = scores_bytes(size);
  const Count first = 2 * rows + scores;      // q and k in, scores out
  const Count softmax = scores + scores;      // scores in, weights out
  const Count second = scores + rows + rows;  // weights and v in, results out
  return size.heads * (first + softmax + second);
}

std::int64_t query_rows_that_fit(const AttentionSize& size, std::int64_t key_rows,
                                 std::int64_t on_chip_bytes) {
  const Count left = on_chip_bytes - 2 * rows_bytes(size, key_rows);
  return left < 0 ? 0 : left / (2 * rows_bytes(size, 1));
}

std::int64_t flash_traffic(const AttentionSize& size, const FlashTiles& tiles) {
  Count key_rows_read = 0;  // and as many of values
  if (size.causal) {
    for (Count begin = 0; begin < size.length; begin += tiles.query_rows) {
      const Count seen = std::min(begin + tiles.query_rows, size.length);
      const Count whole = divide_up(seen, tiles.key_rows) * tiles.key_rows;
      key_rows_read += std::min(whole, size.length);
    }
  } else {
    key_rows_read = divide_up(size.length, tiles.query_rows) * size.length;
  }
  const Count once = 2 * rows_bytes(size, size.length) + size.length * kLogSumExpBytes;
  return size.heads * (once + 2 * rows_bytes(size, key_rows_read));
}

std::int64_t standard_memory(const AttentionSize& size) { return size.heads * scores_bytes(size); }

std::int64_t flash_memory(const AttentionSize& size) {
  return kLogSumExpBytes * size.heads * size.length;
}

std::int64_t longest_sequence(const AttentionSize& size, Form form, std::int64_t memory_bytes) {
  Count length = 0;
  for (Count step = Count{1} << 44; step > 0; step /= 2) {
    if (all_memory(size, form, length + step) <= memory_bytes) length += step;
  }
  return length;
}

std::int64_t smallest_compute_bound_query_rows(const rooflab::Gpu& gpu,
                                               std::int64_t bytes_per_element) {
  // A key and its value are 2 d elements, and bring 4 d FLOPs for each query of the tile.
  const double ridge = gpu.flops_per_second / gpu.bytes_per_second;
  Count rows = 1;
  while (2.0 * rows / bytes_per_element < ridge) ++rows;
  return rows;
}
