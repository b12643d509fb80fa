#include "counters.h"

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;

using i64 = std::int64_t;

static Cost from_macs(i64 macs, i64 elements, i64 width) {
  Cost c;
  c.macs = macs;
  c.flops = macs + macs;
  c.bytes = elements * width;
  return c;
}

Cost gemm_cost(i64 m, i64 n, i64 k, i64 bytes_per_element) {
  return from_macs(m * n * k, m * k + k * n + m * n, bytes_per_element);
}

Cost gemv_cost(i64 m, i64 k, i64 bytes_per_element) {
  return from_macs(m * k, m * k + k + m, bytes_per_element);
}

Cost linear_cost(i64 tokens, i64 in_features, i64 out_features, bool bias, i64 bytes_per_element) {
  Cost c = gemm_cost(tokens, out_features, in_features, bytes_per_element);
  if (bias) {
    c.flops += tokens * out_features;
    c.bytes += out_features * bytes_per_element;
  }
  return c;
}

static i64 out_size(i64 size, i64 kernel, const Conv2d& conv) {
  const i64 reach = conv.dilation * (kernel - 1) + 1;
  return (size + 2 * conv.padding - reach) / conv.stride + 1;
}

Cost conv2d_cost(const Conv2d& conv) {
  const i64 oh = out_size(conv.height, conv.kernel_height, conv);
  const i64 ow = out_size(conv.width, conv.kernel_width, conv);
  const i64 taps = conv.kernel_height * conv.kernel_width * (conv.in_channels / conv.groups);
  const i64 outputs = conv.batch * conv.out_channels * oh * ow;
  const i64 inputs = conv.batch * conv.in_channels * conv.height * conv.width;
  const i64 weights = conv.out_channels * taps;
  return from_macs(outputs * taps, inputs + weights + outputs, conv.bytes_per_element);
}

Cost pointwise_cost(i64 elements, i64 inputs, i64 flops_per_element, i64 bytes_per_element) {
  Cost c;
  c.flops = elements * flops_per_element;
  c.bytes = elements * (inputs + 1) * bytes_per_element;
  return c;
}

double arithmetic_intensity(const Cost& cost) { return double(cost.flops) / double(cost.bytes); }

Bound bound_on(const Cost& cost, const Gpu& gpu) {
  const double arithmetic = cost.flops / gpu.flops_per_second;
  const double transfer = cost.bytes / gpu.bytes_per_second;
  return transfer > arithmetic ? Bound::memory : Bound::compute;
}
