// Products of column-major matrices by cuBLAS: one, and a batch of them.
#include <cublas_v2.h>

#include <cmath>
#include <cstdio>

// Z (rows, columns) = X (rows, depth) Y (depth, columns), all column-major: element (i, j) of X is
// X[i + j * rows].
cublasStatus_t product(cublasHandle_t cublas, const float* X, const float* Y, float* Z, int rows,
                       int columns, int depth) {
  const float one = 1.0f, zero = 0.0f;
  return cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, rows, columns, depth, &one, X, rows, Y,
                     depth, &zero, Z, rows);
}

// The same for `count` triples of matrices that lie one behind the other, in one launch.
cublasStatus_t products(cublasHandle_t cublas, const float* X, const float* Y, float* Z, int rows,
                        int columns, int depth, int count) {
  const float one = 1.0f, zero = 0.0f;
  const long long x = 1LL * rows * depth, y = 1LL * depth * columns, z = 1LL * rows * columns;
  return cublasSgemmStridedBatched(cublas, CUBLAS_OP_N, CUBLAS_OP_N, rows, columns, depth, &one, X,
                                   rows, x, Y, depth, y, &zero, Z, rows, z, count);
}

bool is_product(const float* X, const float* Y, const float* Z, int rows, int columns, int depth) {
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < rows; ++i) {
      double sum = 0;
      for (int k = 0; k < depth; ++k)
        sum += static_cast<double>(X[i + k * rows]) * Y[k + j * depth];
      if (!(std::fabs(Z[i + j * rows] - sum) <= 1e-5 * depth)) return false;
    }
  }
  return true;
}

int main() {
  constexpr int kRows = 5, kColumns = 3, kDepth = 7, kCount = 4;
  float *X = nullptr, *Y = nullptr, *Z = nullptr;
  if (cudaMallocManaged(&X, kCount * kRows * kDepth * sizeof(float)) != cudaSuccess) return 1;
  if (cudaMallocManaged(&Y, kCount * kDepth * kColumns * sizeof(float)) != cudaSuccess) return 1;
  if (cudaMallocManaged(&Z, kCount * kRows * kColumns * sizeof(float)) != cudaSuccess) return 1;
  for (int i = 0; i < kCount * kRows * kDepth; ++i) X[i] = std::sin(0.7f * i);
  for (int i = 0; i < kCount * kDepth * kColumns; ++i) Y[i] = std::cos(0.3f * i);
  cublasHandle_t cublas = nullptr;
  if (cublasCreate(&cublas) != CUBLAS_STATUS_SUCCESS) return 1;

  bool right = product(cublas, X, Y, Z, kRows, kColumns, kDepth) == CUBLAS_STATUS_SUCCESS;
  right = right && cudaDeviceSynchronize() == cudaSuccess;
  right = right && is_product(X, Y, Z, kRows, kColumns, kDepth);

  right =
      right && products(cublas, X, Y, Z, kRows, kColumns, kDepth, kCount) == CUBLAS_STATUS_SUCCESS;
  right = right && cudaDeviceSynchronize() == cudaSuccess;
  for (int i = 0; i < kCount && right; ++i) {
    right = is_product(X + i * kRows * kDepth, Y + i * kDepth * kColumns, Z + i * kRows * kColumns,
                       kRows, kColumns, kDepth);
  }
  std::printf("cuBLAS: %s\n", right ? "right" : "wrong");
  cublasDestroy(cublas);
  cudaFree(X);
  cudaFree(Y);
  cudaFree(Z);
  return right ? 0 : 1;
}
