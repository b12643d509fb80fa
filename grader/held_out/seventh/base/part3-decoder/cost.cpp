#include "cost.h"

#include <algorithm>

using rooflab::Cost;

typedef std::int64_t i64;
#define QDIM(l) ((l).query_heads * (l).head_dim)
#define KVDIM(l) ((l).key_value_heads * (l).head_dim)

i64 query_key_pairs(const DecoderLayer& l, const ForwardPass& p) {
  i64 n = 0;
  // the new queries sit at the end of the sequence
  for (i64 pos = p.key_length - p.query_length; pos < p.key_length; pos++) {
    i64 seen = pos + 1;
    if (l.window > 0) seen = std::min(seen, l.window);
    n += seen;
  }
  return p.batch * n;
}

Cost projections_cost(const DecoderLayer& l, const ForwardPass& p) {
  const i64 T = p.batch * p.query_length;
  auto gemm = [&](i64 in, i64 out) { return linear_cost(T, in, out, l.bytes_per_element); };
  Cost c = gemm(l.hidden, QDIM(l));             // q
  c = c + gemm(l.hidden, KVDIM(l));             // k
  c = c + gemm(l.hidden, KVDIM(l));             // v
  c = c + gemm(QDIM(l), l.hidden);              // o
  return c;
}

Cost attention_cost(const DecoderLayer& l, const ForwardPass& p) {
  const i64 pairs = query_key_pairs(l, p);
  Cost c;
  c.macs = 2 * pairs * QDIM(l);
  c.flops = 2 * c.macs + 5 * pairs * l.query_heads;

  // keys that at least one query can see
  i64 keys = p.key_length;
  if (l.window > 0) keys = std::min(keys, p.query_length + l.window - 1);
  const i64 nQ = p.batch * p.query_length * QDIM(l);
  const i64 nKV = p.batch * keys * KVDIM(l);
  c.bytes = l.bytes_per_element * (2 * nQ + 2 * nKV);
  return c;
}

Cost mlp_cost(const DecoderLayer& l, const ForwardPass& p) {
  const i64 T = p.batch * p.query_length;
  const Cost up = linear_cost(T, l.hidden, l.intermediate, l.bytes_per_element);
  const Cost down = linear_cost(T, l.intermediate, l.hidden, l.bytes_per_element);
  return up + up + geglu_cost(l, T) + down;
}

Cost layer_cost(const DecoderLayer& l, const ForwardPass& p) {
  const i64 T = p.batch * p.query_length;
  Cost c = projections_cost(l, p) + attention_cost(l, p) + mlp_cost(l, p) + rope_cost(l, p);
  for (int i = 0; i < 4; i++) c = c + rmsnorm_cost(T, l.hidden, l.bytes_per_element);
  c = c + rmsnorm_cost(T * l.query_heads, l.head_dim, l.bytes_per_element);
  c = c + rmsnorm_cost(T * l.key_value_heads, l.head_dim, l.bytes_per_element);
  for (int i = 0; i < 2; i++) c = c + residual_cost(l, p);
  return c;
}

Cost prefill_cost(const DecoderLayer& l, i64 batch, i64 length) {
  ForwardPass p;
  p.batch = batch;
  p.query_length = length;
  p.key_length = length;
  return layer_cost(l, p);
}

Cost decode_cost(const DecoderLayer& l, i64 batch, i64 length) {
  ForwardPass p;
  p.batch = batch;
  p.query_length = 1;
  p.key_length = length;
  return layer_cost(l, p);
}

i64 kv_cache_bytes(const DecoderLayer& l, i64 batch, i64 length) {
  const i64 slots = l.window > 0 ? std::min(length, l.window) : length;
  return 2 * batch * slots * KVDIM(l) * l.bytes_per_element;
}
