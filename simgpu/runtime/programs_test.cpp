#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "simgpu/runtime/program_run.h"

namespace {

using simgpu::testing::messages;
using simgpu::testing::ProgramRun;
using simgpu::testing::simulate;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

double number_after(const std::string& text, const std::string& name) {
  const std::size_t at = text.find("\n" + name + " ");
  return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
}

TEST(SimgpuRun, AddsVectorsAndReportsTheKernel) {
  const ProgramRun run = simulate("vector_add");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("all 1000003 sums are right"));
  ASSERT_EQ(run.report["kernels"].size(), 1u);
  const auto& kernel = run.report["kernels"][0];
  EXPECT_EQ(kernel["name"], "vector_add");
  EXPECT_EQ(kernel["grid"], nlohmann::json({3907, 1, 1}));
  EXPECT_EQ(kernel["block"], nlohmann::json({256, 1, 1}));
  EXPECT_GT(kernel["time_us"].get<double>(), 12e6 / 1555e9 * 1e6);  // twelve bytes per element
  EXPECT_EQ(run.report["schema"], 1);
  EXPECT_EQ(run.report["findings"].size(), 0u);
}

TEST(SimgpuRun, GivesTheSameReportEveryTime) {
  EXPECT_EQ(simulate("tiled_gemm").report, simulate("tiled_gemm").report);
}

TEST(SimgpuRun, MultipliesThroughSharedMemory) {
  const ProgramRun run = simulate("tiled_gemm");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("product is right"));
}

TEST(SimgpuRun, TimesTenEqualKernelsAsExactlyTenTimesOne) {
  const ProgramRun run = simulate("timing");
  ASSERT_EQ(run.exit_code, 86) << run.output;
  EXPECT_THAT(messages(run), ElementsAre(HasSubstr("cudaStreamSynchronize names a stream")));
  const std::string text = "\n" + run.output;
  const double one = number_after(text, "one"), ten = number_after(text, "ten");
  const double kernel = run.report["kernels"][0]["time_us"].get<double>() * 1e-3;
  // The first kernel starts when its launch call has submitted it, a few microseconds after the
  // event; the others follow without a gap. The clock counts picoseconds, the result is a float.
  constexpr double kFloat = 2e-7;
  EXPECT_GT(one, kernel);
  EXPECT_LT(one, kernel + 0.005);
  EXPECT_NEAR(ten - one, 9 * kernel, kFloat * ten);
  EXPECT_EQ(number_after(text, "ten_on_stream"), ten);
  EXPECT_NEAR(number_after(text, "in_turn") - number_after(text, "side_by_side"), kernel, 0.005);
}

TEST(SimgpuRun, CopiesBetweenAllKindsOfMemory) {
  const ProgramRun run = simulate("copies");
  EXPECT_EQ(run.exit_code, 86) << run.output;
  EXPECT_THAT(messages(run),
              ElementsAre(HasSubstr("said to be cudaMemcpyDeviceToHost"),
                          HasSubstr("a copy of 4097 bytes reads host memory at"),
                          HasSubstr("a copy of 4096 bytes writes host memory at 0x8"),
                          HasSubstr("to or from a symbol")));
  EXPECT_THAT(run.output, HasSubstr("copies are right"));
}

TEST(SimgpuRun, SharesManagedAndPinnedMemoryWithTheHost) {
  const ProgramRun run = simulate("managed");
  EXPECT_EQ(run.exit_code, 86) << run.output;
  EXPECT_THAT(messages(run), ElementsAre(HasSubstr("cudaFreeHost of"),
                                         HasSubstr("calls cudaHostGetDevicePointer")));
  EXPECT_THAT(run.output, HasSubstr("shared memory is right"));
  EXPECT_THAT(run.output, HasSubstr("cudaHostGetDevicePointer is not implemented: of memory from "
                                    "cudaHostRegister"));
  EXPECT_EQ(simulate("managed", "--check none").exit_code, 0);
}

