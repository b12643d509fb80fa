#include "counters.h"

#include <initializer_list>

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;

namespace {

using Count = std::int64_t;

Count product(std::initializer_list<Count> factors) {
  Count result = 1;
  for (const Count factor : factors) result *= factor;
  return result;
}

// An operation of `macs` steps on arrays of these many elements.
Cost of_arrays(Count macs, std::initializer_list<Count> arrays, Count width) {
  Cost cost;
  cost.macs = macs;
  cost.flops = macs + macs;
  for (const Count elements : arrays) cost.bytes += elements * width;
  return cost;
}

// Places along one side at which a filter can stand.
Count places(Count side, Count taps, const Conv2d& conv) {
  const Count reach = conv.dilation * (taps - 1) + 1;
  const Count padded = side + 2 * conv.padding;
  return (padded - reach) / conv.stride + 1;
}

}  // namespace

Cost gemm_cost(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t bytes_per_element) {
  return of_arrays(product({m, n, k}), {m * k, k * n, m * n}, bytes_per_element);
}

Cost gemv_cost(std::int64_t m, std::int64_t k, std::int64_t bytes_per_element) {
  return of_arrays(m * k, {m * k, k, m}, bytes_per_element);
}

Cost linear_cost(std::int64_t tokens, std::int64_t in_features, std::int64_t out_features,
                 bool bias, std::int64_t bytes_per_element) {
  const Count results = tokens * out_features;
  const Count biases = bias ? out_features : 0;
  Cost cost = of_arrays(results * in_features,
                        {tokens * in_features, out_features * in_features, biases, results},
                        bytes_per_element);
  if (bias) cost.flops += results;
  return cost;
}

Cost conv2d_cost(const Conv2d& conv) {
  const Count tall = places(conv.height, conv.kernel_height, conv);
  const Count wide = places(conv.width, conv.kernel_width, conv);
  const Count seen = conv.in_channels / conv.groups;  // channels that one filter sees
  const Count filter = product({seen, conv.kernel_height, conv.kernel_width});
  const Count outputs = product({conv.batch, conv.out_channels, tall, wide});
  const Count inputs = product({conv.batch, conv.in_channels, conv.height, conv.width});
  return of_arrays(outputs * filter, {inputs, conv.out_channels * filter, outputs},
                   conv.bytes_per_element);
}

Cost pointwise_cost(std::int64_t elements, std::int64_t inputs, std::int64_t flops_per_element,
                    std::int64_t bytes_per_element) {
  Cost cost;
  cost.flops = flops_per_element * elements;
  cost.bytes = (inputs + 1) * elements * bytes_per_element;
  return cost;
}

double arithmetic_intensity(const Cost& cost) {
  const double work = cost.flops;
  return work / cost.bytes;
}

Bound bound_on(const Cost& cost, const Gpu& gpu) {
  const double computing = cost.flops / gpu.flops_per_second;
  const double moving = cost.bytes / gpu.bytes_per_second;
  return moving > computing ? Bound::memory : Bound::compute;
}
