#include "attention.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "toolkit/vectors.h"

// BEGIN SOLUTION
// STARTER: // Your kernels go here: scores and their softmax never leave the chip.
namespace {

using rooflab::kVectorSize;

constexpr int kMostHeadDim = 256;
constexpr int kPerLane = kMostHeadDim / kWarpSize;  // elements of one head that a lane holds
constexpr int kChunk = kWarpSize;                   // keys that a warp takes at a time

// Which element of a head is the e-th of `lane`: lanes hold whole vectors, side by side, so that
// the loads of a warp are coalesced.
template <typename T>
__device__ int element(int lane, int e) {
  constexpr int kVector = kVectorSize<T>;
  return (e / kVector * kWarpSize + lane) * kVector + e % kVector;
}

// This lane's part of the head at `head`. Lanes that have none load the head's beginning, which
// counts for nothing: where no branch is in the way, the loads of several keys go on at once.
template <typename T>
__device__ void load_part(const T* head, int head_dim, int lane, float (&part)[kPerLane]) {
  constexpr int kVector = kVectorSize<T>;
#pragma unroll
  for (int e = 0; e < kPerLane; e += kVector) {
    const int d = element<T>(lane, e);
    float vector[kVector];
    rooflab::load_vector(head + (d < head_dim ? d : 0), vector);
#pragma unroll
    for (int j = 0; j < kVector; ++j) part[e + j] = vector[j];
  }
}

// What a warp knows of one query head after the keys it has seen, with weights exp(score -
// maximum).
struct Row {
  float maximum = -INFINITY;
  float weights = 0.0f;         // this lane's part of the sum of the weights
  float values[kPerLane] = {};  // this lane's part of the weighted sum of the values
};

// Where the keys lie that a query sees: the i-th of `count`, at position first + i, in slot
// (first + i) % capacity.
struct VisibleKeys {
  int count;
  int first_slot;
  int capacity;

  __device__ VisibleKeys(int position, const AttentionShape& shape) : capacity(shape.capacity) {
    const int first = shape.window > 0 ? max(0, position - shape.window + 1) : 0;
    count = position - first + 1;
    first_slot = first % capacity;
  }
  // They all fit into the ring, so they go round its end at most once.
  __device__ size_t slot(int i) const {
    const int slot = first_slot + i;
    return slot < capacity ? slot : slot - capacity;
  }
};

// Takes keys `begin` ... `begin + size - 1`, at most kChunk, into the rows of kHeads query heads.
template <typename T, int kHeads>
__device__ void attend(const float (&q)[kHeads][kPerLane], const T* keys, const T* values,
                       const VisibleKeys& visible, int begin, int size, int head_dim, int lane,
                       Row (&rows)[kHeads]) {
  // Scores. All lanes work on one key, and lane i keeps what comes of key i.
  float scores[kHeads];
  for (float& score : scores) score = -INFINITY;
#pragma unroll 4  // several keys under way at once hide the latency of their loads
  for (int i = 0; i < size; ++i) {
    float key[kPerLane];
    load_part(keys + visible.slot(begin + i) * head_dim, head_dim, lane, key);
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      float dot = 0.0f;
#pragma unroll
      for (int e = 0; e < kPerLane; ++e) dot += q[h][e] * key[e];
      dot = warp_sum(dot);
      if (lane == i) scores[h] = dot;
    }
  }

  // Softmax. A larger maximum than before makes all weights so far smaller.
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    Row& row = rows[h];
    const float maximum = fmaxf(row.maximum, warp_max(scores[h]));
    const float rescale = expf(row.maximum - maximum);
    scores[h] = expf(scores[h] - maximum);  // now a weight; 0 in lanes without a key
    row.maximum = maximum;
    row.weights = row.weights * rescale + scores[h];
#pragma unroll
    for (float& value : row.values) value *= rescale;
  }

  // Values. Lane i tells the others the weight of key i.
#pragma unroll 4
  for (int i = 0; i < size; ++i) {
    float value[kPerLane];
    load_part(values + visible.slot(begin + i) * head_dim, head_dim, lane, value);
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      const float weight = __shfl_sync(kAllLanes, scores[h], i);
#pragma unroll
      for (int e = 0; e < kPerLane; ++e) rows[h].values[e] += weight * value[e];
    }
  }
}

// Puts together what the kWarps warps of a query found for one head, and writes it to `out`, unless
// that is null. All warps of the block come here together.
template <typename T, int kQueries, int kWarps>
__device__ void combine(const Row& row, T* out, int head_dim) {
  __shared__ float all_maxima[kQueries][kWarps];
  __shared__ float all_weights[kQueries][kWarps];
  __shared__ float all_values[kQueries][kWarps][kPerLane][kWarpSize];
  auto& maxima = all_maxima[threadIdx.z];
  auto& weights = all_weights[threadIdx.z];
  auto& values = all_values[threadIdx.z];
  const int warp = threadIdx.y;
  const int lane = threadIdx.x;

  if (lane == 0) maxima[warp] = row.maximum;
  __syncthreads();  // all maxima are there
  const float maximum = warp_max(lane < kWarps ? maxima[lane] : -INFINITY);
  const float rescale = expf(row.maximum - maximum);  // 0 for a warp that saw no key
  const float weight = warp_sum(row.weights) * rescale;
  if (lane == 0) weights[warp] = weight;
#pragma unroll
  for (int e = 0; e < kPerLane; ++e) values[warp][e][lane] = row.values[e] * rescale;
  __syncthreads();  // all sums are there

  const float weight_sum = warp_sum(lane < kWarps ? weights[lane] : 0.0f);
  for (int e = warp; e < kPerLane; e += kWarps) {
    float sum = 0.0f;
    for (int other = 0; other < kWarps; ++other) sum += values[other][e][lane];
    const int d = element<T>(lane, e);
    if (out != nullptr && d < head_dim) out[d] = rooflab::from_float<T>(sum / weight_sum);
  }
  __syncthreads();  // nobody needs the arrays any more
}

