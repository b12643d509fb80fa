#include "cost.h"

#include <algorithm>
#include <vector>

using rooflab::Cost;

namespace {

using Count = std::int64_t;

/// What one kernel reads, writes and computes, in elements.
struct Ledger {
  Count macs = 0, other_flops = 0, elements = 0;

  Ledger& moves(Count times, Count count) {
    elements += times * count;
    return *this;
  }
  Ledger& product(Count rows, Count columns, Count depth) {
    macs += rows * columns * depth;
    return *this;
  }
  Ledger& flops(Count count) {
    other_flops += count;
    return *this;
  }
  Cost close(Count bytes_per_element) const {
    return {macs, 2 * macs + other_flops, elements * bytes_per_element};
  }
};

/// Sizes that occur again and again.
struct Sizes {
  Sizes(const DecoderLayer& layer, const ForwardPass& pass)
      : tokens(pass.batch * pass.query_length),
        q(layer.query_heads * layer.head_dim),
        kv(layer.key_value_heads * layer.head_dim) {
    for (Count p = pass.key_length - pass.query_length; p < pass.key_length; ++p) {
      const Count first = layer.window == 0 ? 0 : std::max<Count>(0, p - layer.window + 1);
      pairs += p - first + 1;
      oldest = std::min(oldest < 0 ? first : oldest, first);
    }
    seen = pass.key_length - oldest;
    pairs *= pass.batch;
    keys = pass.batch * seen * kv;
  }
  Count tokens, q, kv;
  Count pairs = 0;    // of one head
  Count oldest = -1;  // position that some query sees
  Count seen = 0;     // keys of one sequence
  Count keys = 0;     // elements of the keys that are read, and of the values
};

/// A linear layer for `tokens` rows.
Cost linear(Count tokens, Count in, Count out, Count bytes) {
  return Ledger().product(tokens, out, in).moves(tokens, in + out).moves(in, out).close(bytes);
}

/// The costs one after the other, by halves.
Cost sum(const std::vector<Cost>& costs, std::size_t begin, std::size_t end) {
  if (begin == end) return {};
  if (end - begin == 1) return costs[begin];
  const std::size_t middle = begin + (end - begin) / 2;
  return sum(costs, begin, middle) + sum(costs, middle, end);
}
Cost sum(const std::vector<Cost>& costs) { return sum(costs, 0, costs.size()); }

}  // namespace

Count query_key_pairs(const DecoderLayer& layer, const ForwardPass& pass) {
  return Sizes(layer, pass).pairs;
}

Cost projections_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const Sizes s(layer, pass);
  std::vector<Cost> all;
  for (const Count width : {s.q, s.kv, s.kv, s.q}) {  // the last one goes back, which costs as much
    all.push_back(linear(s.tokens, layer.hidden, width, layer.bytes_per_element));
  }
  return sum(all);
}

Cost attention_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const Sizes s(layer, pass);
  return Ledger()
      .product(s.pairs, layer.query_heads, layer.head_dim)  // scores
      .flops(5 * s.pairs * layer.query_heads)               // softmax
      .product(s.pairs, layer.head_dim, layer.query_heads)  // weighted sum
      .moves(2, s.tokens * s.q)                             // queries and results
      .moves(2, s.keys)                                     // keys and values
      .close(layer.bytes_per_element);
}

Cost mlp_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const Sizes s(layer, pass);
  std::vector<Cost> all(
      3, linear(s.tokens, layer.hidden, layer.intermediate, layer.bytes_per_element));
  const Count gated = s.tokens * layer.intermediate;
  all.push_back(Ledger().flops(9 * gated).moves(3, gated).close(layer.bytes_per_element));
  return sum(all);
}

Cost layer_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const Sizes s(layer, pass);
  const Count bytes = layer.bytes_per_element;
  const auto norm = [&](Count rows, Count width) {
    return Ledger().flops(rows * (5 * width + 3)).moves(1 + 2 * rows, width).close(bytes);
  };
  const Count hidden = s.tokens * layer.hidden;
  const Count rotated = s.tokens * (s.q + s.kv);
  std::vector<Cost> all(4, norm(s.tokens, layer.hidden));
  all.push_back(norm(s.tokens * layer.query_heads, layer.head_dim));
  all.push_back(norm(s.tokens * layer.key_value_heads, layer.head_dim));
  all.insert(all.end(), 2, Ledger().flops(hidden).moves(3, hidden).close(bytes));
  all.push_back(Ledger().flops(3 * rotated).moves(2, rotated).close(bytes));
  all.push_back(projections_cost(layer, pass));
  all.push_back(attention_cost(layer, pass));
  all.push_back(mlp_cost(layer, pass));
  return sum(all);
}

Cost prefill_cost(const DecoderLayer& layer, Count batch, Count length) {
  return layer_cost(layer, {batch, length, length});
}

Cost decode_cost(const DecoderLayer& layer, Count batch, Count length) {
  return layer_cost(layer, {batch, 1, length});
}

Count kv_cache_bytes(const DecoderLayer& layer, Count batch, Count length) {
  Count kept = length;
  if (layer.window > 0 && layer.window < length) kept = layer.window;
  return batch * kept * 2 * layer.key_value_heads * layer.head_dim * layer.bytes_per_element;
}
