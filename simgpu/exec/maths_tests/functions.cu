// The functions of CUDA's mathematical library, each in a kernel of its own for float ("f32_sin")
// and double
// ("f64_sin"): thread i has arguments a[i], b[i], c[i] and d[i], and stores one result.
// functions.cpp says what they have to be.

template <class T>
__device__ void use(const T&) {}

#define KERNEL(name, Type, Result, ...)                                                           \
  extern "C" __global__ void name(const Type* as, const Type* bs, const Type* cs, const Type* ds, \
                                  Result* results) {                                              \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                     \
    const Type a = as[i], b = bs[i], c = cs[i], d = ds[i];                                        \
    use(a), use(b), use(c), use(d);                                                               \
    results[i] = __VA_ARGS__;                                                                     \
  }
#define BOTH(name, f32_result, f64_result)     \
  KERNEL(f32_##name, float, float, f32_result) \
  KERNEL(f64_##name, double, double, f64_result)
#define ONE(name) BOTH(name, name##f(a), name(a))
#define TWO(name) BOTH(name, name##f(a, b), name(a, b))
#define THREE(name) BOTH(name, name##f(a, b, c), name(a, b, c))
// Functions with a whole result.
#define WHOLE(name)                                \
  KERNEL(f32_##name, float, long long, name##f(a)) \
  KERNEL(f64_##name, double, long long, name(a))

// Roots and norms.

ONE(sqrt)
ONE(rsqrt)
ONE(cbrt)
ONE(rcbrt)
TWO(hypot)
TWO(rhypot)
BOTH(norm3d, norm3df(a, b, c), norm3d(a, b, c))
BOTH(rnorm3d, rnorm3df(a, b, c), rnorm3d(a, b, c))
BOTH(norm4d, norm4df(a, b, c, d), norm4d(a, b, c, d))
BOTH(rnorm4d, rnorm4df(a, b, c, d), rnorm4d(a, b, c, d))

__device__ float length(const float (&x)[4]) { return normf(4, x); }
__device__ double length(const double (&x)[4]) { return norm(4, x); }
__device__ float inverse_length(const float (&x)[4]) { return rnormf(4, x); }
__device__ double inverse_length(const double (&x)[4]) { return rnorm(4, x); }
template <class T>
__device__ T length_of(T a, T b, T c, T d) {
  const T x[4] = {a, b, c, d};
  return length(x);
}
template <class T>
__device__ T inverse_length_of(T a, T b, T c, T d) {
  const T x[4] = {a, b, c, d};
  return inverse_length(x);
}
BOTH(norm, length_of(a, b, c, d), length_of(a, b, c, d))
BOTH(rnorm, inverse_length_of(a, b, c, d), inverse_length_of(a, b, c, d))

// Exponentials, logarithms, powers.

ONE(exp)
ONE(exp2)
ONE(exp10)
ONE(expm1)
ONE(log)
ONE(log2)
ONE(log10)
ONE(log1p)
TWO(pow)

// Trigonometric and hyperbolic functions.

ONE(sin)
ONE(cos)
ONE(tan)
ONE(sinpi)
ONE(cospi)
ONE(asin)
ONE(acos)
ONE(atan)
TWO(atan2)
ONE(sinh)
ONE(cosh)
ONE(tanh)
ONE(asinh)
ONE(acosh)
ONE(atanh)

template <class T>
struct Pair {
  T first, second;
};
__device__ Pair<float> both_of(float x) {
  Pair<float> pair;
  sincosf(x, &pair.first, &pair.second);
  return pair;
}
__device__ Pair<double> both_of(double x) {
  Pair<double> pair;
  sincos(x, &pair.first, &pair.second);
  return pair;
}
__device__ Pair<float> both_of_pi(float x) {
  Pair<float> pair;
  sincospif(x, &pair.first, &pair.second);
  return pair;
}
__device__ Pair<double> both_of_pi(double x) {
  Pair<double> pair;
  sincospi(x, &pair.first, &pair.second);
  return pair;
}
BOTH(sincos_sin, both_of(a).first, both_of(a).first)
BOTH(sincos_cos, both_of(a).second, both_of(a).second)
BOTH(sincospi_sin, both_of_pi(a).first, both_of_pi(a).first)
BOTH(sincospi_cos, both_of_pi(a).second, both_of_pi(a).second)

// Error functions, the gamma function, Bessel functions.

ONE(erf)
ONE(erfc)
ONE(erfinv)
ONE(erfcinv)
ONE(erfcx)
ONE(normcdf)
ONE(normcdfinv)
ONE(lgamma)
ONE(tgamma)
ONE(j0)
ONE(j1)
ONE(y0)
ONE(y1)
ONE(cyl_bessel_i0)
ONE(cyl_bessel_i1)
BOTH(j128, jnf(128, a), jn(128, a))
BOTH(y3, ynf(3, a), yn(3, a))
BOTH(y128, ynf(128, a), yn(128, a))

// Remainders, parts, neighbours.

THREE(fma)
TWO(fmod)
TWO(remainder)
TWO(fdim)
TWO(fmax)
TWO(fmin)
TWO(copysign)
TWO(nextafter)
ONE(fabs)
ONE(trunc)
ONE(round)
ONE(rint)
ONE(nearbyint)
ONE(ceil)
ONE(floor)
ONE(logb)
BOTH(ldexp, ldexpf(a, static_cast<int>(b)), ldexp(a, static_cast<int>(b)))
BOTH(scalbn, scalbnf(a, static_cast<int>(b)), scalbn(a, static_cast<int>(b)))
BOTH(scalbln, scalblnf(a, static_cast<long>(b)), scalbln(a, static_cast<long>(b)))
WHOLE(ilogb)
WHOLE(lrint)
WHOLE(llrint)
WHOLE(lround)
WHOLE(llround)
KERNEL(f32_saturate, float, float, __saturatef(a))

template <class T>
struct Parts {
  T value;
  T part;
};
__device__ Parts<float> parts_of(float x) {
  Parts<float> parts;
  parts.value = modff(x, &parts.part);
  return parts;
}
__device__ Parts<double> parts_of(double x) {
  Parts<double> parts;
  parts.value = modf(x, &parts.part);
  return parts;
}
__device__ Parts<float> exponent_of(float x) {
  int exponent;
  const float value = frexpf(x, &exponent);
  return {value, static_cast<float>(exponent)};
}
__device__ Parts<double> exponent_of(double x) {
  int exponent;
  const double value = frexp(x, &exponent);
  return {value, static_cast<double>(exponent)};
}
__device__ Parts<float> quotient_of(float x, float y) {
  int quotient;
  const float value = remquof(x, y, &quotient);
  return {value, static_cast<float>(quotient % 8)};
}
__device__ Parts<double> quotient_of(double x, double y) {
  int quotient;
  const double value = remquo(x, y, &quotient);
  return {value, static_cast<double>(quotient % 8)};
}
BOTH(modf, parts_of(a).value, parts_of(a).value)
BOTH(modf_whole, parts_of(a).part, parts_of(a).part)
BOTH(frexp, exponent_of(a).value, exponent_of(a).value)
BOTH(frexp_exponent, exponent_of(a).part, exponent_of(a).part)
BOTH(remquo, quotient_of(a, b).value, quotient_of(a, b).value)
BOTH(remquo_quotient, quotient_of(a, b).part, quotient_of(a, b).part)

// What -use_fast_math puts in place of functions.

#if CUDART_VERSION < 13000
// By this instruction, for which 12.4 has no function.
__device__ float fast_tanh(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#define __tanhf fast_tanh
#endif

KERNEL(f32_fast_sin, float, float, __sinf(a))
KERNEL(f32_fast_cos, float, float, __cosf(a))
KERNEL(f32_fast_tan, float, float, __tanf(a))
KERNEL(f32_fast_tanh, float, float, __tanhf(a))
KERNEL(f32_fast_exp, float, float, __expf(a))
KERNEL(f32_fast_exp10, float, float, __exp10f(a))
KERNEL(f32_fast_log, float, float, __logf(a))
KERNEL(f32_fast_log2, float, float, __log2f(a))
KERNEL(f32_fast_log10, float, float, __log10f(a))
KERNEL(f32_fast_pow, float, float, __powf(a, b))
KERNEL(f32_fast_divide, float, float, __fdividef(a, b))
KERNEL(f32_rsqrt_rn, float, float, __frsqrt_rn(a))
