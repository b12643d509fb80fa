#include <cublas_v2.h>
#include <cuda_bf16.h>

#include <cmath>
#include <vector>

#include "check.h"

template <typename T>
T* on_device(const std::vector<T>& host) {
  T* device;
  CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
  CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

template <typename... Pointers>
void release(Pointers... pointers) {
  (void(cudaFree(pointers)), ...);
}

float sample(int i) { return static_cast<float>((i * 7919 + 13) % 997) / 997.0f - 0.5f; }

// C = A^T B in column-major order against fp64 sums.
void sgemm(cublasHandle_t handle) {
  const int m = 37, n = 21, k = 50, lda = 53, ldb = 51, ldc = 40;
  std::vector<float> a(lda * m), b(ldb * n), c(ldc * n, 1.0f);
  for (size_t i = 0; i < a.size(); ++i) a[i] = sample(static_cast<int>(i));
  for (size_t i = 0; i < b.size(); ++i) b[i] = sample(static_cast<int>(i) + 5);
  float *on_a = on_device(a), *on_b = on_device(b), *on_c = on_device(c);
  const float alpha = 2.0f, beta = -1.0f;
  EXPECT(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &alpha, on_a, lda, on_b, ldb, &beta,
                     on_c, ldc) == CUBLAS_STATUS_SUCCESS);
  CHECK(cudaMemcpy(c.data(), on_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (int column = 0; column < n; ++column) {
    for (int row = 0; row < ldc; ++row) {
      double expected = row < m ? -1.0 : 1.0, magnitude = 1.0;
      for (int i = 0; i < k && row < m; ++i) {
        const double product = 2.0 * a[row * lda + i] * b[column * ldb + i];
        expected += product;
        magnitude += std::fabs(product);
      }
      EXPECT(std::fabs(c[column * ldc + row] - expected) <= k * 6e-8 * magnitude);
    }
  }
  EXPECT(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, on_a, m - 1, on_b, ldb,
                     &beta, on_c, ldc) == CUBLAS_STATUS_INVALID_VALUE);
  release(on_a, on_b, on_c);
}

void bf16_batched(cublasHandle_t handle) {
  const int size = 16, batch = 3;
  std::vector<__nv_bfloat16> a(size * size * batch), b(a.size());
  std::vector<float> c(a.size(), NAN);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = __float2bfloat16(sample(static_cast<int>(i)));
    b[i] = __float2bfloat16(sample(static_cast<int>(i) * 3));
  }
  auto *on_a = on_device(a), *on_b = on_device(b);
  float* on_c = on_device(c);
  const float one = 1.0f, zero = 0.0f;
  EXPECT(cublasGemmStridedBatchedEx(
             handle, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &one, on_a, CUDA_R_16BF, size,
             size * size, on_b, CUDA_R_16BF, size, size * size, &zero, on_c, CUDA_R_32F, size,
             size * size, batch, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
  CHECK(cudaMemcpy(c.data(), on_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < batch; ++i) {
    for (int row = 0; row < size; ++row) {
      for (int column = 0; column < size; ++column) {
        double expected = 0;
        const int first = i * size * size;
        for (int inner = 0; inner < size; ++inner) {
          expected += static_cast<double>(__bfloat162float(a[first + inner * size + row])) *
                      __bfloat162float(b[first + column * size + inner]);
        }
        EXPECT(std::fabs(c[first + column * size + row] - expected) <= 1e-5);
      }
    }
  }
  release(on_a, on_b, on_c);
}

void vectors(cublasHandle_t handle) {
  const int n = 100;
  std::vector<float> x(n), y(n, 1.0f);
  double square = 0;
  for (int i = 0; i < n; ++i) {
    x[i] = sample(i);
    square += static_cast<double>(x[i]) * x[i];
  }
  float *on_x = on_device(x), *on_y = on_device(y);
  float norm = 0, dot = 0;
  EXPECT(cublasSnrm2(handle, n, on_x, 1, &norm) == CUBLAS_STATUS_SUCCESS);
  EXPECT(std::fabs(norm - std::sqrt(square)) <= 1e-5);
  EXPECT(cublasSdot(handle, n, on_x, 1, on_x, 1, &dot) == CUBLAS_STATUS_SUCCESS);
  EXPECT(std::fabs(dot - square) <= 1e-5);
  const float alpha = 3.0f;
  EXPECT(cublasSaxpy(handle, n, &alpha, on_x, 1, on_y, 1) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasSscal(handle, n, &alpha, on_y, 1) == CUBLAS_STATUS_SUCCESS);
  CHECK(cudaMemcpy(y.data(), on_y, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(std::fabs(y[i] - 3.0f * (1.0f + 3.0f * x[i])) <= 1e-5);
  release(on_x, on_y);
}

int main() {
  cublasHandle_t handle;
  EXPECT(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
  sgemm(handle);
  bf16_batched(handle);
  vectors(handle);
  EXPECT(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
  std::printf("products are right\n");
}
