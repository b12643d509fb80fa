#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "simgpu/runtime/program_run.h"

/// What programs leave behind when they end, and what they ask for in vain.
namespace {

using simgpu::testing::messages;
using simgpu::testing::ProgramRun;
using simgpu::testing::simulate;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SimgpuRunEnds, KeepsTheProgramsOwnCodeBesideALeak) {
  const ProgramRun run = simulate("leaks fail");
  EXPECT_EQ(run.exit_code, 3) << run.output;
  EXPECT_EQ(run.report["findings"].size(), 3u);
}

TEST(SimgpuRunEnds, TellsNoLeakOfWhatAResetFreedNorWhenNothingIsChecked) {
  for (const ProgramRun& run :
       {simulate("leaks reset"), simulate("leaks return", "--check none")}) {
    EXPECT_EQ(run.exit_code, 0) << run.output;
    EXPECT_EQ(run.report["findings"].size(), 0u);
  }
}

TEST(SimgpuRunEnds, TellsOfStreamsEventsAndGraphsThatAreNeverDestroyed) {
  const ProgramRun run = simulate("leaks handles");
  EXPECT_EQ(run.exit_code, 86) << run.output;
  EXPECT_THAT(
      messages(run),
      ElementsAre(
          "1 stream from cudaStreamCreate was never destroyed: cudaStreamDestroy is "
          "missing",
          "1 event from cudaEventCreate was never destroyed: cudaEventDestroy is "
          "missing",
          "2 graphs from cudaGraphCreate, cudaGraphClone or cudaStreamEndCapture were never "
          "destroyed: cudaGraphDestroy is missing",
          "1 executable graph from cudaGraphInstantiate was never destroyed: "
          "cudaGraphExecDestroy is missing"));
  EXPECT_EQ(simulate("leaks handles-destroyed").exit_code, 0);
}

TEST(SimgpuRunEnds, TellsOfPinnedMemoryLibrariesPoolsAndTexturesThatAreNeverGivenBack) {
  const ProgramRun run = simulate("leaks others");
  EXPECT_EQ(run.exit_code, 86) << run.output;
  EXPECT_THAT(
      messages(run),
      ElementsAre(
          "5000 bytes of pinned host memory from cudaMallocHost or cudaHostAlloc were never freed: "
          "cudaFreeHost is missing",
          "1 module from cudaLibraryLoadData or cudaLibraryLoadFromFile was never unloaded: "
          "cudaLibraryUnload is missing",
          "1 memory pool from cudaMemPoolCreate was never destroyed: cudaMemPoolDestroy is missing",
          "1 texture or surface object from cudaCreateTextureObject or cudaCreateSurfaceObject was "
          "never destroyed: cudaDestroyTextureObject or cudaDestroySurfaceObject is missing",
          "1 registration from cudaHostRegister was never undone: cudaHostUnregister is missing"));
  EXPECT_EQ(simulate("leaks others-given-back").exit_code, 0);
}

TEST(SimgpuRunRefuses, WhatIsNotImplementedByName) {
  const ProgramRun run = simulate("faults unsupported");
  EXPECT_EQ(run.exit_code, 86) << run.output;
  EXPECT_THAT(run.output, HasSubstr("simgpu: cudaIpcGetMemHandle is not implemented"));
  EXPECT_THAT(run.output, HasSubstr("simgpu: cudaMallocMipmappedArray is not implemented"));
}

TEST(SimgpuRunRefuses, CallsOfLibrariesThatItDoesNotHave) {
  const ProgramRun run = simulate("absent_libraries");
  EXPECT_EQ(run.exit_code, 86) << run.output;
  EXPECT_THAT(run.output, HasSubstr("1234 GFLOP/s"));
  ASSERT_EQ(run.report["findings"].size(), 8u) << run.output;
  for (const char* function :
       {"cublasHgemm", "cublasLtCreate", "cusparseCreate", "curandCreateGenerator", "cufftPlan1d",
        "cusolverDnCreate", "cudnnCreate", "ncclCommInitAll"}) {
    EXPECT_THAT(run.output, HasSubstr("error[RL0312]: the program calls " + std::string(function) +
                                      ", which the simulated GPU does not have"));
  }
}

}  // namespace
