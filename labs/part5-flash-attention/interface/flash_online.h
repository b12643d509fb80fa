#pragma once

#include "attention_shape.h"

/// Step 3 of flash attention: more keys than one tile has. A block keeps its queries, walks over
/// the tiles of keys and values, and carries for each query the largest score so far, the sum of
/// exp(score - largest) and the sum of these weights times the values.
///
/// Of `shape` only the lengths and the scale vary here: batch, query_heads and key_value_heads are
/// 1, head_dim is 64, and every query sees every key. Both lengths are multiples of 64, so that
/// tiles of 16, 32 or 64 rows are all full.
///
/// Takes no device memory. Launches on the default stream and need not wait.
void flash_online(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape);
