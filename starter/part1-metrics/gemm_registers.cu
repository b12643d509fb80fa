#include "gemm.h"
#include "toolkit/check.h"
#include "toolkit/todo.h"

// Your kernel goes here: as gemm_tiled, with a patch of C in registers.

void gemm_registers(const float* A, const float* B, float* C, int M, int N, int K) {
  rooflab::todo("let each thread of gemm_tiled compute 2 x 2 elements first, then more");
}
