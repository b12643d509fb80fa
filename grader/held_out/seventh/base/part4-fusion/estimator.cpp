#include "estimator.h"

#include <algorithm>
#include <set>

// places in Program::arrays
enum { X, GATE_W, UP_W, DOWN_W, GATE, UP, ACT, PROD, OUT };

Program gated_mlp(const GatedMlp& m, Fusion fusion) {
  const double b = m.bytes_per_element;
  const double xb = b * m.tokens * m.hidden;
  const double wb = b * m.hidden * m.intermediate;
  const double ib = b * m.tokens * m.intermediate;
  const double mm = 2.0 * m.tokens * m.hidden * m.intermediate;
  const double elems = 1.0 * m.tokens * m.intermediate;
  const auto IN = ArrayRole::input, TMP = ArrayRole::intermediate, RES = ArrayRole::output;

  Program p;
  p.arrays = {{"x", IN, xb},        {"gate", IN, wb},       {"up", IN, wb},
              {"down", IN, wb},     {"x gate", TMP, ib},    {"x up", TMP, ib},
              {"activated", TMP, ib}, {"product", TMP, ib}, {"out", RES, xb}};

  // kernel of each operation
  int k[5] = {0, 1, 2, 3, 4};
  auto set = [&k](int a, int b, int c, int d, int e) {
    k[0] = a, k[1] = b, k[2] = c, k[3] = d, k[4] = e;
  };
  if (fusion == Fusion::pointwise) set(0, 1, 2, 2, 3);
  if (fusion == Fusion::gate_and_up) set(0, 0, 0, 0, 1);
  if (fusion == Fusion::whole) set(0, 0, 0, 0, 0);

  p.operations = {{"gate", mm, 0, {X, GATE_W}, GATE, k[0]},
                  {"up", mm, 0, {X, UP_W}, UP, k[1]},
                  {"activation", 0, elems * m.activation_flops, {GATE}, ACT, k[2]},
                  {"multiply", 0, elems, {ACT, UP}, PROD, k[3]},
                  {"down", mm, 0, {PROD, DOWN_W}, OUT, k[4]}};
  return p;
}

std::vector<KernelWork> kernels_of(const Program& p, double l2) {
  int nk = 0;
  for (auto& op : p.operations) nk = std::max(nk, op.kernel + 1);

  // which kernel writes an array, which kernels read it
  std::vector<int> maker(p.arrays.size(), -1);
  std::vector<std::set<size_t>> reads(nk);
  for (auto& op : p.operations) maker[op.writes] = op.kernel;

  std::vector<KernelWork> res(nk);
  for (auto& op : p.operations) {
    res[op.kernel].matmul_flops += op.matmul_flops;
    res[op.kernel].pointwise_flops += op.pointwise_flops;
    for (size_t a : op.reads)
      if (maker[a] != op.kernel) reads[op.kernel].insert(a);
  }

  for (int k = 0; k < nk; k++) {
    for (size_t a : reads[k]) {
      const bool cached = l2 > 0 && maker[a] >= 0 && maker[a] == k - 1 && p.arrays[a].bytes <= l2;
      if (!cached) res[k].bytes += p.arrays[a].bytes;
    }
    for (size_t a = 0; a < p.arrays.size(); a++) {
      if (maker[a] != k) continue;
      bool needed = p.arrays[a].role == ArrayRole::output;
      for (int later = k + 1; later < nk; later++) needed = needed || reads[later].count(a);
      if (needed) res[k].bytes += p.arrays[a].bytes;
    }
  }
  return res;
}

Estimate estimate(const Program& p, const Machine& m) {
  Estimate e;
  double now = 0;  // when the last kernel ended
  int launch = 0;
  for (auto& k : kernels_of(p, m.l2_bytes)) {
    const double tt = k.matmul_flops / m.tensor_flops_per_second;
    const double tc = k.pointwise_flops / m.cuda_flops_per_second;
    const double tm = k.bytes / m.bytes_per_second;
    const double dur = std::max({tt, tc, tm});
    e.tensor_seconds += tt;
    e.cuda_seconds += tc;
    e.memory_seconds += tm;
    e.busy_seconds += dur;

    const double issued = ++launch * m.seconds_per_launch;
    const double start = std::max(issued, now);
    e.idle_seconds += start - now;
    now = start + dur;
  }
  e.seconds = e.busy_seconds + e.idle_seconds;

  double top = e.tensor_seconds;
  e.bound = Term::tensor_cores;
  auto challenge = [&](double t, Term term) {
    if (t > top) top = t, e.bound = term;
  };
  challenge(e.cuda_seconds, Term::cuda_cores);
  challenge(e.memory_seconds, Term::memory);
  challenge(e.idle_seconds, Term::launches);
  return e;
}

Explanation explain(const Estimate& e, double t) {
  Explanation x;
  x.slowdown = t / e.seconds;
  x.roofline_share = e.busy_seconds / t;
  x.idle_share = std::min(e.idle_seconds, std::max(0.0, t - e.busy_seconds)) / t;
  x.rest_share = 1 - x.roofline_share - x.idle_share;
  x.efficiency = e.busy_seconds / (t * (1 - x.idle_share));

  if (t < e.busy_seconds)
    x.finding = Finding::faster_than_possible;
  else if (1 - x.roofline_share <= 0.1)
    x.finding = Finding::as_estimated;
  else if (x.idle_share >= x.rest_share)
    x.finding = Finding::launches;
  else
    x.finding = Finding::inefficiency;
  return x;
}
