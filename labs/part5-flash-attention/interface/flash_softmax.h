#pragma once

/// Step 2 of flash attention: attention over 32 keys, which are a single tile. For every query i,
///
///   out_i = sum_j p_ij v_j,   p_ij = exp(s_ij) / sum_j exp(s_ij),   s_ij = scale * q_i . k_j
///
///   q, out:       (query_length, 64)   query_length is a multiple of 32: a block takes 32 queries
///   k, v:         (32, 64)
///   log_sum_exp:  (query_length)       log(sum_j exp(s_ij)), natural
///
/// All are dense, row-major and in device memory. Scores may be as large as 10,000 on either side
/// of 0: subtract the largest score of a row before you take an exponential. Neither scores nor
/// weights are stored in device memory. Launches on the default stream and need not wait.
void flash_softmax(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   int query_length, float scale);
