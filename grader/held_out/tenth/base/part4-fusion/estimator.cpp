#include "estimator.h"

#include <algorithm>
#include <map>
#include <set>

Program gated_mlp(const GatedMlp& mlp, Fusion fusion) {
  const double size = static_cast<double>(mlp.bytes_per_element);
  const double t = mlp.tokens, h = mlp.hidden, m = mlp.intermediate;
  enum { X, GATE, UP, DOWN, GATED, LIFTED, ACTIVE, PRODUCT, OUT };
  Program p;
  p.arrays = {{"x", ArrayRole::input, t * h * size},
              {"gate", ArrayRole::input, h * m * size},
              {"up", ArrayRole::input, h * m * size},
              {"down", ArrayRole::input, m * h * size},
              {"x gate", ArrayRole::intermediate, t * m * size},
              {"x up", ArrayRole::intermediate, t * m * size},
              {"activated", ArrayRole::intermediate, t * m * size},
              {"product", ArrayRole::intermediate, t * m * size},
              {"out", ArrayRole::output, t * h * size}};
  const double gemm = 2 * t * h * m;
  const std::map<Fusion, std::vector<int>> kernels = {{Fusion::none, {0, 1, 2, 3, 4}},
                                                      {Fusion::pointwise, {0, 1, 2, 2, 3}},
                                                      {Fusion::gate_and_up, {0, 0, 0, 0, 1}},
                                                      {Fusion::whole, {0, 0, 0, 0, 0}}};
  const std::vector<int>& k = kernels.at(fusion);
  p.operations = {{"gate", gemm, 0, {X, GATE}, GATED, k[0]},
                  {"up", gemm, 0, {X, UP}, LIFTED, k[1]},
                  {"activation", 0, t * m * mlp.activation_flops, {GATED}, ACTIVE, k[2]},
                  {"multiply", 0, t * m, {ACTIVE, LIFTED}, PRODUCT, k[3]},
                  {"down", gemm, 0, {PRODUCT, DOWN}, OUT, k[4]}};
  return p;
}

std::vector<KernelWork> kernels_of(const Program& program, double l2_bytes) {
  int count = 0;
  for (const Operation& op : program.operations) count = std::max(count, op.kernel + 1);
  std::vector<KernelWork> work(count);
  std::vector<std::set<std::size_t>> makes(count), reads(count);
  for (const Operation& op : program.operations) {
    work[op.kernel].matmul_flops += op.matmul_flops;
    work[op.kernel].pointwise_flops += op.pointwise_flops;
    makes[op.kernel].insert(op.writes);
    for (std::size_t a : op.reads) reads[op.kernel].insert(a);
  }
  for (int k = 0; k < count; ++k) {
    for (std::size_t a : reads[k]) {
      if (makes[k].contains(a)) continue;
      const double bytes = program.arrays[a].bytes;
      const bool in_l2 = l2_bytes > 0 && k > 0 && makes[k - 1].contains(a) && bytes <= l2_bytes;
      if (!in_l2) work[k].bytes += bytes;
    }
    for (std::size_t a : makes[k]) {
      bool leaves = program.arrays[a].role != ArrayRole::intermediate;
      for (int later = k + 1; later < count; ++later) leaves = leaves || reads[later].contains(a);
      if (leaves) work[k].bytes += program.arrays[a].bytes;
    }
  }
  return work;
}

Estimate estimate(const Program& program, const Machine& machine) {
  Estimate e;
  double now = 0;  // when the last kernel ended
  double issued = 0;
  for (const KernelWork& w : kernels_of(program, machine.l2_bytes)) {
    const double tensor = w.matmul_flops / machine.tensor_flops_per_second;
    const double cuda = w.pointwise_flops / machine.cuda_flops_per_second;
    const double memory = w.bytes / machine.bytes_per_second;
    const double takes = std::max({tensor, cuda, memory});
    e.tensor_seconds += tensor;
    e.cuda_seconds += cuda;
    e.memory_seconds += memory;
    e.busy_seconds += takes;
    issued += machine.seconds_per_launch;
    const double start = std::max(issued, now);
    e.idle_seconds += start - now;
    now = start + takes;
  }
  e.seconds = e.busy_seconds + e.idle_seconds;
  double longest = e.tensor_seconds;
  e.bound = Term::tensor_cores;
  auto compare = [&](double seconds, Term term) {
    if (seconds > longest) {
      longest = seconds;
      e.bound = term;
    }
  };
  compare(e.cuda_seconds, Term::cuda_cores);
  compare(e.memory_seconds, Term::memory);
  compare(e.idle_seconds, Term::launches);
  return e;
}

Explanation explain(const Estimate& estimate, double measured_seconds) {
  Explanation x;
  x.slowdown = measured_seconds / estimate.seconds;
  x.roofline_share = estimate.busy_seconds / measured_seconds;
  const double room = std::max(0.0, measured_seconds - estimate.busy_seconds);
  const double idle = std::min(estimate.idle_seconds, room);
  x.idle_share = idle / measured_seconds;
  x.rest_share = 1.0 - x.roofline_share - x.idle_share;
  x.efficiency = estimate.busy_seconds / (measured_seconds - idle);
  if (measured_seconds < estimate.busy_seconds) {
    x.finding = Finding::faster_than_possible;
  } else if (measured_seconds - estimate.busy_seconds <= 0.1 * measured_seconds) {
    x.finding = Finding::as_estimated;
  } else if (x.idle_share >= x.rest_share) {
    x.finding = Finding::launches;
  } else {
    x.finding = Finding::inefficiency;
  }
  return x;
}
