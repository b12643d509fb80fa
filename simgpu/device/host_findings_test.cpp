#include "simgpu/device/host_findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace simgpu::host_findings_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// With as little of a device as it takes.
class HostFindingsTest : public ::testing::Test {
 protected:
  std::vector<std::string> messages() const {
    std::vector<std::string> all;
    for (const Finding& finding : log_.activity().findings) all.push_back(finding.message);
    return all;
  }

  DeviceOptions options_{.instruction_budget = 1000, .host_call_limit = 3};
  DeviceMemory memory_{std::uint64_t{1} << 24};
  ActivityLog log_;
  Fault fault_{log_};
  SinceMark since_mark_;
  HostFindings host_findings_{options_, memory_, log_, fault_, since_mark_};
};

TEST_F(HostFindingsTest, TellOfAHostThatCallsOnAndOn) {
  for (int i = 0; i < 3; ++i) host_findings_.note_call(false);
  for (int i = 0; i < 3; ++i) host_findings_.note_call(true);
  EXPECT_THAT(messages(), IsEmpty()) << "who waits may ask again";
  host_findings_.note_call(false);
  EXPECT_THAT(messages(), ElementsAre(HasSubstr("has called the CUDA runtime 4 times")));
  EXPECT_EQ(fault_.error(), CudaError::launch_timeout);
}

TEST_F(HostFindingsTest, TellOfAHostThatHasTooMuchDone) {
  since_mark_.host_work = 2001;
  host_findings_.note_call(false);
  EXPECT_THAT(messages(), ElementsAre(HasSubstr("the work of 2001 warp instructions")));
}

TEST_F(HostFindingsTest, CountAnewFromTheNextMark) {
  for (int i = 0; i < 3; ++i) host_findings_.note_call(false);
  since_mark_ = {};
  for (int i = 0; i < 3; ++i) host_findings_.note_call(false);
  EXPECT_THAT(messages(), IsEmpty());
}

TEST_F(HostFindingsTest, CountAnewForAnotherGuest) {
  fault_.raise(LaunchStatus::illegal_address);
  for (int i = 0; i <= 10'000; ++i) host_findings_.note_call(false);
  ASSERT_TRUE(host_findings_.is_endless());
  host_findings_.begin_guest();
  EXPECT_FALSE(host_findings_.is_endless());
}

TEST_F(HostFindingsTest, HaveNoPatienceBehindAFault) {
  fault_.raise(LaunchStatus::illegal_address);
  for (int i = 0; i < 10'000; ++i) host_findings_.note_call(false);
  EXPECT_FALSE(host_findings_.is_endless());
  host_findings_.note_call(false);
  EXPECT_TRUE(host_findings_.is_endless());
  EXPECT_THAT(messages(), IsEmpty()) << "the fault has been told";
}

TEST_F(HostFindingsTest, TellOfLaunchesThatNobodyAskedFor) {
  host_findings_.note_checked_launch("scale");
  host_findings_.note_unasked_launch(CudaError::invalid_value);
  host_findings_.note_asked();
  host_findings_.report_unasked();
  EXPECT_THAT(messages(), IsEmpty());
  host_findings_.note_unasked_launch(CudaError::invalid_value);
  host_findings_.note_checked_launch("another");
  host_findings_.note_unasked_launch(CudaError::launch_out_of_resources);
  host_findings_.report_unasked();
  host_findings_.report_unasked();
  ASSERT_THAT(log_.activity().findings, SizeIs(1));
  EXPECT_EQ(log_.activity().findings[0].kernel, "scale") << "the first of them";
  EXPECT_THAT(messages()[0], HasSubstr("failed with cudaErrorInvalidValue, 2 times"));
}

TEST_F(HostFindingsTest, KnowWhatWasFreedBefore) {
  const std::uint64_t address = memory_.allocate(256, "cudaMalloc").value();
  host_findings_.report_bad_free(address + 16);
  memory_.release(address);
  host_findings_.report_bad_free(address);
  EXPECT_THAT(
      messages(),
      ElementsAre(HasSubstr("it is device memory (16 bytes into the cudaMalloc of 256 bytes)"),
                  HasSubstr("it was freed before")));
}

TEST_F(HostFindingsTest, CheckThatRowsLieInOneAllocation) {
  const std::uint64_t address = memory_.allocate(1024, "cudaMalloc").value();
  EXPECT_TRUE(host_findings_.check_range("a memset", address, 256, 256, 4));
  EXPECT_TRUE(host_findings_.check_range("a memset", 0, 0, 0, 4)) << "nothing at all";
  EXPECT_THAT(messages(), IsEmpty());
  EXPECT_FALSE(host_findings_.check_range("a memset", address, 256, 256, 5));
  EXPECT_EQ(log_.activity().findings.back().detail, FindingDetail::none);
  EXPECT_FALSE(host_findings_.check_range("a memset", address, ~std::uint64_t{0}, 2, 2));
  EXPECT_EQ(log_.activity().findings.back().detail, FindingDetail::beyond_any_memory);
  EXPECT_FALSE(
      host_findings_.check_range("a memset", address, 0, static_cast<std::uint64_t>(-4), 1));
  EXPECT_THAT(messages(),
              ElementsAre(HasSubstr("a memset touches 1280 bytes"), HasSubstr("a memset touches 4"),
                          HasSubstr("-4 bytes, a size below 0")));
}

}  // namespace
}  // namespace simgpu::host_findings_test
