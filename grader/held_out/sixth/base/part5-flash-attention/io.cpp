#include "io.h"

#include <cmath>

static std::int64_t min64(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

static std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

/* Bytes of one array of queries, keys, values or results, all heads. */
static std::int64_t array_bytes(const AttentionSize& size) {
  return size.heads * size.length * size.head_dim * size.bytes_per_element;
}

/* Bytes of the scores of all heads. */
static std::int64_t score_bytes(const AttentionSize& size) {
  return size.heads * size.length * size.length * size.bytes_per_element;
}

std::int64_t attention_flops(const AttentionSize& size) {
  std::int64_t pairs = size.length * size.length;
  if (size.causal) pairs = size.length * (size.length + 1) / 2;
  std::int64_t macs = 2 * pairs * size.head_dim;
  return size.heads * 2 * macs;
}

std::int64_t standard_traffic(const AttentionSize& size) {
  std::int64_t first = 2 * array_bytes(size) + score_bytes(size);  /* q, k; scores */
  std::int64_t second = 2 * score_bytes(size);                     /* scores; weights */
  std::int64_t third = score_bytes(size) + 2 * array_bytes(size);  /* weights, v; out */
  return first + second + third;
}

std::int64_t query_rows_that_fit(const AttentionSize& size, std::int64_t key_rows,
                                 std::int64_t on_chip_bytes) {
  std::int64_t row_bytes = size.head_dim * size.bytes_per_element;
  std::int64_t left = on_chip_bytes - 2 * key_rows * row_bytes;
  if (left <= 0) return 0;
  return left / (2 * row_bytes);
}

std::int64_t flash_traffic(const AttentionSize& size, const FlashTiles& tiles) {
  std::int64_t row_bytes = size.head_dim * size.bytes_per_element;
  std::int64_t bytes = 0; /* of one head */
  std::int64_t begin;
  for (begin = 0; begin < size.length; begin += tiles.query_rows) {
    std::int64_t end = min64(begin + tiles.query_rows, size.length);
    std::int64_t rows = end - begin;
    std::int64_t keys = size.length;
    if (size.causal) keys = min64(round_up(end, tiles.key_rows), size.length);
    bytes += 2 * rows * row_bytes; /* queries in, results out */
    bytes += 4 * rows;             /* log-sum-exps out */
    bytes += 2 * keys * row_bytes; /* keys and values in */
  }
  return size.heads * bytes;
}

std::int64_t standard_memory(const AttentionSize& size) { return score_bytes(size); }

std::int64_t flash_memory(const AttentionSize& size) { return size.heads * size.length * 4; }

static bool fits(const AttentionSize& size, std::int64_t length, Form form,
                 std::int64_t memory_bytes) {
  AttentionSize tried = size;
  tried.length = length;
  std::int64_t beside = form == Form::standard ? standard_memory(tried) : flash_memory(tried);
  return 4 * array_bytes(tried) + beside <= memory_bytes;
}

std::int64_t longest_sequence(const AttentionSize& size, Form form, std::int64_t memory_bytes) {
  if (!fits(size, 1, form, memory_bytes)) return 0;
  std::int64_t good = 1;
  while (fits(size, 2 * good, form, memory_bytes)) good *= 2;
  std::int64_t bad = 2 * good;
  while (bad - good > 1) {
    std::int64_t middle = good + (bad - good) / 2;
    if (fits(size, middle, form, memory_bytes)) {
      good = middle;
    } else {
      bad = middle;
    }
  }
  return good;
}

/* A key and its value are 2 d elements, and take 4 d FLOPs with each query row. */
std::int64_t smallest_compute_bound_query_rows(const rooflab::Gpu& gpu,
                                               std::int64_t bytes_per_element) {
  double ridge = gpu.flops_per_second / gpu.bytes_per_second;
  double rows = ridge * (double)bytes_per_element / 2.0;
  return (std::int64_t)std::ceil(rows);
}
