#include "flash_online.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "warp.h"

// Your kernel goes here: start from flash_softmax, with a loop over the tiles of keys.

void flash_online(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  rooflab::todo("start from flash_softmax, and walk over the tiles of keys and values");
}
