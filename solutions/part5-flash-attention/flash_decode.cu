#include "flash_decode.h"

#include "common.cuh"
#include "tiles.cuh"
#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "toolkit/vectors.h"
#include "warp.h"

// BEGIN SOLUTION
// STARTER: // Your two kernels go here: one for the parts of the keys, one that combines their results.
namespace {

constexpr int kThreads = 256;
constexpr int kChunk = 4;  // keys that a thread has under way, to hide the latency of their loads

// A key or value is read by a team of lanes of a warp, 16 bytes by each lane, so that the warp's
// loads are coalesced. Where a row is longer than a warp's load, each lane has kVectors of them.
template <typename T, int kHeadDim>
struct Team {
  static constexpr int kWidth = rooflab::kVectorSize<T>;
  static constexpr int kLanes = kHeadDim / kWidth < 32 ? kHeadDim / kWidth : 32;
  static constexpr int kElements = kHeadDim / kLanes;  // of a row, that a lane has
  static constexpr int kTeams = kThreads / kLanes;     // in a block

  // Which element of a row is the e-th of the team's `lane`.
  __device__ static int element(int lane, int e) {
    return (e / kWidth * kLanes + lane) * kWidth + e % kWidth;
  }

  // This lane's part of the row at `row`.
  __device__ static void load(const T* row, int lane, float (&part)[kElements]) {
#pragma unroll
    for (int e = 0; e < kElements; e += kWidth) {
      float vector[kWidth];
      rooflab::load_vector(row + element(lane, e), vector);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) part[e + j] = vector[j];
    }
  }
};

// What a team knows of one query head after the keys it has seen. Scores are times log2(e), which
// makes exp2 of them the weights.
template <int kElements>
struct State {
  float maximum = -INFINITY;
  float sum = 0.0f;              // of the weights
  float values[kElements] = {};  // this lane's part of the weighted sum of the values
};

// Takes the keys `begin` ... `begin + kChunk - 1`, as far as they lie before `end`, into the states
// of kHeads query heads.
template <typename T, int kHeadDim, int kHeads>
__device__ void attend(const float (&q)[kHeads][Team<T, kHeadDim>::kElements], const T* k,
                       const T* v, int begin, int end, int lane,
                       State<Team<T, kHeadDim>::kElements> (&states)[kHeads]) {
  using Own = Team<T, kHeadDim>;
  float scores[kHeads][kChunk];
#pragma unroll
  for (int i = 0; i < kChunk; ++i) {
    const int index = min(begin + i, end - 1);  // no branch, so that all loads can start at once
    float key[Own::kElements];
    Own::load(k + static_cast<size_t>(index) * kHeadDim, lane, key);
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      float dot = 0.0f;
#pragma unroll
      for (int e = 0; e < Own::kElements; ++e) dot += q[h][e] * key[e];
      dot = warp_sum<Own::kLanes>(dot);
      scores[h][i] = begin + i < end ? dot : -INFINITY;
    }
  }

#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    State<Own::kElements>& state = states[h];
    float maximum = state.maximum;
#pragma unroll
    for (const float score : scores[h]) maximum = fmaxf(maximum, score);
    const float base = finite_or_zero(maximum);
    const float rescale = exp2f(state.maximum - base);
    state.maximum = maximum;
    state.sum *= rescale;
#pragma unroll
    for (float& value : state.values) value *= rescale;
#pragma unroll
    for (float& score : scores[h]) {
      score = exp2f(score - base);  // now a weight; 0 behind the last key
      state.sum += score;
    }
  }

#pragma unroll
  for (int i = 0; i < kChunk; ++i) {
    const int index = min(begin + i, end - 1);
    float value[Own::kElements];
    Own::load(v + static_cast<size_t>(index) * kHeadDim, lane, value);
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
#pragma unroll
      for (int e = 0; e < Own::kElements; ++e) states[h].values[e] += scores[h][i] * value[e];
    }
  }
}

// Results that are still to be combined: for each of them a maximum, a sum and kHeadDim values.
struct Results {
  float* maximum;
  float* sum;
  float* values;
};

// What `count` results, from `first` on, give together: the maximum, and the sum and element d of
// the values for it. Whole warps call together.
struct Combined {
  float maximum = -INFINITY;
  float sum = 0.0f;
  float value = 0.0f;
};
template <int kHeadDim>
__device__ Combined combine(const Results& results, size_t first, int count, int d) {
  Combined all;
  for (int i = threadIdx.x % 32; i < count; i += 32) {
    all.maximum = fmaxf(all.maximum, results.maximum[first + i]);
  }
  all.maximum = warp_max(all.maximum);
  const float base = finite_or_zero(all.maximum);
#pragma unroll 16
  for (int i = 0; i < count; ++i) {
    const float weight = exp2f(results.maximum[first + i] - base);  // 0 without keys
    all.sum += weight * results.sum[first + i];
    all.value += weight * results.values[(first + i) * kHeadDim + d];
  }
  return all;
}

