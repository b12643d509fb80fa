#include "stream.h"

#include "toolkit/check.h"
#include "toolkit/todo.h"

// Your kernel goes here. Ten functions need no ten kernels: what differs between them can be a
// template parameter, a struct with a __device__ operator() that takes one element of each input.

void stream::copy(const float* a, float* out, std::int64_t n) {
  rooflab::todo("write one kernel that applies a function to every element");
}

void stream::scale(const float* a, float s, float* out, std::int64_t n) {
  rooflab::todo("the same kernel with another function, which has to know s");
}

void stream::add(const float* a, const float* b, float* out, std::int64_t n) {
  rooflab::todo("let the kernel take any number of inputs");
}

void stream::triad(const float* a, const float* b, float s, float* out, std::int64_t n) {
  rooflab::todo("add s times b to a");
}

void stream::mul(const float* a, const float* b, float* out, std::int64_t n) {
  rooflab::todo("multiply element by element");
}

void stream::sqrt(const float* a, float* out, std::int64_t n) {
  rooflab::todo("sqrtf; before you time it, guess how much longer it takes than copy");
}

void stream::sin(const float* a, float* out, std::int64_t n) {
  rooflab::todo("sinf; how many instructions is it, and does that matter?");
}

void stream::sigmoid(const float* a, float* out, std::int64_t n) {
  rooflab::todo("expf; mind the sign");
}

void stream::log10(const float* a, float* out, std::int64_t n) {
  rooflab::todo("log10f: the base is ten");
}

void stream::pow(const float* a, float exponent, float* out, std::int64_t n) {
  rooflab::todo("powf, the most arithmetic of all; where is its point on the roofline?");
}
