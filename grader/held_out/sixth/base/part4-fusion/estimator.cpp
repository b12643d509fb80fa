#include "estimator.h"

#include <algorithm>

/* Places of the arrays of the gated MLP. */
enum { X, GATE, UP, DOWN, GATED, RAISED, ACTIVE, PRODUCT, OUT };

static Array make_array(const char* name, ArrayRole role, double bytes) {
  Array a;
  a.name = name;
  a.role = role;
  a.bytes = bytes;
  return a;
}

static Operation make_operation(const char* name, double matmul, double pointwise,
                                std::vector<std::size_t> reads, std::size_t writes, int kernel) {
  Operation o;
  o.name = name;
  o.matmul_flops = matmul;
  o.pointwise_flops = pointwise;
  o.reads = reads;
  o.writes = writes;
  o.kernel = kernel;
  return o;
}

/* The kernel of each of the five operations, for each fusion. */
static const int kernel_table[4][5] = {
    {0, 1, 2, 3, 4},  /* none */
    {0, 1, 2, 2, 3},  /* pointwise */
    {0, 0, 0, 0, 1},  /* gate_and_up */
    {0, 0, 0, 0, 0}}; /* whole */

Program gated_mlp(const GatedMlp& mlp, Fusion fusion) {
  const int* kernel = kernel_table[(int)fusion];
  double t = (double)mlp.tokens;
  double h = (double)mlp.hidden;
  double m = (double)mlp.intermediate;
  double e = (double)mlp.bytes_per_element;
  double narrow = t * h * e;
  double wide = t * m * e;
  double weights = h * m * e;
  double matmul = 2.0 * t * h * m;

  Program p;
  p.arrays.push_back(make_array("x", ArrayRole::input, narrow));
  p.arrays.push_back(make_array("gate", ArrayRole::input, weights));
  p.arrays.push_back(make_array("up", ArrayRole::input, weights));
  p.arrays.push_back(make_array("down", ArrayRole::input, weights));
  p.arrays.push_back(make_array("gated", ArrayRole::intermediate, wide));
  p.arrays.push_back(make_array("raised", ArrayRole::intermediate, wide));
  p.arrays.push_back(make_array("active", ArrayRole::intermediate, wide));
  p.arrays.push_back(make_array("product", ArrayRole::intermediate, wide));
  p.arrays.push_back(make_array("out", ArrayRole::output, narrow));

  p.operations.push_back(make_operation("x gate", matmul, 0, {X, GATE}, GATED, kernel[0]));
  p.operations.push_back(make_operation("x up", matmul, 0, {X, UP}, RAISED, kernel[1]));
  p.operations.push_back(make_operation("activation", 0, t * m * (double)mlp.activation_flops,
                                        {GATED}, ACTIVE, kernel[2]));
  p.operations.push_back(
      make_operation("multiply", 0, t * m, {ACTIVE, RAISED}, PRODUCT, kernel[3]));
  p.operations.push_back(make_operation("down", matmul, 0, {PRODUCT, DOWN}, OUT, kernel[4]));
  return p;
}

/* The kernel that makes an array, -1 for none. */
static int maker_of(const Program& p, std::size_t array) {
  std::size_t i;
  for (i = 0; i < p.operations.size(); i++) {
    if (p.operations[i].writes == array) return p.operations[i].kernel;
  }
  return -1;
}

static bool kernel_reads(const Program& p, int kernel, std::size_t array) {
  std::size_t i, r;
  for (i = 0; i < p.operations.size(); i++) {
    const Operation& o = p.operations[i];
    if (o.kernel != kernel) continue;
    for (r = 0; r < o.reads.size(); r++) {
      if (o.reads[r] == array) return true;
    }
  }
  return false;
}

static int kernel_count(const Program& p) {
  if (p.operations.empty()) return 0;
  return p.operations.back().kernel + 1;
}

static bool read_after(const Program& p, int kernel, std::size_t array) {
  int later;
  for (later = kernel + 1; later < kernel_count(p); later++) {
    if (kernel_reads(p, later, array)) return true;
  }
  return false;
}

/* Bytes that kernel k moves of one array. */
static double bytes_of(const Program& p, int k, std::size_t array, double l2_bytes) {
  const Array& a = p.arrays[array];
  int maker = maker_of(p, array);
  if (maker == k) {
    if (a.role == ArrayRole::intermediate && !read_after(p, k, array)) return 0.0;
    return a.bytes;
  }
  if (!kernel_reads(p, k, array)) return 0.0;
  bool fresh = maker >= 0 && maker == k - 1;
  if (fresh && l2_bytes > 0.0 && a.bytes <= l2_bytes) return 0.0;
  return a.bytes;
}

std::vector<KernelWork> kernels_of(const Program& program, double l2_bytes) {
  std::vector<KernelWork> work(kernel_count(program));
  std::size_t i, array;
  int k;

  for (i = 0; i < program.operations.size(); i++) {
    const Operation& o = program.operations[i];
    work[o.kernel].matmul_flops += o.matmul_flops;
    work[o.kernel].pointwise_flops += o.pointwise_flops;
  }
  for (k = 0; k < (int)work.size(); k++) {
    for (array = 0; array < program.arrays.size(); array++) {
      work[k].bytes += bytes_of(program, k, array, l2_bytes);
    }
  }
  return work;
}

static Term longest_term(const Estimate& e) {
  Term term = Term::tensor_cores;
  double most = e.tensor_seconds;
  if (e.cuda_seconds > most) {
    most = e.cuda_seconds;
    term = Term::cuda_cores;
  }
  if (e.memory_seconds > most) {
    most = e.memory_seconds;
    term = Term::memory;
  }
  if (e.idle_seconds > most) term = Term::launches;
  return term;
}

Estimate estimate(const Program& program, const Machine& machine) {
  std::vector<KernelWork> work = kernels_of(program, machine.l2_bytes);
  Estimate e;
  double now = 0.0; /* when the kernel before has ended */
  std::size_t k;

  for (k = 0; k < work.size(); k++) {
    double tensor = work[k].matmul_flops / machine.tensor_flops_per_second;
    double cuda = work[k].pointwise_flops / machine.cuda_flops_per_second;
    double memory = work[k].bytes / machine.bytes_per_second;
    double busy = std::max(tensor, std::max(cuda, memory));
    double issued = (double)(k + 1) * machine.seconds_per_launch;
    double start = std::max(issued, now);

    e.tensor_seconds += tensor;
    e.cuda_seconds += cuda;
    e.memory_seconds += memory;
    e.busy_seconds += busy;
    e.idle_seconds += start - now;
    now = start + busy;
  }
  e.seconds = now;
  e.bound = longest_term(e);
  return e;
}

Explanation explain(const Estimate& estimate, double measured_seconds) {
  double left = measured_seconds - estimate.busy_seconds;
  double idle = std::min(estimate.idle_seconds, std::max(left, 0.0));

  Explanation x;
  x.slowdown = measured_seconds / estimate.seconds;
  x.roofline_share = estimate.busy_seconds / measured_seconds;
  x.idle_share = idle / measured_seconds;
  x.rest_share = 1.0 - x.roofline_share - x.idle_share;
  x.efficiency = estimate.busy_seconds / (measured_seconds - idle);

  if (left < 0.0) {
    x.finding = Finding::faster_than_possible;
  } else if (left <= 0.1 * measured_seconds) {
    x.finding = Finding::as_estimated;
  } else if (x.idle_share >= x.rest_share) {
    x.finding = Finding::launches;
  } else {
    x.finding = Finding::inefficiency;
  }
  return x;
}
