#pragma once

#include <cstdint>
#include <vector>

namespace rooflab {

/// One weight of a Gemma 3 decoder layer, by the name that the students' structures give it.
struct WeightShape {
  const char* name;
  std::int64_t out, in;  ///< (out, in); in 0: a norm of (out)
};

/// All weights of a layer whose sizes have the members hidden, intermediate, query_heads,
/// key_value_heads and head_dim.
template <typename Sizes>
std::vector<WeightShape> layer_weight_shapes(const Sizes& s) {
  const std::int64_t queries = s.query_heads * s.head_dim;
  const std::int64_t keys = s.key_value_heads * s.head_dim;
  return {{"input_norm", s.hidden, 0},
          {"q_proj", queries, s.hidden},
          {"k_proj", keys, s.hidden},
          {"v_proj", keys, s.hidden},
          {"o_proj", s.hidden, queries},
          {"q_norm", s.head_dim, 0},
          {"k_norm", s.head_dim, 0},
          {"post_attention_norm", s.hidden, 0},
          {"pre_feedforward_norm", s.hidden, 0},
          {"gate_proj", s.intermediate, s.hidden},
          {"up_proj", s.intermediate, s.hidden},
          {"down_proj", s.hidden, s.intermediate},
          {"post_feedforward_norm", s.hidden, 0}};
}

}  // namespace rooflab
