#include "attention.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "toolkit/vectors.h"

// BEGIN SOLUTION
// STARTER: // Your kernels go here: scores and their softmax never leave the chip.
namespace {

constexpr int kPart = 8;  // elements of a head in each lane: 256 in a warp, the longest head
constexpr int kKeys = 2;  // that a warp has under way at once, to hide the latency of their loads
using Part = float[kPart];

// Which element of a head is the e-th of this lane's part. A warp loads vectors side by side.
template <typename T>
__device__ int element(int e) {
  constexpr int kVector = rooflab::kVectorSize<T>;
  return (e / kVector * kWarpSize + threadIdx.x) * kVector + e % kVector;
}

// Lanes beyond head_dim load the head's first elements, so that no branch keeps the loads apart.
template <typename T>
__device__ void load_part(const T* head, int head_dim, Part& part) {
  constexpr int kVector = rooflab::kVectorSize<T>;
  for (int e = 0; e < kPart; e += kVector) {
    const int first = element<T>(e);
    float vector[kVector];
    rooflab::load_vector(head + (first < head_dim ? first : 0), vector);
    for (int i = 0; i < kVector; ++i) part[e + i] = vector[i];
  }
}

// The keys that a query at `position` sees. Position p of the text lies in slot p % capacity.
struct VisibleKeys {
  int count, first_slot, capacity;

  __device__ VisibleKeys(int position, const AttentionShape& shape) : capacity(shape.capacity) {
    const int first = shape.window > 0 ? max(0, position - shape.window + 1) : 0;
    count = position - first + 1;
    first_slot = first % capacity;
  }
  // They all fit into the ring, so they pass its end once at most.
  __device__ size_t slot(int i) const {
    const int slot = first_slot + i;
    return slot < capacity ? slot : slot - capacity;
  }
};

// What a warp knows of one query head after the keys so far: an online softmax.
struct Row {
  float maximum = -INFINITY;  // of the scores
  float sum = 0.0f;           // of the weights, exp(score - maximum)
  Part values = {};           // this lane's part of the sum of the weighted values