// A block computes kQueries neighbouring queries of kHeads heads that share a key/value head: what
// a warp loads of a key serves all of its heads, and the warps of neighbouring queries find it in
// L1. Each query has kWarps warps, which take turns at chunks of its keys. A block is (kWarpSize,
// kWarps, kQueries) threads.
template <typename T, int kHeads, int kQueries, int kWarps>
__global__ void __launch_bounds__(kWarpSize* kWarps* kQueries)
    attention_kernel(const T* q, const T* keys, const T* values, const int* positions, T* out,
                     AttentionShape shape) {
  const int lane = threadIdx.x;
  const int warp = threadIdx.y;
  // A query sees the keys up to its own position. Half of a block's queries come from the front of
  // the text and half from its back, so that all blocks have about as much to do.
  constexpr int kPairs = (kQueries + 1) / 2;
  const int middle = (shape.query_length + 1) / 2;
  const int pair = blockIdx.x * kPairs + threadIdx.z % kPairs;
  const bool is_front = threadIdx.z < kPairs;
  const int query = is_front ? pair : shape.query_length - 1 - pair;
  const bool is_query = is_front ? query < middle : query >= middle;
  const int first_head = blockIdx.y * kHeads;
  const int batch = blockIdx.z;

  const int group = shape.query_heads / shape.key_value_heads;
  const size_t cache_head = static_cast<size_t>(batch) * shape.key_value_heads + first_head / group;
  const size_t cache = cache_head * shape.capacity * shape.head_dim;
  const size_t token = static_cast<size_t>(batch) * shape.query_length + query;
  const size_t first = (token * shape.query_heads + first_head) * shape.head_dim;  // of q and out

  Row rows[kHeads];
  if (is_query) {
    float q_part[kHeads][kPerLane];
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      load_part(q + first + h * shape.head_dim, shape.head_dim, lane, q_part[h]);
      // Zeros, so that lanes without a part add nothing to a dot product.
#pragma unroll
      for (int e = 0; e < kPerLane; ++e) {
        q_part[h][e] *= element<T>(lane, e) < shape.head_dim ? shape.scale : 0.0f;
      }
    }
    const VisibleKeys visible(positions[query], shape);
    for (int begin = warp * kChunk; begin < visible.count; begin += kWarps * kChunk) {
      const int size = min(kChunk, visible.count - begin);
      attend(q_part, keys + cache, values + cache, visible, begin, size, shape.head_dim, lane,
             rows);
    }
  }
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    T* head = is_query ? out + first + h * shape.head_dim : nullptr;
    combine<T, kQueries, kWarps>(rows[h], head, shape.head_dim);
  }
}

template <int kHeads, int kQueries, int kWarps, typename T>
void launch(const T* q, const T* keys, const T* values, const int* positions, T* out,
            const AttentionShape& shape, cudaStream_t stream) {
  const int pairs = (shape.query_length + 1) / 2;
  const int pairs_of_block = (kQueries + 1) / 2;
  const dim3 grid((pairs + pairs_of_block - 1) / pairs_of_block, shape.query_heads / kHeads,
                  shape.batch);
  const dim3 block(kWarpSize, kWarps, kQueries);
  attention_kernel<T, kHeads, kQueries, kWarps>
      <<<grid, block, 0, stream>>>(q, keys, values, positions, out, shape);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace
// END SOLUTION

template <typename T>
void attention(const T* q, const T* keys, const T* values, const int* positions, T* out,
               const AttentionShape& shape, cudaStream_t stream) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("let one block compute one query of one head: scores, softmax, weighted sum");
  // Decode has one query for each sequence and head: its keys are split over as many warps as a
  // block can have. Prefill has enough queries to fill the GPU, and gains from sharing what it
  // loads.
  const int group = shape.query_heads / shape.key_value_heads;
  if (shape.query_length == 1) {
    launch<1, 1, 32>(q, keys, values, positions, out, shape, stream);
  } else if (group % 4 == 0) {
    launch<4, 4, 2>(q, keys, values, positions, out, shape, stream);
  } else if (group % 2 == 0) {
    launch<2, 4, 2>(q, keys, values, positions, out, shape, stream);
  } else {
    launch<1, 4, 2>(q, keys, values, positions, out, shape, stream);
  }
  // END SOLUTION
}

template void attention(const float*, const float*, const float*, const int*, float*,
                        const AttentionShape&, cudaStream_t);
template void attention(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                        const int*, __nv_bfloat16*, const AttentionShape&, cudaStream_t);
