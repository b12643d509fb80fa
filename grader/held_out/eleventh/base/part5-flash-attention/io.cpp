#include "io.h"

#include <algorithm>
#include <cmath>

namespace {

using Count = std::int64_t;
using Wide = __int128;

// Bytes of the queries, keys, values or results of all heads.
Count array_bytes(const AttentionSize& size) {
  return size.heads * size.length * size.head_dim * size.bytes_per_element;
}

Count rounded_up(Count rows, Count tile) { return (rows + tile - 1) / tile * tile; }

bool fits(const AttentionSize& size, Form form, Wide length, Wide memory) {
  const Wide row = Wide{size.heads} * size.head_dim * size.bytes_per_element;
  const Wide arrays = 4 * row * length;
  const Wide beside = form == Form::standard ? size.heads * length * length * size.bytes_per_element
                                             : size.heads * length * 4;
  return arrays + beside <= memory;
}

}  // namespace

std::int64_t attention_flops(const AttentionSize& size) {
  const Count seen =
      size.causal ? size.length * (size.length + 1) / 2 : size.length * size.length;
  const Count macs = 2 * size.head_dim;  // of one pair: its score, and its value
  return size.heads * seen * macs * 2;
}

std::int64_t standard_traffic(const AttentionSize& size) {
  const Count matrix = size.heads * size.length * size.length * size.bytes_per_element;
  const Count array = array_bytes(size);
  const Count scores = 2 * array + matrix;
  const Count softmax = matrix + matrix;
  const Count values = matrix + array + array;
  return scores + softmax + values;
}

std::int64_t query_rows_that_fit(const AttentionSize& size, std::int64_t key_rows,
                                 std::int64_t on_chip_bytes) {
  const Count row = size.head_dim * size.bytes_per_element;
  const Count left = on_chip_bytes - 2 * key_rows * row;
  return left > 0 ? left / (2 * row) : 0;
}

std::int64_t flash_traffic(const AttentionSize& size, const FlashTiles& tiles) {
  Count key_rows_read = 0;
  for (Count begin = 0; begin < size.length; begin += tiles.query_rows) {
    const Count end = std::min(begin + tiles.query_rows, size.length);
    const Count wanted = size.causal ? rounded_up(end, tiles.key_rows) : size.length;
    key_rows_read += std::min(wanted, size.length);
  }
  const Count row = size.head_dim * size.bytes_per_element;
  const Count of_head = 2 * size.length * row + 2 * key_rows_read * row;
  return size.heads * of_head + flash_memory(size);
}

std::int64_t standard_memory(const AttentionSize& size) {
  return size.heads * size.length * size.length * size.bytes_per_element;
}

std::int64_t flash_memory(const AttentionSize& size) { return size.heads * size.length * 4; }

std::int64_t longest_sequence(const AttentionSize& size, Form form, std::int64_t memory_bytes) {
  Count fitting = 0;
  Count step = 1;
  while (fits(size, form, step, memory_bytes)) step *= 2;
  for (; step > 0; step /= 2) {
    if (fits(size, form, fitting + step, memory_bytes)) fitting += step;
  }
  return fitting;
}

std::int64_t smallest_compute_bound_query_rows(const rooflab::Gpu& gpu,
                                               std::int64_t bytes_per_element) {
  // A key and a value bring 2 d elements, and 4 d FLOPs for each row.
  const double needed = gpu.flops_per_second * bytes_per_element;
  const auto enough = [&](Count rows) { return 2.0 * rows * gpu.bytes_per_second >= needed; };
  Count rows = std::max<Count>(1, std::floor(needed / (2.0 * gpu.bytes_per_second)) - 1);
  while (!enough(rows)) ++rows;
  return rows;
}
