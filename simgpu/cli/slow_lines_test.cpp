// The lines of a report, of kernels that each have one slow line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace {

using nlohmann::json;

const std::string kSource = ROOFLAB_SOURCE_DIR "/simgpu/cli/testdata/slow_lines.cu";

/// By kernel: the lines that a comment marks as slow.
std::map<std::string, std::set<int>> slow_lines() {
  std::map<std::string, std::set<int>> slow;
  std::ifstream source(kSource);
  std::string line;
  for (int number = 1; std::getline(source, line); ++number) {
    const std::string mark = "// slow: ";
    if (const std::size_t at = line.find(mark); at != std::string::npos) {
      slow[line.substr(at + mark.size())].insert(number);
    }
  }
  return slow;
}

json report_of(const std::string& options) {
  const std::string file = testing::TempDir() + "slow_lines.json";
  const std::string command = "'" ROOFLAB_BINARY_DIR "/bin/simgpu' run " + options + " --report '" +
                              file + "' -- '" ROOFLAB_BINARY_DIR "/cuda/slow_lines' 2> /dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return json::parse(std::ifstream(file), nullptr, false);
}

const json& report() {
  static const json kReport = report_of("--check none");
  return kReport;
}

double sum_over_lines(const json& kernel, const std::string& counter) {
  double sum = 0;
  for (const json& line : kernel["lines"]) sum += line["counters"][counter].get<double>();
  return sum;
}

double counted(const json& kernel, const std::string& counter) {
  return kernel["counters"].value(counter, 0.0);
}

TEST(SlowLines, AreTheFirstOfTheirKernels) {
  const auto slow = slow_lines();
  ASSERT_EQ(report()["kernels"].size(), slow.size());
  for (const json& kernel : report()["kernels"]) {
    const std::string name = kernel["name"];
    ASSERT_FALSE(kernel["lines"].empty()) << name;
    const json& first = kernel["lines"][0];
    EXPECT_TRUE(slow.at(name).contains(first["line"].get<int>()))
        << name << ": line " << first["line"] << " is told to be the slowest";
    EXPECT_THAT(first["file"].get<std::string>(), testing::EndsWith("slow_lines.cu"));
  }
}

TEST(SlowLines, HaveTheTimeOfTheirLaunchTogether) {
  for (const json& kernel : report()["kernels"]) {
    double sum = 0;
    for (const json& line : kernel["lines"]) sum += line["time_us"].get<double>();
    const double busy = kernel["time_us"].get<double>() - kernel["launch_us"].get<double>();
    EXPECT_NEAR(sum, busy, 1e-6 * busy) << kernel["name"];
  }
}

TEST(SlowLines, HaveTheCountersOfTheirLaunchTogether) {
  for (const json& kernel : report()["kernels"]) {
    SCOPED_TRACE(kernel["name"].get<std::string>());
    const json& code = kernel["machine_code"];
    // Counts of machine code are those of its blocks, which need not be whole numbers.
    const bool by_code = code["aligned"].get<bool>();
    EXPECT_NEAR(sum_over_lines(kernel, "warp_instructions"),
                by_code ? code["warp_instructions"].get<double>()
                        : counted(kernel, "smsp__inst_executed.sum"),
                by_code ? code["instructions"].get<double>() : 0);
    EXPECT_EQ(sum_over_lines(kernel, "sectors"),
              counted(kernel, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") +
                  counted(kernel, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum") +
                  counted(kernel, "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum") +
                  counted(kernel, "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum") +
                  counted(kernel, "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"));
    EXPECT_NEAR(sum_over_lines(kernel, "dram_bytes"),
                counted(kernel, "dram__bytes_read.sum") + counted(kernel, "dram__bytes_write.sum"),
                64.0 * kernel["lines"].size());
  }
}

/// What an instruction of some kernel's first line shows of a warp's access.
json access_of(const std::string& kernel_name, const std::string& space) {
  for (const json& kernel : report()["kernels"]) {
    if (kernel["name"] != kernel_name) continue;
    for (const json& one : kernel["lines"][0]["instructions"]) {
      if (one.contains("access") && one["access"]["space"] == space) return one["access"];
    }
  }
  return {};
}

TEST(SlowLines, ShowWhichSectorsAndBanksAWarpTouches) {
  const json rows = access_of("uncoalesced", "global");
  EXPECT_EQ(rows["transactions"], 32);
  EXPECT_EQ(rows["offsets"][1].get<int>() - rows["offsets"][0].get<int>(), 256 * 4);
  const json columns = access_of("banks", "shared");
  EXPECT_EQ(columns["transactions"], 32);
  EXPECT_EQ(columns["fewest"], 1);
}

TEST(SlowLines, OfAFunctionThatWasInlinedNameItsCall) {
  for (const json& kernel : report()["kernels"]) {
    if (kernel["name"] != "inlined") continue;
    const json& call = kernel["lines"][0]["calls"].at(0)["inlined_at"].at(0);
    EXPECT_EQ(call["function"], "slow_dot");
  }
}

TEST(SlowLines, AreTheSameWhereSomeBlocksStandForAll) {
  const json sampled = report_of("--check none --sample");
  for (std::size_t i = 0; i < report()["kernels"].size(); ++i) {
    const json& whole = report()["kernels"][i];
    const json& part = sampled["kernels"][i];
    SCOPED_TRACE(whole["name"].get<std::string>());
    ASSERT_FALSE(part["lines"].empty());
    if (whole["time_us"] != part["time_us"]) continue;  // of other launches' outputs
    EXPECT_EQ(part["lines"][0]["line"], whole["lines"][0]["line"]);
    EXPECT_NEAR(part["lines"][0]["time_us"].get<double>(),
                whole["lines"][0]["time_us"].get<double>(), 0.02 * whole["time_us"].get<double>());
  }
}

}  // namespace
