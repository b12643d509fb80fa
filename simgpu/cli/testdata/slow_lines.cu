#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <vector>

// Kernels with one slow line each, which a comment marks with the kernel's name.
__global__ void uncoalesced(const float* in, float* out, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int c = 0; c < n; ++c) {
    sum += in[row * n + c];  // slow: uncoalesced
  }
  out[row] = sum;
}

__global__ void banks(const float* in, float* out, int n) {
  __shared__ float t[32][32];
  int x = threadIdx.x, y = threadIdx.y;
  t[y][x] = in[(blockIdx.x * 32 + y) * 32 + x];
  __syncthreads();
  float s = 0;
  for (int k = 0; k < n; ++k) {
    s += t[x][(k + y) & 31];  // slow: banks
  }
  out[(blockIdx.x * 32 + y) * 32 + x] = s;
}

__global__ void divergent(const int* trips, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i * 0.5f;
  const int n = trips[i] * 8;
  for (int k = 0; k < n; ++k) {
    v = v * 1.0001f + 0.5f;  // slow: divergent
  }
  out[i] = v;
}

__global__ void contention(const int* in, int* hist, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = in[i];
  v = v * 3 + 1;
  atomicAdd(&hist[v & 1], 1);  // slow: contention
}

__global__ void doubles(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  for (int k = 0; k < n; ++k) {
    x = x * 0.9999 + 0.1;  // slow: doubles
  }
  out[i] = x;
}

__global__ void barriers(const float* in, float* out, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  s[threadIdx.x] = x;
  for (int k = 0; k < n; ++k) {
    x = x * 0.5f + 1;
    __syncthreads();  // slow: barriers
  }
  out[i] = x + s[255 - threadIdx.x];
}

__global__ void division(const int* in, int* out, int n, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int x = in[i];
  int s = 0;
  for (int k = 0; k < n; ++k) {
    s += (x + k) / d;  // slow: division
    x ^= s;
  }
  out[i] = s;
}

__global__ void localmem(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a[64];
  for (int k = 0; k < 64; ++k) a[k] = in[i] + k;
  float s = 0;
  for (int k = 0; k < n; ++k) {
    s += a[(k * 7 + i) & 63];  // slow: localmem
  }
  out[i] = s;
}

__global__ void chain(const int* next, int* out, int n) {
  int p = threadIdx.x + blockIdx.x * blockDim.x;
  int steps = 0;
  for (int k = 0; k < n; ++k) {
    p = next[p];  // slow: chain
    steps += p & 1;
  }
  out[threadIdx.x + blockIdx.x * blockDim.x] = p + steps;
}

__global__ void reread(const float* in, float* out, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float mean = 0;
  for (int k = 0; k < m; ++k) mean += in[k] * 0.001f;
  float v = 0;
  for (int k = 0; k < n; ++k) {
    v += in[(size_t)k * gridDim.x * blockDim.x + i] * mean;  // slow: reread
  }
  out[i] = v;
}

__global__ void sines(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i], s = 0;
  for (int k = 0; k < n; ++k) {
    x = x * 1.001f + 0.01f;
    s += sinf(x) + fmodf(x, 0.37f);  // slow: sines
  }
  out[i] = s;
}

__device__ float slow_dot(const float* a, int stride, int n) {
  float s = 0;
  for (int k = 0; k < n; ++k) {
    s += a[k * stride];  // slow: inlined
  }
  return s;
}

__global__ void inlined(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = in[i] * 2;
  a += slow_dot(in + i * n, 1, n);
  out[i] = a;
}

__global__ void serial(const float* in, float* out, int n) {
  __shared__ float s[256];
  s[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    float t = 0;
    for (int r = 0; r < n; ++r) {
      for (int k = 0; k < 256; ++k) {
        t += s[k];  // slow: serial
      }
    }
    out[blockIdx.x] = t;
  }
}

__global__ void halves(const __half* in, __half* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __half x = in[i];
  float y = 0;
  for (int k = 0; k < n; ++k) {
    x = hexp(x);  // slow: halves
    y += 1;
  }
  out[i] = __hadd(x, __float2half(y));
}

__global__ void strided_store(const float* in, float* out, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  float v = in[y * n + x];
  out[x * n + y] = v;  // slow: strided_store
}

