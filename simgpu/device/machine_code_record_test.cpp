#include "simgpu/device/machine_code_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "simgpu/device/loaded_kernel.h"
#include "simgpu/machine_code/assembler.h"

namespace simgpu::machine_code_record_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A store for each thread.
const std::string kPtx =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry kernel(.param .u64 p) {\n"
    ".reg .b32 %r<2>;\n.reg .pred %q<2>;\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [p];\n"
    "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd1, %rd1, %rd2;\n"
    "st.volatile.global.u32 [%rd1], %r1;\nret;\n}\n";

class MachineCodeRecordTest : public ::testing::Test {
 protected:
  LoadedKernel kernel(bool reads_machine_code) const {
    const KernelReader reader{
        .gpu = gpu_, .assembler = &assembler_, .reads_machine_code = reads_machine_code};
    return reader.read(ptx::parse_one_a_line(kPtx), {}, Naming::own).at(0);
  }
  /// Each instruction for all lanes of so many warps.
  static LaunchResult executed_by(const LoadedKernel& kernel, std::uint64_t warps) {
    LaunchResult result;
    result.executed.assign(kernel.info->instructions.size(), {warps, 32 * warps});
    return result;
  }

  const gpu_spec::GpuSpec gpu_ =
      gpu_spec::load(std::string(ROOFLAB_SOURCE_DIR) + "/specs/gpus/a100.toml");
  const machine_code::Assembler assembler_{
      {.command = {machine_code::find_ptxas().string()}, .version = "of the test"}};
  MachineCodeRecords records_;
};

TEST_F(MachineCodeRecordTest, CountsWhatWarpsIssueOfMachineCode) {
  const LoadedKernel loaded = kernel(true);
  const MachineCodeRecord record = records_.of(loaded, executed_by(loaded, 10)).record;
  EXPECT_THAT(record.why_not, IsEmpty());
  EXPECT_TRUE(record.aligned);
  EXPECT_GE(record.instructions, 4U);
  EXPECT_NEAR(record.warp_instructions, 10.0 * static_cast<double>(record.instructions), 0.01);
}

TEST_F(MachineCodeRecordTest, IsOfEachLaunchOfAKernel) {
  const LoadedKernel loaded = kernel(true);
  const double once = records_.of(loaded, executed_by(loaded, 1)).record.warp_instructions;
  EXPECT_NEAR(records_.of(loaded, executed_by(loaded, 7)).record.warp_instructions, 7 * once, 0.01);
  EXPECT_NEAR(records_.of(loaded, executed_by(loaded, 1)).record.warp_instructions, once, 0.01);
}

TEST_F(MachineCodeRecordTest, StopsWhereLaunchesHaveTakenTooMuchWork) {
  const LoadedKernel loaded = kernel(true);
  MachineCodeRecords little({.of_all = 500, .of_a_kernel = 300});
  ASSERT_TRUE(little.of(loaded, executed_by(loaded, 1)).record.aligned);
  std::uint64_t warps = 2;
  while (warps < 100 && little.of(loaded, executed_by(loaded, warps)).record.aligned) ++warps;
  EXPECT_LT(warps, 100U);
  EXPECT_THAT(little.of(loaded, executed_by(loaded, warps)).record.why_not, HasSubstr("used up"));
  EXPECT_TRUE(little.of(loaded, executed_by(loaded, 1)).record.aligned) << "it is kept";
  const LoadedKernel another = kernel(true);
  for (; warps < 200; ++warps) little.of(another, executed_by(another, warps));
  little.forget_all();
  EXPECT_FALSE(little.of(loaded, executed_by(loaded, 1)).record.aligned)
      << "a reset of the device gives no more";
}

TEST_F(MachineCodeRecordTest, SaysThatThereIsNone) {
  const LoadedKernel loaded = kernel(false);
  const MachineCodeRecord record = records_.of(loaded, executed_by(loaded, 1)).record;
  EXPECT_FALSE(record.aligned);
  EXPECT_THAT(record.why_not, HasSubstr("no machine code"));
}

}  // namespace
}  // namespace simgpu::machine_code_record_test
