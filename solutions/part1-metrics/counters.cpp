#include "counters.h"

#include "toolkit/todo.h"

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;

Cost gemm_cost(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t bytes_per_element) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("count the multiply-accumulates of one element of C, then of all of C");
  const std::int64_t macs = m * n * k;  // m * n dot products of length k
  const std::int64_t elements = m * k + k * n + m * n;
  return {.macs = macs, .flops = 2 * macs, .bytes = elements * bytes_per_element};
  // END SOLUTION
}

Cost gemv_cost(std::int64_t m, std::int64_t k, std::int64_t bytes_per_element) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("a vector is a matrix with one column");
  return gemm_cost(m, 1, k, bytes_per_element);
  // END SOLUTION
}

Cost linear_cost(std::int64_t tokens, std::int64_t in_features, std::int64_t out_features,
                 bool bias, std::int64_t bytes_per_element) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("write the layer as a GEMM, then add what the bias needs");
  Cost cost = gemm_cost(tokens, out_features, in_features, bytes_per_element);
  if (bias) {
    cost.flops += tokens * out_features;
    cost.bytes += out_features * bytes_per_element;
  }
  return cost;
  // END SOLUTION
}

// BEGIN SOLUTION
namespace {

// Positions that a kernel of `taps` values takes along one axis of `size` values.
std::int64_t output_size(std::int64_t size, std::int64_t taps, const Conv2d& conv) {
  const std::int64_t reach = conv.dilation * (taps - 1) + 1;  // input values that one kernel spans
  return (size + 2 * conv.padding - reach) / conv.stride + 1;
}

}  // namespace

// END SOLUTION
Cost conv2d_cost(const Conv2d& conv) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("find the size of the output, then the MACs of one output value");
  const std::int64_t outputs = conv.batch * conv.out_channels *
                               output_size(conv.height, conv.kernel_height, conv) *
                               output_size(conv.width, conv.kernel_width, conv);
  const std::int64_t products_per_output =
      conv.in_channels / conv.groups * conv.kernel_height * conv.kernel_width;
  const std::int64_t inputs = conv.batch * conv.in_channels * conv.height * conv.width;
  const std::int64_t weights = conv.out_channels * products_per_output;

  const std::int64_t macs = outputs * products_per_output;
  return {.macs = macs,
          .flops = 2 * macs,
          .bytes = (inputs + weights + outputs) * conv.bytes_per_element};
  // END SOLUTION
}

Cost pointwise_cost(std::int64_t elements, std::int64_t inputs, std::int64_t flops_per_element,
                    std::int64_t bytes_per_element) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("count the arrays that cross DRAM: every input, and the output");
  return {.macs = 0,
          .flops = elements * flops_per_element,
          .bytes = elements * (inputs + 1) * bytes_per_element};
  // END SOLUTION
}

double arithmetic_intensity(const Cost& cost) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("relate the operations to the bytes, in floating point");
  return static_cast<double>(cost.flops) / static_cast<double>(cost.bytes);
  // END SOLUTION
}

Bound bound_on(const Cost& cost, const Gpu& gpu) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("compare the time the arithmetic needs with the time the bytes need");
  const double compute_seconds = static_cast<double>(cost.flops) / gpu.flops_per_second;
  const double memory_seconds = static_cast<double>(cost.bytes) / gpu.bytes_per_second;
  return compute_seconds >= memory_seconds ? Bound::compute : Bound::memory;
  // END SOLUTION
}