TEST(SimgpuRun, AsynchronousCopiesToPinnedMemoryArriveOnceTheHostWaits) {
  const ProgramRun run = simulate("late_copies");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("at once 1\nrecorded 1\nwaited 7\npageable 7\n"));
}

TEST(SimgpuRun, KnowsTheBoundsOfManagedMemoryAndWhenItWasFreed) {
  const ProgramRun run = simulate("managed bounds");
  EXPECT_EQ(run.exit_code, 128 + SIGSEGV) << run.output;
  EXPECT_THAT(run.output, HasSubstr("past the end of the 400-byte allocation (cudaMallocManaged)"));
  EXPECT_THAT(run.output, HasSubstr("bounds are right\n"));
  EXPECT_THAT(run.output, HasSubstr("host code dereferenced device pointer"));
}

TEST(SimgpuRun, TellsOfManagedAndOfPinnedMemoryThatWasNeverFreed) {
  const ProgramRun run = simulate("managed leak");
  EXPECT_EQ(run.exit_code, 86) << run.output;
  ASSERT_EQ(run.report["findings"].size(), 2u);
  EXPECT_THAT(run.output, HasSubstr("640 bytes from cudaMallocManaged were never freed"));
  EXPECT_THAT(run.output, HasSubstr("bytes of pinned host memory from cudaMallocHost"));
}

TEST(SimgpuRun, ReadsTexturesAndWritesSurfaces) {
  const ProgramRun run = simulate("textures");
  EXPECT_THAT(run.output, HasSubstr("textures are right"));
  EXPECT_THAT(messages(run), ElementsAre(HasSubstr("calls cudaCreateTextureObject in a way that")));
}

TEST(SimgpuRun, TellsWhatIsWrongWithATextureThatAKernelReads) {
  const std::pair<std::string, std::string> cases[] = {
      {"surface", "A surface access is out of bounds: byte 40000 of row 0"},
      {"freed", "The memory behind a texture object was freed"},
      {"handle", "The handle 12345 is no texture object"}};
  for (const auto& [fault, message] : cases) {
    const ProgramRun run = simulate("textures " + fault);
    EXPECT_EQ(run.exit_code, 86) << run.output;
    EXPECT_THAT(run.output, HasSubstr(message));
    EXPECT_EQ(run.report["findings"][0]["kind"], "out-of-bounds");
  }
}

TEST(SimgpuRun, AnswersQuestionsAboutDeviceKernelsAndStreams) {
  const ProgramRun run = simulate("queries");
  EXPECT_EQ(run.exit_code, 86) << run.output;
  EXPECT_THAT(messages(run), ElementsAre(HasSubstr("cudaStreamSynchronize names a stream")));
  EXPECT_THAT(run.output, HasSubstr("answers are right"));
}

TEST(SimgpuRun, RefusesBadLaunchesWithTheErrorsOfCuda) {
  const ProgramRun run = simulate("launches");
  EXPECT_THAT(run.output, HasSubstr("launches are right"));
  EXPECT_EQ(run.exit_code, 86) << "refused launches are findings";
  EXPECT_THAT(run.output, HasSubstr("at most 1024 threads"));
}

TEST(SimgpuRun, PrintsFromTheDeviceWhenTheHostWaits) {
  const ProgramRun run = simulate("device_printf");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(run.output,
            "before the wait\n"
            "thread 0 of block: 2.500    42 x%\n"
            "thread 1 of block: 2.500    42 x%\n"
            "thread 2 of block: 2.500    42 x%\n"
            "after the wait\n");
}

TEST(SimgpuRun, CallsFunctionsThroughPointersAndWithinTheirStack) {
  const ProgramRun run = simulate("function_pointers");
  EXPECT_THAT(run.output, HasSubstr("functions are right\n"
                                    "a stack of 1024 bytes\n"
                                    "deep calls fit\n"));
  EXPECT_THAT(run.output, HasSubstr("then cudaErrorIllegalAddress"));
  EXPECT_EQ(run.exit_code, 86) << run.output;
  ASSERT_EQ(run.report["findings"].size(), 1u);
  const auto& finding = run.report["findings"][0];
  EXPECT_EQ(finding["code"], "RL0209");
  EXPECT_THAT(finding["file"].get<std::string>(), HasSubstr("function_pointers.cu"));
}

