// Runs the simgpu program as people do, from a shell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace {

using testing::HasSubstr;
using testing::IsEmpty;

struct Ran {
  int code = -1;
  std::string text;  ///< stdout and stderr together
};

Ran simgpu(const std::string& arguments) {
  const std::string command =
      std::string("'" ROOFLAB_BINARY_DIR "/bin/simgpu' ") + arguments + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  Ran ran;
  if (pipe == nullptr) return ran;
  std::array<char, 4096> buffer{};
  for (std::size_t got = 1; got > 0;) {
    got = std::fread(buffer.data(), 1, buffer.size(), pipe);
    ran.text.append(buffer.data(), got);
  }
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) ran.code = WEXITSTATUS(status);
  return ran;
}

void expect_line(const std::string& arguments, int code, const std::string& text) {
  const Ran ran = simgpu(arguments);
  EXPECT_EQ(ran.code, code) << arguments;
  EXPECT_THAT(ran.text, HasSubstr(text));
  EXPECT_EQ(ran.text.find('\n'), ran.text.size() - 1) << "more than one line: " << ran.text;
}

TEST(SimgpuCliTest, ExitsWithTheCodeOfTheProgram) {
  EXPECT_EQ(simgpu("run -- /bin/true").code, 0);
  EXPECT_EQ(simgpu("run -- /bin/sh -c 'exit 7'").code, 7);
  EXPECT_EQ(simgpu("run -- /bin/sh -c 'kill -9 $$'").code, 128 + 9);
}

/// The lines of a test program's source that end in a comment of one word, by that word.
std::map<std::string, int> marked_lines(const std::string& file) {
  std::map<std::string, int> lines;
  std::ifstream source(file);
  int number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    const std::size_t comment = line.rfind("  // ");
    const bool ends_scope = line.starts_with("}");
    if (comment != std::string::npos && !ends_scope) lines[line.substr(comment + 5)] = number;
  }
  return lines;
}

TEST(SimgpuCliTest, TellsTheLineOfEachCallOfHostCodeThatIsWrong) {
  const std::string file = ROOFLAB_SOURCE_DIR "/simgpu/cli/testdata/host_mistakes.cu";
  for (const auto& [name, line] : marked_lines(file)) {
    const Ran ran = simgpu("run -- '" ROOFLAB_BINARY_DIR "/cuda/host_mistakes' " + name);
    EXPECT_THAT(ran.text, HasSubstr("host_mistakes.cu:")) << name;
    EXPECT_THAT(ran.text, HasSubstr("\n" + std::to_string(line) + " | ")) << name;
  }
}

/// Runs vector_add, then waits for a minute, and gets `signal` meanwhile.
Ran interrupted_by(const std::string& signal, const std::string& report) {
  const std::string program =
      "/bin/sh -c '\"" ROOFLAB_BINARY_DIR "/cuda/vector_add\" > /dev/null; exec sleep 60'";
  return simgpu("run --report " + report + " -- " + program + " & sleep 2; kill -" + signal +
                " $!; wait $!");
}

