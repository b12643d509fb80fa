#include "flash_scores.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/todo.h"

// Your kernel goes here: one block, which loads both tiles before it multiplies them.

void flash_scores(const float* q, const float* k, float* scores, float scale) {
  rooflab::todo("let one block copy q and k to shared memory, then a thread compute each score");
}
