#include <cuda_fp16.h>

#include "../gemm.cuh"

namespace tested {

struct Right4 : Gemm {  // from the middle on, then the beginning
  __device__ static int term(int i, Sizes s) { return (i + s.K / 2) % s.K; }
};
struct Layout3 : Gemm {  // reads B as if it were transposed
  __device__ static float b(const float* B, int k, int column, Sizes s) {
    return B[column * s.K + k];
  }
};
struct Edges3 : Gemm {  // leaves out the columns behind the last whole group of 8
  __device__ static float result(float sum, int /*row*/, int column, Sizes s) {
    return column < s.N / 8 * 8 ? sum : 0.0f;
  }
};
struct Edges4 : Gemm {  // begins with the second term where there is only one
  __device__ static int terms(Sizes s) { return s.K == 1 ? 0 : s.K; }
};
struct Values4 : Gemm {  // keeps its sum in half precision
  __device__ static float add(float sum, float product, int /*i*/) {
    return __half2float(__float2half(sum + product));
  }
};
struct Depth3 : Gemm {  // starts anew with each 64 terms
  __device__ static float add(float sum, float product, int i) {
    return (i % 64 == 0 ? 0.0f : sum) + product;
  }
};

}  // namespace tested

ROOFLAB_ENTRY(right_4) { tested::multiply(tested::gemm<tested::Right4>, call); }
ROOFLAB_ENTRY(layout_3) { tested::multiply(tested::gemm<tested::Layout3>, call); }
ROOFLAB_ENTRY(edges_3) { tested::multiply(tested::gemm<tested::Edges3>, call); }
ROOFLAB_ENTRY(edges_4) { tested::multiply(tested::gemm<tested::Edges4>, call); }
ROOFLAB_ENTRY(values_4) { tested::multiply(tested::gemm<tested::Values4>, call); }
ROOFLAB_ENTRY(depth_3) { tested::multiply(tested::gemm<tested::Depth3>, call); }
