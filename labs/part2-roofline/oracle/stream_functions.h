#pragma once

#include <span>
#include <string_view>

namespace rooflab {

/// What one element of a stream function is made from. A function reads those it needs.
struct StreamOperands {
  double a = 0, b = 0;
  double positive = 0;  ///< input of the functions that have no value for negative numbers
  double base = 0;      ///< input of pow, negative too where the exponent is whole
  double s = 0;         ///< the scalar of scale and triad
  double exponent = 0;  ///< the scalar of pow
};

/// One of the ten functions of stream.h as the grader knows it.
struct StreamFunction {
  std::string_view name;  ///< of the function and of its output
  bool reads_a, reads_b, reads_positive, reads_base;
  double flops;  ///< of one element; a function of the library counts as one, as its result is one

  /// The value in fp64. One that is beyond float32 is an infinity.
  double (*value)(const StreamOperands&);
  /// How far a float32 result may be from a value: half an ulp for each operation that rounds
  /// correctly, and the maximum error of the CUDA C++ Programming Guide (Mathematical Functions)
  /// for the others.
  double (*tolerance)(const StreamOperands&, double value);
};

std::span<const StreamFunction> stream_functions();
/// @throws std::invalid_argument for a name that no function has.
const StreamFunction& stream_function(std::string_view name);

/// A wrong version of one of them.
struct StreamMistake {
  std::string_view function;
  Code code;
  const char* cause;
  const char* advice;
  double (*value)(const StreamOperands&);
  /// Where it rounds more than what is right; else that function's is taken.
  double (*tolerance)(const StreamOperands&, double value) = nullptr;
};

std::span<const StreamMistake> stream_mistakes();

}  // namespace rooflab
