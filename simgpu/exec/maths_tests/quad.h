#pragma once

/// Mathematical functions in __float128, which has 60 bits more than double: the oracle of
/// maths_test. What libquadmath lacks is made of series and iterations that it takes no trust to
/// believe; none shares a formula with CUDA's library.
namespace simgpu::maths_tests {

__extension__ using Quad = __float128;

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
