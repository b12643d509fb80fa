#include "io.h"

#include <algorithm>
#include <cmath>

typedef std::int64_t i64;
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

i64 attention_flops(const AttentionSize& s) {
  const i64 pairs = s.causal ? s.length * (s.length + 1) / 2 : s.length * s.length;
  return s.heads * pairs * s.head_dim * 4;  // QK^T and PV, 2 flops per MAC
}

i64 standard_traffic(const AttentionSize& s) {
  const i64 nd = s.length * s.head_dim;
  const i64 nn = s.length * s.length;
  const i64 qk = 2 * nd + nn;       // Q, K in, S out
  const i64 softmax = nn + nn;      // S in, P out
  const i64 pv = nn + nd + nd;      // P, V in, O out
  return s.heads * s.bytes_per_element * (qk + softmax + pv);
}

i64 query_rows_that_fit(const AttentionSize& s, i64 key_rows, i64 on_chip) {
  const i64 row = s.head_dim * s.bytes_per_element;
  const i64 left = on_chip - 2 * key_rows * row;  // after K and V
  return left > 0 ? left / (2 * row) : 0;         // Q and O
}

i64 flash_traffic(const AttentionSize& s, const FlashTiles& t) {
  const i64 row = s.head_dim * s.bytes_per_element;
  i64 kv = 0;  // rows of K read in total
  for (i64 q0 = 0; q0 < s.length; q0 += t.query_rows) {
    if (!s.causal) {
      kv += s.length;
      continue;
    }
    // the last query of the tile sees the most
    const i64 last = std::min(q0 + t.query_rows, s.length);
    kv += std::min(CEIL_DIV(last, t.key_rows) * t.key_rows, s.length);
  }
  const i64 qo = 2 * s.length * row;
  const i64 lse = 4 * s.length;
  return s.heads * (qo + lse + 2 * kv * row);
}

i64 standard_memory(const AttentionSize& s) {
  return s.heads * s.length * s.length * s.bytes_per_element;
}

i64 flash_memory(const AttentionSize& s) { return s.heads * s.length * 4; }

i64 longest_sequence(const AttentionSize& size, Form form, i64 memory) {
  auto fits = [&](i64 n) {
    AttentionSize s = size;
    s.length = n;
    const i64 qkvo = 4 * s.heads * n * s.head_dim * s.bytes_per_element;
    const i64 extra = form == Form::standard ? standard_memory(s) : flash_memory(s);
    return qkvo + extra <= memory;
  };
  // one token needs at least this much, so lo fits and hi does not
  i64 lo = 0, hi = memory / (4 * size.heads * size.head_dim * size.bytes_per_element) + 1;
  if (form == Form::standard)
    hi = std::min(hi, (i64)std::sqrt((double)memory / (size.heads * size.bytes_per_element)) + 2);
  while (hi - lo > 1) {
    const i64 mid = lo + (hi - lo) / 2;
    (fits(mid) ? lo : hi) = mid;
  }
  return lo;
}

i64 smallest_compute_bound_query_rows(const rooflab::Gpu& g, i64 bpe) {
  // per key and value: 4 d rows flops, 2 d bpe bytes
  return (i64)std::ceil(bpe * g.flops_per_second / (2.0 * g.bytes_per_second));
}
