#pragma once

#include "simgpu/arith/quad_testing.h"

/// Mathematical functions in binary128, which has 60 bits more than double: the oracle of
/// maths_test. What glibc lacks is made of series and iterations that it takes no trust to
/// believe; none shares a formula with CUDA's library.
namespace simgpu::maths_tests {

inline bool is_nan(Quad x) { return x != x; }
inline bool is_finite(Quad x) { return x - x == 0; }
inline bool is_infinite(Quad x) { return !is_finite(x) && !is_nan(x); }

Quad sin_pi(Quad x);
Quad cos_pi(Quad x);
Quad exp10(Quad x);

/// The length of a vector; infinite as soon as one element is, even if another one is NaN.
Quad length(const Quad (&x)[4]);

Quad erf_inverse(Quad x);
Quad erfc_inverse(Quad x);
/// exp(x^2) erfc(x)
Quad erfc_scaled(Quad x);
Quad normal_distribution(Quad x);
Quad normal_quantile(Quad x);

/// I_order, by its power series, whose terms are all positive.
Quad bessel_i(int order, Quad x);

}  // namespace simgpu::maths_tests