TEST(SimgpuCliTest, ReportsWhatIsKnownWhenItIsToldToEnd) {
  for (const auto& [signal, code] : {std::pair{"TERM", 128 + 15}, {"HUP", 128 + 1}}) {
    const std::string report = testing::TempDir() + "interrupted.json";
    std::remove(report.c_str());
    EXPECT_EQ(interrupted_by(signal, report).code, code);
    const auto json = nlohmann::json::parse(std::ifstream(report), nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << "no report after SIG" << signal;
    EXPECT_EQ(json["kernels"].size(), 1u);
  }
}

TEST(SimgpuCliTest, DoesNotWaitForAKernelWhenItIsToldToEnd) {
  const std::string report = testing::TempDir() + "in_a_kernel.json";
  const Ran ran =
      simgpu("run --warp-limit 0 --report " + report +
             " -- '" ROOFLAB_BINARY_DIR "/cuda/long_kernel' & sleep 2; kill -TERM $!; wait $!");
  EXPECT_EQ(ran.code, 128 + 15) << ran.text;
  EXPECT_TRUE(std::ifstream(report).good());
}

/// Runs simgpu in a pipe whose reader is gone before it writes anything. @return its exit code
int run_unread(const std::string& report, const std::string& program) {
  const std::string code = testing::TempDir() + "unread_code";
  const std::string command = "( '" ROOFLAB_BINARY_DIR "/bin/simgpu' run --explain --report " +
                              report + " -- /bin/sh -c 'sleep 1; " + program + "'; echo $? > " +
                              code + " ) 2>&1 | true";
  EXPECT_EQ(std::system(command.c_str()), 0);
  int number = -1;
  std::ifstream(code) >> number;
  return number;
}

TEST(SimgpuCliTest, WritesItsReportWhenNobodyReadsWhatItPrints) {
  const std::string report = testing::TempDir() + "unread.json";
  for (const auto& [program, code] :
       {std::pair{"\"" ROOFLAB_BINARY_DIR "/cuda/host_mistakes\" leak", 86},
        {"exec \"" ROOFLAB_BINARY_DIR "/cuda/host_mistakes\" launch", 128 + 13}}) {
    SCOPED_TRACE(program);
    std::remove(report.c_str());
    EXPECT_EQ(run_unread(report, program), code);
    const auto json = nlohmann::json::parse(std::ifstream(report), nullptr, false);
    ASSERT_FALSE(json.is_discarded());
    EXPECT_EQ(json.at("findings").size(), 1U);
  }
}

TEST(SimgpuCliTest, SaysSoWhenAProgramNeverAskedForTheGpu) {
  expect_line("run -- /bin/true", 0, "must be built with nvcc -cudart shared");
}

TEST(SimgpuCliTest, SaysNothingOfItsOwnAboutAProgramWithoutFaults) {
  const Ran ran = simgpu("run -- '" ROOFLAB_BINARY_DIR "/cuda/vector_add' > /dev/null");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.text, IsEmpty());
}

/// The kernels of the long-running program's report.
nlohmann::json kernels_of(const std::string& options) {
  const std::string report = ::testing::TempDir() + "simgpu_cli_test_report.json";
  const Ran ran = simgpu("run --report '" + report + "' " + options +
                         " -- '" ROOFLAB_BINARY_DIR "/cuda/long_running'");
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_THAT(ran.text, IsEmpty());
  std::ifstream file(report);
  return nlohmann::json::parse(file).at("kernels");
}

TEST(SimgpuCliTest, TheReportExplainsEachKernelsTime) {
  for (const nlohmann::json& kernel : kernels_of("--sample")) {
    SCOPED_TRACE(kernel.at("name").get<std::string>());
    const nlohmann::json& why = kernel.at("explanation");
    EXPECT_THAT(why.at("meaning").get<std::string>(), testing::Not(IsEmpty()));
    EXPECT_THAT(why.at("change").get<std::string>(), testing::Not(IsEmpty()));
    EXPECT_GE(why.at("most_gain").get<double>(), 1);
    const std::string limiter = kernel.at("limiter");
    const double largest =
        limiter == "launch" ? 0 : kernel.at("terms_us").at(limiter).get<double>();
    EXPECT_GE(kernel.at("time_us").get<double>(), largest + kernel.at("launch_us").get<double>());
  }
}

TEST(SimgpuCliTest, EveryTimeOfAReportHasABand) {
  const nlohmann::json kernels = kernels_of("--sample");
  ASSERT_EQ(kernels.size(), 2U);
  for (const auto& kernel : kernels) {
    SCOPED_TRACE(kernel.at("name").get<std::string>());
    const auto band = kernel.at("time_band_us").get<std::vector<double>>();
    ASSERT_EQ(band.size(), 2U);
    EXPECT_LT(band[0], kernel.at("time_us").get<double>());
    EXPECT_GT(band[1], kernel.at("time_us").get<double>());
  }
  EXPECT_EQ(kernels[1].at("time_band_class"), "library") << "cuBLAS";
  EXPECT_NE(kernels[0].at("time_band_class"), "library");
}

TEST(SimgpuCliTest, TimesGoByMachineCodeOrByPtx) {
  const nlohmann::json by_default = kernels_of("--sample");
  const nlohmann::json by_code = kernels_of("--sample --time-from machine-code");
  const nlohmann::json by_ptx = kernels_of("--sample --time-from ptx");
  ASSERT_TRUE(by_code[0].at("machine_code").at("aligned").get<bool>());
  EXPECT_EQ(by_default[0].at("time_us"), by_code[0].at("time_us"));
  EXPECT_NE(by_ptx[0].at("time_us"), by_code[0].at("time_us"));
  EXPECT_EQ(by_ptx[1].at("time_us"), by_code[1].at("time_us")) << "cuBLAS has no machine code";
}

TEST(SimgpuCliTest, RefusesToTellTimesBySomethingElse) {
  const Ran ran = simgpu("run --time-from sass -- /bin/true");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.text, HasSubstr("--time-from: sass not in {machine-code,ptx}"));
}

