// The device code of this build: what real GPUs run of it need not be compiled by their driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "grader/guest/proof.h"
#include "simgpu/fatbin/fatbin.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using simgpu::fatbin::Image;
using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;

struct Code {
  std::set<unsigned> machine;  ///< architectures
  std::set<unsigned> ptx;
};

Code code_of(std::span<const std::byte> container) {
  Code code;
  for (const Image& image : simgpu::fatbin::read(container)) {
    (image.kind == Image::Kind::elf ? code.machine : code.ptx).insert(image.architecture);
  }
  return code;
}

/// Of the first fat binary in an object file.
Code code_in(const fs::path& object) {
  std::ifstream file(object, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::uint32_t magic = 0xBA55ED50;
  const std::size_t at = bytes.find(std::string(reinterpret_cast<const char*>(&magic), 4));
  if (at == std::string::npos) return {};
  const auto rest = std::as_bytes(std::span(bytes).subspan(at));
  return code_of(rest.first(simgpu::fatbin::container_size(rest.first<16>())));
}

TEST(ProofImageTest, IsMachineCodeForTheGpusOfTheCourseAndNoPtx) {
  const Code code = code_of(proof_image());
  EXPECT_THAT(code.machine, IsSupersetOf({75U, 80U, 86U, 89U, 90U}));
  EXPECT_THAT(code.ptx, ElementsAre());
}

/// Of the course's own code that is linked to submissions.
void expect_code_for_all(const fs::path& object) {
  const Code code = code_in(object);
  EXPECT_THAT(code.machine, IsSupersetOf({75U, 80U, 86U, 89U, 90U})) << object;
  EXPECT_THAT(code.ptx, Contains(75U)) << object;
}

const fs::path objects = fs::path(ROOFLAB_BINARY_DIR) / "lib/labs";

TEST(AdaptersTest, HaveMachineCodeForThemBesideThePtxOfSimulatedGpus) {
  expect_code_for_all(objects / "part1-metrics/benchmark.o");  // the one with a kernel
}

TEST(ToolkitTest, HasMachineCodeForThemBesideThePtxOfSimulatedGpus) {
  std::size_t kernels = 0;
  for (const auto& entry : fs::directory_iterator(objects / "toolkit")) {
    if (!entry.path().string().ends_with(".cu.o")) continue;
    expect_code_for_all(entry.path());
    ++kernels;
  }
  EXPECT_GE(kernels, 4U);
}

}  // namespace
}  // namespace rooflab
