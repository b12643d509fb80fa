#include "labs/part4-fusion/oracle/gated_mlp.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>

namespace rooflab {
namespace {

using Numbers = std::vector<double>;

constexpr double kTensorCoreUnit = 0x1p-23;  // an ulp: tensor cores truncate
constexpr double kUnitOfHalf = 0x1p-10;
constexpr double kLambda = 8;  // standard deviations of a stored value that the tolerance is wide

/// x (rows, terms of in) times weight^T, where weight is (out, in) or, transposed, (in, out).
Numbers product(const Numbers& x, const Numbers& weight, std::int64_t rows, std::int64_t in,
                std::int64_t out, bool transposed, std::int64_t terms) {
  Numbers y(static_cast<std::size_t>(rows * out));
  cblas_dgemm(CblasRowMajor, CblasNoTrans, transposed ? CblasNoTrans : CblasTrans,
              static_cast<int>(rows), static_cast<int>(out), static_cast<int>(terms), 1.0, x.data(),
              static_cast<int>(in), weight.data(), static_cast<int>(transposed ? out : in), 0.0,
              y.data(), static_cast<int>(out));
  return y;
}

/// x (rows, in) times weight (out, in)^T, where a tensor core keeps its sums in half.
Numbers product_in_half(const Numbers& x, const Numbers& weight, std::int64_t rows, std::int64_t in,
                        std::int64_t out) {
  constexpr std::int64_t kTerms = 16;  // of one instruction
  Numbers y(static_cast<std::size_t>(rows * out));
  for (std::int64_t k = 0; k < in; k += kTerms) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(rows),
                static_cast<int>(out), static_cast<int>(std::min(kTerms, in - k)), 1.0,
                x.data() + k, static_cast<int>(in), weight.data() + k, static_cast<int>(in), 1.0,
                y.data(), static_cast<int>(out));
    for (double& sum : y) sum = rounded(ElementType::float16, sum);
  }
  return y;
}

/// The Euclidean norm of each row.
Numbers norms(const Numbers& x, std::int64_t width) {
  Numbers norms(x.size() / static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < x.size(); ++i) {
    norms[i / static_cast<std::size_t>(width)] += x[i] * x[i];
  }
  std::ranges::transform(norms, norms.begin(), [](double square) { return std::sqrt(square); });
  return norms;
}

Numbers squares(Numbers x) {
  for (double& value : x) value *= value;
  return x;
}

}  // namespace

Computed gated_product(const GatedMlp& mlp, const GatedMlpRule& rule) {
  const std::int64_t terms = rule.terms_of_hidden == 0 ? mlp.hidden : rule.terms_of_hidden;
  const auto projected = [&](const Numbers& weight) {
    if (rule.sums_in_half) {
      return product_in_half(mlp.x, weight, mlp.tokens, mlp.hidden, mlp.intermediate);
    }
    return product(mlp.x, weight, mlp.tokens, mlp.hidden, mlp.intermediate,
                   rule.projections_transposed, terms);
  };
  const Numbers gate = projected(mlp.gate_proj), up = projected(mlp.up_proj);
  const Numbers of_x = norms(mlp.x, mlp.hidden), of_gate = norms(mlp.gate_proj, mlp.hidden),
                of_up = norms(mlp.up_proj, mlp.hidden);
  constexpr double kSteepest = 1.13;  // of GELU
  constexpr double kRoundings = 8;    // of GELU, whose 1 + tanh cancels for negative numbers
  Computed result{Numbers(gate.size()), Numbers(gate.size())};
  for (std::size_t i = 0; i < gate.size(); ++i) {
    const auto token = i / static_cast<std::size_t>(mlp.intermediate);
    const auto feature = i % static_cast<std::size_t>(mlp.intermediate);
    double gate_error = sum_tolerance(mlp.hidden, kTensorCoreUnit, of_x[token] * of_gate[feature]);
    double up_error = sum_tolerance(mlp.hidden, kTensorCoreUnit, of_x[token] * of_up[feature]);
    if (rule.sums_in_half) {
      gate_error += kUnitOfHalf * of_x[token] * of_gate[feature];
      up_error += kUnitOfHalf * of_x[token] * of_up[feature];
    }
    if (rule.gate_and_up_are_stored) {
      gate_error += kLambda * half_ulp(mlp.type, std::abs(gate[i]) + gate_error);
      up_error += kLambda * half_ulp(mlp.type, std::abs(up[i]) + up_error);
    }
    result.value[i] = rule.product(gate[i], up[i]);
    result.error[i] = kSteepest * gate_error * (std::abs(up[i]) + up_error) +
                      std::abs(gate[i]) * up_error +
                      kRoundings * kFloat32Unit * std::abs(gate[i] * up[i]);
  }
  return result;
}

Computed gated_mlp(const GatedMlp& mlp, const GatedMlpRule& rule) {
  Computed product_of_both = gated_product(mlp, rule);
  for (std::size_t i = 0; i < product_of_both.value.size(); ++i) {  // it is stored in between
    double& error = product_of_both.error[i];
    error += kLambda * half_ulp(mlp.type, std::abs(product_of_both.value[i]) + error);
  }
  const auto down = [&](const Numbers& x, const Numbers& weight) {
    return product(x, weight, mlp.tokens, mlp.intermediate, mlp.hidden, rule.down_transposed,
                   mlp.intermediate);
  };
  Computed out{down(product_of_both.value, mlp.down_proj),
               // Errors are independent and about as often up as down: their squares add.
               down(squares(product_of_both.error), squares(mlp.down_proj))};
  const Numbers of_product = norms(product_of_both.value, mlp.intermediate);
  const Numbers of_down = norms(mlp.down_proj, mlp.intermediate);
  for (std::size_t i = 0; i < out.value.size(); ++i) {
    const auto token = i / static_cast<std::size_t>(mlp.hidden);
    const auto feature = i % static_cast<std::size_t>(mlp.hidden);
    out.error[i] = std::sqrt(out.error[i]) + sum_tolerance(mlp.intermediate, kTensorCoreUnit,
                                                           of_product[token] * of_down[feature]);
  }
  return out;
}

}  // namespace rooflab
