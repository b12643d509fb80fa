#pragma once

#include <cuda_bf16.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "atomics.cuh"
#include "attention.cuh"
#include "bench.cuh"
#include "gemm.cuh"
#include "rows.cuh"
#include "stream.cuh"
#include "transpose.cuh"
#include "uneven.cuh"

/// The kernels with their families, sizes and what a time is divided by.
namespace validate {
namespace {

double cube(double n) { return 2 * n * n * n; }

Case gemm(std::string name, void (*kernel)(const float*, const float*, float*, int), long tile_rows,
          long tile_columns, dim3 block, bool rows_first = false) {
  return {"gemm",
          std::move(name),
          "flop",
          cube,
          {256, 1024, 2048, 4096},
          [=](Bench& bench, long n) -> std::function<void()> {
            float* a = bench.allocate<float>(n * n);
            float* b = bench.allocate<float>(n * n);
            float* c = bench.allocate<float>(n * n);
            dim3 grid(n / tile_columns, n / tile_rows);
            if (rows_first) std::swap(grid.x, grid.y);
            return [=, &bench] {
              bench.launch(kernel, grid, block, 0, const_cast<const float*>(a),
                           const_cast<const float*>(b), c, static_cast<int>(n));
            };
          }};
}

/// A stream of doubles with two blocks on each SM, so that the block's size sets the occupancy.
template <typename... Parameters>
Case occupied_stream(const char* name, void (*kernel)(double*, Parameters...), int arrays,
                     int threads) {
  return {"stream",
          std::string(name) + "_2x" + std::to_string(threads),
          "byte",
          [=](double n) { return 8.0 * arrays * n; },
          {1L << 24},
          [=](Bench& bench, long n) -> std::function<void()> {
            double* arrays_of[3] = {};
            for (int i = 0; i < arrays + (arrays == 1 ? 1 : 0); ++i) {
              arrays_of[i] = bench.allocate<double>(n);
            }
            int shared = 0;  // more than a third of the SM's
            check(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0),
                  "attribute");
            shared = shared / 2 - 2048;
            const dim3 grid((n + threads - 1) / threads);
            return [=, &bench] {
              if constexpr (sizeof...(Parameters) == 1) {
                bench.launch(kernel, grid, threads, shared, arrays_of[0], n);
              } else if constexpr (sizeof...(Parameters) == 2) {
                bench.launch(kernel, grid, threads, shared, arrays_of[0],
                             const_cast<const double*>(arrays_of[1]), n);
              } else {
                bench.launch(kernel, grid, threads, shared, arrays_of[0],
                             const_cast<const double*>(arrays_of[1]),
                             const_cast<const double*>(arrays_of[2]), n);
              }
            };
          }};
}

/// A stream of floats in blocks of 256 threads, each with `per_thread` of them.
template <typename Launch>
Case stream(const char* name, int arrays, Launch launch) {
  return {"stream",
          name,
          "byte",
          [=](double n) { return 4.0 * arrays * n; },
          {1L << 22, 1L << 26},
          [=](Bench& bench, long n) -> std::function<void()> {
            float* a = bench.allocate<float>(n);
            float* b = bench.allocate<float>(n);
            float* c = arrays > 2 ? bench.allocate<float>(n) : nullptr;
            return [=, &bench] { launch(bench, a, b, c, n); };
          }};
}

template <typename T>
Case reduction(const char* name, void (*kernel)(const T*, float*, long), bool block_per_part) {
  return {"reduction",
          name,
          "byte",
          [](double n) { return 4.0 * n; },
          {1L << 22, 1L << 26},
          [=](Bench& bench, long n) -> std::function<void()> {
            // Without block_per_part a fixed number of blocks walks over the array.
            const long blocks = block_per_part ? (n + 255) / 256 : 1024;
            const float* in = bench.allocate<float>(n);
            float* parts = bench.allocate<float>(blocks);
            float* sum = bench.allocate<float>(1);
            return [=, &bench] {
              bench.launch(kernel, dim3(blocks), dim3(256), 0, reinterpret_cast<const T*>(in),
                           parts, n);
              bench.launch(reduce_strided, dim3(1), dim3(1024), 0, const_cast<const float*>(parts),
                           sum, blocks);
            };
          }};
}

/// A sum by atomics, one element a thread, in blocks of 1024.
template <typename T>
Case atomic_sum(const char* name, void (*kernel)(const T*, T*, long)) {
  return {"atomics",
          name,
          "byte",
          [](double n) { return 4.0 * n; },
          {1L << 20, 1L << 24},
          [=](Bench& bench, long n) -> std::function<void()> {
            const T* in = bench.allocate<T>(n);
            T* sum = bench.allocate<T>(1);
            return [=, &bench] {
              bench.launch(kernel, dim3((n + 1023) / 1024), dim3(1024), 0, in, sum, n);
            };
          }};
}

constexpr int kSoftmaxWidth = 1024;

Case softmax(const char* name, void (*kernel)(const float*, float*, int), int rows_per_block,
             int threads) {
  return {"softmax",
          name,
          "byte",
          [](double rows) { return 8.0 * kSoftmaxWidth * rows; },
          {4096, 65536},
          [=](Bench& bench, long rows) -> std::function<void()> {
            const float* in = bench.allocate<float>(rows * kSoftmaxWidth);
            float* out = bench.allocate<float>(rows * kSoftmaxWidth);
            return [=, &bench] {
              bench.launch(kernel, dim3(rows / rows_per_block), dim3(threads), 0, in, out,
                           kSoftmaxWidth);
            };
          }};
}

Case transpose(const char* name, void (*kernel)(const float*, float*, int), dim3 block) {
  return {"transpose",
          name,
          "byte",
          [](double n) { return 8.0 * n * n; },
          {1024, 4096},
          [=](Bench& bench, long n) -> std::function<void()> {
            const float* in = bench.allocate<float>(n * n);
            float* out = bench.allocate<float>(n * n);
            const unsigned edge = block.y == 8 ? 32 : block.x;
            return [=, &bench] {
              bench.launch(kernel, dim3(n / edge, n / edge), block, 0, in, out,
                           static_cast<int>(n));
            };
          }};
}

/// Batch x heads of the attention cases.
constexpr int kHeads = 192;

double attention_work(double length) { return 4.0 * kHeads * length * length * kHeadSize; }

Case three_step_attention() {
  return {"attention",
          "attention_three_steps",
          "flop",
          attention_work,
          {64, 512, 1024},
          [](Bench& bench, long length) -> std::function<void()> {
            const long elements = kHeads * length * kHeadSize;
            const float* q = bench.allocate<float>(elements);
            const float* k = bench.allocate<float>(elements);
            const float* v = bench.allocate<float>(elements);
            float* scores = bench.allocate<float>(kHeads * length * length);
            float* out = bench.allocate<float>(elements);
            const int n = static_cast<int>(length);
            return [=, &bench] {
              bench.launch(attention_scores, dim3(n / 16, n / 16, kHeads), dim3(16, 16), 0, q, k,
                           scores, n);
              bench.launch(attention_softmax, dim3(kHeads * n), dim3(256), 0, scores, n);
              bench.launch(attention_values, dim3(kHeadSize / 16, n / 16, kHeads), dim3(16, 16), 0,
                           const_cast<const float*>(scores), v, out, n);
            };
          }};
}

Case flash_attention(const char* name, bool warps) {
  return {"attention",
          name,
          "flop",
          attention_work,
          {64, 512, 1024},
          [=](Bench& bench, long length) -> std::function<void()> {
            const long elements = kHeads * length * kHeadSize;
            const float* q = bench.allocate<float>(elements);
            const float* k = bench.allocate<float>(elements);
            const float* v = bench.allocate<float>(elements);
            float* out = bench.allocate<float>(elements);
            float* sums = bench.allocate<float>(kHeads * length);
            float* maxima = bench.allocate<float>(kHeads * length);
            const int n = static_cast<int>(length);
            const int shared = (3 * 32 * kHeadSize + 32 * 32) * 4;
            return [=, &bench] {
              if (warps) {
                bench.launch(attention_flash_warps, dim3(n / 8, kHeads), dim3(256), 0, q, k, v, out,
                             n);
              } else {
                bench.launch(attention_flash_rows, dim3(kHeads), dim3(32), shared, q, k, v, sums,
                             maxima, out, n, kHeadSize);
              }
            };
          }};
}

Case layer_norm_rows() {
  return {"layer_norm",
          "layer_norm_block",
          "byte",
          [](double rows) { return 8.0 * 1024 * rows; },
          {4096, 65536},
          [](Bench& bench, long rows) -> std::function<void()> {
            const float* in = bench.allocate<float>(rows * 1024);
            const float* weight = bench.allocate<float>(1024);
            float* out = bench.allocate<float>(rows * 1024);
            return [=, &bench] {
              bench.launch(layer_norm, dim3(rows), dim3(256), 0, in, weight, out, 1024);
            };
          }};
}

/// C = A B of bf16 (sums in fp32) or fp32 by cuBLAS.
void blas_product(Bench& bench, bool half, long m, long n, long k, const void* a, const void* b,
                  void* c) {
  const float one = 1;
  const float zero = 0;
  const cudaDataType type = half ? CUDA_R_16BF : CUDA_R_32F;
  const int rows = static_cast<int>(n);  // cuBLAS counts by columns: B first
  if (cublasGemmEx(bench.blas(), CUBLAS_OP_N, CUBLAS_OP_N, rows, static_cast<int>(m),
                   static_cast<int>(k), &one, b, type, rows, a, type, static_cast<int>(k), &zero, c,
                   type, rows, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) != CUBLAS_STATUS_SUCCESS) {
    std::fprintf(stderr, "validate_kernels: cuBLAS failed\n");
    std::exit(1);
  }
  ++bench.launches;
}

Case library_product(const char* name, bool half) {
  return {"library",
          name,
          "flop",
          cube,
          {1024, 4096, 8192},
          [=](Bench& bench, long n) -> std::function<void()> {
            const long bytes = n * n * (half ? 2 : 4);
            char* a = bench.allocate<char>(bytes);
            char* b = bench.allocate<char>(bytes);
            char* c = bench.allocate<char>(bytes);
            return [=, &bench] { blas_product(bench, half, n, n, n, a, b, c); };
          }};
}

__global__ void relu_times(const __nv_bfloat162* gate, __nv_bfloat162* up, long pairs) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i >= pairs) return;
  const float2 g = __bfloat1622float2(gate[i]);
  const float2 u = __bfloat1622float2(up[i]);
  up[i] = __floats2bfloat162_rn(fmaxf(g.x, 0.0F) * u.x, fmaxf(g.y, 0.0F) * u.y);
}

