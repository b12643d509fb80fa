#include "estimator.h"

#include <algorithm>
#include <set>

namespace {

// Builds a program array by array, operation by operation.
struct Builder {
  Program program;

  std::size_t array(const char* name, ArrayRole role, double bytes) {
    program.arrays.push_back({name, role, bytes});
    return program.arrays.size() - 1;
  }
  void matmul(const char* name, double flops, std::vector<std::size_t> reads, std::size_t writes,
              int kernel) {
    program.operations.push_back({.name = name,
                                  .matmul_flops = flops,
                                  .reads = std::move(reads),
                                  .writes = writes,
                                  .kernel = kernel});
  }
  void pointwise(const char* name, double flops, std::vector<std::size_t> reads,
                 std::size_t writes, int kernel) {
    program.operations.push_back({.name = name,
                                  .pointwise_flops = flops,
                                  .reads = std::move(reads),
                                  .writes = writes,
                                  .kernel = kernel});
  }
};

using Places = std::set<std::size_t>;

// The kernel of each of the five operations.
std::vector<int> kernels(Fusion fusion) {
  switch (fusion) {
    case Fusion::none: return {0, 1, 2, 3, 4};
    case Fusion::pointwise: return {0, 1, 2, 2, 3};
    case Fusion::gate_and_up: return {0, 0, 0, 0, 1};
    case Fusion::whole: break;
  }
  return {0, 0, 0, 0, 0};
}

double bytes_of(const Program& program, const Places& places) {
  double bytes = 0;
  for (const std::size_t place : places) bytes += program.arrays[place].bytes;
  return bytes;
}

}  // namespace

Program gated_mlp(const GatedMlp& mlp, Fusion fusion) {
  const double thin = static_cast<double>(mlp.tokens) * mlp.hidden;
  const double wide = static_cast<double>(mlp.tokens) * mlp.intermediate;
  const double weights = static_cast<double>(mlp.hidden) * mlp.intermediate;
  const double size = mlp.bytes_per_element;
  Builder build;
  const auto x = build.array("x", ArrayRole::input, thin * size);
  const auto gate = build.array("gate", ArrayRole::input, weights * size);
  const auto up = build.array("up", ArrayRole::input, weights * size);
  const auto down = build.array("down", ArrayRole::input, weights * size);
  const auto gated = build.array("x gate", ArrayRole::intermediate, wide * size);
  const auto upped = build.array("x up", ArrayRole::intermediate, wide * size);
  const auto active = build.array("activated", ArrayRole::intermediate, wide * size);
  const auto product = build.array("product", ArrayRole::intermediate, wide * size);
  const auto out = build.array("out", ArrayRole::output, thin * size);

  const std::vector<int> kernel = kernels(fusion);
  const double flops = 2 * wide * mlp.hidden;
  build.matmul("gate", flops, {x, gate}, gated, kernel[0]);
  build.matmul("up", flops, {x, up}, upped, kernel[1]);
  build.pointwise("activation", wide * mlp.activation_flops, {gated}, active, kernel[2]);
  build.pointwise("multiply", wide, {active, upped}, product, kernel[3]);
  build.matmul("down", flops, {product, down}, out, kernel[4]);
  return build.program;
}

std::vector<KernelWork> kernels_of(const Program& program, double l2_bytes) {
  const std::size_t count =
      program.operations.empty() ? 0 : program.operations.back().kernel + std::size_t{1};
  std::vector<KernelWork> works(count);
  std::vector<Places> needed(count), made(count), stored(count);
  for (const Operation& operation : program.operations) {
    KernelWork& work = works[operation.kernel];
    work.matmul_flops += operation.matmul_flops;
    work.pointwise_flops += operation.pointwise_flops;
    needed[operation.kernel].insert(operation.reads.begin(), operation.reads.end());
    made[operation.kernel].insert(operation.writes);
  }
  for (std::size_t k = 0; k < count; ++k) {
    for (const std::size_t place : made[k]) {
      needed[k].erase(place);
      const bool is_intermediate = program.arrays[place].role == ArrayRole::intermediate;
      const bool is_read_later = std::any_of(
          needed.begin() + k + 1, needed.end(), [&](const Places& n) { return n.contains(place); });
      if (!is_intermediate || is_read_later) stored[k].insert(place);
    }
    Places loaded = needed[k];
    if (l2_bytes > 0 && k > 0) {
      for (const std::size_t place : stored[k - 1]) {
        if (program.arrays[place].bytes <= l2_bytes) loaded.erase(place);
      }
    }
    works[k].bytes = bytes_of(program, loaded) + bytes_of(program, stored[k]);
  }
  return works;
}

Estimate estimate(const Program& program, const Machine& machine) {
  Estimate total;
  double issued = 0, free_at = 0;
  for (const KernelWork& work : kernels_of(program, machine.l2_bytes)) {
    const double tensor = work.matmul_flops / machine.tensor_flops_per_second;
    const double cuda = work.pointwise_flops / machine.cuda_flops_per_second;
    const double memory = work.bytes / machine.bytes_per_second;
    const double longest = std::max({tensor, cuda, memory});
    total.tensor_seconds += tensor;
    total.cuda_seconds += cuda;
    total.memory_seconds += memory;
    total.busy_seconds += longest;
    issued += machine.seconds_per_launch;
    if (issued > free_at) {
      total.idle_seconds += issued - free_at;
      free_at = issued;
    }
    free_at += longest;
  }
  total.seconds = free_at;
  const double terms[] = {total.tensor_seconds, total.cuda_seconds, total.memory_seconds,
                          total.idle_seconds};
  total.bound = static_cast<Term>(std::max_element(terms, terms + 4) - terms);
  return total;
}

Explanation explain(const Estimate& estimate, double measured_seconds) {
  const double beyond = measured_seconds - estimate.busy_seconds;
  const double idle = std::clamp(estimate.idle_seconds, 0.0, std::max(beyond, 0.0));
  Explanation shares;
  shares.slowdown = measured_seconds / estimate.seconds;
  shares.roofline_share = estimate.busy_seconds / measured_seconds;
  shares.idle_share = idle / measured_seconds;
  shares.rest_share = 1 - shares.roofline_share - shares.idle_share;
  shares.efficiency = estimate.busy_seconds / (measured_seconds - idle);
  if (beyond < 0) {
    shares.finding = Finding::faster_than_possible;
  } else if (beyond <= 0.1 * measured_seconds) {
    shares.finding = Finding::as_estimated;
  } else if (idle >= beyond - idle) {
    shares.finding = Finding::launches;
  } else {
    shares.finding = Finding::inefficiency;
  }
  return shares;
}
