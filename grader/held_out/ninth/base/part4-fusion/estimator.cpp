#include "estimator.h"

#include <algorithm>

Program gated_mlp(const GatedMlp& mlp, Fusion fusion) {
  const double t = mlp.tokens, h = mlp.hidden, i = mlp.intermediate, b = mlp.bytes_per_element;
  enum { X, GATE, UP, DOWN, G, U, A, P, OUT };
  Program p;
  p.arrays = {{"x", ArrayRole::input, t * h * b},
              {"gate", ArrayRole::input, h * i * b},
              {"up", ArrayRole::input, h * i * b},
              {"down", ArrayRole::input, i * h * b},
              {"gated", ArrayRole::intermediate, t * i * b},
              {"upped", ArrayRole::intermediate, t * i * b},
              {"activated", ArrayRole::intermediate, t * i * b},
              {"product", ArrayRole::intermediate, t * i * b},
              {"out", ArrayRole::output, t * h * b}};
  const int kernels[4][5] = {{0, 1, 2, 3, 4}, {0, 1, 2, 2, 3}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, 0}};
  const int* k = kernels[static_cast<int>(fusion)];
  const double gemm = 2 * t * h * i;
  p.operations = {{"gate", gemm, 0, {X, GATE}, G, k[0]},
                  {"up", gemm, 0, {X, UP}, U, k[1]},
                  {"activation", 0, t * i * mlp.activation_flops, {G}, A, k[2]},
                  {"multiplication", 0, t * i, {A, U}, P, k[3]},
                  {"down", gemm, 0, {P, DOWN}, OUT, k[4]}};
  return p;
}

namespace {

constexpr int kNobody = -1;

// For each array, the kernel that makes it and the last one that reads it.
struct Lives {
  std::vector<int> maker, last_reader;
  explicit Lives(const Program& program)
      : maker(program.arrays.size(), kNobody), last_reader(program.arrays.size(), kNobody) {
    for (const Operation& op : program.operations) {
      maker[op.writes] = op.kernel;
      for (std::size_t a : op.reads) last_reader[a] = std::max(last_reader[a], op.kernel);
    }
  }
};

}  // namespace

std::vector<KernelWork> kernels_of(const Program& program, double l2_bytes) {
  const Lives lives(program);
  int count = 0;
  for (const Operation& op : program.operations) count = std::max(count, op.kernel + 1);
  std::vector<KernelWork> work(count);
  for (int k = 0; k < count; ++k) {
    std::vector<bool> counted(program.arrays.size(), false);
    for (const Operation& op : program.operations) {
      if (op.kernel != k) continue;
      work[k].matmul_flops += op.matmul_flops;
      work[k].pointwise_flops += op.pointwise_flops;
      for (std::size_t a : op.reads) {
        if (counted[a] || lives.maker[a] == k) continue;
        counted[a] = true;
        const bool just_made = lives.maker[a] != kNobody && lives.maker[a] == k - 1;
        if (just_made && l2_bytes > 0 && program.arrays[a].bytes <= l2_bytes) continue;
        work[k].bytes += program.arrays[a].bytes;
      }
      const Array& made = program.arrays[op.writes];
      if (made.role != ArrayRole::intermediate || lives.last_reader[op.writes] > k) {
        work[k].bytes += made.bytes;
      }
    }
  }
  return work;
}

Estimate estimate(const Program& program, const Machine& machine) {
  Estimate e;
  double gpu_free = 0, issued = 0;
  for (const KernelWork& w : kernels_of(program, machine.l2_bytes)) {
    const double tensor = w.matmul_flops / machine.tensor_flops_per_second;
    const double cuda = w.pointwise_flops / machine.cuda_flops_per_second;
    const double memory = w.bytes / machine.bytes_per_second;
    e.tensor_seconds += tensor;
    e.cuda_seconds += cuda;
    e.memory_seconds += memory;
    const double longest = std::max({tensor, cuda, memory});
    issued += machine.seconds_per_launch;
    const double start = std::max(issued, gpu_free);
    e.idle_seconds += start - gpu_free;
    e.busy_seconds += longest;
    gpu_free = start + longest;
  }
  e.seconds = e.busy_seconds + e.idle_seconds;
  const double candidates[] = {e.tensor_seconds, e.cuda_seconds, e.memory_seconds, e.idle_seconds};
  e.bound = static_cast<Term>(std::max_element(candidates, candidates + 4) - candidates);
  return e;
}

Explanation explain(const Estimate& estimate, double measured_seconds) {
  const double m = measured_seconds;
  Explanation x;
  x.slowdown = m / estimate.seconds;
  x.roofline_share = estimate.busy_seconds / m;
  const double room = std::max(0.0, m - estimate.busy_seconds);
  const double idle = std::min(estimate.idle_seconds, room);
  x.idle_share = idle / m;
  x.rest_share = 1 - x.roofline_share - x.idle_share;
  x.efficiency = estimate.busy_seconds / (m - idle);
  if (m < estimate.busy_seconds) {
    x.finding = Finding::faster_than_possible;
  } else if (m - estimate.busy_seconds <= 0.1 * m) {
    x.finding = Finding::as_estimated;
  } else if (x.idle_share >= x.rest_share) {
    x.finding = Finding::launches;
  } else {
    x.finding = Finding::inefficiency;
  }
  return x;
}