/// Two products of [batch, 4096] and [4096, 8192], relu of one times the other, a product back;
/// bf16.
Case gated_mlp() {
  return {"library",
          "gated_mlp",
          "byte",
          [](double batch) { return 2.0 * (3.0 * 4096 * 8192 + batch * (2 * 4096 + 3 * 8192)); },
          {32},
          [](Bench& bench, long batch) -> std::function<void()> {
            constexpr long kModel = 4096;
            constexpr long kHidden = 8192;
            auto* x = bench.allocate<__nv_bfloat16>(batch * kModel);
            auto* weights = bench.allocate<__nv_bfloat16>(3 * kModel * kHidden);
            auto* gate = bench.allocate<__nv_bfloat16>(batch * kHidden);
            auto* up = bench.allocate<__nv_bfloat16>(batch * kHidden);
            auto* out = bench.allocate<__nv_bfloat16>(batch * kModel);
            const long pairs = batch * kHidden / 2;
            return [=, &bench] {
              blas_product(bench, true, batch, kHidden, kModel, x, weights, gate);
              blas_product(bench, true, batch, kHidden, kModel, x, weights + kModel * kHidden, up);
              bench.launch(relu_times, dim3((pairs + 255) / 256), dim3(256), 0,
                           reinterpret_cast<const __nv_bfloat162*>(gate),
                           reinterpret_cast<__nv_bfloat162*>(up), pairs);
              blas_product(bench, true, batch, kModel, kHidden, up, weights + 2 * kModel * kHidden,
                           out);
            };
          }};
}

