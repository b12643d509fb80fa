#include "counters.h"

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;
using i64 = std::int64_t;

Cost gemm_cost(i64 m, i64 n, i64 k, i64 bytes_per_element) {
  Cost c;
  c.macs = m * n * k;
  c.flops = 2 * c.macs;
  const i64 a = m * k, b = k * n, out = m * n;
  c.bytes = bytes_per_element * (a + b + out);
  return c;
}

Cost gemv_cost(i64 m, i64 k, i64 bytes_per_element) { return gemm_cost(m, 1, k, bytes_per_element); }

Cost linear_cost(i64 tokens, i64 in_features, i64 out_features, bool bias, i64 bytes_per_element) {
  Cost c = gemm_cost(tokens, out_features, in_features, bytes_per_element);
  if (bias) {
    c.flops += tokens * out_features;
    c.bytes += out_features * bytes_per_element;
  }
  return c;
}

// output size along one direction
static i64 out_size(i64 in, i64 kernel, const Conv2d& v) {
  const i64 reach = v.dilation * (kernel - 1) + 1;
  return (in + 2 * v.padding - reach) / v.stride + 1;
}

Cost conv2d_cost(const Conv2d& v) {
  const i64 oh = out_size(v.height, v.kernel_height, v);
  const i64 ow = out_size(v.width, v.kernel_width, v);
  const i64 channels_seen = v.in_channels / v.groups;
  const i64 outputs = v.batch * v.out_channels * oh * ow;
  const i64 inputs = v.batch * v.in_channels * v.height * v.width;
  const i64 weights = v.out_channels * channels_seen * v.kernel_height * v.kernel_width;
  Cost c;
  c.macs = outputs * channels_seen * v.kernel_height * v.kernel_width;
  c.flops = c.macs * 2;
  c.bytes = (inputs + weights + outputs) * v.bytes_per_element;
  return c;
}

Cost pointwise_cost(i64 elements, i64 inputs, i64 flops_per_element, i64 bytes_per_element) {
  Cost c;
  c.flops = elements * flops_per_element;
  c.bytes = (inputs + 1) * elements * bytes_per_element;
  return c;
}

double arithmetic_intensity(const Cost& cost) { return double(cost.flops) / double(cost.bytes); }

Bound bound_on(const Cost& cost, const Gpu& gpu) {
  const double t_math = cost.flops / gpu.flops_per_second;
  const double t_dram = cost.bytes / gpu.bytes_per_second;
  return t_math >= t_dram ? Bound::compute : Bound::memory;
}
