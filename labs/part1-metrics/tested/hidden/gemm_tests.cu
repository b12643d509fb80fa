#include "../gemm.cuh"

namespace tested {

struct Right4 : Gemm {  // from the middle on, then the beginning
  __device__ static int term(int i, Sizes s) { return (i + s.K / 2) % s.K; }
};
struct Layout3 : Gemm {  // a path for square B, which takes it for transposed
  __device__ static float b(const float* B, int k, int column, Sizes s) {
    return s.K == s.N ? B[column * s.N + k] : Gemm::b(B, k, column, s);
  }
};
struct Layout4 : Gemm {  // a path for square C, which stores it transposed
  __device__ static int place(int row, int column, Sizes s) {
    return s.M == s.N ? column * s.N + row : Gemm::place(row, column, s);
  }
};
struct Edges3 : Gemm {  // a path for whole tiles of B, which leaves out the rows behind A's
  __device__ static float result(float sum, int row, int /*column*/, Sizes s) {
    return is_whole(s.K) && is_whole(s.N) && row >= whole(s.M) ? 0.0f : sum;
  }
};
struct Edges4 : Gemm {  // begins with the second term where there is only one
  __device__ static int terms(Sizes s) { return s.K == 1 ? 0 : s.K; }
};
struct Edges5
    : Gemm {  // a path for whole tiles of C, which leaves out the terms behind the last one
  __device__ static int terms(Sizes s) { return is_whole(s.M) && is_whole(s.N) ? whole(s.K) : s.K; }
};
struct Values4 : Gemm {  // takes a sum that comes to zero on the way for one that has ended
  __device__ static float add(float sum, float product, int i) {
    return i > 0 && sum == 0.0f ? 0.0f : sum + product;
  }
};
struct Values5 : Gemm {  // takes tiny elements for zeros
  __device__ static float b(const float* B, int k, int column, Sizes s) {
    const float b = Gemm::b(B, k, column, s);
    return fabsf(b) < 1e-12f ? 0.0f : b;
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
ROOFLAB_ENTRY(layout_4) { tested::multiply(tested::gemm<tested::Layout4>, call); }
ROOFLAB_ENTRY(edges_3) { tested::multiply(tested::gemm<tested::Edges3>, call); }
ROOFLAB_ENTRY(edges_4) { tested::multiply(tested::gemm<tested::Edges4>, call); }
ROOFLAB_ENTRY(edges_5) { tested::multiply(tested::gemm<tested::Edges5>, call); }
ROOFLAB_ENTRY(values_4) { tested::multiply(tested::gemm<tested::Values4>, call); }
ROOFLAB_ENTRY(values_5) { tested::multiply(tested::gemm<tested::Values5>, call); }
ROOFLAB_ENTRY(depth_3) { tested::multiply(tested::gemm<tested::Depth3>, call); }
