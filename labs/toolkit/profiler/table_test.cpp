#include "labs/toolkit/profiler/table.h"

#include <gmock/gmock.h>

#include <map>
#include <sstream>
#include <stdexcept>

namespace rooflab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Kind = ProfiledEvent::Kind;

ProfiledEvent event_in(Kind kind, const std::string& name, double start_us, double duration_us,
                       std::ptrdiff_t range = ProfiledEvent::kNoRange) {
  ProfiledEvent one;
  one.kind = kind;
  one.name = name;
  one.start_us = start_us;
  one.duration_us = duration_us;
  one.range = range;
  return one;
}

/// "layer" has a launch of its own and the range "mlp", in which two kernels are launched.
Profile nested_ranges() {
  Profile profile;
  profile.events = {
      event_in(Kind::range, "layer", 0, 100),
      event_in(Kind::api, "cudaLaunchKernel", 5, 10, 0),
      event_in(Kind::range, "mlp", 20, 60, 0),
      event_in(Kind::api, "cudaMalloc", 22, 4, 2),
      event_in(Kind::api, "cudaLaunchKernel", 30, 6, 2),
      event_in(Kind::api, "cudaLaunchKernel", 40, 6, 2),
      event_in(Kind::kernel, "norm", 15, 20, 0),
      event_in(Kind::kernel, "gemm", 36, 50, 2),
      event_in(Kind::kernel, "gemm", 86, 30, 2),
      event_in(Kind::copy, "Memcpy DtoH", 120, 100),
  };
  profile.events[3].memory_bytes = 2048;
  profile.events[2].theoretical_flops = 8e6;
  profile.events[2].theoretical_bytes = 4e6;
  for (const std::size_t gemm : {7u, 8u}) {
    profile.events[gemm].flops = 5e6;
    profile.events[gemm].dram_bytes = 3e6;
  }
  return profile;
}

std::map<std::string, TableRow> rows_by_name(const Profile& profile) {
  std::map<std::string, TableRow> rows;
  for (const TableRow& row : table_rows(profile, SortBy::name)) rows[row.name] = row;
  return rows;
}

TEST(Table, DividesTheHostsTimeBetweenRangesAndWhatTheyCall) {
  const auto rows = rows_by_name(nested_ranges());
  EXPECT_EQ(rows.at("layer").cpu_total_us, 100);
  EXPECT_EQ(rows.at("layer").self_cpu_us, 100 - 10 - 60);
  EXPECT_EQ(rows.at("mlp").self_cpu_us, 60 - 4 - 6 - 6);
  EXPECT_EQ(rows.at("cudaLaunchKernel").self_cpu_us, 22);
  EXPECT_EQ(rows.at("cudaLaunchKernel").calls, 3);
  double self = 0;
  for (const auto& [name, row] : rows) self += row.self_cpu_us;
  EXPECT_EQ(self, 100) << "all of the host's time, once";
}

TEST(Table, GivesTheDevicesTimeToWhatRanAndToTheRangesThatIssuedIt) {
  const auto rows = rows_by_name(nested_ranges());
  EXPECT_EQ(rows.at("gemm").self_cuda_us, 80);
  EXPECT_EQ(rows.at("mlp").self_cuda_us, 80);
  EXPECT_EQ(rows.at("mlp").cuda_total_us, 80);
  EXPECT_EQ(rows.at("layer").self_cuda_us, 20) << "the norm alone";
  EXPECT_EQ(rows.at("layer").cuda_total_us, 100);
  EXPECT_EQ(rows.at("cudaLaunchKernel").cuda_total_us, 0);
}

TEST(Table, TellsDeviceMemoryThatARangeAllocated) {
  const auto rows = rows_by_name(nested_ranges());
  EXPECT_EQ(rows.at("cudaMalloc").self_cuda_memory, 2048);
  EXPECT_EQ(rows.at("mlp").cuda_memory, 2048);
  EXPECT_EQ(rows.at("mlp").self_cuda_memory, 0);
  EXPECT_EQ(rows.at("layer").cuda_memory, 2048);
}

TEST(Table, IsSortedAsAsked) {
  const auto first = [](SortBy order) { return table_rows(nested_ranges(), order).front().name; };
  EXPECT_EQ(first(SortBy::name), "Memcpy DtoH");
  EXPECT_EQ(first(SortBy::self_cpu), "mlp");
  EXPECT_EQ(first(SortBy::cpu_total), "layer");
  EXPECT_EQ(first(SortBy::cpu_average), "layer");
  EXPECT_EQ(first(SortBy::self_cuda), "Memcpy DtoH");
  EXPECT_EQ(first(SortBy::cuda_total), "Memcpy DtoH");
  EXPECT_EQ(first(SortBy::cuda_average), "Memcpy DtoH");
  EXPECT_EQ(first(SortBy::cuda_memory), "cudaMalloc");
  EXPECT_EQ(first(SortBy::self_cuda_memory), "cudaMalloc");
  EXPECT_EQ(first(SortBy::calls), "cudaLaunchKernel");
  EXPECT_EQ(table_rows(nested_ranges(), SortBy::cuda_total)[1].name, "layer")
      << "equal ones by name";
}

