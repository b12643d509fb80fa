#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "simgpu/fatbin/fatbin.h"
#include "simgpu/ptx/testing_commands.h"
#include "simgpu/ptx/testing_mutations.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace simgpu::fatbin {
namespace {

std::vector<std::string> seeds() {
  std::vector<std::string> files;
  const auto folder = std::filesystem::path(ROOFLAB_SOURCE_DIR) / "simgpu/fatbin/testdata/seeds";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(::simgpu::testing::read_file(entry.path()));
  }
  std::sort(files.begin(), files.end());  // directories have no order of their own
  return files;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// The cubins of the seeds, unpacked: damage to these reaches the ELF reader.
std::vector<std::string> cubins() {
  std::vector<std::string> files;
  for (const std::string& seed : seeds()) {
    for (const Image& image : read(bytes_of(seed))) {
      if (image.kind != Image::Kind::elf) continue;
      files.emplace_back(reinterpret_cast<const char*>(image.payload.data()), image.payload.size());
    }
  }
  return files;
}

void feed(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

TEST(Seeds, HoldTheSameTwoKernelsInEveryCompression) {
  ASSERT_EQ(seeds().size(), 3U);
  for (const std::string& cubin : cubins()) {
    const auto resources = read_resources(bytes_of(cubin));
    ASSERT_EQ(resources.size(), 2U);
    const KernelResources& reverse = resources.at("_Z7reversePf");
    EXPECT_EQ(reverse.static_shared_bytes, 33U * 4);
    EXPECT_EQ(reverse.local_bytes_per_thread, 40U * 4) << "the array of the function it calls";
    EXPECT_EQ(resources.at("_Z6rotateILi128EEvPd").static_shared_bytes, 128U * 8);
    EXPECT_EQ(resources.at("_Z6rotateILi128EEvPd").local_bytes_per_thread, 0U);
  }
}

TEST(Truncation, AtEveryByteIsAnError) {
  for (const std::string& seed : seeds()) {
    for (std::size_t length = 0; length < seed.size(); ++length) {
      EXPECT_THROW(read(bytes_of(seed.substr(0, length))), FatbinError);
    }
  }
}

TEST(Truncation, OfACubinReadsOrThrows) {
  const std::string cubin = cubins().at(0);
  std::size_t failed = 0;
  for (std::size_t length = 0; length < cubin.size(); ++length) {
    try {
      read_resources(bytes_of(cubin.substr(0, length)));
    } catch (const FatbinError&) {
      ++failed;
    }
  }
  EXPECT_GT(failed, cubin.size() / 2) << "the section table stands at the end";
}

TEST(Mutation, OfAContainerReadsOrThrows) {
  ::simgpu::testing::for_each_mutation(seeds(), 4000, feed);
}

TEST(Mutation, OfACubinReadsOrThrows) {
  ::simgpu::testing::for_each_mutation(cubins(), 4000, feed);
}

}  // namespace
}  // namespace simgpu::fatbin
