#include "estimator.h"

#include <algorithm>

namespace {

constexpr int kNobody = -1;

// The kernel that makes each array, or kNobody, and the last one that reads it.
struct Life {
  int maker = kNobody;
  int last_reader = kNobody;
};

std::vector<Life> lives_of(const Program& program) {
  std::vector<Life> lives(program.arrays.size());
  for (const Operation& operation : program.operations) {
    lives[operation.writes].maker = operation.kernel;
    for (const std::size_t array : operation.reads) {
      lives[array].last_reader = std::max(lives[array].last_reader, operation.kernel);
    }
  }
  return lives;
}

}  // namespace

Program gated_mlp(const GatedMlp& mlp, Fusion fusion) {
  const double size = static_cast<double>(mlp.bytes_per_element);
  const double tokens = static_cast<double>(mlp.tokens);
  const double hidden = static_cast<double>(mlp.hidden);
  const double wide = static_cast<double>(mlp.intermediate);
  const double outer = tokens * hidden * size;
  const double inner = tokens * wide * size;
  const double weights = hidden * wide * size;

  enum : std::size_t { kX, kGateWeight, kUpWeight, kDownWeight, kGate, kUp, kActive, kProduct, kOut };
  Program program;
  program.arrays = {{"x", ArrayRole::input, outer},
                    {"gate_proj", ArrayRole::input, weights},
                    {"up_proj", ArrayRole::input, weights},
                    {"down_proj", ArrayRole::input, weights},
                    {"gate", ArrayRole::intermediate, inner},
                    {"up", ArrayRole::intermediate, inner},
                    {"active", ArrayRole::intermediate, inner},
                    {"product", ArrayRole::intermediate, inner},
                    {"out", ArrayRole::output, outer}};

  std::vector<int> kernel;
  switch (fusion) {
    case Fusion::none: kernel = {0, 1, 2, 3, 4}; break;
    case Fusion::pointwise: kernel = {0, 1, 2, 2, 3}; break;
    case Fusion::gate_and_up: kernel = {0, 0, 0, 0, 1}; break;
    case Fusion::whole: kernel = {0, 0, 0, 0, 0}; break;
  }
  const double matmul = 2 * tokens * hidden * wide;
  const double elements = tokens * wide;
  const double activation = elements * static_cast<double>(mlp.activation_flops);
  program.operations = {{"gate", matmul, 0, {kX, kGateWeight}, kGate, kernel[0]},
                        {"up", matmul, 0, {kX, kUpWeight}, kUp, kernel[1]},
                        {"activate", 0, activation, {kGate}, kActive, kernel[2]},
                        {"multiply", 0, elements, {kActive, kUp}, kProduct, kernel[3]},
                        {"down", matmul, 0, {kProduct, kDownWeight}, kOut, kernel[4]}};
  return program;
}

std::vector<KernelWork> kernels_of(const Program& program, double l2_bytes) {
  const std::vector<Life> lives = lives_of(program);
  std::vector<KernelWork> works;
  for (const Operation& operation : program.operations) {
    if (operation.kernel >= static_cast<int>(works.size())) works.resize(operation.kernel + 1);
    works[operation.kernel].matmul_flops += operation.matmul_flops;
    works[operation.kernel].pointwise_flops += operation.pointwise_flops;
  }

  for (int k = 0; k < static_cast<int>(works.size()); ++k) {
    for (std::size_t a = 0; a < program.arrays.size(); ++a) {
      const Array& array = program.arrays[a];
      bool needed = false;
      for (const Operation& operation : program.operations) {
        if (operation.kernel != k) continue;
        needed |= std::ranges::find(operation.reads, a) != operation.reads.end();
      }
      const bool made_here = lives[a].maker == k;
      const bool fresh = lives[a].maker != kNobody && lives[a].maker == k - 1;
      const bool in_l2 = fresh && l2_bytes > 0 && array.bytes <= l2_bytes;
      if (needed && !made_here && !in_l2) works[k].bytes += array.bytes;
      const bool leaves = array.role == ArrayRole::output || lives[a].last_reader > k;
      if (made_here && leaves) works[k].bytes += array.bytes;
    }
  }
  return works;
}

Estimate estimate(const Program& program, const Machine& machine) {
  Estimate result;
  double clock = 0;
  double issued = 0;
  for (const KernelWork& work : kernels_of(program, machine.l2_bytes)) {
    const double tensor = work.matmul_flops / machine.tensor_flops_per_second;
    const double cuda = work.pointwise_flops / machine.cuda_flops_per_second;
    const double memory = work.bytes / machine.bytes_per_second;
    const double busy = std::max({tensor, cuda, memory});
    result.tensor_seconds += tensor;
    result.cuda_seconds += cuda;
    result.memory_seconds += memory;
    result.busy_seconds += busy;

    issued += machine.seconds_per_launch;
    const double start = std::max(clock, issued);
    result.idle_seconds += start - clock;
    clock = start + busy;
  }
  result.seconds = clock;

  const double terms[] = {result.tensor_seconds, result.cuda_seconds, result.memory_seconds,
                          result.idle_seconds};
  const auto longest = std::max_element(std::begin(terms), std::end(terms));
  result.bound = static_cast<Term>(longest - std::begin(terms));
  return result;
}

Explanation explain(const Estimate& estimate, double measured_seconds) {
  const double spare = std::max(0.0, measured_seconds - estimate.busy_seconds);
  const double idle = std::min(estimate.idle_seconds, spare);
  Explanation result;
  result.slowdown = measured_seconds / estimate.seconds;
  result.roofline_share = estimate.busy_seconds / measured_seconds;
  result.idle_share = idle / measured_seconds;
  result.rest_share = 1 - result.roofline_share - result.idle_share;
  result.efficiency = estimate.busy_seconds / (measured_seconds - idle);

  if (measured_seconds < estimate.busy_seconds) {
    result.finding = Finding::faster_than_possible;
  } else if (measured_seconds - estimate.busy_seconds <= 0.1 * measured_seconds) {
    result.finding = Finding::as_estimated;
  } else if (result.idle_share >= result.rest_share) {
    result.finding = Finding::launches;
  } else {
    result.finding = Finding::inefficiency;
  }
  return result;
}