TEST(SimgpuCliTest, ExplainsOnRequest) {
  const Ran ran = simgpu("run --explain -- '" ROOFLAB_BINARY_DIR "/cuda/vector_add'");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.text, testing::ContainsRegex("us modelled \\([0-9.]+ to [0-9.]+\\), "));
  EXPECT_THAT(ran.text, HasSubstr("to be faster: "));
  EXPECT_THAT(ran.text, HasSubstr("latency that nothing hides: "));
}

TEST(SimgpuCliTest, ASampledRunTakesTheSameModelledTimeAndSaysSo) {
  const nlohmann::json whole = kernels_of("");
  const nlohmann::json sampled = kernels_of("--sample");
  ASSERT_EQ(whole.size(), 2U);
  ASSERT_EQ(sampled.size(), 2U);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    SCOPED_TRACE(whole[i].at("name").get<std::string>());
    EXPECT_FALSE(whole[i].at("sampled").get<bool>());
    EXPECT_TRUE(sampled[i].at("sampled").get<bool>());
    const double time = whole[i].at("time_us").get<double>();
    EXPECT_NEAR(sampled[i].at("time_us").get<double>(), time, 0.01 * time);
  }
  EXPECT_GT(sampled[0].at("sampled_blocks").get<int>(), 0);
  EXPECT_LT(sampled[0].at("sampled_blocks").get<int>(), 65536 / 10);
  EXPECT_EQ(sampled[1].at("sampled_blocks").get<int>(), 0) << "cuBLAS has no blocks to run";
}

TEST(SimgpuCliTest, ALaunchBeyondItsBudgetIsTooLong) {
  const std::string program = " -- '" ROOFLAB_BINARY_DIR "/cuda/vector_add'";
  const Ran ran = simgpu("run --instruction-budget 10" + program);
  EXPECT_THAT(ran.text, HasSubstr("RL0319"));
  EXPECT_NE(ran.code, 0);
}

/// @param limits options of `simgpu run`
Ran run_host_loop(const std::string& limits, const std::string& loop) {
  return simgpu("run " + limits + " -- '" ROOFLAB_BINARY_DIR "/cuda/endless_host' " + loop);
}

TEST(SimgpuCliTest, AHostThatCallsForEverIsToldAndEnds) {
  for (const char* loop : {"launch", "query"}) {
    const Ran ran = run_host_loop("--host-call-limit 2000", loop);
    EXPECT_NE(ran.code, 0);
    EXPECT_THAT(ran.text, HasSubstr("error[RL0319]: The host program takes too long")) << loop;
    EXPECT_THAT(ran.text, HasSubstr("has called the CUDA runtime 2001 times")) << loop;
  }
  const Ran fills = run_host_loop("--host-call-limit 1000000 --instruction-budget 1000000", "fill");
  EXPECT_THAT(fills.text, HasSubstr("launches and copies have taken the work of"));
}

TEST(SimgpuCliTest, AskingWhetherWorkIsDoneIsNoEndlessLoop) {
  const Ran ran = run_host_loop("--host-call-limit 100", "");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.text, IsEmpty());
}

TEST(SimgpuCliTest, WrongCommandLinesAreToldInOneLine) {
  expect_line("run", 2, "program is required; see simgpu run --help");
  expect_line("run --check some -- /bin/true", 2, "some not in {all,none}");
  expect_line("run --gpu nothing -- /bin/true", 2, "no GPU is called \"nothing\"");
  expect_line("run -- /nowhere", 3, "/nowhere cannot be started: No such file or directory");
}

TEST(SimgpuCliTest, WritesAPageToStepThrough) {
  const std::string page = testing::TempDir() + "replay.html";
  std::remove(page.c_str());
  const Ran ran = simgpu("run --explore " + page + " -- '" ROOFLAB_BINARY_DIR "/cuda/vector_add'");
  EXPECT_EQ(ran.code, 0) << ran.text;
  std::ifstream file(page);
  std::string beginning;
  std::getline(file, beginning);
  EXPECT_EQ(beginning, "<!doctype html>");
  std::remove(page.c_str());
}

TEST(SimgpuCliTest, WantsTheCheckersForAPageToStepThrough) {
  expect_line("run --check none --explore page.html -- /bin/true", 2, "leave out --check none");
  expect_line("run --sample --explore page.html -- /bin/true", 2, "leave out --sample");
}

}  // namespace
