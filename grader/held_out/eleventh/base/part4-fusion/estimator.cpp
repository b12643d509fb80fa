#include "estimator.h"

#include <algorithm>
#include <set>

namespace {

// The kernels of the five operations, for each Fusion in its order.
constexpr int kKernels[4][5] = {{0, 1, 2, 3, 4}, {0, 1, 2, 2, 3}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, 0}};

struct Uses {
  std::set<std::size_t> reads, makes;
};

// What the operations of each kernel read and write, numbers of arrays.
std::vector<Uses> uses_of(const Program& program) {
  std::vector<Uses> uses;
  for (const Operation& operation : program.operations) {
    uses.resize(std::max<std::size_t>(uses.size(), operation.kernel + 1));
    Uses& mine = uses[operation.kernel];
    mine.reads.insert(operation.reads.begin(), operation.reads.end());
    mine.makes.insert(operation.writes);
  }
  return uses;
}

bool needed_after(const std::vector<Uses>& uses, std::size_t kernel, std::size_t array) {
  for (std::size_t later = kernel + 1; later < uses.size(); ++later) {
    if (uses[later].reads.contains(array)) return true;
  }
  return false;
}

}  // namespace

Program gated_mlp(const GatedMlp& mlp, Fusion fusion) {
  const double width = static_cast<double>(mlp.bytes_per_element);
  const double outer = static_cast<double>(mlp.tokens * mlp.hidden);
  const double inner = static_cast<double>(mlp.tokens * mlp.intermediate);
  const double weight = static_cast<double>(mlp.hidden * mlp.intermediate);
  const double product = 2.0 * mlp.tokens * weight;
  const int* kernels = kKernels[static_cast<int>(fusion)];
  Program program;
  program.arrays = {{"x", ArrayRole::input, outer * width},
                    {"gate", ArrayRole::input, weight * width},
                    {"up", ArrayRole::input, weight * width},
                    {"down", ArrayRole::input, weight * width},
                    {"gated", ArrayRole::intermediate, inner * width},
                    {"upped", ArrayRole::intermediate, inner * width},
                    {"active", ArrayRole::intermediate, inner * width},
                    {"both", ArrayRole::intermediate, inner * width},
                    {"out", ArrayRole::output, outer * width}};
  program.operations = {{"gate", product, 0, {0, 1}, 4, kernels[0]},
                        {"up", product, 0, {0, 2}, 5, kernels[1]},
                        {"activation", 0, inner * mlp.activation_flops, {4}, 6, kernels[2]},
                        {"multiply", 0, inner, {6, 5}, 7, kernels[3]},
                        {"down", product, 0, {7, 3}, 8, kernels[4]}};
  return program;
}

std::vector<KernelWork> kernels_of(const Program& program, double l2_bytes) {
  const std::vector<Uses> uses = uses_of(program);
  std::vector<KernelWork> work(uses.size());
  for (const Operation& operation : program.operations) {
    work[operation.kernel].matmul_flops += operation.matmul_flops;
    work[operation.kernel].pointwise_flops += operation.pointwise_flops;
  }
  for (std::size_t k = 0; k < uses.size(); ++k) {
    for (const std::size_t array : uses[k].reads) {
      if (uses[k].makes.contains(array)) continue;
      const double bytes = program.arrays[array].bytes;
      const bool fresh = k > 0 && uses[k - 1].makes.contains(array);
      const bool cached = l2_bytes > 0 && fresh && bytes <= l2_bytes;
      if (!cached) work[k].bytes += bytes;
    }
    for (const std::size_t array : uses[k].makes) {
      const bool output = program.arrays[array].role == ArrayRole::output;
      if (output || needed_after(uses, k, array)) work[k].bytes += program.arrays[array].bytes;
    }
  }
  return work;
}

Estimate estimate(const Program& program, const Machine& machine) {
  Estimate result;
  double issued = 0;
  double ended = 0;
  for (const KernelWork& kernel : kernels_of(program, machine.l2_bytes)) {
    const double tensor = kernel.matmul_flops / machine.tensor_flops_per_second;
    const double cuda = kernel.pointwise_flops / machine.cuda_flops_per_second;
    const double memory = kernel.bytes / machine.bytes_per_second;
    const double longest = std::max({tensor, cuda, memory});
    result.tensor_seconds += tensor;
    result.cuda_seconds += cuda;
    result.memory_seconds += memory;
    result.busy_seconds += longest;
    issued += machine.seconds_per_launch;
    const double start = std::max(issued, ended);
    result.idle_seconds += start - ended;
    ended = start + longest;
  }
  result.seconds = result.busy_seconds + result.idle_seconds;
  const double terms[] = {result.tensor_seconds, result.cuda_seconds, result.memory_seconds,
                          result.idle_seconds};
  int longest = 0;
  for (int t = 1; t < 4; ++t) {
    if (terms[t] > terms[longest]) longest = t;
  }
  result.bound = static_cast<Term>(longest);
  return result;
}

Explanation explain(const Estimate& estimate, double measured_seconds) {
  const double beyond = measured_seconds - estimate.busy_seconds;
  const double idle = std::clamp(beyond, 0.0, estimate.idle_seconds);
  Explanation result;
  result.slowdown = measured_seconds / estimate.seconds;
  result.roofline_share = estimate.busy_seconds / measured_seconds;
  result.idle_share = idle / measured_seconds;
  result.rest_share = 1 - result.roofline_share - result.idle_share;
  result.efficiency = estimate.busy_seconds / (measured_seconds - idle);
  if (beyond < 0) {
    result.finding = Finding::faster_than_possible;
  } else if (beyond <= measured_seconds / 10) {
    result.finding = Finding::as_estimated;
  } else if (result.idle_share >= result.rest_share) {
    result.finding = Finding::launches;
  } else {
    result.finding = Finding::inefficiency;
  }
  return result;
}
