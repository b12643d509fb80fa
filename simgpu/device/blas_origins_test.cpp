#include "simgpu/device/blas_origins.h"

#include <gtest/gtest.h>

#include <set>

namespace simgpu::blas_origins_test {
namespace {

constexpr std::uint64_t kA = 0x1000, kB = 0x2000, kC = 0x3000;

/// Addresses of what went into an element, floats all of them.
std::set<std::uint64_t> sources(Provenance& provenance, std::uint64_t address) {
  const MemoryOrigin origin = provenance.origin_of(address, 4);
  EXPECT_TRUE(origin.complete);
  EXPECT_EQ(origin.stores, 1U);
  std::set<std::uint64_t> addresses;
  for (const OriginRead& read : origin.reads) {
    for (std::uint64_t at = 0; at < read.bytes; at += 4) addresses.insert(read.address + at);
  }
  return addresses;
}

TEST(BlasOrigins, AProductHasARowAndAColumn) {
  for (const std::uint32_t transpose : {0U, 1U}) {
    Provenance provenance;
    const blas::Request request{.transpose_a = transpose,
                                .m = 3,
                                .n = 2,
                                .k = 4,
                                .lda = transpose != 0 ? 4 : 3,
                                .ldb = 4,
                                .ldc = 5,
                                .a = kA,
                                .b = kB,
                                .c = kC};
    follow_routine(provenance, request, 1, 0);
    std::set<std::uint64_t> expected;
    for (std::uint64_t p = 0; p < 4; ++p) {
      expected.insert(kA + 4 * (transpose != 0 ? p + 2 * 4 : 2 + p * 3));
      expected.insert(kB + 4 * (p + 1 * 4));
    }
    EXPECT_EQ(sources(provenance, kC + 4 * (2 + 1 * 5)), expected);
    EXPECT_EQ(provenance.origin_of(kC + 4 * 3, 4).stores, 0U) << "between two columns";
  }
}

TEST(BlasOrigins, AnUpdateHasWhatWasThere) {
  Provenance provenance;
  const blas::Request request{
      .routine = blas::Routine::axpy, .n = 4, .ldb = 2, .ldc = 1, .b = kB, .c = kC};
  follow_routine(provenance, request, 2, 0);
  EXPECT_EQ(sources(provenance, kC + 12), (std::set<std::uint64_t>{kB + 24, kC + 12}));
}

TEST(BlasOrigins, BetaDecidesWhetherTheOldResultCounts) {
  for (const double beta : {0.0, 1.0}) {
    Provenance provenance;
    const blas::Request request{.routine = blas::Routine::gemv,
                                .m = 2,
                                .n = 1,
                                .lda = 2,
                                .ldb = 1,
                                .ldc = 1,
                                .a = kA,
                                .b = kB,
                                .c = kC};
    follow_routine(provenance, request, 1, beta);
    std::set<std::uint64_t> expected{kA + 4, kB};
    if (beta != 0) expected.insert(kC + 4);
    EXPECT_EQ(sources(provenance, kC + 4), expected);
  }
}

TEST(BlasOrigins, ASumThatTheHostGetsMayBeInWhatItWrites) {
  Provenance provenance;
  const blas::Request request{
      .routine = blas::Routine::dot, .n = 4, .ldb = 1, .ldc = 1, .b = kB, .c = kC};
  follow_routine(provenance, request, 1, 0);
  provenance.host_wrote(kA, 4);
  EXPECT_FALSE(provenance.origin_of(kA, 4).complete);
}

}  // namespace
}  // namespace simgpu::blas_origins_test
