#include "simgpu/exec/maths_tests/quad.h"

#include <cmath>

#include <utility>

namespace simgpu::maths_tests {
namespace {

constexpr int kIterations = 200;

/// The positive y at which erfc is x, for x in (0, 0.6], by Newton's method on its logarithm, which
/// is concave: from the right, where exp(-y^2) is x, the iteration comes down to the root.
Quad erfc_root(Quad x) {
  Quad y = sqrtf128(-logf128(x));
  for (int i = 0; i < kIterations; ++i) {
    const Quad slope = -2 / sqrtf128(M_PIf128) * expf128(-y * y) / erfcf128(y);
    const Quad step = (logf128(x) - logf128(erfcf128(y))) / slope;
    y += step;
    if (fabsf128(step) < y * 1e-30L) break;
  }
  return y;
}

/// The y at which erf is x, |x| < 0.6, by Newton's method.
Quad erf_root(Quad x) {
  Quad y = x;
  for (int i = 0; i < kIterations; ++i) {
    const Quad step = (x - erff128(y)) * sqrtf128(M_PIf128) / 2 * expf128(y * y);
    y += step;
    if (fabsf128(step) <= fabsf128(y) * 1e-31L) break;
  }
  return y;
}

}  // namespace

Quad sin_pi(Quad x) {
  if (!is_finite(x)) return nanf128("");
  Quad turn = fmodf128(x, 2);  // exact, and so are the differences below
  if (turn > 1) turn -= 2;
  if (turn < -1) turn += 2;
  if (turn > 0.5L) turn = 1 - turn;
  if (turn < -0.5L) turn = -1 - turn;
  return sinf128(M_PIf128 * turn);
}

Quad cos_pi(Quad x) {
  if (!is_finite(x)) return nanf128("");
  const Quad turn = fmodf128(fabsf128(x), 2);
  return sin_pi(turn > 1 ? turn - 1.5L : 0.5L - turn);
}

Quad exp10(Quad x) { return powf128(10, x); }

Quad length(const Quad (&x)[4]) {
  Quad sum = 0;
  for (const Quad element : x) {
    if (is_infinite(element)) return fabsf128(element);
    sum += element * element;
  }
  return sqrtf128(sum);
}

Quad erf_inverse(Quad x) {
  if (is_nan(x) || fabsf128(x) > 1) return nanf128("");
  if (fabsf128(x) == 1) return copysignf128(HUGE_VAL_F128, x);
  if (fabsf128(x) < 0.6L) return x == 0 ? x : erf_root(x);
  return copysignf128(erfc_root(1 - fabsf128(x)), x);
}

Quad erfc_inverse(Quad x) {
  if (is_nan(x) || x < 0 || x > 2) return nanf128("");
  if (x == 0 || x == 2) return x == 0 ? HUGE_VAL_F128 : -HUGE_VAL_F128;
  if (x < 0.5L) return erfc_root(x);
  if (x > 1.5L) return -erfc_root(2 - x);
  return erf_inverse(1 - x);
}

Quad erfc_scaled(Quad x) {
  if (is_nan(x)) return x;
  if (x < 50) return expf128(x * x) * erfcf128(x);  // the square of a double is exact
  // The asymptotic series; from 50 on its 20th term is below 1e-45.
  Quad term = 1, sum = 1;
  for (int k = 1; k <= 20; ++k) {
    term *= -(2 * k - 1) / (2 * x * x);
    sum += term;
  }
  return sum / (x * sqrtf128(M_PIf128));
}

Quad normal_distribution(Quad x) { return erfcf128(-x * M_SQRT1_2f128) / 2; }

Quad normal_quantile(Quad x) { return -M_SQRT2f128 * erfc_inverse(2 * x); }

Quad bessel_i(int order, Quad x) {
  if (is_nan(x)) return x;
  if (is_infinite(x) || fabsf128(x) > 800)
    return order == 1 ? copysignf128(HUGE_VAL_F128, x) : HUGE_VAL_F128;
  Quad term = order == 0 ? Quad{1} : x / 2;
  Quad sum = term;
  for (int k = 1; fabsf128(term) > fabsf128(sum) * 1e-36L; ++k) {
    term *= x * x / 4 / (Quad{1} * k * (k + order));
    sum += term;
  }
  return sum;
}

}  // namespace simgpu::maths_tests
