#pragma once

#include <cmath>

#include "attention_shape.h"
#include "grader/contract/guest_call.h"
#include "guest_support/call_parameters.h"
#include "toolkit/check.h"

/// Flash attention of which an implementation replaces a step. Steps that it inherits are right.
namespace tested {

inline constexpr int kMostDim = 64;

struct Flash {
  static constexpr int kTile = 16;
  __device__ static int sequence(int b, const AttentionShape& /*s*/) { return b; }
  __device__ static int key_head(int head, const AttentionShape& s) {
    return head / (s.query_heads / s.key_value_heads);
  }
  /// The newest key that a query may see under a causal mask.
  __device__ static int newest(int query, const AttentionShape& s) {
    return query + s.key_length - s.query_length;
  }
  __device__ static bool sees(int newest, int key, const AttentionShape& s) {
    return !s.causal || (key <= newest && (s.window == 0 || key > newest - s.window));
  }
  /// How many keys the tiles hold together, and the score of one that there is not.
  __device__ static int keys(const AttentionShape& s) { return s.key_length; }
  __device__ static float scale(const AttentionShape& s) { return s.scale; }
  __device__ static float smallest(const AttentionShape& /*s*/) { return -INFINITY; }
  /// The largest score so far, after a tile whose largest is `of_tile`.
  __device__ static float largest(float before, float of_tile) { return fmaxf(before, of_tile); }
  /// Whether a tile is left out by its largest score and that of the tiles before it.
  __device__ static bool skips(float /*before*/, float /*of_tile*/) { return false; }
  /// What the sums so far shrink by.
  __device__ static float shrink_sum(float factor) { return factor; }
  __device__ static float shrink_out(float factor) { return factor; }
  __device__ static float out(float sum_of_values, float sum) {
    return sum == 0.0f ? 0.0f : sum_of_values / sum;
  }
  __device__ static float log_sum_exp(float largest, float sum, const AttentionShape& /*s*/) {
    return sum == 0.0f ? -INFINITY : largest + logf(sum);
  }
};

/// A thread for each query of each head, which walks over the keys tile by tile.
template <typename Variant>
__global__ void flash(const float* q, const float* k, const float* v, float* out, float* lse,
                      AttentionShape s) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= s.batch * s.query_heads * s.query_length) return;
  const int newest = Variant::newest(row % s.query_length, s);
  const int head = row / s.query_length % s.query_heads;
  const int b = Variant::sequence(row / s.query_length / s.query_heads, s);
  const int first_key =
      (b * s.key_value_heads + Variant::key_head(head, s)) * s.key_length * s.head_dim;

  float largest = Variant::smallest(s), sum = 0.0f;
  float sums[kMostDim] = {};
  const int count = Variant::keys(s);
  for (int tile = 0; tile < count; tile += Variant::kTile) {
    const int end = min(tile + Variant::kTile, count);
    float scores[Variant::kTile];
    float of_tile = -INFINITY;
    for (int key = tile; key < end; ++key) {
      float dot = 0.0f;
      for (int d = 0; d < s.head_dim && key < s.key_length; ++d) {
        dot += q[row * s.head_dim + d] * k[first_key + key * s.head_dim + d];
      }
      const bool is_seen = Variant::sees(newest, key, s);
      scores[key - tile] = is_seen ? Variant::scale(s) * dot : -INFINITY;
      of_tile = fmaxf(of_tile, scores[key - tile]);
    }
    const float now = Variant::largest(largest, of_tile);
    if (now == -INFINITY) continue;  // no key was seen yet
    if (Variant::skips(largest, of_tile)) continue;
    const float factor = expf(largest - now);
    sum *= Variant::shrink_sum(factor);
    for (int d = 0; d < s.head_dim; ++d) sums[d] *= Variant::shrink_out(factor);
    for (int key = tile; key < end; ++key) {
      const float weight = expf(scores[key - tile] - now);
      sum += weight;
      for (int d = 0; d < s.head_dim && key < s.key_length; ++d) {
        sums[d] += weight * v[first_key + key * s.head_dim + d];
      }
    }
    largest = now;
  }
  for (int d = 0; d < s.head_dim; ++d) out[row * s.head_dim + d] = Variant::out(sums[d], sum);
  lse[row] = Variant::log_sum_exp(largest, sum, s);
}

template <typename Variant>
void flash(rooflab::GuestCall& call) {
  using rooflab::size;
  const AttentionShape s = {size(call, "batch"),
                            size(call, "query_heads"),
                            size(call, "key_value_heads"),
                            size(call, "query_length"),
                            size(call, "key_length"),
                            size(call, "head_dim"),
                            size(call, "causal") != 0,
                            size(call, "window"),
                            static_cast<float>(call.real("scale"))};
  const int rows = s.batch * s.query_heads * s.query_length;
  flash<Variant><<<(rows + 63) / 64, 64>>>(
      call.tensor<const float>("q"), call.tensor<const float>("k"), call.tensor<const float>("v"),
      call.tensor<float>("out"), call.tensor<float>("log_sum_exp"), s);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace tested
