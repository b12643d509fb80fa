#include "estimator.h"

#include <algorithm>
#include <map>
#include <set>

namespace {

class ProgramBuilder {
 public:
  std::size_t array(std::string name, ArrayRole role, double bytes) {
    program_.arrays.push_back(Array{std::move(name), role, bytes});
    return program_.arrays.size() - 1;
  }
  ProgramBuilder& in_kernel(int kernel) {
    kernel_ = kernel;
    return *this;
  }
  ProgramBuilder& matmul(std::string name, double flops, std::size_t a, std::size_t b,
                         std::size_t to) {
    program_.operations.push_back({std::move(name), flops, 0.0, {a, b}, to, kernel_});
    return *this;
  }
  ProgramBuilder& pointwise(std::string name, double flops, std::vector<std::size_t> from,
                            std::size_t to) {
    program_.operations.push_back({std::move(name), 0.0, flops, std::move(from), to, kernel_});
    return *this;
  }
  Program take() { return std::move(program_); }

 private:
  Program program_;
  int kernel_ = 0;
};

struct Touched {
  std::set<std::size_t> read, made;
  double matmul_flops = 0, pointwise_flops = 0;
};

}  // namespace

Program gated_mlp(const GatedMlp& mlp, Fusion fusion) {
  const double e = static_cast<double>(mlp.bytes_per_element);
  const double tokens = static_cast<double>(mlp.tokens), hidden = static_cast<double>(mlp.hidden),
               inner = static_cast<double>(mlp.intermediate);
  ProgramBuilder builder;
  const auto x = builder.array("x", ArrayRole::input, tokens * hidden * e);
  const auto gate = builder.array("gate", ArrayRole::input, hidden * inner * e);
  const auto up = builder.array("up", ArrayRole::input, hidden * inner * e);
  const auto down = builder.array("down", ArrayRole::input, inner * hidden * e);
  const auto middle = [&](const char* name) {
    return builder.array(name, ArrayRole::intermediate, tokens * inner * e);
  };
  const auto gated = middle("gated"), lifted = middle("lifted"), active = middle("active"),
             product = middle("product");
  const auto out = builder.array("out", ArrayRole::output, tokens * hidden * e);

  static const std::map<Fusion, std::vector<int>> kernels = {{Fusion::none, {0, 1, 2, 3, 4}},
                                                             {Fusion::pointwise, {0, 1, 2, 2, 3}},
                                                             {Fusion::gate_and_up, {0, 0, 0, 0, 1}},
                                                             {Fusion::whole, {0, 0, 0, 0, 0}}};
  const std::vector<int>& kernel = kernels.at(fusion);
  const double product_flops = 2 * tokens * hidden * inner;
  builder.in_kernel(kernel[0]).matmul("x gate", product_flops, x, gate, gated);
  builder.in_kernel(kernel[1]).matmul("x up", product_flops, x, up, lifted);
  builder.in_kernel(kernel[2]).pointwise(
      "activation", static_cast<double>(mlp.activation_flops) * tokens * inner, {gated}, active);
  builder.in_kernel(kernel[3]).pointwise("times", tokens * inner, {active, lifted}, product);
  builder.in_kernel(kernel[4]).matmul("down", product_flops, product, down, out);
  return builder.take();
}

std::vector<KernelWork> kernels_of(const Program& program, double l2_bytes) {
  std::vector<Touched> kernels;
  std::map<std::size_t, int> last_reader;
  for (const Operation& op : program.operations) {
    kernels.resize(std::max<std::size_t>(kernels.size(), op.kernel + 1));
    Touched& kernel = kernels[op.kernel];
    kernel.matmul_flops += op.matmul_flops;
    kernel.pointwise_flops += op.pointwise_flops;
    for (const std::size_t array : op.reads) {
      if (!kernel.made.contains(array)) kernel.read.insert(array);
      last_reader[array] = op.kernel;
    }
    kernel.made.insert(op.writes);
  }
  std::vector<KernelWork> work;
  const std::set<std::size_t> nothing;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const Touched& kernel = kernels[k];
    const std::set<std::size_t>& just_made = k == 0 ? nothing : kernels[k - 1].made;
    KernelWork sum{kernel.matmul_flops, kernel.pointwise_flops, 0.0};
    for (const std::size_t array : kernel.read) {
      const double bytes = program.arrays[array].bytes;
      if (l2_bytes > 0 && just_made.contains(array) && bytes <= l2_bytes) continue;
      sum.bytes += bytes;
    }
    for (const std::size_t array : kernel.made) {
      const bool is_needed_later =
          last_reader.contains(array) && last_reader[array] > static_cast<int>(k);
      if (program.arrays[array].role == ArrayRole::output || is_needed_later) {
        sum.bytes += program.arrays[array].bytes;
      }
    }
    work.push_back(sum);
  }
  return work;
}

Estimate estimate(const Program& program, const Machine& machine) {
  Estimate e;
  double now = 0;  // on the GPU's clock
  int launch = 0;
  for (const KernelWork& work : kernels_of(program, machine.l2_bytes)) {
    const double tensor = work.matmul_flops / machine.tensor_flops_per_second;
    const double cuda = work.pointwise_flops / machine.cuda_flops_per_second;
    const double memory = work.bytes / machine.bytes_per_second;
    const double issued = ++launch * machine.seconds_per_launch;
    if (issued > now) {
      e.idle_seconds += issued - now;
      now = issued;
    }
    const double takes = std::max(std::max(tensor, cuda), memory);
    now += takes;
    e.busy_seconds += takes;
    e.tensor_seconds += tensor;
    e.cuda_seconds += cuda;
    e.memory_seconds += memory;
  }
  e.seconds = e.busy_seconds + e.idle_seconds;
  e.bound = Term::tensor_cores;
  double longest = e.tensor_seconds;
  const auto challenge = [&](double seconds, Term term) {
    if (seconds <= longest) return;
    longest = seconds;
    e.bound = term;
  };
  challenge(e.cuda_seconds, Term::cuda_cores);
  challenge(e.memory_seconds, Term::memory);
  challenge(e.idle_seconds, Term::launches);
  return e;
}

Explanation explain(const Estimate& estimate, double measured) {
  Explanation x;
  x.slowdown = measured / estimate.seconds;
  x.roofline_share = estimate.busy_seconds / measured;
  const bool impossible = measured < estimate.busy_seconds;
  if (!impossible) {
    x.idle_share = std::min(estimate.idle_seconds, measured - estimate.busy_seconds) / measured;
  }
  x.rest_share = 1.0 - x.roofline_share - x.idle_share;
  x.efficiency = x.roofline_share / (1.0 - x.idle_share);
  if (impossible) {
    x.finding = Finding::faster_than_possible;
  } else if (x.roofline_share >= 0.9) {
    x.finding = Finding::as_estimated;
  } else if (x.idle_share >= x.rest_share) {
    x.finding = Finding::launches;
  } else {
    x.finding = Finding::inefficiency;
  }
  return x;
}