/// `count` numbers below `limit` that look random, the same in every run. From the host: what a
/// sampled launch writes is not all there.
unsigned* numbers(Bench& bench, long count, long limit) {
  std::vector<unsigned> values(count);
  unsigned state = 1;
  for (unsigned& value : values) {
    state = state * 1664525U + 1013904223U;
    value = (state >> 8) % static_cast<unsigned>(limit);
  }
  unsigned* made = bench.allocate<unsigned>(count);
  check(cudaMemcpy(made, values.data(), count * sizeof(unsigned), cudaMemcpyHostToDevice), "copy");
  return made;
}

std::vector<Case> uneven_cases() {
  const auto bytes = [](double n) { return 4 * n; };
  return {
      {"uneven",
       "attention_causal",
       "flop",
       [](double length) { return attention_work(length) / 2; },
       {512, 1024},
       [](Bench& bench, long length) -> std::function<void()> {
         const long elements = kHeads * length * kHeadSize;
         const float* q = bench.allocate<float>(elements);
         const float* k = bench.allocate<float>(elements);
         const float* v = bench.allocate<float>(elements);
         float* out = bench.allocate<float>(elements);
         return [=, &bench] {
           bench.launch(attention_causal_warps, dim3(length / 8, kHeads), dim3(256), 0, q, k, v,
                        out, static_cast<int>(length));
         };
       }},
      {"uneven",
       "ragged_rows",
       "byte",
       [](double rows) { return 4 * 512 * rows; },
       {4096, 65536},
       [](Bench& bench, long rows) -> std::function<void()> {
         const float* in = bench.allocate<float>(rows * 1024);
         const unsigned* lengths = numbers(bench, rows, 1024);
         float* sums = bench.allocate<float>(rows);
         return [=, &bench] {
           bench.launch(ragged_row_sums, dim3(rows / 8), dim3(256), 0, in, lengths, sums, 1024L);
         };
       }},
      {"atomics",
       "histogram_globally",
       "byte",
       [](double n) { return n; },
       {1L << 22, 1L << 24},
       [](Bench& bench, long n) -> std::function<void()> {
         const unsigned* numbers_in = numbers(bench, n, 256);
         unsigned* bins = bench.allocate<unsigned>(256);
         return [=, &bench] {
           bench.launch(histogram_globally, dim3(1024), dim3(512), 0, numbers_in, bins, n);
         };
       }},
      {"uneven",
       "histogram",
       "byte",
       bytes,
       {1L << 22, 1L << 24},
       [](Bench& bench, long n) -> std::function<void()> {
         const unsigned* values = numbers(bench, n, 256);
         unsigned* counts = bench.allocate<unsigned>(n / 16);
         return [=, &bench] {
           bench.launch(block_histogram, dim3(n / 4096), dim3(256), 0, values, counts);
         };
       }},
      {"uneven",
       "gather",
       "byte",
       bytes,
       {1L << 22, 1L << 24},
       [](Bench& bench, long n) -> std::function<void()> {
         const unsigned* places = numbers(bench, n, n);
         const float* from = bench.allocate<float>(n);
         float* to = bench.allocate<float>(n);
         return
             [=, &bench] { bench.launch(gather, dim3(n / 256), dim3(256), 0, places, from, to); };
       }},
  };
}

