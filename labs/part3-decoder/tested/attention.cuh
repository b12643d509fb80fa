#pragma once

#include <cmath>

#include "attention.h"
#include "grader/contract/guest_call.h"
#include "guest_support/call_parameters.h"
#include "toolkit/check.h"

/// Attention of which an implementation replaces a step. Steps that it inherits are right.
namespace tested {

inline constexpr int kMostDim = 64;

struct Attention {
  __device__ static int key_head(int head, const AttentionShape& s) {
    return head / (s.query_heads / s.key_value_heads);
  }
  __device__ static int sequence(int b, const AttentionShape& /*s*/) { return b; }
  __device__ static int position(const int* positions, int query) { return positions[query]; }
  /// The first and the last position that a query at `position` sees, of `count` tokens.
  __device__ static int first(int position, int /*count*/, const AttentionShape& s) {
    return s.window > 0 ? max(0, position - s.window + 1) : 0;
  }
  __device__ static int last(int position, int /*count*/) { return position; }
  /// The i-th position that is looked at.
  __device__ static int seen(int i, int first, int /*last*/) { return first + i; }
  __device__ static int slot(int position, int /*count*/, const AttentionShape& s) {
    return position % s.capacity;
  }
  __device__ static float scale(const AttentionShape& s) { return s.scale; }
  __device__ static int dims(const AttentionShape& s) { return s.head_dim; }
  /// What the search for the largest score begins with, and what the scores of so many keys are
  /// lessened by.
  __device__ static float smallest() { return -INFINITY; }
  __device__ static float shift(float largest, int /*keys*/) { return largest; }
  /// Whether a key has no weight, by its score and by that of the key looked at before it.
  __device__ static bool is_left_out(float /*score*/, float /*before*/) { return false; }
  /// Whether weights are divided by their sum before they meet the values.
  static constexpr bool kDividesFirst = false;
};

template <typename Variant>
__device__ float score(const float* q, const float* key, const AttentionShape& s) {
  float dot = 0.0f;
  for (int d = 0; d < Variant::dims(s); ++d) dot += q[d] * key[d];
  return Variant::scale(s) * dot;
}

/// A thread for each row of out.
template <typename Variant>
__global__ void attend(const float* q, const float* keys, const float* values, const int* positions,
                       float* out, AttentionShape s) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= s.batch * s.query_length * s.query_heads) return;
  const int head = row % s.query_heads;
  const int query = row / s.query_heads % s.query_length;
  const int b = Variant::sequence(row / s.query_heads / s.query_length, s);
  const int position = Variant::position(positions, query);
  const int count = positions[s.query_length - 1] + 1;
  const int first = Variant::first(position, count, s);
  const int last = Variant::last(position, count);
  const int cache = (b * s.key_value_heads + Variant::key_head(head, s)) * s.capacity * s.head_dim;
  const float* own = q + row * s.head_dim;
  const auto place = [&](int i) {
    return cache + Variant::slot(Variant::seen(i, first, last), count, s) * s.head_dim;
  };
  const auto score_of = [&](int i) { return score<Variant>(own, keys + place(i), s); };

  float largest = Variant::smallest();
  for (int i = 0; i <= last - first; ++i) {
    largest = fmaxf(largest, score_of(i));
  }
  const float shift = Variant::shift(largest, last - first + 1);
  const auto weight_of = [&](int i) {
    const bool is_left_out = i > 0 && Variant::is_left_out(score_of(i), score_of(i - 1));
    return is_left_out ? 0.0f : expf(score_of(i) - shift);
  };
  float sum = 0.0f;
  for (int i = 0; i <= last - first; ++i) sum += weight_of(i);
  float sums[kMostDim] = {};
  for (int i = 0; i <= last - first; ++i) {
    float weight = weight_of(i);
    if (Variant::kDividesFirst) weight /= sum;
    for (int d = 0; d < s.head_dim; ++d) sums[d] += weight * values[place(i) + d];
  }
  for (int d = 0; d < s.head_dim; ++d) {
    out[row * s.head_dim + d] = Variant::kDividesFirst ? sums[d] : sums[d] / sum;
  }
}

template <typename Variant>
void attention(rooflab::GuestCall& call) {
  using rooflab::size;
  const AttentionShape s = {size(call, "batch"),       size(call, "query_length"),
                            size(call, "query_heads"), size(call, "key_value_heads"),
                            size(call, "head_dim"),    size(call, "capacity"),
                            size(call, "window"),      static_cast<float>(call.real("scale"))};
  const int rows = s.batch * s.query_length * s.query_heads;
  attend<Variant>
      <<<(rows + 63) / 64, 64>>>(call.tensor<const float>("q"), call.tensor<const float>("keys"),
                                 call.tensor<const float>("values"),
                                 call.tensor<const int>("positions"), call.tensor<float>("out"), s);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace tested
