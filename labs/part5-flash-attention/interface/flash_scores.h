#pragma once

/// Step 1 of flash attention: the scores of one tile of queries and one tile of keys,
///
///   scores[i][j] = scale * sum_d q[i][d] * k[j][d]
///
/// by a single block, which first copies both tiles to shared memory: it reads each element of q
/// and k from global memory once. The grader counts these reads.
///
///   q:       (32, 64)   a row for each query
///   k:       (32, 64)   a row for each key
///   scores:  (32, 32)   a row for each query, a column for each key
///
/// All are dense, row-major and in device memory. Launches on the default stream and need not wait.
void flash_scores(const float* q, const float* k, float* scores, float scale);
