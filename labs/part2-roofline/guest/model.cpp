#include "roofline_model.h"

#include <stdexcept>

#include "grader/contract/guest_call.h"

namespace {

using rooflab::GuestCall;

rooflab::Gpu gpu_from(const GuestCall& call) {
  return {.flops_per_second = call.real("flops_per_second"),
          .bytes_per_second = call.real("bytes_per_second")};
}

GpuWithL2 gpu_with_l2_from(const GuestCall& call) {
  return {.dram = gpu_from(call),
          .l2_bytes_per_second = call.real("l2_bytes_per_second"),
          .l2_bytes = call.integer("l2_bytes")};
}

rooflab::Cost cost_from(const GuestCall& call) {
  return {.macs = call.integer("flops") / 2,
          .flops = call.integer("flops"),
          .bytes = call.integer("bytes")};
}

std::string name_of(Roof roof) {
  switch (roof) {
    case Roof::compute:
      return "compute";
    case Roof::l2:
      return "l2";
    case Roof::dram:
      return "dram";
  }
  return "not a roof";
}

void pass_on_gpu(GuestCall& call) {
  const rooflab::Gpu gpu = gpu_of({.tflops_per_second = call.real("tflops_per_second"),
                                   .with_sparsity = call.integer("with_sparsity") != 0,
                                   .gb_per_second = call.real("gb_per_second")});
  call.result("flops_per_second", gpu.flops_per_second);
  call.result("bytes_per_second", gpu.bytes_per_second);
}

void pass_on_utilisation(GuestCall& call) {
  const Utilisation shares =
      utilisation(gpu_from(call), {.needed = cost_from(call),
                                   .executed_flops = call.integer("executed"),
                                   .seconds = call.real("seconds")});
  call.result("model_flops", shares.model_flops);
  call.result("hardware_flops", shares.hardware_flops);
  call.result("bandwidth", shares.bandwidth);
}

}  // namespace

ROOFLAB_ENTRY(model) {
  const std::string& function = call.text("function");
  if (function == "gpu_of") {
    pass_on_gpu(call);
  } else if (function == "ridge_point") {
    call.result("ridge_point", ridge_point(gpu_from(call)));
  } else if (function == "attainable") {
    call.result("attainable", attainable(gpu_from(call), call.real("intensity")));
  } else if (function == "bound") {
    const bool memory = bound(gpu_from(call), call.real("intensity")) == rooflab::Bound::memory;
    call.result("bound", std::string(memory ? "memory" : "compute"));
  } else if (function == "least_seconds") {
    call.result("seconds", least_seconds(gpu_from(call), cost_from(call)));
  } else if (function == "crossover_flops") {
    call.result("flops_per_element", crossover_flops(gpu_from(call), call.integer("inputs"),
                                                     call.integer("bytes_per_element")));
  } else if (function == "smallest_compute_bound_gemm") {
    call.result("n",
                smallest_compute_bound_gemm(gpu_from(call), call.integer("bytes_per_element")));
  } else if (function == "attainable_warm") {
    call.result("attainable", attainable_warm(gpu_with_l2_from(call), cost_from(call)));
  } else if (function == "limiting_roof") {
    const Traffic traffic{.flops = call.integer("flops"),
                          .l2_bytes = call.integer("l2_traffic"),
                          .dram_bytes = call.integer("dram_traffic")};
    call.result("roof", name_of(limiting_roof(gpu_with_l2_from(call), traffic)));
  } else if (function == "utilisation") {
    pass_on_utilisation(call);
  } else {
    throw std::invalid_argument("part.toml names no such function: " + function);
  }
}
