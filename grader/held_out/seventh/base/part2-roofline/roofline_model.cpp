#include "roofline_model.h"

#include <algorithm>
#include <cmath>

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;

#define TERA 1e12
#define GIGA 1e9

Gpu gpu_of(const DataSheet& s) {
  Gpu g;
  g.flops_per_second = s.tflops_per_second * TERA;
  if (s.with_sparsity) g.flops_per_second /= 2;  // dense rate
  g.bytes_per_second = s.gb_per_second * GIGA;
  return g;
}

double ridge_point(const Gpu& g) { return g.flops_per_second / g.bytes_per_second; }

double attainable(const Gpu& g, double ai) {
  return std::min(g.flops_per_second, ai * g.bytes_per_second);
}

Bound bound(const Gpu& g, double ai) {
  return ai < ridge_point(g) ? Bound::memory : Bound::compute;
}

double least_seconds(const Gpu& g, const Cost& c) {
  const double tc = c.flops / g.flops_per_second;
  const double tm = c.bytes / g.bytes_per_second;
  return std::max(tc, tm);
}

double crossover_flops(const Gpu& g, std::int64_t inputs, std::int64_t bpe) {
  const double bytes = (inputs + 1.0) * bpe;
  return ridge_point(g) * bytes;
}

std::int64_t smallest_compute_bound_gemm(const Gpu& g, std::int64_t bpe) {
  // 2 N^3 / (3 N^2 bpe) >= ridge  ->  N >= 1.5 bpe ridge
  return (std::int64_t)std::ceil(3.0 * bpe * g.flops_per_second / (2.0 * g.bytes_per_second));
}

double attainable_warm(const GpuWithL2& g, const Cost& c) {
  const bool fits = c.bytes <= g.l2_bytes;
  const double bw = fits ? g.l2_bytes_per_second : g.dram.bytes_per_second;
  const double ai = (double)c.flops / c.bytes;
  return std::min(g.dram.flops_per_second, ai * bw);
}

Roof limiting_roof(const GpuWithL2& g, const Traffic& t) {
  const double tc = t.flops / g.dram.flops_per_second;
  const double t2 = t.l2_bytes / g.l2_bytes_per_second;
  const double td = t.dram_bytes / g.dram.bytes_per_second;
  if (tc >= t2 && tc >= td) return Roof::compute;
  return t2 >= td ? Roof::l2 : Roof::dram;
}

Utilisation utilisation(const Gpu& g, const Run& r) {
  Utilisation u;
  u.model_flops = r.needed.flops / r.seconds / g.flops_per_second;
  u.hardware_flops = r.executed_flops / r.seconds / g.flops_per_second;
  u.bandwidth = r.needed.bytes / r.seconds / g.bytes_per_second;
  return u;
}