TEST(Table, HasExactlyTheseColumns) {
  std::istringstream lines(table(nested_ranges(), SortBy::cuda_total, 3));
  std::string rule, header;
  std::getline(lines, rule);
  std::getline(lines, header);
  std::vector<std::string> columns;
  std::string column;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (header.compare(i, 2, "  ") != 0) {
      column += header[i];
      continue;
    }
    if (!column.empty()) columns.push_back(column);
    column.clear();
    while (i + 1 < header.size() && header[i + 1] == ' ') ++i;
  }
  columns.push_back(column);
  EXPECT_THAT(columns,
              ElementsAre("Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total",
                          "CPU time avg", "Self CUDA", "Self CUDA %", "CUDA total", "CUDA time avg",
                          "CPU Mem", "Self CPU Mem", "CUDA Mem", "Self CUDA Mem", "# of Calls"));
}

TEST(Table, ShowsAsManyRowsAsAskedAndTheSums) {
  const std::string text = table(nested_ranges(), SortBy::cuda_total, 1);
  EXPECT_THAT(text, HasSubstr("Memcpy DtoH"));
  EXPECT_THAT(text, Not(HasSubstr("gemm")));
  EXPECT_THAT(text, HasSubstr("Self CPU time total: 100.000us"));
  EXPECT_THAT(text, HasSubstr("Self CUDA time total: 200.000us"));
  EXPECT_THAT(text, HasSubstr("50.00 %"));
  EXPECT_THROW(table(nested_ranges(), SortBy::name, 0), std::invalid_argument);
}

TEST(Table, KeepsNamesFromMovingTheCursor) {
  Profile profile = nested_ranges();
  profile.events[9].name = "\x1b[2Jgone" + std::string(200, 'x');
  const std::string text = table(profile, SortBy::cuda_total, 5);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("?[2Jgone"));
  EXPECT_THAT(text, HasSubstr("xx..."));
}

TEST(Table, SaysWhenRecordsWereLost) {
  Profile profile = nested_ranges();
  EXPECT_THAT(table(profile), Not(HasSubstr("lost")));
  profile.dropped = 3;
  EXPECT_THAT(table(profile), HasSubstr("3 records were lost"));
}

TEST(Table, OfNothingIsEmpty) {
  EXPECT_TRUE(table_rows({}, SortBy::name).empty());
  EXPECT_THAT(table({}), HasSubstr("Self CUDA time total: 0.000us"));
}

TEST(UtilisationOf, ARangeIsWhatItStatesOverTheTimeOfItsWork) {
  const auto all = utilisations(nested_ranges());
  ASSERT_EQ(all.size(), 5u);  // layer, its norm, mlp, its gemm, the copy outside
  EXPECT_EQ(all[0].name, "layer");
  EXPECT_EQ(all[0].counted_flops, 1e7) << "with the ranges inside";
  EXPECT_EQ(all[1].name, "norm");
  EXPECT_EQ(all[2].name, "mlp");
  EXPECT_EQ(all[2].time_us, 80);
  EXPECT_EQ(all[2].theoretical_flops, 8e6);
  EXPECT_EQ(all[2].counted_flops, 1e7);
  EXPECT_DOUBLE_EQ(all[2].flops_per_second(), 8e6 / 80e-6);
  EXPECT_DOUBLE_EQ(all[2].bytes_per_second(), 4e6 / 80e-6);
  EXPECT_EQ(all[3].name, "gemm");
  EXPECT_EQ(all[3].theoretical_flops, 0) << "two kernels: the program states nothing of one";
  EXPECT_DOUBLE_EQ(all[3].flops_per_second(), 1e7 / 80e-6);
  EXPECT_EQ(all[4].name, "Memcpy DtoH");
}

TEST(UtilisationOf, AKernelThatIsAllOfItsRangeHasTheRangesCost) {
  Profile profile;
  profile.events = {event_in(Kind::range, "iteration 4", 0, 20),
                    event_in(Kind::range, "add", 0, 10, 0),
                    event_in(Kind::kernel, "add_kernel", 1, 5, 1)};
  profile.events[1].theoretical_bytes = 12e3;
  const auto all = utilisations(profile);
  ASSERT_EQ(all.size(), 2u) << "an iteration is no part of the program";
  EXPECT_EQ(all[1].name, "add_kernel");
  EXPECT_EQ(all[1].theoretical_bytes, 12e3);
  const std::string text =
      utilisation_table(profile, {.flops_per_second = 1e12, .bytes_per_second = 12e9});
  EXPECT_THAT(text, HasSubstr("20.00 %"));  // 12 KB in 5 us is 2.4 GB/s
  EXPECT_THROW(utilisation_table(profile, {}), std::invalid_argument);
}

}  // namespace
}  // namespace rooflab
