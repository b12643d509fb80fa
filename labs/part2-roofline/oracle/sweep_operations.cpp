#include "labs/part2-roofline/oracle/sweep_operations.h"

#include <array>

namespace rooflab {
namespace {

/// The product of a (m, k) and a (k, n) matrix.
constexpr SweepOperation product(std::string_view label, double m, double n, double k) {
  return {label, m * n * k, 2 * m * n * k, m * k + k * n + m * n, true};
}

constexpr double kElements = 0x1p26;

constexpr std::array kOperations = {
    product("gemm 1024", 1024, 1024, 1024),
    product("gemm 2048", 2048, 2048, 2048),
    product("gemm 4096", 4096, 4096, 4096),
    product("gemm 8192", 8192, 8192, 8192),
    product("gemv 8192", 1, 8192, 8192),
    SweepOperation{"scale 2^26", 0, kElements, 2 * kElements, false},
    SweepOperation{"triad 2^26", 0, 2 * kElements, 3 * kElements, false},
};

}  // namespace

std::span<const SweepOperation> sweep_operations() { return kOperations; }

}  // namespace rooflab