std::vector<Case> all_cases() {
  std::vector<Case> cases = {
      gemm("gemm_uncoalesced", gemm_uncoalesced, 32, 32, {32, 32}, true),
      gemm("gemm_coalesced", gemm_coalesced, 32, 32, {32, 32}),
      gemm("gemm_coalesced_16", gemm_coalesced, 16, 16, {16, 16}),
      gemm("gemm_tiled_16", gemm_tiled<16>, 16, 16, {16, 16}),
      gemm("gemm_tiled_32", gemm_tiled<32>, 32, 32, {32, 32}),
      gemm("gemm_two_by_two", gemm_two_by_two, 32, 32, {16, 16}),
      gemm("gemm_registers_8x1", gemm_registers<64, 64, 8, 8, 1>, 64, 64, {512}),
      gemm("gemm_registers_8x8", gemm_registers<128, 128, 8, 8, 8>, 128, 128, {256}),
      gemm("gemm_registers_8x8_k16", gemm_registers<128, 128, 16, 8, 8>, 128, 128, {256}),
      gemm("gemm_vectors", gemm_vectors<8>, 128, 128, {256}),
      gemm("gemm_vectors_k16", gemm_vectors<16>, 128, 128, {256}),
  };
  for (const int threads : {32, 64, 128, 256, 512, 1024}) {
    cases.push_back(occupied_stream("fill", stream_fill<double>, 1, threads));
    cases.push_back(occupied_stream("read", stream_read<double>, 1, threads));
    cases.push_back(occupied_stream("scale", stream_scale<double>, 2, threads));
    cases.push_back(occupied_stream("triad", stream_triad<double>, 3, threads));
  }
  const auto blocks = [](long threads) { return dim3((threads + 255) / 256); };
  const std::vector<Case> rest = {
      stream("stream_copy", 2,
             [=](Bench& bench, float* a, const float* b, const float*, long n) {
               bench.launch(stream_copy<float>, blocks(n), 256, 0, a, b, n);
             }),
      stream("stream_scale", 2,
             [=](Bench& bench, float* a, const float* b, const float*, long n) {
               bench.launch(stream_scale<float>, blocks(n), 256, 0, a, b, n);
             }),
      stream("stream_add", 3,
             [=](Bench& bench, float* a, const float* b, const float* c, long n) {
               bench.launch(stream_add<float>, blocks(n), 256, 0, a, b, c, n);
             }),
      stream("stream_triad", 3,
             [=](Bench& bench, float* a, const float* b, const float* c, long n) {
               bench.launch(stream_triad<float>, blocks(n), 256, 0, a, b, c, n);
             }),
      stream("stream_scale_vectors", 2,
             [=](Bench& bench, float* a, const float* b, const float*, long n) {
               bench.launch(stream_scale_vectors, blocks(n / 4), 256, 0,
                            reinterpret_cast<float4*>(a), reinterpret_cast<const float4*>(b), n);
             }),
      stream("stream_fill_vectors", 1,
             [=](Bench& bench, float* a, const float*, const float*, long n) {
               bench.launch(stream_fill_vectors, blocks(n / 4), 256, 0,
                            reinterpret_cast<float4*>(a), n);
             }),
      reduction<float>("reduce_interleaved", reduce_interleaved, true),
      reduction<float>("reduce_sequential", reduce_sequential, true),
      reduction<float>("reduce_strided", reduce_strided, false),
      reduction<float4>("reduce_vectors", reduce_vectors, false),
      atomic_sum<float>("sum_atomically", sum_atomically<float>),
      atomic_sum<int>("sum_atomically_int", sum_atomically<int>),
      atomic_sum<float>("sum_of_blocks", sum_of_blocks<float>),
      atomic_sum<int>("sum_of_blocks_int", sum_of_blocks<int>),
      softmax("softmax_thread", softmax_thread, 256, 256),
      softmax("softmax_warp", softmax_warp, 8, 256),
      layer_norm_rows(),
      transpose("transpose_naive", transpose_naive, {32, 32}),
      transpose("transpose_naive_16", transpose_naive, {16, 16}),
      transpose("transpose_tiled", transpose_tiled<0>, {32, 8}),
      transpose("transpose_padded", transpose_tiled<1>, {32, 8}),
      three_step_attention(),
      flash_attention("attention_flash_rows", false),
      flash_attention("attention_flash_warps", true),
      library_product("cublas_sgemm", false),
      library_product("cublas_bf16", true),
      gated_mlp(),
  };
  cases.insert(cases.end(), rest.begin(), rest.end());
  for (Case& one : uneven_cases()) cases.push_back(std::move(one));
  return cases;
}

}  // namespace
}  // namespace validate
