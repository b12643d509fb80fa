// Kernels of which it is known what goes into their results. Names are those of the tests.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include <cstdint>

extern "C" {

__global__ void copy(float* out, const float* in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}

__global__ void saxpy(float* y, const float* x, float a) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = a * x[i] + y[i];
}

__global__ void transpose(float* out, const float* in, int rows, int columns) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * columns) out[i] = in[i % rows * columns + i / rows];
}

__global__ void gather(float* out, const float* in, const int* index) {
  out[threadIdx.x] = in[index[threadIdx.x]] + 1;
}

__global__ void read_twice(float* out, const float* in, int n) {
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < 2 * n; ++i) sum += in[i % n];
  out[threadIdx.x] = sum;
}

__global__ void square(float* out, const float* in) {
  const float x = in[threadIdx.x];
  out[threadIdx.x] = x * x;
}

__global__ void larger_chosen(float* out, const float* a, const float* b) {
  const float x = a[threadIdx.x], y = b[threadIdx.x];
  out[threadIdx.x] = x > y ? x : y;
}

__global__ void larger_computed(float* out, const float* a, const float* b) {
  out[threadIdx.x] = fmaxf(a[threadIdx.x], b[threadIdx.x]);
}

__global__ void positive_only(float* out, const float* in, const float* gate) {
  float value = 0;
  if (gate[threadIdx.x] > 0) value = in[threadIdx.x];
  out[threadIdx.x] = value;
}

__global__ void tiled(float* c, const float* a, const float* b, int n) {
  __shared__ float as[8][8], bs[8][8];
  const int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 8 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += 8) {
    as[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < 8; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void warp_sums(float* out, const float* in) {
  float sum = in[blockIdx.x * 32 + threadIdx.x];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0U, sum, step);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void segment_sums(float* out, const float* in) {
  float sum = in[threadIdx.x];
  for (int step = 4; step > 0; step /= 2) sum += __shfl_xor_sync(~0U, sum, step);
  out[threadIdx.x] = sum;
}

__global__ void atomic_sum(float* out, const float* in) {
  atomicAdd(out, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

__global__ void atomic_histogram(int* counts, const int* weights, const int* bins) {
  __shared__ int sums[4];
  if (threadIdx.x < 4) sums[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&sums[bins[threadIdx.x]], weights[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x < 4) atomicAdd(&counts[threadIdx.x], sums[threadIdx.x]);
}

__device__ void atomic_max(float* to, float value) {
  int* const bits = reinterpret_cast<int*>(to);
  int old = *bits;
  while (value > __int_as_float(old)) {
    const int seen = atomicCAS(bits, old, __float_as_int(value));
    if (seen == old) break;
    old = seen;
  }
}
__global__ void largest_by_swaps(float* out, const float* in) { atomic_max(out, in[threadIdx.x]); }

__global__ void exchange(int* out, int* slot, const int* in) {
  out[threadIdx.x] = atomicExch(slot, in[threadIdx.x]);
}

__global__ void half_pairs(__half2* out, const __half2* x, const __half2* y) {
  const unsigned i = threadIdx.x;
  out[i] = __hfma2(x[i], y[i], __float2half2_rn(1));
}

__global__ void halves_swapped(__half2* out, const __half2* x) {
  const __half2 pair = x[threadIdx.x];
  out[threadIdx.x] = __halves2half2(__high2half(pair), __low2half(pair));
}

__global__ void halves_one_by_one(__half* out, const __half* x) {
  const unsigned i = threadIdx.x;
  out[i] = __float2half(__half2float(x[i]) * 2 + __half2float(x[i ^ 1]));
}

__global__ void halves_widened(float* out, const uint4* x) {
  const uint4 eight = x[threadIdx.x];
  const unsigned words[4] = {eight.x, eight.y, eight.z, eight.w};
  for (int i = 0; i < 4; ++i) {
    const __half2 pair = *reinterpret_cast<const __half2*>(&words[i]);
    out[threadIdx.x * 8 + 2 * i] = __low2float(pair);
    out[threadIdx.x * 8 + 2 * i + 1] = __high2float(pair);
  }
}

__global__ void bytes_unpacked(float* out, const unsigned* packed, const float* scale) {
  const unsigned four = packed[threadIdx.x];
  for (int i = 0; i < 4; ++i) {
    out[threadIdx.x * 4 + i] = static_cast<float>(four >> (8 * i) & 0xFF) * scale[0];
  }
}

__global__ void bytes_packed(unsigned* out, const unsigned char* in) {
  unsigned four = 0;
  for (int i = 0; i < 4; ++i) four |= static_cast<unsigned>(in[threadIdx.x * 4 + i]) << (8 * i);
  out[threadIdx.x] = four;
}

__global__ void vectors(float4* out, const float4* in) {
  const float4 v = in[threadIdx.x];
  out[threadIdx.x] = make_float4(v.w, v.z, v.x + v.y, 0);
}

__global__ void doubles(double* out, const double* in) {
  out[threadIdx.x] = in[threadIdx.x] + __shfl_down_sync(~0U, in[threadIdx.x], 1);
}

__global__ void wmma_product(float* c, const __half* a, const __half* b, int ld) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, __half, col_major> fb;
  fragment<accumulator, 16, 16, 16, float> fc;
  fill_fragment(fc, 0.0F);
  for (int k = 0; k < ld; k += 16) {
    load_matrix_sync(fa, a + k, ld);
    load_matrix_sync(fb, b + k, ld);
    mma_sync(fc, fa, fb, fc);
  }
  store_matrix_sync(c, fc, 16, mem_row_major);
}

// A (16, 16) row-major, B (16, 8) row-major, through ldmatrix and ldmatrix.trans.
__global__ void mma_product(float* c, const __half* a, const __half* b) {
  __shared__ alignas(16) __half as[16 * 16], bs[16 * 8];
  const unsigned lane = threadIdx.x;
  for (unsigned i = lane; i < 32; i += 32) {
    reinterpret_cast<uint4*>(as)[i] = reinterpret_cast<const uint4*>(a)[i];
    if (i < 16) reinterpret_cast<uint4*>(bs)[i] = reinterpret_cast<const uint4*>(b)[i];
  }
  __syncthreads();
  unsigned fa[4], fb[2];
  const unsigned row_a =
      static_cast<unsigned>(__cvta_generic_to_shared(as + lane % 16 * 16 + lane / 16 * 8));
  const unsigned row_b = static_cast<unsigned>(__cvta_generic_to_shared(bs + lane % 16 * 8));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
               : "r"(row_a));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(fb[0]), "=r"(fb[1])
               : "r"(row_b));
  float d[4] = {};
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
  const unsigned row = lane / 4, column = lane % 4 * 2;
  c[row * 8 + column] = d[0];
  c[row * 8 + column + 1] = d[1];
  c[(row + 8) * 8 + column] = d[2];
  c[(row + 8) * 8 + column + 1] = d[3];
}

__global__ void copied_asynchronously(float* out, const float4* in) {
  __shared__ float4 tile[32];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(float4));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[31 - threadIdx.x].y;
}

__global__ void not_awaited(float* out, const float* in) {
  __shared__ float tile[32];
  tile[threadIdx.x] = 0;
  __syncthreads();
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(float));
  __pipeline_commit();
  out[threadIdx.x] = tile[threadIdx.x];
  __pipeline_wait_prior(0);
}

