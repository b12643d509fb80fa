#include "estimator.h"

#include <algorithm>

#include "toolkit/todo.h"

Program gated_mlp(const GatedMlp& mlp, Fusion fusion) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("name the arrays and their bytes, then the five operations in order");
  const auto bytes = [&](std::int64_t rows, std::int64_t columns) {
    return static_cast<double>(rows * columns * mlp.bytes_per_element);
  };
  const double outer = bytes(mlp.tokens, mlp.hidden);
  const double weight = bytes(mlp.hidden, mlp.intermediate);
  const double inner = bytes(mlp.tokens, mlp.intermediate);

  enum Place : std::size_t { x, gate, up, down, gated, upped, activated, product, out };
  const auto elements = static_cast<double>(mlp.tokens * mlp.intermediate);
  const double matmul = 2 * elements * static_cast<double>(mlp.hidden);
  const double activation = elements * static_cast<double>(mlp.activation_flops);

  // The kernel of each operation.
  const auto kernels = [&]() -> std::vector<int> {
    switch (fusion) {
      case Fusion::none:
        return {0, 1, 2, 3, 4};
      case Fusion::pointwise:
        return {0, 1, 2, 2, 3};
      case Fusion::gate_and_up:
        return {0, 0, 0, 0, 1};
      case Fusion::whole:
        return {0, 0, 0, 0, 0};
    }
    return {};
  }();
  return {.arrays = {{"x", ArrayRole::input, outer},
                     {"gate", ArrayRole::input, weight},
                     {"up", ArrayRole::input, weight},
                     {"down", ArrayRole::input, weight},
                     {"x gate", ArrayRole::intermediate, inner},
                     {"x up", ArrayRole::intermediate, inner},
                     {"activated", ArrayRole::intermediate, inner},
                     {"product", ArrayRole::intermediate, inner},
                     {"out", ArrayRole::output, outer}},
          .operations = {{"x gate", matmul, 0, {x, gate}, gated, kernels[0]},
                         {"x up", matmul, 0, {x, up}, upped, kernels[1]},
                         {"activation", 0, activation, {gated}, activated, kernels[2]},
                         {"multiplication", 0, elements, {activated, upped}, product, kernels[3]},
                         {"down", matmul, 0, {product, down}, out, kernels[4]}}};
  // END SOLUTION
}

// BEGIN SOLUTION
// STARTER: // Your helpers go here: who makes an array, who reads it?
namespace {

// The kernel that writes an array, or -1 for an input.
int maker_of(const Program& program, std::size_t array) {
  for (const Operation& operation : program.operations) {
    if (operation.writes == array) return operation.kernel;
  }
  return -1;
}

bool reads(const Operation& operation, std::size_t array) {
  return std::ranges::find(operation.reads, array) != operation.reads.end();
}

bool kernel_reads(const Program& program, int kernel, std::size_t array) {
  return std::ranges::any_of(program.operations, [&](const Operation& operation) {
    return operation.kernel == kernel && reads(operation, array);
  });
}

bool is_read_after(const Program& program, int kernel, std::size_t array) {
  return std::ranges::any_of(program.operations, [&](const Operation& operation) {
    return operation.kernel > kernel && reads(operation, array);
  });
}

// Bytes between a kernel and DRAM.
double traffic(const Program& program, int kernel, double l2_bytes) {
  double bytes = 0;
  for (std::size_t i = 0; i < program.arrays.size(); ++i) {
    const Array& array = program.arrays[i];
    const int maker = maker_of(program, i);
    if (maker == kernel) {
      const bool leaves = array.role == ArrayRole::output || is_read_after(program, kernel, i);
      if (leaves) bytes += array.bytes;
    } else if (kernel_reads(program, kernel, i)) {
      const bool in_l2 = maker >= 0 && maker == kernel - 1 && array.bytes <= l2_bytes;
      if (!in_l2) bytes += array.bytes;
    }
  }
  return bytes;
}

}  // namespace
// END SOLUTION

std::vector<KernelWork> kernels_of(const Program& program, double l2_bytes) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("which arrays does each kernel read, and which must it write?");
  std::vector<KernelWork> kernels;
  for (const Operation& operation : program.operations) {
    const auto kernel = static_cast<std::size_t>(operation.kernel);
    if (kernel == kernels.size()) {
      kernels.push_back({.bytes = traffic(program, operation.kernel, l2_bytes)});
    }
    kernels[kernel].matmul_flops += operation.matmul_flops;
    kernels[kernel].pointwise_flops += operation.pointwise_flops;
  }
  return kernels;
  // END SOLUTION
}

Estimate estimate(const Program& program, const Machine& machine) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("the times of each kernel first; then follow host and GPU launch by launch");
  Estimate sum;
  double issued = 0;  // when the host has issued the launch
  double ended = 0;   // when the kernel before has ended
  for (const KernelWork& kernel : kernels_of(program, machine.l2_bytes)) {
    const double tensor = kernel.matmul_flops / machine.tensor_flops_per_second;
    const double cuda = kernel.pointwise_flops / machine.cuda_flops_per_second;
    const double memory = kernel.bytes / machine.bytes_per_second;
    const double busy = std::max({tensor, cuda, memory});
    issued += machine.seconds_per_launch;
    sum.idle_seconds += std::max(0.0, issued - ended);
    ended = std::max(issued, ended) + busy;
    sum.tensor_seconds += tensor;
    sum.cuda_seconds += cuda;
    sum.memory_seconds += memory;
    sum.busy_seconds += busy;
  }
  sum.seconds = sum.busy_seconds + sum.idle_seconds;
  // max_element() gives the first of equal ones, and the terms stand in the order of Term.
  const std::vector<double> terms = {sum.tensor_seconds, sum.cuda_seconds, sum.memory_seconds,
                                     sum.idle_seconds};
  sum.bound = static_cast<Term>(std::ranges::max_element(terms) - terms.begin());
  return sum;
  // END SOLUTION
}

Explanation explain(const Estimate& estimate, double measured_seconds) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("which part of the measured time is busy, which idle, which neither?");
  const double busy = estimate.busy_seconds;
  const double idle = std::clamp(measured_seconds - busy, 0.0, estimate.idle_seconds);
  const double rest = measured_seconds - busy - idle;
  Explanation explanation;
  explanation.slowdown = measured_seconds / estimate.seconds;
  explanation.roofline_share = busy / measured_seconds;
  explanation.idle_share = idle / measured_seconds;
  explanation.rest_share = rest / measured_seconds;
  explanation.efficiency = busy / (measured_seconds - idle);
  constexpr double kMostUnexplained = 0.1;
  if (measured_seconds < busy) {
    explanation.finding = Finding::faster_than_possible;
  } else if (idle + rest <= kMostUnexplained * measured_seconds) {
    explanation.finding = Finding::as_estimated;
  } else {
    explanation.finding = idle >= rest ? Finding::launches : Finding::inefficiency;
  }
  return explanation;
  // END SOLUTION
}
