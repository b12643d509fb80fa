#include "counters.h"

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;

typedef std::int64_t i64;

Cost gemm_cost(i64 m, i64 n, i64 k, i64 bpe) {
  Cost c;
  c.macs = m * n * k;
  c.flops = 2 * c.macs;
  c.bytes = bpe * (m * k + k * n + m * n);
  return c;
}

Cost gemv_cost(i64 m, i64 k, i64 bpe) {
  Cost c;
  c.macs = m * k;
  c.flops = 2 * c.macs;
  c.bytes = bpe * (m * k + k + m);
  return c;
}

Cost linear_cost(i64 tokens, i64 in, i64 out, bool bias, i64 bpe) {
  Cost c = gemm_cost(tokens, out, in, bpe);
  if (bias) {
    c.flops += tokens * out;
    c.bytes += out * bpe;
  }
  return c;
}

Cost conv2d_cost(const Conv2d& p) {
  // formula from the PyTorch docs
  auto outSize = [&p](i64 in, i64 kernel) {
    return (in + 2 * p.padding - p.dilation * (kernel - 1) - 1) / p.stride + 1;
  };
  const i64 OH = outSize(p.height, p.kernel_height);
  const i64 OW = outSize(p.width, p.kernel_width);
  const i64 cinG = p.in_channels / p.groups;

  const i64 nIn = p.batch * p.in_channels * p.height * p.width;
  const i64 nW = p.out_channels * cinG * p.kernel_height * p.kernel_width;
  const i64 nOut = p.batch * p.out_channels * OH * OW;

  Cost c;
  c.macs = nOut * cinG * p.kernel_height * p.kernel_width;
  c.flops = 2 * c.macs;
  c.bytes = p.bytes_per_element * (nIn + nW + nOut);
  return c;
}

Cost pointwise_cost(i64 elements, i64 inputs, i64 flops, i64 bpe) {
  Cost c;
  c.flops = elements * flops;
  c.bytes = elements * (inputs + 1) * bpe;
  return c;
}

double arithmetic_intensity(const Cost& c) { return double(c.flops) / double(c.bytes); }

Bound bound_on(const Cost& c, const Gpu& g) {
  const double tc = c.flops / g.flops_per_second;
  const double tm = c.bytes / g.bytes_per_second;
  return tc >= tm ? Bound::compute : Bound::memory;
}
