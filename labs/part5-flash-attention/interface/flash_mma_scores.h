#pragma once

#include <cuda_fp16.h>

/// Step 7 of flash attention: flash_scores on tensor cores. The scores of one tile of queries and
/// one tile of keys,
///
///   scores[i][j] = scale * sum_d q[i][d] * k[j][d]
///
/// by a single block. fragments.h has the instructions; the sums are fp32. The grader counts what
/// tensor cores multiply.
///
///   q:       (32, 64)   a row for each query
///   k:       (32, 64)   a row for each key
///   scores:  (32, 32)   a row for each query, a column for each key
///
/// All are dense, row-major and in device memory. Launches on the default stream and need not wait.
void flash_mma_scores(const __half* q, const __half* k, float* scores, float scale);
