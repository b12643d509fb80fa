#include "flash_softmax.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "warp.h"

// Your kernel goes here: start from flash_scores, with a block for each 32 queries.

void flash_softmax(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   int query_length, float scale) {
  rooflab::todo("start from flash_scores, and take the softmax of each row of scores");
}