TEST(SimgpuRun, KeepsTheFiguresOfTheMemoryPool) {
  const ProgramRun run = simulate("pool");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("figures are right"));
}

TEST(SimgpuRun, RunsKernelsOfTwoFilesAndOfStaticConstructors) {
  const ProgramRun run = simulate("two_files");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("both files run"));
}

TEST(SimgpuRun, LoadsKernelsFromPtxWhileTheProgramRuns) {
  const ProgramRun run = simulate("libraries");
  EXPECT_THAT(run.output, HasSubstr("libraries are right"));
  EXPECT_EQ(run.exit_code, 86) << "what could not be loaded is told";
  EXPECT_THAT(run.output, HasSubstr("neither a fat binary nor PTX"));
  EXPECT_THAT(run.output, HasSubstr("--gpu-architecture=compute_80"));
  EXPECT_THAT(run.output, HasSubstr("cudaLaunchAttributeClusterDimension"));
  EXPECT_THAT(run.output, HasSubstr("cudaJitMaxRegisters"));
}

TEST(SimgpuRun, RunsWhatNvrtcCompiles) {
  const std::filesystem::path nvrtc = ROOFLAB_NVRTC;
  if (!std::filesystem::exists(nvrtc)) GTEST_SKIP() << "the toolkit has no NVRTC";
  const ProgramRun run = simulate("libraries " + nvrtc.string());
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("the compiled kernel is right"));
  ASSERT_EQ(run.report["kernels"].size(), 1u);
  EXPECT_EQ(run.report["kernels"][0]["name"], "blend");
}

TEST(SimgpuRun, RunsGraphsCapturedAndBuiltByHand) {
  const ProgramRun run = simulate("graphs");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("graphs are right"));
}

TEST(SimgpuRun, RunsGraphsWithoutCheckersTheSame) {
  const ProgramRun run = simulate("graphs", "--check none");
  EXPECT_EQ(run.exit_code, 0) << run.output;
}

TEST(SimgpuRun, RefusesWhatIsNoGraph) {
  const ProgramRun run = simulate("graphs refusals", "--check none");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("cudaGraphInstantiateFlagDeviceLaunch"));
}

TEST(SimgpuRun, ReplaysSixtyTinyKernelsAboutTwiceAsFastAsOneByOne) {
  const ProgramRun run = simulate("graphs times");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const std::string text = "\n" + run.output;
  const double one_by_one = number_after(text, "one_by_one");
  const double as_graph = number_after(text, "as_graph");
  EXPECT_GT(one_by_one, 60 * 2.0) << "each launch takes the host 2 us";
  EXPECT_GT(one_by_one / as_graph, 1.8);
  EXPECT_LT(one_by_one / as_graph, 4.0);
  EXPECT_NEAR(number_after(text, "two_branches"), as_graph / 2, 0.1 * as_graph);
  ASSERT_EQ(run.report["kernels"].size(), 180u);
}

TEST(SimgpuRun, RunsGraphsTheSameEveryTimeAndWhenSampled) {
  const ProgramRun run = simulate("graphs times");
  EXPECT_EQ(simulate("graphs times").report, run.report);
  EXPECT_EQ(simulate("graphs times", "--sample").output, run.output);
}

TEST(SimgpuRun, TellsOfAFaultInAGraph) {
  const ProgramRun run = simulate("graphs fault");
  EXPECT_EQ(run.exit_code, 86) << run.output;
  ASSERT_EQ(run.report["findings"].size(), 1u);
  EXPECT_EQ(run.report["findings"][0]["kind"], "out-of-bounds");
  EXPECT_EQ(run.report["findings"][0]["kernel"], "out_of_bounds");
  EXPECT_EQ(run.report["kernels"].size(), 2u) << "what follows does not run";
}

