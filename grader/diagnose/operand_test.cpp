#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/diagnose/diagnose.h"
#include "grader/diagnose/diagnose_testing.h"

namespace rooflab {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// What cuBLAS was given for an operand.
simgpu::Finding of_operand(simgpu::Code code, const char* name, simgpu::FindingDetail detail) {
  simgpu::Finding finding;
  finding.code = code;
  finding.name = name;
  finding.detail = detail;
  return finding;
}

TEST_F(DiagnoseTest, ALeadingDimensionIsThatOfATileOrThatOfCublas) {
  simgpu::Finding finding;
  finding.code = "RL0204";
  finding.detail = simgpu::FindingDetail::tile;
  EXPECT_THAT(explain_finding(finding, context_, nullptr).help, HasSubstr("padded by whole 16"));
  finding.code = "RL0201";
  finding.detail = simgpu::FindingDetail::operand_too_long;
  finding.name = "A";
  const Diagnostic story = explain_finding(finding, context_, nullptr);
  EXPECT_THAT(story.help, HasSubstr("column-major"));
  EXPECT_THAT(story.notes, ::testing::Contains(HasSubstr("its A is your B")));
  finding.detail = simgpu::FindingDetail::operand_without_memory;
  EXPECT_THAT(explain_finding(finding, context_, nullptr).help, HasSubstr("device memory"));
}

TEST_F(DiagnoseTest, ASizeThatNobodyMeansIsAVariableWithoutAValue) {
  const simgpu::Finding finding =
      of_operand("RL0201", "A", simgpu::FindingDetail::beyond_any_memory);
  const Diagnostic story = explain_finding(finding, context_, nullptr);
  EXPECT_THAT(story.help, HasSubstr("captured it by reference"));
  EXPECT_THAT(story.help, Not(HasSubstr("column-major")));
}

TEST_F(DiagnoseTest, AResultThatIsAddedToWantsAnotherBeta) {
  const simgpu::Finding finding = of_operand("RL0205", "C", simgpu::FindingDetail::result_added_to);
  EXPECT_THAT(explain_finding(finding, context_, nullptr).help, HasSubstr("with beta = 0"));
}

}  // namespace
}  // namespace rooflab
