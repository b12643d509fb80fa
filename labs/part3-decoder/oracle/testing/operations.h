#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "grader/contract/oracle.h"
#include "labs/part3-decoder/oracle/operations.h"
#include "labs/part3-decoder/oracle/tensors.h"

/// What the tests of the operations share.
namespace rooflab::testing {

inline std::unique_ptr<Oracle> oracle(const std::string& name) {
  return oracle_registry().at(name)();
}

inline Values with_type(Values values, const std::string& type) {
  values["type"] = type;
  return values;
}

/// A case of 2 sequences, 4 query heads, 2 key/value heads of 16 elements.
inline Values attention_values(std::int64_t queries, std::int64_t keys, std::int64_t capacity,
                               std::int64_t window) {
  return {{"batch", std::int64_t{2}},
          {"query_length", queries},
          {"key_length", keys},
          {"query_heads", std::int64_t{4}},
          {"key_value_heads", std::int64_t{2}},
          {"head_dim", std::int64_t{16}},
          {"capacity", capacity},
          {"window", window}};
}

/// The codes of the known mistakes that show in a case.
inline std::set<std::string> codes(const std::string& name, const Values& values) {
  std::set<std::string> found;
  const Problem problem = oracle(name)->make(values, 21);
  for (const KnownMistake& mistake : oracle(name)->mistakes(problem))
    found.insert(mistake.code.text());
  return found;
}

/// Right values must be the same to fp64's precision.
inline void expect_same(const std::vector<double>& got, const std::vector<long double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], 1e-12 * (1 + std::abs(expected[i]))) << i;
  }
}

/// What a GPU stores when it computes `values` in float must pass.
inline void expect_accepted(const std::vector<float>& values, const Expected& expected,
                            ElementType type) {
  ASSERT_EQ(values.size(), expected.value.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_LE(std::abs(rounded(type, values[i]) - expected.value[i]), expected.tolerance[i]) << i;
  }
}

}  // namespace rooflab::testing
