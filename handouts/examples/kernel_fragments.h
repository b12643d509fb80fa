#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdio>

/// Examples that are part of a kernel: each is a function, and the names that it takes for granted
/// are members beside it.
namespace {

// A function that ends with an include is laid out as if the next one belonged to it.
// clang-format off

__device__ float warp_sum(float value) { return value; }
__device__ float f(float value) { return value; }
__device__ float gelu(float value) { return value; }

struct Products {
  const float *A, *B, *a, *x;
  float* C;
  float As[32][32], Bs[32][32];
  int M, N, K, row, col, column, tx, ty, k, k0, tiles;
  float acc, sum;

  __device__ void rl0401() {
#include "RL0401.inc"
  }

  __device__ void rl0404() {
#include "RL0404.inc"
  }

  __device__ void rl0410() {
#include "RL0410.inc"
  }

  __device__ void rl0411() {
#include "RL0411.inc"
  }

  __device__ void rl0412() {
#include "RL0412.inc"
  }

  __device__ void rl0414() {
#include "RL0414.inc"
  }

  __device__ void rl0415() {
#include "RL0415.inc"
  }

  __device__ void rl0416() {
#include "RL0416.inc"
  }

  __device__ void rl0597() {
#include "RL0597.inc"
  }

  __device__ void rl0417() {
#include "RL0417.inc"
  }

  __device__ void rl0418() {
#include "RL0418.inc"
  }

  __device__ void rl0431() {
#include "RL0431.inc"
  }

  __device__ void rl0432() {
#include "RL0432.inc"
  }

  __device__ void rl0436() {
#include "RL0436.inc"
  }
};

struct Partials {
  volatile float* partial;
  float own, sum;

  __device__ void rl0556() {
#include "RL0556.inc"
  }
};

struct Arrays {
  float *x, *y, *a, *b, *out, *weight;
  const float* row;
  float4 v;
  int i, j, width, head, token, length, depth, d, steps;
  float s, sum, square, epsilon, scale, value;

  __device__ void rl0402() {
#include "RL0402.inc"
  }

  __device__ void rl0405() {
#include "RL0405.inc"
  }

  __device__ void rl0409() {
#include "RL0409.inc"
  }

  __device__ void rl0433() {
#include "RL0433.inc"
  }

  __device__ float rl0434() {
#include "RL0434.inc"
    return *row;
  }

  __device__ void rl0435() {
#include "RL0435.inc"
  }

  __device__ void rl0437() {
#include "RL0437.inc"
  }

  __device__ void rl0555() {
#include "RL0555.inc"
  }

  __device__ void rl0440() {
#include "RL0440.inc"
  }

  __device__ void rl0447() {
#include "RL0447.inc"
  }

  __device__ void rl0448() {
#include "RL0448.inc"
  }

  __device__ void rl0460() {
#include "RL0460.inc"
  }

  __device__ void rl0461() {
#include "RL0461.inc"
  }

  __device__ void rl0462() {
#include "RL0462.inc"
  }

  __device__ void rl0592() {
#include "RL0592.inc"
  }
};

struct Turned {
  float* x;
  float a, b, cosine, sine;
  int i, j;

  __device__ void rl0430() {
#include "RL0430.inc"
  }
};

#include "RL0441.inc"

struct Functions {
  float a, b, x, exponent, g;

  __device__ float rl0442() {
#include "RL0442.inc"
  }

  __device__ float rl0443() {
#include "RL0443.inc"
  }

  __device__ float rl0444() {
#include "RL0444.inc"
  }

  __device__ float rl0445() {
#include "RL0445.inc"
  }

  __device__ float rl0446() {
#include "RL0446.inc"
  }

  __device__ void rl0449() {
#include "RL0449.inc"
  }

  __device__ void rl0469() {
#include "RL0469.inc"
  }

  __device__ float rl0491() {
#include "RL0491.inc"
  }
};

struct Rounded {
  __nv_bfloat16 *y, *residual;
  float x, w, r, scale, inner, squares;
  int i;

  __device__ void rl0463() {
#include "RL0463.inc"
  }

  __device__ void rl0490() {
#include "RL0490.inc"
  }

  __device__ void rl0494() {
#include "RL0494.inc"
  }

  __device__ void rl0495() {
#include "RL0495.inc"
  }
};

struct Positions {
  float* x;
  float a, b, cos, sin, first, second, angle, frequency, theta;
  int i, token, head_dim;
  __device__ void rotate(float& even, float& odd, float by);

  __device__ void rl0464() {
#include "RL0464.inc"
  }

  __device__ void rl0465() {
#include "RL0465.inc"
  }

