#pragma once

/// GELU, and what may stand in its place by mistake.
namespace rooflab {

/// By the tanh formula: x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
double gelu_tanh(double x);
/// The same with another factor of x^3.
double gelu_tanh_with(double x, double cubic);
/// The derivative of gelu_tanh.
double gelu_tanh_slope(double x);
/// By the error function: x / 2 (1 + erf(x / sqrt(2))).
double gelu_erf(double x);
/// x / (1 + exp(-steepness x)): SiLU with 1, an approximation of GELU with 1.702.
double sigmoid_unit(double x, double steepness);

}  // namespace rooflab
