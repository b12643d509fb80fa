#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "simgpu/runtime/device_properties.h"
#include "simgpu/runtime/program_run.h"

// Programs of another CUDA than the build's. What is held here needs no toolkit of it: facts about
// 12.4 and 13.0 are in testdata/.
namespace {

using simgpu::runtime::DeviceProperties12;
using simgpu::runtime::DeviceProperties13;
using simgpu::testing::ProgramRun;
using simgpu::testing::simulate;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Where each member lies in one version, and how large the whole is.
using Layout = std::map<std::string, std::string>;

/// @param column 0 of CUDA 12.4, 1 of 13.0
Layout layout_of_headers(int column) {
  std::ifstream file(ROOFLAB_SOURCE_DIR "/simgpu/runtime/testdata/device_properties.txt");
  Layout layout;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    std::string name, places[2];
    fields >> name >> places[0] >> places[1];
    if (places[column] != "-") layout[name] = places[column];
  }
  return layout;
}

#define PLACE_IN_12(type, name, count) \
  layout[#name] = std::to_string(offsetof(DeviceProperties12, name));
#define PLACE_IN_13(type, name, count) \
  layout[#name] = std::to_string(offsetof(DeviceProperties13, name));
#define NO_PLACE(type, name, count)

TEST(CudaVersions, PropertiesLieWhereProgramsOfCuda12LookForThem) {
  Layout layout;
  SIMGPU_DEVICE_PROPERTIES(PLACE_IN_12, PLACE_IN_12, NO_PLACE)
  layout["sizeof"] = std::to_string(sizeof(DeviceProperties12));
  EXPECT_EQ(layout, layout_of_headers(0));
}

TEST(CudaVersions, PropertiesLieWhereProgramsOfCuda13LookForThem) {
  Layout layout;
  SIMGPU_DEVICE_PROPERTIES(PLACE_IN_13, NO_PLACE, PLACE_IN_13)
  layout["sizeof"] = std::to_string(sizeof(DeviceProperties13));
  EXPECT_EQ(layout, layout_of_headers(1));
}

TEST(CudaVersions, AProgramOfCuda12RunsWhereThereIsNoCuda12) {
  const ProgramRun run = simulate("cuda12_program", "--gpu a100");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(run.output,
            "CUDA 12\n"
            "properties of 8.0 within its bounds: clock 1410000 kHz, memory 1215000 kHz, bus 5120 "
            "bits, fp64 1:2\n"
            "attributes within its bounds; preferred 0, prefetched -1\n"
            "the kernel made 62 of 31, and it took time\n"
            "the graph has 1 edge, as made\n"
            "the capture has status 1 and 0 dependencies\n");
  EXPECT_THAT(run.report["findings"], IsEmpty());
  ASSERT_EQ(run.report["kernels"].size(), 1u);
  EXPECT_EQ(run.report["kernels"][0]["name"], "twice");
}

TEST(CudaVersions, AProgramOfACudaThatIsNotServedIsToldSo) {
  const ProgramRun run = simulate("cuda11_program");
  EXPECT_EQ(run.exit_code, 127) << run.output;  // the loader's
  EXPECT_THAT(run.output,
              HasSubstr("cuda11_program is built with CUDA 11.0, and simgpu runs programs of CUDA "
                        "12 and 13; compile it with nvcc of one of these and -cudart shared\n"));
}

}  // namespace
