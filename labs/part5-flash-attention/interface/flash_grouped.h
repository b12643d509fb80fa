#pragma once

#include "attention_shape.h"

/// Step 5 of flash attention: flash_masked for any number of sequences and heads, where several
/// query heads share a key/value head. head_dim is 64, and no array has more elements than an int
/// counts.
///
/// Takes no device memory. Launches on the default stream and need not wait.
void flash_grouped(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   const AttentionShape& shape);
