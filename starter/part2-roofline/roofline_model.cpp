#include "roofline_model.h"

#include <algorithm>
#include <cmath>

#include "toolkit/todo.h"

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;

Gpu gpu_of(const DataSheet& sheet) {
  rooflab::todo("turn TFLOP/s and GB/s into FLOP/s and B/s, then think of the zeros");
}

double ridge_point(const Gpu& gpu) {
  rooflab::todo("at which FLOP/B do arithmetic and memory take equally long?");
}

double attainable(const Gpu& gpu, double intensity) {
  rooflab::todo("how many FLOP/s can the memory feed? The flat roof limits it too");
}

Bound bound(const Gpu& gpu, double intensity) {
  rooflab::todo("on which side of the ridge point does the operation lie?");
}

double least_seconds(const Gpu& gpu, const Cost& cost) {
  rooflab::todo("find the time for the FLOPs and the time for the bytes");
}

double crossover_flops(const Gpu& gpu, std::int64_t inputs, std::int64_t bytes_per_element) {
  rooflab::todo("count the bytes of one element, inputs and output");
}

std::int64_t smallest_compute_bound_gemm(const Gpu& gpu, std::int64_t bytes_per_element) {
  rooflab::todo("write the intensity of the product as a formula of N");
}

double attainable_warm(const GpuWithL2& gpu, const Cost& cost) {
  rooflab::todo("choose the bandwidth that serves the second run, then its roof");
}

Roof limiting_roof(const GpuWithL2& gpu, const Traffic& traffic) {
  rooflab::todo("compute the time that each of the three roofs asks for");
}

Utilisation utilisation(const Gpu& gpu, const Run& run) {
  rooflab::todo("turn FLOPs and bytes into rates, then divide each by its peak");
}
