#include "counters.h"

#include <stdexcept>

#include "grader/contract/guest_call.h"

namespace {

using rooflab::Cost;
using rooflab::GuestCall;

Conv2d conv_of(const GuestCall& call) {
  return {.batch = call.integer("batch"),
          .in_channels = call.integer("in_channels"),
          .out_channels = call.integer("out_channels"),
          .height = call.integer("height"),
          .width = call.integer("width"),
          .kernel_height = call.integer("kernel_height"),
          .kernel_width = call.integer("kernel_width"),
          .stride = call.integer("stride"),
          .padding = call.integer("padding"),
          .dilation = call.integer("dilation"),
          .groups = call.integer("groups"),
          .bytes_per_element = call.integer("bytes_per_element")};
}

Cost cost_of(const GuestCall& call, const std::string& function) {
  const auto p = [&](const char* name) { return call.integer(name); };
  if (function == "gemm_cost") return gemm_cost(p("m"), p("n"), p("k"), p("bytes_per_element"));
  if (function == "gemv_cost") return gemv_cost(p("m"), p("k"), p("bytes_per_element"));
  if (function == "linear_cost") {
    return linear_cost(p("tokens"), p("in_features"), p("out_features"), p("bias") != 0,
                       p("bytes_per_element"));
  }
  if (function == "conv2d_cost") return conv2d_cost(conv_of(call));
  if (function == "pointwise_cost") {
    return pointwise_cost(p("elements"), p("inputs"), p("flops_per_element"),
                          p("bytes_per_element"));
  }
  throw std::invalid_argument("part.toml names no such function: " + function);
}

Cost given_cost(const GuestCall& call) {
  return {
      .macs = call.integer("macs"), .flops = call.integer("flops"), .bytes = call.integer("bytes")};
}

}  // namespace

ROOFLAB_ENTRY(counters) {
  const std::string& function = call.text("function");
  if (function == "arithmetic_intensity") {
    call.result("intensity", arithmetic_intensity(given_cost(call)));
  } else if (function == "bound_on") {
    const rooflab::Gpu gpu{.flops_per_second = call.real("flops_per_second"),
                           .bytes_per_second = call.real("bytes_per_second")};
    const bool memory = bound_on(given_cost(call), gpu) == rooflab::Bound::memory;
    call.result("bound", std::string(memory ? "memory" : "compute"));
  } else {
    const Cost cost = cost_of(call, function);
    call.result("macs", cost.macs);
    call.result("flops", cost.flops);
    call.result("bytes", cost.bytes);
  }
}
