#include "flash_decode.h"

#include <stdexcept>
#include <string>

#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "toolkit/vectors.h"

// BEGIN SOLUTION
// STARTER: // Your two kernels go here: one for the parts of the keys, one that combines their results.
namespace {

constexpr int kWarpSize = 32;
constexpr unsigned kAllLanes = 0xffffffff;
constexpr int kWarps = 8;  // of a block
constexpr int kThreads = kWarps * kWarpSize;
constexpr int kChunk =
    4;  // keys or parts that a thread has under way, to hide the latency of loads
constexpr float kLog2E = 1.4426950408889634f;  // log2(e)

// A key or value is read by a team of lanes of a warp, 16 bytes by each lane, so that the warp's
// loads are coalesced. Where a row is longer than a warp's load, each lane has kVectors of them.
template <typename T, int kHeadDim>
struct Team {
  static constexpr int kWidth = rooflab::kVectorSize<T>;
  static constexpr int kLanes = kHeadDim / kWidth < kWarpSize ? kHeadDim / kWidth : kWarpSize;
  static constexpr int kVectors = kHeadDim / kWidth / kLanes;
  static constexpr int kElements = kVectors * kWidth;  // of a head, that a lane holds
  static constexpr int kTeams = kThreads / kLanes;     // in a block

  // Which element of a head is the e-th of the team's `lane`.
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

// What a team, or a block, knows of one query head after the keys it has seen. Scores are times
// log2(e), which makes exp2 of them the weights.
template <int kElements>
struct State {
  float maximum = -INFINITY;
  float sum = 0.0f;              // of the weights
  float values[kElements] = {};  // this lane's part of the weighted sum of the values
};

// exp2(score - maximum), also where no key was seen yet and both are -inf.
__device__ float weight_of(float score, float maximum) {
  return maximum == -INFINITY ? 0.0f : exp2f(score - maximum);
}

// What both states saw.
template <int kElements>
__device__ void merge(State<kElements>& state, float maximum, float sum,
                      const float (&values)[kElements]) {
  const float larger = fmaxf(state.maximum, maximum);
  const float own = weight_of(state.maximum, larger);
  const float other = weight_of(maximum, larger);
  state.maximum = larger;
  state.sum = state.sum * own + sum * other;
#pragma unroll
  for (int e = 0; e < kElements; ++e) state.values[e] = state.values[e] * own + values[e] * other;
}

// Merges the states of all teams of a warp: all of them know the result.
template <int kLanes, int kElements>
__device__ void merge_teams(State<kElements>& state) {
#pragma unroll
  for (int distance = kLanes; distance < kWarpSize; distance *= 2) {
    const float maximum = __shfl_xor_sync(kAllLanes, state.maximum, distance);
    const float sum = __shfl_xor_sync(kAllLanes, state.sum, distance);
    float values[kElements];
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      values[e] = __shfl_xor_sync(kAllLanes, state.values[e], distance);
    }
    merge(state, maximum, sum, values);
  }
}

// The results of the parts, in fp32: (batch, query_heads, splits), and head_dim more of the values.
struct Parts {
  float* maximum;
  float* sum;
  float* values;
};

// Takes the keys `begin` ... `begin + kChunk - 1`, as far as they lie before `end`, into the states
// of kHeads query heads.
template <typename T, int kHeadDim, int kHeads>
__device__ void attend(const float (&q)[kHeads][Team<T, kHeadDim>::kElements], const T* k,
                       const T* v, int begin, int end, int lane,
                       State<Team<T, kHeadDim>::kElements> (&states)[kHeads]) {
  using Part = Team<T, kHeadDim>;
  float scores[kHeads][kChunk];
#pragma unroll
  for (int i = 0; i < kChunk; ++i) {
    const int index = min(begin + i, end - 1);  // no branch, so that all loads can start at once
    float key[Part::kElements];
    Part::load(k + static_cast<size_t>(index) * kHeadDim, lane, key);
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      float dot = 0.0f;
#pragma unroll
      for (int e = 0; e < Part::kElements; ++e) dot += q[h][e] * key[e];
#pragma unroll
      for (int distance = Part::kLanes / 2; distance > 0; distance /= 2) {
        dot += __shfl_xor_sync(kAllLanes, dot, distance);
      }
      scores[h][i] = begin + i < end ? dot : -INFINITY;
    }
  }

#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    State<Part::kElements>& state = states[h];
    float maximum = state.maximum;
#pragma unroll
    for (const float score : scores[h]) maximum = fmaxf(maximum, score);
    const float rescale = weight_of(state.maximum, maximum);
    state.maximum = maximum;
    state.sum *= rescale;
#pragma unroll
    for (float& value : state.values) value *= rescale;
#pragma unroll
    for (float& score : scores[h]) {
      score = weight_of(score, maximum);  // now a weight; 0 behind the last key
      state.sum += score;
    }
  }