  __device__ void rl0466() {
#include "RL0466.inc"
  }
};

struct Frequencies {
  float theta;
  int i, head_dim;

  __device__ void rl0467() {
#include "RL0467.inc"
  }

  __device__ void rl0468() {
#include "RL0468.inc"
  }
};

struct Layers {
  float *out, *up, *gate, *y, *x, *residual, *weight, *cache;
  float k, sum, score, scale, squares, sum_of_weighted_values;
  int i, b, h, t, heads, length, head_dim, token, capacity, position, slot;

  __device__ void rl0470() {
#include "RL0470.inc"
  }

  __device__ void rl0471() {
#include "RL0471.inc"
  }

  __device__ void rl0472() {
#include "RL0472.inc"
  }

  __device__ void rl0474() {
#include "RL0474.inc"
  }

  __device__ void rl0481() {
#include "RL0481.inc"
  }

  __device__ void rl0482() {
#include "RL0482.inc"
  }

  __device__ void rl0492() {
#include "RL0492.inc"
  }

  __device__ void rl0493() {
#include "RL0493.inc"
  }
};

struct Masks {
  int p, i, window, key_length, kKeys, head, key_value_heads;
  float q, k;
  __device__ float dot(float query, float key);
  __device__ void count();

  __device__ void rl0475() {
#include "RL0475.inc"
  }

  __device__ void rl0476() {
#include "RL0476.inc"
    count();
  }

  __device__ void rl0477() {
#include "RL0477.inc"
    count();
  }

  __device__ void rl0478() {
#include "RL0478.inc"
    count();
  }

  __device__ void rl0479() {
#include "RL0479.inc"
    count();
  }

  __device__ void rl0480() {
#include "RL0480.inc"
  }

  __device__ void rl0590(float* y, const float* x, int n) {
#include "RL0590.inc"
  }

  __device__ void rl0598(float* sums, const float* x, int i) {
#include "RL0598.inc"
  }

  __device__ void rl0599(const float* x, float* sums, int n) {
#include "RL0599.inc"
  }

  __device__ void rl0593() {
#include "RL0593.inc"
    count();
  }
};

struct Hidden {
  float h, x;
  __device__ float norm(float value), input_norm(float value), post_attention_norm(float value);
  __device__ float attention(float value), mlp(float value);

  __device__ void rl0483() {
#include "RL0483.inc"
  }

  __device__ void rl0484() {
#include "RL0484.inc"
  }
};

struct Fused {
  float* product;
  float gate, up;
  int i;

  __device__ void rl0498() {
#include "RL0498.inc"
  }
};

using namespace nvcuda;

struct Sums {
  float sum, values, v, weight, maximum, larger, rescale, score[64];
  float *log_sum_exp, *part_value, value;
  int row, splits, key_length, tiles;
  static constexpr int kKeys = 64;

  __device__ void rl0496() {
#include "RL0496.inc"
  }

  __device__ void rl0520() {
#include "RL0520.inc"
  }

  __device__ void rl0521() {
#include "RL0521.inc"
  }

  __device__ void rl0522() {
#include "RL0522.inc"
  }

  __device__ void rl0524() {
#include "RL0524.inc"
  }

  __device__ void rl0525() {
#include "RL0525.inc"
  }

  __device__ void rl0526() {
#include "RL0526.inc"
  }

  __device__ void rl0528() {
#include "RL0528.inc"
  }

  __device__ void rl0533() {
#include "RL0533.inc"
  }

  __device__ void rl0534() {
#include "RL0534.inc"
  }
};

struct Weights {
  float score, maximum, weight;
  int key_length, kKeys, row, col;

  __device__ void rl0527() {
#include "RL0527.inc"
  }

  __device__ void rl0532() {
#include "RL0532.inc"
  }

  __device__ void rl0609() {
#include "RL0609.inc"
  }
};

struct Reacting {
  float *a, *b, *x, *y;
  float scale, sum;
  int depth, last, i, k;

  __device__ void rl0550() {
#include "RL0550.inc"
  }

  __device__ void rl0551() {
#include "RL0551.inc"
  }

  __device__ void rl0552() {
#include "RL0552.inc"
  }

  __device__ void rl0553() {
#include "RL0553.inc"
  }

  __device__ void rl0554() {
#include "RL0554.inc"
  }
};

struct RowsWithoutKeys {
  float score, maximum;
  __device__ void rl0523() {
#include "RL0523.inc"
  }
};

constexpr int kMostHeads = 2, kMostLength = 16;
#include "RL0529.inc"

// clang-format on

}  // namespace
