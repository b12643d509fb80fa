#include "simgpu/exec/maths_tests/quad.h"

#include <quadmath.h>

#include <utility>

namespace simgpu::maths_tests {
namespace {

constexpr int kIterations = 200;

/// The positive y at which erfc is x, for x in (0, 0.6], by Newton's method on its logarithm, which
/// is concave: from the right, where exp(-y^2) is x, the iteration comes down to the root.
Quad erfc_root(Quad x) {
  Quad y = sqrtq(-logq(x));
  for (int i = 0; i < kIterations; ++i) {
    const Quad slope = -2 / sqrtq(M_PIq) * expq(-y * y) / erfcq(y);
    const Quad step = (logq(x) - logq(erfcq(y))) / slope;
    y += step;
    if (fabsq(step) < y * 1e-30Q) break;
  }
  return y;
}

/// The y at which erf is x, |x| < 0.6, by Newton's method.
Quad erf_root(Quad x) {
  Quad y = x;
  for (int i = 0; i < kIterations; ++i) {
    const Quad step = (x - erfq(y)) * sqrtq(M_PIq) / 2 * expq(y * y);
    y += step;
    if (fabsq(step) <= fabsq(y) * 1e-31Q) break;
  }
  return y;
}

}  // namespace

Quad sin_pi(Quad x) {
  if (!finiteq(x)) return nanq("");
  Quad turn = fmodq(x, 2);  // exact, and so are the differences below
  if (turn > 1) turn -= 2;
  if (turn < -1) turn += 2;
  if (turn > 0.5Q) turn = 1 - turn;
  if (turn < -0.5Q) turn = -1 - turn;
  return sinq(M_PIq * turn);
}

Quad cos_pi(Quad x) {
  if (!finiteq(x)) return nanq("");
  const Quad turn = fmodq(fabsq(x), 2);
  return sin_pi(turn > 1 ? turn - 1.5Q : 0.5Q - turn);
}

Quad exp10(Quad x) { return powq(10, x); }

Quad length(const Quad (&x)[4]) {
  Quad sum = 0;
  for (const Quad element : x) {
    if (isinfq(element)) return fabsq(element);
    sum += element * element;
  }
  return sqrtq(sum);
}

Quad erf_inverse(Quad x) {
  if (isnanq(x) || fabsq(x) > 1) return nanq("");
  if (fabsq(x) == 1) return copysignq(HUGE_VALQ, x);
  if (fabsq(x) < 0.6Q) return x == 0 ? x : erf_root(x);
  return copysignq(erfc_root(1 - fabsq(x)), x);
}

Quad erfc_inverse(Quad x) {
  if (isnanq(x) || x < 0 || x > 2) return nanq("");
  if (x == 0 || x == 2) return x == 0 ? HUGE_VALQ : -HUGE_VALQ;
  if (x < 0.5Q) return erfc_root(x);
  if (x > 1.5Q) return -erfc_root(2 - x);
  return erf_inverse(1 - x);
}

Quad erfc_scaled(Quad x) {
  if (isnanq(x)) return x;
  if (x < 50) return expq(x * x) * erfcq(x);  // the square of a double is exact
  // The asymptotic series; from 50 on its 20th term is below 1e-45.
  Quad term = 1, sum = 1;
  for (int k = 1; k <= 20; ++k) {
    term *= -(2 * k - 1) / (2 * x * x);
    sum += term;
  }
  return sum / (x * sqrtq(M_PIq));
}

Quad normal_distribution(Quad x) { return erfcq(-x * M_SQRT1_2q) / 2; }

Quad normal_quantile(Quad x) { return -M_SQRT2q * erfc_inverse(2 * x); }

Quad bessel_i(int order, Quad x) {
  if (isnanq(x)) return x;
  if (isinfq(x) || fabsq(x) > 800) return order == 1 ? copysignq(HUGE_VALQ, x) : HUGE_VALQ;
  Quad term = order == 0 ? Quad{1} : x / 2;
  Quad sum = term;
  for (int k = 1; fabsq(term) > fabsq(sum) * 1e-36Q; ++k) {
    term *= x * x / 4 / (Quad{1} * k * (k + order));
    sum += term;
  }
  return sum;
}

}  // namespace simgpu::maths_tests
