#include "estimator.h"

#include <algorithm>
#include <array>

namespace {

// The kernels between which an array lives.
struct Life {
  int made = -1;       // the kernel that writes it, -1: an input
  int last_read = -1;  // the last kernel that reads it
};

std::vector<Life> lives_of(const Program& program) {
  std::vector<Life> lives(program.arrays.size());
  for (const Operation& operation : program.operations) {
    lives[operation.writes].made = operation.kernel;
    for (const std::size_t array : operation.reads) {
      lives[array].last_read = std::max(lives[array].last_read, operation.kernel);
    }
  }
  return lives;
}

}  // namespace

Program gated_mlp(const GatedMlp& mlp, Fusion fusion) {
  const double size = mlp.bytes_per_element;
  const double narrow = size * mlp.tokens * mlp.hidden;
  const double wide = size * mlp.tokens * mlp.intermediate;
  const double weight = size * mlp.hidden * mlp.intermediate;
  const double product = 2.0 * mlp.tokens * mlp.hidden * mlp.intermediate;
  const double elements = 1.0 * mlp.tokens * mlp.intermediate;

  Program program;
  const auto array = [&](const char* name, ArrayRole role, double bytes) {
    program.arrays.push_back({name, role, bytes});
    return program.arrays.size() - 1;
  };
  const std::size_t x = array("x", ArrayRole::input, narrow);
  const std::size_t gate = array("gate", ArrayRole::input, weight);
  const std::size_t up = array("up", ArrayRole::input, weight);
  const std::size_t down = array("down", ArrayRole::input, weight);
  const std::size_t gated = array("x gate", ArrayRole::intermediate, wide);
  const std::size_t upped = array("x up", ArrayRole::intermediate, wide);
  const std::size_t active = array("activated", ArrayRole::intermediate, wide);
  const std::size_t both = array("product", ArrayRole::intermediate, wide);
  const std::size_t out = array("out", ArrayRole::output, narrow);

  std::array<int, 5> kernel = {0, 1, 2, 3, 4};
  if (fusion == Fusion::pointwise) kernel = {0, 1, 2, 2, 3};
  if (fusion == Fusion::gate_and_up) kernel = {0, 0, 0, 0, 1};
  if (fusion == Fusion::whole) kernel = {};

  program.operations = {
      {"gate", product, 0, {x, gate}, gated, kernel[0]},
      {"up", product, 0, {x, up}, upped, kernel[1]},
      {"activation", 0, elements * mlp.activation_flops, {gated}, active, kernel[2]},
      {"multiply", 0, elements, {active, upped}, both, kernel[3]},
      {"down", product, 0, {both, down}, out, kernel[4]},
  };
  return program;
}

std::vector<KernelWork> kernels_of(const Program& program, double l2_bytes) {
  const std::vector<Life> lives = lives_of(program);
  std::vector<KernelWork> work;
  // Which kernel an array was counted for last, as something it reads.
  std::vector<int> counted(program.arrays.size(), -1);
  for (const Operation& operation : program.operations) {
    if (static_cast<std::size_t>(operation.kernel) == work.size()) work.emplace_back();
    KernelWork& kernel = work[operation.kernel];
    kernel.matmul_flops += operation.matmul_flops;
    kernel.pointwise_flops += operation.pointwise_flops;

    for (const std::size_t at : operation.reads) {
      if (counted[at] == operation.kernel || lives[at].made == operation.kernel) continue;
      counted[at] = operation.kernel;
      const bool fresh = lives[at].made >= 0 && lives[at].made == operation.kernel - 1;
      if (l2_bytes > 0 && fresh && program.arrays[at].bytes <= l2_bytes) continue;
      kernel.bytes += program.arrays[at].bytes;
    }
    const Array& result = program.arrays[operation.writes];
    if (result.role == ArrayRole::output || lives[operation.writes].last_read > operation.kernel) {
      kernel.bytes += result.bytes;
    }
  }
  return work;
}

Estimate estimate(const Program& program, const Machine& machine) {
  Estimate sum;
  double host = 0;  // when the host has issued the launch
  double free = 0;  // when the GPU has nothing left to do
  for (const KernelWork& kernel : kernels_of(program, machine.l2_bytes)) {
    const double tensor = kernel.matmul_flops / machine.tensor_flops_per_second;
    const double cuda = kernel.pointwise_flops / machine.cuda_flops_per_second;
    const double memory = kernel.bytes / machine.bytes_per_second;
    const double busy = std::max(tensor, std::max(cuda, memory));
    sum.tensor_seconds += tensor;
    sum.cuda_seconds += cuda;
    sum.memory_seconds += memory;
    sum.busy_seconds += busy;

    host += machine.seconds_per_launch;
    if (host > free) {
      sum.idle_seconds += host - free;
      free = host;
    }
    free += busy;
  }
  sum.seconds = sum.busy_seconds + sum.idle_seconds;

  const std::array<double, 4> terms = {sum.tensor_seconds, sum.cuda_seconds, sum.memory_seconds,
                                       sum.idle_seconds};
  sum.bound = static_cast<Term>(std::max_element(terms.begin(), terms.end()) - terms.begin());
  return sum;
}

Explanation explain(const Estimate& estimate, double measured_seconds) {
  Explanation why;
  const double beyond = measured_seconds - estimate.busy_seconds;
  const double idle = std::clamp(beyond, 0.0, estimate.idle_seconds);
  why.slowdown = measured_seconds / estimate.seconds;
  why.roofline_share = estimate.busy_seconds / measured_seconds;
  why.idle_share = idle / measured_seconds;
  why.rest_share = 1 - why.roofline_share - why.idle_share;
  why.efficiency = estimate.busy_seconds / (measured_seconds - idle);

  if (beyond < 0) {
    why.finding = Finding::faster_than_possible;
  } else if (beyond <= 0.1 * measured_seconds) {
    why.finding = Finding::as_estimated;
  } else if (why.idle_share >= why.rest_share) {
    why.finding = Finding::launches;
  } else {
    why.finding = Finding::inefficiency;
  }
  return why;
}
