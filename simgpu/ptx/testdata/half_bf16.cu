// The headers of half and bf16 are inline assembly in nested { } scopes.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void half_math(const __half2* a, const __half2* b, __half2* c, __half* maximum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = __hfma2(a[i], b[i], __hadd2(a[i], b[i]));
  maximum[i] = __hmax(hexp(__low2half(a[i])), hsqrt(__high2half(b[i])));
  if (__hgt(maximum[i], __float2half(2.0f))) maximum[i] = __hdiv(maximum[i], __float2half(3.0f));
}

__global__ void bfloat_math(const __nv_bfloat16* a, __nv_bfloat16* b, float* c) {
  const int i = threadIdx.x;
  b[i] = __hfma(a[i], a[i], b[i]);
  c[i] = __bfloat162float(b[i]) + __expf(c[i]);
}
