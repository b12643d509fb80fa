#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// The decoder layer of toolkit/eager/decoder.h in fp64, one token of each sequence at a time, as
/// plain loops.
namespace rooflab {

using Numbers = std::vector<double>;

struct DecoderSizes {
  std::int64_t batch, hidden, intermediate, query_heads, key_value_heads, head_dim, capacity;
};

/// By the names of DecoderWeights. Norms already have their 1 added.
using DecoderNumbers = std::map<std::string, Numbers>;

/// (batch, key_value_heads, capacity, head_dim), keys normed and turned.
struct DecoderHistory {
  Numbers keys, values;
};

/// Cosines and sines of RoPE, (capacity, head_dim): the angle of an element at position p is
/// p theta^(-2 i / head_dim), i its place within its half.
struct RotationTables {
  Numbers cosines, sines;
};
RotationTables rotation_tables(std::int64_t capacity, std::int64_t head_dim, double theta);

/// The token of each sequence at `position`: (batch, hidden), what the layer makes of `input`
/// (batch, hidden). The token joins the history.
/// @pre 0 <= position < capacity
Numbers decode_token(const Numbers& input, std::int64_t position, const DecoderSizes& sizes,
                     const DecoderNumbers& weights, DecoderHistory& history);

}  // namespace rooflab
