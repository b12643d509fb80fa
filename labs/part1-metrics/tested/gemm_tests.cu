#include "gemm.cuh"

// Names say a group and a number only: a student's copy has them.
namespace tested {

struct Right2 : Gemm {  // the last term first
  __device__ static int term(int i, Sizes s) { return s.K - 1 - i; }
};

/// Tiles in shared memory, terms of odd and even k in sums of their own.
__global__ void right3(const float* A, const float* B, float* C, Sizes s) {
  __shared__ float a[kTile][kTile], b[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;
  float sums[2] = {};
  for (int k0 = 0; k0 < s.K; k0 += kTile) {
    a[y][x] = row < s.M && k0 + x < s.K ? A[row * s.K + k0 + x] : 0.0f;
    b[y][x] = k0 + y < s.K && column < s.N ? B[(k0 + y) * s.N + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sums[k % 2] += a[y][k] * b[k][x];
    __syncthreads();
  }
  if (row < s.M && column < s.N) C[row * s.N + column] = sums[0] + sums[1];
}

struct Layout1 : Gemm {  // reads A as if it were transposed
  __device__ static float a(const float* A, int row, int k, Sizes s) { return A[k * s.M + row]; }
};
struct Layout2 : Gemm {  // a path for square A, which takes it for transposed
  __device__ static float a(const float* A, int row, int k, Sizes s) {
    return s.M == s.K ? A[k * s.K + row] : Gemm::a(A, row, k, s);
  }
};

struct Edges1 : Gemm {  // leaves out the rows behind the last whole tile
  __device__ static float result(float sum, int row, int /*column*/, Sizes s) {
    return row < whole(s.M) ? sum : 0.0f;
  }
};
struct Edges2 : Gemm {  // a path for whole tiles of A, which leaves out the columns behind B's
  __device__ static float result(float sum, int /*row*/, int column, Sizes s) {
    return is_whole(s.M) && is_whole(s.K) && column >= whole(s.N) ? 0.0f : sum;
  }
};

struct Values1 : Gemm {  // has no negative results
  __device__ static float result(float sum, int /*row*/, int /*column*/, Sizes /*s*/) {
    return fmaxf(sum, 0.0f);
  }
};
struct Values2 : Gemm {  // takes a zero for the end of a row
  __device__ static bool ends_before(float a) { return a == 0.0f; }
};
struct Values3 : Gemm {  // takes an element that is equal to the one before it for a second copy
  __device__ static float a(const float* A, int row, int k, Sizes s) {
    const float a = Gemm::a(A, row, k, s);
    return k > 0 && a == Gemm::a(A, row, k - 1, s) ? 0.0f : a;
  }
};

struct Depth1 : Gemm {  // adds the first 128 terms
  __device__ static int terms(Sizes s) { return min(s.K, 128); }
};
struct Depth2 : Gemm {  // counts terms in 8 bits
  __device__ static int term(int i, Sizes /*s*/) { return i & 0xFF; }
};

}  // namespace tested

ROOFLAB_ENTRY(right_1) { tested::multiply(tested::gemm<tested::Gemm>, call); }
ROOFLAB_ENTRY(right_2) { tested::multiply(tested::gemm<tested::Right2>, call); }
ROOFLAB_ENTRY(right_3) { tested::multiply(tested::right3, call); }
ROOFLAB_ENTRY(layout_1) { tested::multiply(tested::gemm<tested::Layout1>, call); }
ROOFLAB_ENTRY(layout_2) { tested::multiply(tested::gemm<tested::Layout2>, call); }
ROOFLAB_ENTRY(edges_1) { tested::multiply(tested::gemm<tested::Edges1>, call); }
ROOFLAB_ENTRY(edges_2) { tested::multiply(tested::gemm<tested::Edges2>, call); }
ROOFLAB_ENTRY(values_1) { tested::multiply(tested::gemm<tested::Values1>, call); }
ROOFLAB_ENTRY(values_2) { tested::multiply(tested::gemm<tested::Values2>, call); }
ROOFLAB_ENTRY(values_3) { tested::multiply(tested::gemm<tested::Values3>, call); }
ROOFLAB_ENTRY(depth_1) { tested::multiply(tested::gemm<tested::Depth1>, call); }
ROOFLAB_ENTRY(depth_2) { tested::multiply(tested::gemm<tested::Depth2>, call); }