#pragma unroll
  for (int i = 0; i < kChunk; ++i) {
    const int index = min(begin + i, end - 1);
    float value[Part::kElements];
    Part::load(v + static_cast<size_t>(index) * kHeadDim, lane, value);
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
#pragma unroll
      for (int e = 0; e < Part::kElements; ++e) states[h].values[e] += scores[h][i] * value[e];
    }
  }
}

// Merges the states of the block's warps and stores the result as part `part`.
template <typename T, int kHeadDim>
__device__ void store_part(const State<Team<T, kHeadDim>::kElements>& state, size_t part,
                           const Parts& parts) {
  using Own = Team<T, kHeadDim>;
  __shared__ float maxima[kWarps];
  __shared__ float sums[kWarps];
  __shared__ float values[kWarps][kHeadDim];
  const int warp = threadIdx.x / kWarpSize;
  const int lane = threadIdx.x % kWarpSize;
  if (lane < Own::kLanes) {  // the first team speaks for its warp
    if (lane == 0) maxima[warp] = state.maximum;
    if (lane == 0) sums[warp] = state.sum;
#pragma unroll
    for (int e = 0; e < Own::kElements; ++e) values[warp][Own::element(lane, e)] = state.values[e];
  }
  __syncthreads();  // the results of all warps are there

  float maximum = -INFINITY;
  for (const float of_warp : maxima) maximum = fmaxf(maximum, of_warp);
  for (int d = threadIdx.x; d < kHeadDim; d += kThreads) {
    float value = 0.0f;
    for (int w = 0; w < kWarps; ++w) value += weight_of(maxima[w], maximum) * values[w][d];
    parts.values[part * kHeadDim + d] = value;
  }
  if (threadIdx.x == 0) {
    float sum = 0.0f;
    for (int w = 0; w < kWarps; ++w) sum += weight_of(maxima[w], maximum) * sums[w];
    parts.maximum[part] = maximum;
    parts.sum[part] = sum;
  }
  __syncthreads();  // nobody needs the arrays any more
}

// A block takes one part of the keys for kHeads query heads that share a key/value head: what a
// team loads of a key serves all of them. Its teams take turns at chunks of the keys.
template <typename T, int kHeadDim, int kHeads>
__global__ void __launch_bounds__(kThreads, 2)  // two blocks on a multiprocessor
    decode_part_kernel(const T* q, const T* k, const T* v, Parts parts, AttentionShape shape) {
  using Part = Team<T, kHeadDim>;
  const int lane = threadIdx.x % Part::kLanes;
  const int team = threadIdx.x / Part::kLanes;
  const int split = blockIdx.x;
  const int splits = gridDim.x;
  const int first_head = blockIdx.y * kHeads;
  const int batch = blockIdx.z;
  const size_t first_row = static_cast<size_t>(batch) * shape.query_heads + first_head;
  const size_t key_head = static_cast<size_t>(batch) * shape.key_value_heads +
                          first_head / (shape.query_heads / shape.key_value_heads);
  const size_t keys_before = key_head * shape.key_length * kHeadDim;

  float q_part[kHeads][Part::kElements];
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    Part::load(q + (first_row + h) * kHeadDim, lane, q_part[h]);
    for (float& element : q_part[h]) element *= shape.scale * kLog2E;
  }

  // The newest token sees all keys or the last `window`.
  const bool has_window = shape.causal && shape.window > 0;
  const int first_key = has_window ? max(0, shape.key_length - shape.window) : 0;
  const int keys_per_split = (shape.key_length - first_key + splits - 1) / splits;
  const int begin = first_key + split * keys_per_split;
  const int end = min(begin + keys_per_split, shape.key_length);
  State<Part::kElements> states[kHeads];
  // All lanes of a warp go round equally often: they meet in shuffles.
  for (int chunk = begin; chunk < end; chunk += Part::kTeams * kChunk) {
    attend<T, kHeadDim>(q_part, k + keys_before, v + keys_before, chunk + team * kChunk, end, lane,
                        states);
  }
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    merge_teams<Part::kLanes>(states[h]);
    store_part<T, kHeadDim>(states[h], (first_row + h) * splits + split, parts);
  }
}