  // The score, the same in all lanes, is minus infinity where there is no key.
  __device__ void add(float score, const Part& value) {
    if (score > maximum) rescale(score);
    const float weight = __expf(score - maximum);
    sum += weight;
    for (int e = 0; e < kPart; ++e) values[e] += weight * value[e];
  }
  // A larger maximum makes all that was summed so far smaller.
  __device__ void rescale(float new_maximum) {
    const float factor = __expf(maximum - new_maximum);
    maximum = new_maximum;
    sum *= factor;
    for (float& value : values) value *= factor;
  }
};

__device__ float dot(const Part& a, const Part& b) {
  float sum = 0.0f;
  for (int e = 0; e < kPart; ++e) sum += a[e] * b[e];
  return warp_sum(sum);
}

// Takes every kWarps-th key into the rows of kHeads query heads, all of which share what is loaded.
template <int kHeads, int kWarps, typename T>
__device__ void attend(const Part (&q)[kHeads], const T* keys, const T* values,
                       const VisibleKeys& visible, int dim, Row (&rows)[kHeads]) {
  for (int i = threadIdx.y; i < visible.count; i += kKeys * kWarps) {
    Part key[kKeys], value[kKeys];
    for (int k = 0; k < kKeys; ++k) {
      const size_t slot = visible.slot(min(i + k * kWarps, visible.count - 1));
      load_part(keys + slot * dim, dim, key[k]);
      load_part(values + slot * dim, dim, value[k]);
    }
    for (int h = 0; h < kHeads; ++h) {
      float scores[kKeys];
      for (int k = 0; k < kKeys; ++k) {
        const float score = dot(q[h], key[k]);
        scores[k] = i + k * kWarps < visible.count ? score : -INFINITY;
      }
      for (int k = 0; k < kKeys; ++k) rows[h].add(scores[k], value[k]);
    }
  }
}

// Stores the result of a query head, of which each of the block's warps has seen some keys.
template <int kWarps, typename T>
__device__ void combine(Row& row, int head_dim, T* out) {
  __shared__ float maxima[kWarps], sums[kWarps], values[kWarps][kPart * kWarpSize];
  const int lane = threadIdx.x;
  const int warp = threadIdx.y;
  if (lane == 0) maxima[warp] = row.maximum;
  __syncthreads();  // all maxima are there
  row.rescale(warp_max(maxima[lane % kWarps]));
  if (lane == 0) sums[warp] = row.sum;
  for (int e = 0; e < kPart; ++e) values[warp][element<T>(e)] = row.values[e];
  __syncthreads();  // all sums are there

  for (int d = warp * kWarpSize + lane; d < head_dim; d += kWarps * kWarpSize) {
    float sum = 0.0f, value = 0.0f;
    for (int w = 0; w < kWarps; ++w) {
      sum += sums[w];
      value += values[w][d];
    }
    out[d] = rooflab::from_float<T>(value / sum);
  }
  __syncthreads();  // nobody needs the arrays any more
}

// A block computes one query of kHeads heads that share a key/value head.
template <int kHeads, int kWarps, typename T>
__global__ void __launch_bounds__(kWarpSize* kWarps)
    attention_kernel(const T* q, const T* keys, const T* values, const int* positions, T* out,
                     AttentionShape shape) {
  // The last queries see the most keys. Blocks start in the order of x: theirs come first.
  const int query = shape.query_length - 1 - blockIdx.x;
  const int head = blockIdx.y * kHeads;
  const int batch = blockIdx.z;
  const int key_head = head / (shape.query_heads / shape.key_value_heads);
  const int dim = shape.head_dim;
  const size_t token = static_cast<size_t>(batch) * shape.query_length + query;
  const size_t cache = static_cast<size_t>(batch) * shape.key_value_heads + key_head;
  q += (token * shape.query_heads + head) * dim;
  out += (token * shape.query_heads + head) * dim;
  keys += cache * shape.capacity * dim;
  values += cache * shape.capacity * dim;

  Part q_parts[kHeads];
  for (int h = 0; h < kHeads; ++h) {
    load_part(q + h * dim, dim, q_parts[h]);
    for (int e = 0; e < kPart; ++e) {  // zeros beyond head_dim add nothing to a dot product
      q_parts[h][e] *= element<T>(e) < dim ? shape.scale : 0.0f;
    }
  }
  Row rows[kHeads];
  attend<kHeads, kWarps>(q_parts, keys, values, VisibleKeys(positions[query], shape), dim, rows);
  for (int h = 0; h < kHeads; ++h) combine<kWarps>(rows[h], dim, out + h * dim);
}

template <int kHeads, int kWarps, typename T>
void launch(const T* q, const T* keys, const T* values, const int* positions, T* out,
            const AttentionShape& shape, cudaStream_t stream) {
  const dim3 grid(shape.query_length, shape.query_heads / kHeads, shape.batch);
  attention_kernel<kHeads, kWarps>
      <<<grid, dim3(kWarpSize, kWarps), 0, stream>>>(q, keys, values, positions, out, shape);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace
// END SOLUTION

template <typename T>
void attention(const T* q, const T* keys, const T* values, const int* positions, T* out,
               const AttentionShape& shape, cudaStream_t stream) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("let one block compute one query of one head: scores, softmax, weighted sum");
  // Decode has one query for each sequence and head, and many warps share its keys. Prefill has
  // enough queries to fill the GPU, and gains from sharing what it loads among heads.
  const int group = shape.query_heads / shape.key_value_heads;
  if (shape.query_length == 1) {
    launch<1, 16>(q, keys, values, positions, out, shape, stream);
  } else if (group % 4 == 0) {
    launch<4, 4>(q, keys, values, positions, out, shape, stream);
  } else {
    launch<1, 4>(q, keys, values, positions, out, shape, stream);
  }
  // END SOLUTION
}

template void attention(const float*, const float*, const float*, const int*, float*,
                        const AttentionShape&, cudaStream_t);
template void attention(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                        const int*, __nv_bfloat16*, const AttentionShape&, cudaStream_t);
