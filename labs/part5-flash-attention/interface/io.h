#pragma once

#include <cstdint>

#include "toolkit/cost.h"

// What standard and flash attention move and keep, in numbers.
//
// Conventions, the same for every function here:
//   - All counts fit std::int64_t. They may be larger than what a double tells apart, 2^53.
//   - `heads` is the number of attention heads in the whole batch. Each has `length` queries and as
//     many keys and values, of `head_dim` elements, and shares nothing with the others.
//   - `causal`: query i sees keys 0 ... i. Otherwise every query sees every key.
//   - Inputs, outputs and scores have `bytes_per_element` bytes per element, a log-sum-exp 4.
//   - Memory traffic is between DRAM and chip, in bytes, and counts no cache: what a kernel or a
//     block reads, it reads from DRAM.

struct AttentionSize {
  std::int64_t heads = 1;
  std::int64_t length = 0;
  std::int64_t head_dim = 0;
  std::int64_t bytes_per_element = 2;
  bool causal = false;
};

/// Rows of the tiles that one block of flash attention holds on chip.
struct FlashTiles {
  std::int64_t query_rows = 0;  ///< of queries, and of the result that grows in their place
  std::int64_t key_rows = 0;    ///< of keys, and as many of values
};

/// FLOPs of the two products, counted for the pairs of a query and a key that it sees. A
/// multiply-accumulate step is two; softmax is left out, as in most published figures.
std::int64_t attention_flops(const AttentionSize& size);

/// Traffic of standard attention, three kernels: the scores are written; softmax reads them and
/// writes the weights; the product with the values reads those. Each kernel reads each of its
/// inputs once. The matrices are whole, causal or not: a masked score is a value like any other.
std::int64_t standard_traffic(const AttentionSize& size);

/// The most query rows for which a block's tiles fit into `on_chip_bytes`: queries, result, keys
/// and values, all with bytes_per_element. 0 when not even one row fits.
std::int64_t query_rows_that_fit(const AttentionSize& size, std::int64_t key_rows,
                                 std::int64_t on_chip_bytes);

/// Traffic of flash attention, one kernel. Each tile of queries is read once, and its results and
/// log-sum-exps are written once. For each tile of queries, keys and values are read tile by tile,
/// from the first to the last one that any of its queries sees; the last tiles of a head may be
/// short, and of them only what exists is read.
std::int64_t flash_traffic(const AttentionSize& size, const FlashTiles& tiles);

/// Bytes of device memory that standard attention needs beside its inputs and outputs: the scores,
/// which softmax overwrites with the weights.
std::int64_t standard_memory(const AttentionSize& size);

/// Bytes of device memory that flash attention needs beside them: the log-sum-exps.
std::int64_t flash_memory(const AttentionSize& size);

enum class Form { standard, flash };

/// The longest sequence that fits into `memory_bytes` with queries, keys, values, results and what
/// the form needs beside them. `size.length` is ignored.
std::int64_t longest_sequence(const AttentionSize& size, Form form, std::int64_t memory_bytes);

/// The fewest query rows in a tile for which flash attention of a very long sequence, not causal,
/// is compute-bound: keys and values are then nearly all of the traffic.
std::int64_t smallest_compute_bound_query_rows(const rooflab::Gpu& gpu,
                                               std::int64_t bytes_per_element);