constexpr int kGroups = 4;  // of threads, which take turns at parts

// A block combines the parts of one query head. It is kHeadDim x kGroups threads; each has one
// element of the head.
template <typename T, int kHeadDim>
__global__ void __launch_bounds__(kHeadDim* kGroups)
    combine_kernel(Parts parts, T* out, int splits) {
  __shared__ float maxima[kGroups];
  __shared__ float sums[kGroups];
  __shared__ float values[kGroups][kHeadDim];
  const size_t row = blockIdx.x;  // of (batch, query_heads)
  const int d = threadIdx.x;
  const int group = threadIdx.y;

  float maximum = -INFINITY;
  float sum = 0.0f;
  float value = 0.0f;
  for (int begin = group; begin < splits; begin += kGroups * kChunk) {
    float part_maximum[kChunk], part_sum[kChunk], part_value[kChunk];
    float larger = maximum;
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      const int split = begin + i * kGroups;
      const size_t part = row * splits + min(split, splits - 1);
      part_maximum[i] = split < splits ? parts.maximum[part] : -INFINITY;
      part_sum[i] = parts.sum[part];
      part_value[i] = parts.values[part * kHeadDim + d];
      larger = fmaxf(larger, part_maximum[i]);
    }
    const float rescale = weight_of(maximum, larger);
    maximum = larger;
    sum *= rescale;
    value *= rescale;
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      const float weight = weight_of(part_maximum[i], maximum);
      sum += weight * part_sum[i];
      value += weight * part_value[i];
    }
  }
  if (d == 0) maxima[group] = maximum;
  if (d == 0) sums[group] = sum;
  values[group][d] = value;
  __syncthreads();  // the results of all groups are there
  if (group > 0) return;

  maximum = -INFINITY;
  for (const float of_group : maxima) maximum = fmaxf(maximum, of_group);
  sum = 0.0f;
  value = 0.0f;
  for (int g = 0; g < kGroups; ++g) {
    const float weight = weight_of(maxima[g], maximum);
    sum += weight * sums[g];
    value += weight * values[g][d];
  }
  out[row * kHeadDim + d] = rooflab::from_float<T>(value / sum);
}

template <int kHeadDim, typename T>
void launch(const T* q, const T* k, const T* v, T* out, const AttentionShape& shape, int splits,
            rooflab::Workspace& workspace, cudaStream_t stream) {
  rooflab::Workspace::Scope scope(workspace);
  const int rows = shape.batch * shape.query_heads;
  const size_t part_count = static_cast<size_t>(rows) * splits;
  const Parts parts = {workspace.take<float>(part_count), workspace.take<float>(part_count),
                       workspace.take<float>(part_count * kHeadDim)};

  const auto launch_parts = [&](auto kernel, int heads) {
    const dim3 grid(splits, shape.query_heads / heads, shape.batch);
    kernel<<<grid, kThreads, 0, stream>>>(q, k, v, parts, shape);
    CUDA_CHECK(cudaGetLastError());
  };
  const int group = shape.query_heads / shape.key_value_heads;
  if (group % 4 == 0) {
    launch_parts(decode_part_kernel<T, kHeadDim, 4>, 4);
  } else {
    launch_parts(decode_part_kernel<T, kHeadDim, 1>, 1);
  }
  combine_kernel<T, kHeadDim><<<rows, dim3(kHeadDim, kGroups), 0, stream>>>(parts, out, splits);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace
// END SOLUTION

template <typename T>
void flash_decode(const T* q, const T* k, const T* v, T* out, const AttentionShape& shape,
                  int splits, rooflab::Workspace& workspace, cudaStream_t stream) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("let a block take one part of the keys; store its maximum, sum and values");
  switch (shape.head_dim) {
    case 64:
      return launch<64>(q, k, v, out, shape, splits, workspace, stream);
    case 128:
      return launch<128>(q, k, v, out, shape, splits, workspace, stream);
    case 256:
      return launch<256>(q, k, v, out, shape, splits, workspace, stream);
    default:
      throw std::invalid_argument("head_dim is " + std::to_string(shape.head_dim) +
                                  ", and must be 64, 128 or 256");
  }
  // END SOLUTION
}

template void flash_decode(const float*, const float*, const float*, float*, const AttentionShape&,
                           int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __half*, const __half*, const __half*, __half*,
                           const AttentionShape&, int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                           __nv_bfloat16*, const AttentionShape&, int, rooflab::Workspace&,
                           cudaStream_t);