TEST(SimgpuRun, ForbidsInACaptureWhatCudaForbids) {
  const ProgramRun run = simulate("captures");
  EXPECT_THAT(run.output, HasSubstr("captures are right"));
  EXPECT_THAT(messages(run), ElementsAre(HasSubstr("at most 1024 threads")));
}

TEST(SimgpuRun, MultipliesThroughCublas) {
  const ProgramRun run = simulate("cublas_products");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("products are right"));
  EXPECT_THAT(run.output,
              HasSubstr(" ** On entry to SGEMM  parameter number 8 had an illegal value\n"));
  EXPECT_EQ(run.report["kernels"][0]["name"], "cublas_sgemm");
}

struct Fault {
  std::string name, error, kind;
};

class SimgpuFault : public ::testing::TestWithParam<Fault> {};

TEST_P(SimgpuFault, StaysUntilTheProgramEndsAndIsReported) {
  const ProgramRun run = simulate("faults " + GetParam().name);
  EXPECT_THAT(run.output, HasSubstr(GetParam().error + " is sticky"));
  EXPECT_EQ(run.exit_code, 86) << run.output;
  ASSERT_EQ(run.report["findings"].size(), 1u) << run.output;
  EXPECT_EQ(run.report["findings"][0]["kind"], GetParam().kind);
  EXPECT_THAT(run.report["findings"][0]["file"].get<std::string>(), HasSubstr("faults.cu"));
  EXPECT_EQ(run.report["error"], GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    EachKind, SimgpuFault,
    ::testing::Values(Fault{"bounds", "cudaErrorIllegalAddress", "out-of-bounds"},
                      Fault{"misaligned", "cudaErrorMisalignedAddress", "misaligned"},
                      Fault{"assert", "cudaErrorAssert", "device-assert"},
                      Fault{"trap", "cudaErrorLaunchFailure", "trap"}),
    [](const auto& fault) { return fault.param.name; });

TEST(SimgpuRun, ExplainsAHostDereferenceOfADevicePointer) {
  const ProgramRun run = simulate("faults host");
  EXPECT_EQ(run.exit_code, 128 + SIGSEGV);
  EXPECT_THAT(run.output, HasSubstr("error[RL0207]: host code dereferenced device pointer 0x2000"));
  EXPECT_THAT(run.output, HasSubstr("(allocation of 256 bytes, cudaMalloc)"));
  ASSERT_EQ(run.report["findings"].size(), 1u);
  EXPECT_EQ(run.report["findings"][0]["code"], "RL0207");
}

TEST(SimgpuRun, ReportsADoubleFree) {
  const ProgramRun run = simulate("faults double-free");
  EXPECT_EQ(run.exit_code, 86) << run.output;
  EXPECT_THAT(run.output, HasSubstr("it was freed before"));
}

TEST(SimgpuRun, LeavesTheProgramAloneWithCudasErrorsWhenNothingIsChecked) {
  const ProgramRun run = simulate("faults bounds", "--check none");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(run.output, "cudaErrorIllegalAddress is sticky\n");
  EXPECT_EQ(run.report["findings"].size(), 0u);
  EXPECT_EQ(run.report["error"], "cudaErrorIllegalAddress");
}

TEST(SimgpuRun, ReportsMemoryThatIsAllocatedWhenTheProgramEnds) {
  const ProgramRun run = simulate("leaks return");
  EXPECT_EQ(run.exit_code, 86) << run.output;
  ASSERT_EQ(run.report["findings"].size(), 3u) << run.output;
  for (const auto& finding : run.report["findings"]) {
    EXPECT_EQ(finding["kind"], "leak");
    EXPECT_EQ(finding["code"], "RL0309");
  }
  EXPECT_THAT(run.output, HasSubstr("warning[RL0309]: 1000 bytes from cudaMalloc were never freed: "
                                    "allocation number 2 of the program, made before the first "
                                    "kernel"));
  EXPECT_THAT(run.output, HasSubstr("4096 bytes from cudaMalloc were never freed: allocation "
                                    "number 3 of the program, made after the launch of fill"));
  EXPECT_THAT(run.output, HasSubstr("this happened 3 times"));
  EXPECT_THAT(run.output, HasSubstr("64 bytes from cudaMallocAsync were never freed"));
  EXPECT_THAT(run.output, Not(HasSubstr("128 bytes")));
}

TEST(SimgpuRun, LeavesNothingAfterAResetOfTheDevice) {
  const ProgramRun run = simulate("reset", "--check none");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("nothing is left"));
}

