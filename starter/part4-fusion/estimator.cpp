#include "estimator.h"

#include <algorithm>

#include "toolkit/todo.h"

Program gated_mlp(const GatedMlp& mlp, Fusion fusion) {
  rooflab::todo("name the arrays and their bytes, then the five operations in order");
}

// Your helpers go here: who makes an array, who reads it?

std::vector<KernelWork> kernels_of(const Program& program, double l2_bytes) {
  rooflab::todo("which arrays does each kernel read, and which must it write?");
}

Estimate estimate(const Program& program, const Machine& machine) {
  rooflab::todo("the times of each kernel first; then follow host and GPU launch by launch");
}

Explanation explain(const Estimate& estimate, double measured_seconds) {
  rooflab::todo("which part of the measured time is busy, which idle, which neither?");
}
