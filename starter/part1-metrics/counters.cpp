#include "counters.h"

#include "toolkit/todo.h"

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;

Cost gemm_cost(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t bytes_per_element) {
  rooflab::todo("count the multiply-accumulates of one element of C, then of all of C");
}

Cost gemv_cost(std::int64_t m, std::int64_t k, std::int64_t bytes_per_element) {
  rooflab::todo("a vector is a matrix with one column");
}

Cost linear_cost(std::int64_t tokens, std::int64_t in_features, std::int64_t out_features,
                 bool bias, std::int64_t bytes_per_element) {
  rooflab::todo("write the layer as a GEMM, then add what the bias needs");
}

Cost conv2d_cost(const Conv2d& conv) {
  rooflab::todo("find the size of the output, then the MACs of one output value");
}

Cost pointwise_cost(std::int64_t elements, std::int64_t inputs, std::int64_t flops_per_element,
                    std::int64_t bytes_per_element) {
  rooflab::todo("count the arrays that cross DRAM: every input, and the output");
}

double arithmetic_intensity(const Cost& cost) {
  rooflab::todo("relate the operations to the bytes, in floating point");
}

Bound bound_on(const Cost& cost, const Gpu& gpu) {
  rooflab::todo("compare the time the arithmetic needs with the time the bytes need");
}
