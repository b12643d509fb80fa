// Two launches that are worth sampling: a copy of 64 MiB, and a product that cuBLAS computes.
#include <cublas_v2.h>

#include <cstdio>

__global__ void copy(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

int main() {
  constexpr int kN = 1 << 24, kSize = 1024;
  float *in = nullptr, *out = nullptr;
  cudaMalloc(&in, kN * sizeof(float));
  cudaMalloc(&out, kN * sizeof(float));
  cudaMemset(in, 0, kN * sizeof(float));
  copy<<<kN / 256, 256>>>(in, out, kN);
  cublasHandle_t cublas;
  cublasCreate(&cublas);
  const float one = 1, zero = 0;
  cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, kSize, kSize, kSize, &one, out, kSize, out, kSize,
              &zero, in, kSize);
  const cudaError_t error = cudaDeviceSynchronize();
  cublasDestroy(cublas);
  cudaFree(in);
  cudaFree(out);
  return error == cudaSuccess ? 0 : 1;
}