// Combines the states of the block's teams and stores the results as part `split` of `splits` of
// the query heads from first_row on.
template <typename T, int kHeadDim, int kHeads>
__device__ void store_parts(const State<Team<T, kHeadDim>::kElements> (&states)[kHeads],
                            size_t first_row, int split, int splits, const Results& parts) {
  using Own = Team<T, kHeadDim>;
  __shared__ float maxima[kHeads * Own::kTeams];
  __shared__ float sums[kHeads * Own::kTeams];
  __shared__ float values[kHeads * Own::kTeams * kHeadDim];
  const int lane = threadIdx.x % Own::kLanes;
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    const int own = h * Own::kTeams + threadIdx.x / Own::kLanes;
    if (lane == 0) maxima[own] = states[h].maximum;
    if (lane == 0) sums[own] = states[h].sum;
#pragma unroll
    for (int e = 0; e < Own::kElements; ++e) {
      values[own * kHeadDim + Own::element(lane, e)] = states[h].values[e];
    }
  }
  __syncthreads();  // the states of all teams are there
  for (int i = threadIdx.x; i < kHeads * kHeadDim; i += kThreads) {
    const int h = i / kHeadDim;
    const int d = i % kHeadDim;
    const Combined all = combine<kHeadDim>({maxima, sums, values}, h * Own::kTeams, Own::kTeams, d);
    const size_t part = (first_row + h) * splits + split;
    parts.values[part * kHeadDim + d] = all.value;
    if (d == 0) parts.maximum[part] = all.maximum;
    if (d == 0) parts.sum[part] = all.sum;
  }
}

// A block takes one part of the keys for kHeads query heads that share a key/value head: what a
// team loads of a key serves all of them. Its teams take chunks of the keys in turn.
template <typename T, int kHeadDim, int kHeads>
__global__ void __launch_bounds__(kThreads, 2)  // two blocks on a multiprocessor
    decode_part_kernel(const T* q, const T* k, const T* v, Results parts, AttentionShape shape) {
  using Own = Team<T, kHeadDim>;
  const int lane = threadIdx.x % Own::kLanes;
  const int team = threadIdx.x / Own::kLanes;
  const int split = blockIdx.x;
  const int splits = gridDim.x;
  const int first_head = blockIdx.y * kHeads;
  const int batch = blockIdx.z;
  const size_t first_row = static_cast<size_t>(batch) * shape.query_heads + first_head;
  const size_t key_head = static_cast<size_t>(batch) * shape.key_value_heads +
                          first_head / (shape.query_heads / shape.key_value_heads);
  const size_t keys_before = key_head * shape.key_length * kHeadDim;

  float q_part[kHeads][Own::kElements];
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    Own::load(q + (first_row + h) * kHeadDim, lane, q_part[h]);
    for (float& element : q_part[h]) element *= shape.scale * kLog2E;
  }

  // The newest token sees the last keys.
  const int first_key = first_visible(0, shape);
  const int keys_per_split = (shape.key_length - first_key + splits - 1) / splits;
  const int begin = first_key + split * keys_per_split;
  const int end = min(begin + keys_per_split, shape.key_length);
  State<Own::kElements> states[kHeads];
  // All lanes of a warp run the same number of iterations: they meet in shuffles.
  for (int chunk = begin; chunk < end; chunk += Own::kTeams * kChunk) {
    attend<T, kHeadDim>(q_part, k + keys_before, v + keys_before, chunk + team * kChunk, end, lane,
                        states);
  }
  store_parts<T, kHeadDim>(states, first_row, split, splits, parts);
}

// A block combines the parts of one query head, a thread for each element.
template <typename T, int kHeadDim>
__global__ void __launch_bounds__(kHeadDim) combine_kernel(Results parts, T* out, int splits) {
  const size_t row = blockIdx.x;  // of (batch, query_heads)
  const int d = threadIdx.x;
  const Combined all = combine<kHeadDim>(parts, row * splits, splits, d);
  out[row * kHeadDim + d] = rooflab::from_float<T>(all.value / all.sum);
}

}  // namespace
// END SOLUTION

template <typename T>
void flash_decode(const T* q, const T* k, const T* v, T* out, const AttentionShape& shape,
                  int splits, rooflab::Workspace& workspace, cudaStream_t stream) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("let a block take one part of the keys; store its maximum, sum and values");
  with_head_dim(shape.head_dim, [&]<int kHeadDim>(HeadDim<kHeadDim>) {
    rooflab::Workspace::Scope scope(workspace);
    const int rows = shape.batch * shape.query_heads;
    const size_t count = static_cast<size_t>(rows) * splits;
    const Results parts = {workspace.take<float>(count), workspace.take<float>(count),
                           workspace.take<float>(count * kHeadDim)};

    const int group = shape.query_heads / shape.key_value_heads;
    const int heads = group % 4 == 0 ? 4 : 1;  // of a block
    const auto kernel =
        heads == 4 ? decode_part_kernel<T, kHeadDim, 4> : decode_part_kernel<T, kHeadDim, 1>;
    const dim3 grid(splits, shape.query_heads / heads, shape.batch);
    kernel<<<grid, kThreads, 0, stream>>>(q, k, v, parts, shape);
    CUDA_CHECK(cudaGetLastError());
    combine_kernel<T, kHeadDim><<<rows, kHeadDim, 0, stream>>>(parts, out, splits);
    CUDA_CHECK(cudaGetLastError());
  });
  // END SOLUTION
}

template void flash_decode(const float*, const float*, const float*, float*, const AttentionShape&,
                           int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __half*, const __half*, const __half*, __half*,
                           const AttentionShape&, int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                           __nv_bfloat16*, const AttentionShape&, int, rooflab::Workspace&,
                           cudaStream_t);
