#include <gmock/gmock.h>

#include "grader/diagnose/diagnose.h"

namespace rooflab {
namespace {

using ::testing::HasSubstr;

simgpu::Activity launched(const simgpu::Dim3& grid, const simgpu::Dim3& block) {
  simgpu::Activity activity;
  simgpu::KernelRecord& kernel = activity.kernels.emplace_back();
  kernel.name = "add_kernel(float const*, int)";
  kernel.grid = grid;
  kernel.block = block;
  return activity;
}

DiagnoseContext launch_context() {
  DiagnoseContext context;
  context.task = "vector_add";
  context.case_name = "n = 1000";
  context.file = "vector_add.cu";
  context.sources = {
      {"vector_add.cu", "void f() {\n  add_kernel<<<threads, blocks>>>(a, n);\n}\n"}};
  return context;
}

TEST(ThinBlocks, OfManyBlocksAreToldWithTheirLaunch) {
  const auto story = explain_thin_blocks(launched({256, 1, 1}, {4, 1, 1}), launch_context());
  ASSERT_TRUE(story);
  EXPECT_EQ(story->code, Code("RL0504"));
  EXPECT_EQ(story->message, "add_kernel runs in 256 blocks of 4 threads, and a warp has 32");
  EXPECT_EQ(story->line, 2U);
  EXPECT_EQ(story->labels.at(0).text, "256 blocks of 4 threads");
  EXPECT_THAT(story->help, HasSubstr("are they swapped?"));
}

TEST(ThinBlocks, AreNoOthers) {
  for (const auto& [grid, block] : {std::pair<simgpu::Dim3, simgpu::Dim3>{{256, 1, 1}, {32, 1, 1}},
                                    {{1, 1, 1}, {4, 1, 1}},
                                    {{100, 1, 1}, {4, 1, 1}},
                                    {{64, 64, 1}, {4, 1, 1}},
                                    {{256, 1, 1}, {4, 4, 1}}}) {
    EXPECT_FALSE(explain_thin_blocks(launched(grid, block), launch_context())) << grid.x << block.x;
  }
  DiagnoseContext hidden = launch_context();
  hidden.hidden = true;
  EXPECT_FALSE(explain_thin_blocks(launched({256, 1, 1}, {4, 1, 1}), hidden));
}

}  // namespace
}  // namespace rooflab
