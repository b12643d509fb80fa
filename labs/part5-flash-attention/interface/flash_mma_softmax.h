#pragma once

#include <cuda_fp16.h>

/// Step 8 of flash attention: flash_softmax on tensor cores. Attention over 32 keys, which are a
/// single tile, with both products on tensor cores and the softmax between them in registers. For
/// every query i,
///
///   out_i = sum_j p_ij v_j,   p_ij = exp(s_ij) / sum_j exp(s_ij),   s_ij = scale * q_i . k_j
///
///   q, out:       (query_length, 64)   query_length is a multiple of 32: a block takes 32 queries
///   k, v:         (32, 64)
///   log_sum_exp:  (query_length)       log(sum_j exp(s_ij)), natural
///
/// All are dense, row-major and in device memory. Scores, softmax and sums are fp32; the weights
/// exp(s_ij - largest) are rounded to half before they meet the values. Scores may be as large as
/// 10,000 on either side of 0. Launches on the default stream and need not wait.
void flash_mma_softmax(const __half* q, const __half* k, const __half* v, __half* out,
                       float* log_sum_exp, int query_length, float scale);