TEST(SimgpuRun, ForgetsAllThatTheProgramMadeInTheDevicesEarlierLife) {
  const ProgramRun run = simulate("reset_state");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("a new life"));
  EXPECT_TRUE(run.report["findings"].empty()) << run.report["findings"];
}

TEST(SimgpuRun, ResetsTheDeviceWhileOtherThreadsUseIt) {
  const ProgramRun run = simulate("reset_state threads");  // which have findings, of course
  EXPECT_THAT(run.output, HasSubstr("a new life"));
}

TEST(SimgpuRun, TellsABarrierThatThreadsMissBeforeTheRacesThatFollowFromIt) {
  const ProgramRun run = simulate("barriers");
  EXPECT_EQ(run.exit_code, 86) << run.output;
  std::vector<std::string> kinds;
  for (const auto& finding : run.report["findings"]) kinds.push_back(finding["kind"]);
  EXPECT_THAT(kinds, ElementsAre("divergent-barrier", "shared-race", "shared-race", "shared-race",
                                 "shared-race"));
}

TEST(SimgpuRun, GivesBlocksTheSharedMemoryOfTheirGpu) {
  for (const auto& [gpu, bytes] : {std::pair{"a100", 163 * 1024},
                                   {"a10", 99 * 1024},
                                   {"rtx4090", 99 * 1024},
                                   {"rtx5090", 99 * 1024},
                                   {"h100-sxm", 227 * 1024},
                                   {"b200", 227 * 1024}}) {
    const ProgramRun run = simulate("shared_memory", "--gpu " + std::string(gpu));
    EXPECT_EQ(run.exit_code, 0) << gpu << ": " << run.output;
    EXPECT_THAT(run.output, HasSubstr(std::to_string(bytes) + " bytes of shared memory are right"));
  }
}

TEST(SimgpuRun, SaysHowToGetMoreSharedMemory) {
  const ProgramRun unset = simulate("shared_memory unset");
  EXPECT_EQ(unset.exit_code, 86) << unset.output;
  ASSERT_EQ(unset.report["findings"].size(), 1u);
  const std::string message = unset.report["findings"][0]["message"];
  EXPECT_THAT(message, HasSubstr("49156 bytes of dynamic shared memory"));
  EXPECT_THAT(message, HasSubstr("cudaFuncSetAttribute"));
  EXPECT_THAT(message, HasSubstr(std::to_string(163 * 1024)));
  const ProgramRun too_much = simulate("shared_memory too-much");
  EXPECT_EQ(too_much.exit_code, 86) << too_much.output;
  ASSERT_EQ(too_much.report["findings"].size(), 3u) << too_much.output;
  for (const auto& finding : too_much.report["findings"]) {
    EXPECT_EQ(finding["code"], "RL0308");
    EXPECT_THAT(finding["message"].get<std::string>(), HasSubstr("make the tiles smaller"));
  }
}

TEST(SimgpuRun, LetsGridsBlocksAndWarpsCooperate) {
  const ProgramRun run = simulate("cooperation");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("cooperation is right"));
}

