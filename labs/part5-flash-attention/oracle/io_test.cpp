#include <gtest/gtest.h>

#include "labs/oracle_support/given_cases_testing.h"

namespace rooflab {
namespace {

TEST(IoOracleTest, KnowsTheResultsOfAllCases) { expect_what_cases_give(5, "io"); }

}  // namespace
}  // namespace rooflab
