#include <cuda_bf16.h>

#include <memory>

#include "geglu.h"
#include "gemv.h"
#include "performance/arrays.h"
#include "performance/row.h"
#include "rmsnorm.h"
#include "stream.h"

namespace rooflab::performance {
namespace {

constexpr double kGoal = 0.85;
constexpr double kUnitBf16 = 0x1p-8;  // twice the rounding of a bf16
constexpr float kEpsilon = 1e-6F;

/// What memory bounds is held against a copy of as many bytes.
Row memory_row(const Setting& setting, double bytes, const std::function<void()>& solution) {
  Row row;
  row.reference = "copy of as many bytes";
  row.goal = kGoal;
  row.bytes = bytes;
  row.peak = "fp32";
  row.measure = [=, copy = setting.copy_bytes_per_us](int rounds) -> RowTimes {
    return {take_turns({solution}, rounds).front(), bytes / copy};
  };
  return row;
}

Row gemv_row(const Setting& setting) {
  const int n = setting.small ? 512 : 16384;
  struct Arrays {
    explicit Arrays(int n) : a(static_cast<std::size_t>(n) * n, 1), x(n, 2), y(n) {}
    Input<float> a, x;
    Output<float> y;
  };
  const auto p = std::make_shared<Arrays>(n);
  const double elements = static_cast<double>(n) * n;
  Row row = memory_row(setting, sizeof(float) * (elements + 2 * n),
                       [=] { gemv(p->a.data(), p->x.data(), p->y.data(), n, n); });
  row.size = std::to_string(n) + " x " + std::to_string(n);
  row.flops = 2 * elements;
  row.mismatch = [=] {
    return p->y.mismatch([&](std::size_t i) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += p->a[i * n + k] * p->x[k];
      return Wanted{sum, 5e-3};  // as of products: a term that is missing shows
    });
  };
  return row;
}

Row triad_row(const Setting& setting) {
  const std::size_t n = std::size_t{1} << (setting.small ? 18 : 28);
  struct Arrays {
    explicit Arrays(std::size_t n) : a(n, 1), b(n, 2), out(n) {}
    Input<float> a, b;
    Output<float> out;
  };
  constexpr float kScale = 0.75F;
  const auto p = std::make_shared<Arrays>(n);
  Row row = memory_row(setting, 3.0 * sizeof(float) * static_cast<double>(n), [=] {
    stream::triad(p->a.data(), p->b.data(), kScale, p->out.data(), static_cast<std::int64_t>(n));
  });
  row.size = std::to_string(n);
  row.mismatch = [=] {
    return p->out.mismatch([&](std::size_t i) { return Wanted{p->a[i] + kScale * p->b[i], 1e-6}; });
  };
  return row;
}

Row rmsnorm_row(const Setting& setting) {
  const int rows = setting.small ? 256 : 262'144;
  constexpr int kWidth = 640;
  struct Arrays {
    explicit Arrays(std::size_t n) : x(n, 1), weight(kWidth, 2, 0.5), y(n) {}
    Input<__nv_bfloat16> x, weight;
    Output<__nv_bfloat16> y;
  };
  const std::size_t n = static_cast<std::size_t>(rows) * kWidth;
  const auto p = std::make_shared<Arrays>(n);
  Row row = memory_row(setting, 2.0 * sizeof(__nv_bfloat16) * static_cast<double>(n), [=] {
    rmsnorm<__nv_bfloat16>(p->x.data(), p->weight.data(), p->y.data(), rows, kWidth, kEpsilon,
                           nullptr);
  });
  row.size = std::to_string(rows) + " x " + std::to_string(kWidth);
  row.mismatch = [=] {
    double factor = 0;
    return p->y.mismatch([&](std::size_t i) {
      if (i % kWidth == 0) {
        double sum = 0;
        for (int j = 0; j < kWidth; ++j) sum += p->x[i + j] * p->x[i + j];
        factor = 1 / std::sqrt(sum / kWidth + kEpsilon);
      }
      const double value = p->x[i] * factor * (1 + p->weight[i % kWidth]);
      return Wanted{value, kUnitBf16 * std::abs(value)};
    });
  };
  return row;
}

Row geglu_row(const Setting& setting) {
  const std::size_t n = std::size_t{1} << (setting.small ? 18 : 28);
  struct Arrays {
    explicit Arrays(std::size_t n) : gate(n, 1, 4), up(n, 2), out(n) {}
    Input<__nv_bfloat16> gate, up;
    Output<__nv_bfloat16> out;
  };
  const auto p = std::make_shared<Arrays>(n);
  Row row = memory_row(setting, 3.0 * sizeof(__nv_bfloat16) * static_cast<double>(n), [=] {
    geglu<__nv_bfloat16>(p->gate.data(), p->up.data(), p->out.data(), static_cast<std::int64_t>(n),
                         nullptr);
  });
  row.size = std::to_string(n);
  row.mismatch = [=] {
    return p->out.mismatch([&](std::size_t i) {
      const double x = p->gate[i];
      const double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
      const double value = 0.5 * x * (1 + std::tanh(inner)) * p->up[i];
      return Wanted{value, kUnitBf16 * std::abs(value) + 1e-5};
    });
  };
  return row;
}

}  // namespace

std::vector<RowMaker> memory_rows() {
  return {{"gemv, fp32", "fp32", gemv_row},
          {"stream::triad, fp32", "fp32", triad_row},
          {"rmsnorm, bf16", "fp32", rmsnorm_row},
          {"geglu, bf16", "fp32", geglu_row}};
}

}  // namespace rooflab::performance