TEST(SimgpuRun, RefusesACooperativeGridThatDoesNotFit) {
  const ProgramRun run = simulate("cooperation too-large");
  EXPECT_EQ(run.exit_code, 86) << run.output;
  ASSERT_EQ(run.report["findings"].size(), 1u) << run.output;
  EXPECT_THAT(run.report["findings"][0]["message"].get<std::string>(),
              HasSubstr("the 100000 blocks of a cooperative launch have to run at once, but only"));
}

TEST(SimgpuRun, AllocatesInKernels) {
  const ProgramRun run = simulate("device_code");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("device code is right"));
}

TEST(SimgpuRun, TellsWhatKernelsDidNotFree) {
  const ProgramRun run = simulate("device_code leak");
  EXPECT_EQ(run.exit_code, 86) << run.output;
  ASSERT_EQ(run.report["findings"].size(), 1u) << run.output;
  EXPECT_EQ(run.report["findings"][0]["code"], "RL0309");
  EXPECT_THAT(run.report["findings"][0]["message"].get<std::string>(),
              HasSubstr("4 bytes from malloc() or new in a kernel were never freed by a kernel"));
}

TEST(SimgpuRun, CopiesAsynchronously) {
  const ProgramRun run = simulate("async_copies");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("asynchronous copies are right"));
}

TEST(SimgpuRun, TellsOfACopyIntoABufferThatIsStillRead) {
  const ProgramRun run = simulate("async_copies early");
  EXPECT_EQ(run.exit_code, 86) << run.output;
  ASSERT_GE(run.report["findings"].size(), 1u);
  for (const auto& finding : run.report["findings"]) {
    EXPECT_EQ(finding["kernel"], "too_early");
    EXPECT_EQ(finding["kind"], "shared-race");
  }
}

TEST(SimgpuRun, MultipliesOnTensorCores) {
  const ProgramRun run = simulate("tensor_cores");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("tensor cores are right"));
  ASSERT_EQ(run.report["kernels"].size(), 2u);
  for (const auto& kernel : run.report["kernels"]) {
    // A 64 x 64 x 64 product is 64 of wmma's tiles, or 128 of mma's.
    const int tiles = kernel["name"] == "by_wmma" ? 64 : 128;
    EXPECT_EQ(kernel["counters"]["sm__inst_executed_pipe_tensor.sum"], tiles) << kernel["name"];
  }
}

TEST(SimgpuRun, SimulatesTheGpuItIsAskedFor) {
  const ProgramRun a100 = simulate("vector_add"), h200 = simulate("vector_add", "--gpu h200");
  EXPECT_EQ(h200.exit_code, 0) << h200.output;
  EXPECT_LT(h200.report["kernels"][0]["time_us"].get<double>(),
            a100.report["kernels"][0]["time_us"].get<double>());
}

TEST(SimgpuRun, SaysInOneLineWhatIsWrongWithItsArguments) {
  const ProgramRun gpu = simulate("vector_add", "--gpu b9000");
  EXPECT_EQ(gpu.exit_code, 2) << gpu.output;
  EXPECT_THAT(gpu.output, HasSubstr("a100"));
  const ProgramRun program = simulate("there-is-no-such-program");
  EXPECT_EQ(program.exit_code, 3);
  EXPECT_THAT(program.output, HasSubstr("cannot be started"));
}

TEST(SimulatedRuntime, SaysHowToStartAProgramThatHasNoDevice) {
  const std::filesystem::path build = ROOFLAB_BINARY_DIR;
  const std::string command = "LD_LIBRARY_PATH='" + (build / "lib/simgpu").string() + "' '" +
                              (build / "cuda/vector_add").string() + "' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");  // NOLINT(cert-env33-c)
  ASSERT_NE(pipe, nullptr);
  std::string output;
  std::array<char, 256> chunk{};
  while (fgets(chunk.data(), chunk.size(), pipe) != nullptr) output += chunk.data();
  EXPECT_NE(pclose(pipe), 0);
  EXPECT_THAT(output, HasSubstr("simgpu run -- ./program"));
  EXPECT_THAT(output, HasSubstr("cudaErrorNoDevice"));
}

}  // namespace
