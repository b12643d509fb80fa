#pragma once

#include "attention_shape.h"

/// Step 4 of flash attention: flash_online for lengths that are not multiples of a tile, and with
/// the causal mask and the window of AttentionShape. A query may see no key at all.
///
/// batch, query_heads and key_value_heads are 1, and head_dim is 64.
///
/// Takes no device memory. Launches on the default stream and need not wait.
void flash_masked(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape);
