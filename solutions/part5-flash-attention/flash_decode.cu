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
constexpr int kKeys = 4;  // that a team has under way at once, to hide the latency of their loads

// A key or value is read by a team of lanes of a warp, 16 bytes by each lane, so that the warp's
// loads are coalesced. Where a row is longer than a warp's load, each lane has two of them.
template <typename T, int kHeadDim>
struct Team {
  static constexpr int kVector = rooflab::kVectorSize<T>;
  static constexpr int kLanes = kHeadDim < 32 * kVector ? kHeadDim / kVector : 32;
  static constexpr int kElements = kHeadDim / kLanes;  // of a row, that a lane has
  static constexpr int kTeams = kThreads / kLanes;     // in a block
  using Part = float[kElements];

  // Which element of a row is the e-th of this lane.
  __device__ static int element(int e) {
    return (e / kVector * kLanes + threadIdx.x % kLanes) * kVector + e % kVector;
  }
  // This lane's part of a row.
  __device__ static void load(const T* row, Part& part) {
    for (int e = 0; e < kElements; e += kVector) {
      float vector[kVector];
      rooflab::load_vector(row + element(e), vector);
      for (int i = 0; i < kVector; ++i) part[e + i] = vector[i];
    }
  }
  __device__ static float dot(const Part& a, const Part& b) {
    float sum = 0.0f;
    for (int e = 0; e < kElements; ++e) sum += a[e] * b[e];
    return warp_sum<kLanes>(sum);
  }
};

// What a team knows of one query head after the keys it has seen.
template <int kElements>
struct State {
  OnlineSoftmax softmax;
  float values[kElements] = {};  // this lane's part of the weighted sum of the values

  __device__ void add(const float (&scores)[kKeys], const float (&new_values)[kKeys][kElements]) {
    float largest = -INFINITY;
    for (const float score : scores) largest = fmaxf(largest, score);
    const float factor = softmax.raise_maximum(largest);
    for (float& value : values) value *= factor;
    for (int i = 0; i < kKeys; ++i) {
      const float weight = softmax.add(scores[i]);
      for (int e = 0; e < kElements; ++e) values[e] += weight * new_values[i][e];
    }
  }
};

// Takes keys `begin` to `begin + kKeys - 1`, as far as they lie before `end`, into the states of
// kHeads query heads: what a team loads of a key serves all of them.
template <typename T, int kHeadDim, int kHeads>
__device__ void attend(const float (&q)[kHeads][Team<T, kHeadDim>::kElements], const T* k,
                       const T* v, int begin, int end,
                       State<Team<T, kHeadDim>::kElements> (&states)[kHeads]) {
  using Own = Team<T, kHeadDim>;
  typename Own::Part keys[kKeys], values[kKeys];
  for (int i = 0; i < kKeys; ++i) {
    const size_t key = min(begin + i, end - 1);  // no branch, so that all loads can start at once
    Own::load(k + key * kHeadDim, keys[i]);
    Own::load(v + key * kHeadDim, values[i]);
  }
  for (int h = 0; h < kHeads; ++h) {
    float scores[kKeys];
    for (int i = 0; i < kKeys; ++i) {
      const float score = Own::dot(q[h], keys[i]);
      scores[i] = begin + i < end ? score : -INFINITY;
    }
    states[h].add(scores, values);
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

// Combines the states of the block's teams, and stores what comes of query head h as result
// first + h * stride.
template <typename T, int kHeadDim, int kHeads>
__device__ void store_parts(const State<Team<T, kHeadDim>::kElements> (&states)[kHeads],
                            size_t first, int stride, const Results& parts) {
  using Own = Team<T, kHeadDim>;
  __shared__ float maxima[kHeads * Own::kTeams], sums[kHeads * Own::kTeams];
  __shared__ float values[kHeads * Own::kTeams * kHeadDim];
  for (int h = 0; h < kHeads; ++h) {
    const int own = h * Own::kTeams + threadIdx.x / Own::kLanes;
    if (threadIdx.x % Own::kLanes == 0) {
      maxima[own] = states[h].softmax.maximum;
      sums[own] = states[h].softmax.sum;
    }
    for (int e = 0; e < Own::kElements; ++e) {
      values[own * kHeadDim + Own::element(e)] = states[h].values[e];
    }
  }
  __syncthreads();  // the states of all teams are there
  for (int i = threadIdx.x; i < kHeads * kHeadDim; i += kThreads) {
    const int h = i / kHeadDim, d = i % kHeadDim;
    const Combined all = combine<kHeadDim>({maxima, sums, values}, h * Own::kTeams, Own::kTeams, d);
    const size_t part = first + h * stride;
    parts.values[part * kHeadDim + d] = all.value;
    if (d == 0) parts.maximum[part] = all.maximum;
    if (d == 0) parts.sum[part] = all.sum;
  }
}

// A block takes one part of the keys for kHeads query heads that share a key/value head. Its teams
// take chunks of the keys in turn.
template <typename T, int kHeadDim, int kHeads>
__global__ void __launch_bounds__(kThreads, 2)  // two blocks on a multiprocessor
    decode_part_kernel(const T* q, const T* k, const T* v, Results parts, AttentionShape shape) {
  using Own = Team<T, kHeadDim>;
  const int split = blockIdx.x, splits = gridDim.x;
  const int head = blockIdx.y * kHeads;
  const int key_head = head / (shape.query_heads / shape.key_value_heads);
  const size_t row = static_cast<size_t>(blockIdx.z) * shape.query_heads + head;
  const size_t key_row = static_cast<size_t>(blockIdx.z) * shape.key_value_heads + key_head;
  k += key_row * shape.key_length * kHeadDim;
  v += key_row * shape.key_length * kHeadDim;

  typename Own::Part q_parts[kHeads];
  for (int h = 0; h < kHeads; ++h) {
    Own::load(q + (row + h) * kHeadDim, q_parts[h]);
    for (float& element : q_parts[h]) element *= shape.scale * kLog2E;
  }

  // The newest token sees the last keys.
  const int first_key = first_visible(0, shape);
  const int keys_per_split = (shape.key_length - first_key + splits - 1) / splits;
  const int begin = first_key + split * keys_per_split;
  const int end = min(begin + keys_per_split, shape.key_length);
  const int own_keys = threadIdx.x / Own::kLanes * kKeys;
  State<Own::kElements> states[kHeads];
  // All lanes of a warp run the same number of iterations: they meet in shuffles.
  for (int key = begin; key < end; key += Own::kTeams * kKeys) {
    attend<T, kHeadDim>(q_parts, k, v, key + own_keys, end, states);
  }
  store_parts<T, kHeadDim>(states, row * splits + split, splits, parts);
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
