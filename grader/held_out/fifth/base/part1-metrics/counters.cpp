#include "counters.h"

#include <initializer_list>

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;
using Int = std::int64_t;

namespace {

// An operation of `macs` steps and `more` other FLOPs, on arrays of these lengths.
Cost tally(Int macs, Int more, std::initializer_list<Int> arrays, Int width) {
  Cost c;
  c.macs = macs;
  c.flops = macs + macs + more;
  for (const Int length : arrays) c.bytes += length * width;
  return c;
}

// Positions of a window along an axis.
Int places(Int size, Int taps, const Conv2d& c) {
  const Int span = (taps - 1) * c.dilation + 1;
  return (size + 2 * c.padding - span) / c.stride + 1;
}

}  // namespace

Cost gemm_cost(Int m, Int n, Int k, Int bytes_per_element) {
  return tally(m * n * k, 0, {m * k, k * n, m * n}, bytes_per_element);
}

Cost gemv_cost(Int m, Int k, Int bytes_per_element) {
  return tally(m * k, 0, {m * k, k, m}, bytes_per_element);
}

Cost linear_cost(Int tokens, Int in_features, Int out_features, bool bias, Int bytes_per_element) {
  const Int outputs = tokens * out_features;
  return tally(outputs * in_features, bias ? outputs : 0,
               {tokens * in_features, in_features * out_features, outputs, bias ? out_features : 0},
               bytes_per_element);
}

Cost conv2d_cost(const Conv2d& c) {
  const Int h = places(c.height, c.kernel_height, c), w = places(c.width, c.kernel_width, c);
  const Int taps = c.kernel_height * c.kernel_width;
  const Int seen = c.in_channels / c.groups;
  const Int outputs = c.batch * c.out_channels * h * w;
  return tally(outputs * seen * taps, 0,
               {c.batch * c.in_channels * c.height * c.width, c.out_channels * seen * taps, outputs},
               c.bytes_per_element);
}

Cost pointwise_cost(Int elements, Int inputs, Int flops_per_element, Int bytes_per_element) {
  return tally(0, elements * flops_per_element, {elements * inputs, elements}, bytes_per_element);
}

double arithmetic_intensity(const Cost& cost) { return double(cost.flops) / double(cost.bytes); }

Bound bound_on(const Cost& cost, const Gpu& gpu) {
  const double arithmetic = cost.flops / gpu.flops_per_second;
  const double memory = cost.bytes / gpu.bytes_per_second;
  return memory > arithmetic ? Bound::memory : Bound::compute;
}