__global__ void sharedatomics(const int* in, int* out, int n) {
  __shared__ int h[4];
  if (threadIdx.x < 4) h[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < n; ++k) {
    const int v = in[(blockIdx.x * 4 + k % 4) * 256 + threadIdx.x];
    atomicAdd(&h[v & 3], 1);  // slow: sharedatomics
  }
  __syncthreads();
  if (threadIdx.x < 4) out[blockIdx.x * 4 + threadIdx.x] = h[threadIdx.x];
}

__global__ void fences(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = i;
  for (int k = 0; k < n; ++k) {
    out[i] = v;
    __threadfence();  // slow: fences
    v = v * 5 + 1;
  }
}

__constant__ float table[1024];
__global__ void constants(const int* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int k = 0; k < n; ++k) {
    s += table[(i * 17 + k) & 1023];  // slow: constants
    s = s * 0.5f;
  }
  out[i] = s;
}

__global__ void naive_gemm(const float* a, const float* b, float* c, int n) {
  int row = blockIdx.x * 16 + threadIdx.x;
  int col = blockIdx.y * 16 + threadIdx.y;
  float s = 0;
  for (int k = 0; k < n; ++k) s += a[row * n + k] * b[k * n + col];  // slow: naive_gemm
  c[row * n + col] = s;
}

__global__ void shuffles(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  for (int k = 0; k < n; ++k) {
    for (int o = 16; o > 0; o /= 2) x += __shfl_xor_sync(0xffffffff, x, o);  // slow: shuffles
    x *= 0.03f;
  }
  out[i] = x;
}
int main() {
  constexpr size_t kWords = size_t{1} << 22;
  float *a, *b;
  int *c, *d;
  cudaMalloc(&a, 4 * kWords * sizeof(float));
  cudaMalloc(&b, kWords * sizeof(float));
  cudaMalloc(&c, kWords * sizeof(int));
  cudaMalloc(&d, kWords * sizeof(int));
  cudaMemset(a, 0, 4 * kWords * sizeof(float));
  std::vector<int> numbers(kWords);
  for (size_t i = 0; i < kWords; ++i) numbers[i] = static_cast<int>(i * 7919 % 97);
  cudaMemcpy(c, numbers.data(), kWords * sizeof(int), cudaMemcpyHostToDevice);
  for (size_t i = 0; i < kWords; ++i) {
    numbers[i] = static_cast<int>((i * 1103515245u + 12345u) % kWords);
  }
  cudaMemcpy(d, numbers.data(), kWords * sizeof(int), cudaMemcpyHostToDevice);
  uncoalesced<<<64, 128>>>(a, b, 256);
  banks<<<64, dim3(32, 32)>>>(a, b, 128);
  divergent<<<64, 256>>>(c, b);
  contention<<<1024, 256>>>(c, d + kWords - 16, 0);
  doubles<<<64, 256>>>(a, b, 64);
  barriers<<<64, 256>>>(a, b, 64);
  division<<<64, 256>>>(c, (int*)b, 64, 7);
  localmem<<<64, 256>>>(a, b, 64);
  chain<<<16, 256>>>(d, (int*)b, 64);
  reread<<<256, 256>>>(a, b, 64, 32);
  sines<<<64, 256>>>(a, b, 32);
  inlined<<<64, 128>>>(a, b, 256);
  serial<<<64, 256>>>(a, b, 8);
  halves<<<64, 256>>>((__half*)a, (__half*)b, 64);
  strided_store<<<dim3(32, 128), dim3(32, 8)>>>(a, b, 1024);
  sharedatomics<<<1024, 256>>>(c, (int*)b, 32);
  fences<<<64, 256>>>((int*)b, 32);
  constants<<<64, 256>>>(c, b, 64);
  naive_gemm<<<dim3(16, 16), dim3(16, 16)>>>(a, a + 65536, b, 256);
  shuffles<<<64, 256>>>(a, b, 64);
  const cudaError_t error = cudaDeviceSynchronize();
  for (void* memory : {static_cast<void*>(a), static_cast<void*>(b), static_cast<void*>(c),
                       static_cast<void*>(d)}) {
    cudaFree(memory);
  }
  return error == cudaSuccess ? 0 : 1;
}