__device__ __noinline__ float power(float x, int n) { return n == 0 ? 1 : x * power(x, n - 1); }
__global__ void recursive(float* out, const float* in) {
  const float mine = in[threadIdx.x];
  const float raised = power(in[threadIdx.x + 1], 3);
  out[threadIdx.x] = raised + mine;
}

__global__ void local_array(float* out, const float* in, const int* order) {
  float values[8];
  for (int i = 0; i < 8; ++i) values[i] = in[threadIdx.x * 8 + i];
  out[threadIdx.x] = values[order[threadIdx.x]];
}

__global__ void votes(unsigned* out, const int* in) {
  out[threadIdx.x] = __ballot_sync(0xFU << (threadIdx.x / 4 * 4), in[threadIdx.x] > 0);
}

__global__ void largest_of_warp(int* out, const int* in) {
  out[threadIdx.x] = __reduce_max_sync(~0U, in[threadIdx.x]);
}

__device__ __noinline__ float scaled(float x, float by) { return x * by; }
__global__ void passed_on(float* out, const float* in) {
  out[threadIdx.x] = scaled(in[threadIdx.x], in[31 - threadIdx.x]) + scaled(1, in[0]);
}

// Block 0 waits for block 1.
__global__ void handed_on(volatile float* out, const float* in, volatile int* flag) {
  if (blockIdx.x == 1) {
    out[1] = in[5];
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    out[0] = out[1] + in[7];
  }
}

__global__ void partly_copied(float* out, const float4* in) {
  __shared__ float4 tile[32];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(float4), 12);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[2 * threadIdx.x] = tile[threadIdx.x].x;
  out[2 * threadIdx.x + 1] = tile[threadIdx.x].y;
}

}  // extern "C"
