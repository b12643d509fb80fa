#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "simgpu/fatbin/fatbin.h"
#include "simgpu/fatbin/spills.h"
#include "simgpu/ptx/testing_commands.h"

namespace simgpu::fatbin {
namespace {

using ::simgpu::testing::CommandResult;
using ::simgpu::testing::read_file;
using ::simgpu::testing::run_command;
using ::simgpu::testing::TemporaryDirectory;

struct Compiled {
  std::string library;
  std::string ptxas_says;
};

Compiled compile(const std::string& source, const std::string& options, int architecture = 80) {
  const TemporaryDirectory directory;
  const std::filesystem::path output = directory.path() / "kernels.so";
  const CommandResult compiled = run_command(
      std::string(ROOFLAB_NVCC) +
      " -std=c++20 -O2 -shared -Xcompiler -fPIC -cudart shared -Xptxas -v "
      "-gencode " +
      fmt::format("'arch=compute_{0},code=[sm_{0},compute_{0}]' ", architecture) + options +
      " -o '" + output.string() + "' '" + ROOFLAB_SOURCE_DIR + "/simgpu/" + source + "'");
  EXPECT_EQ(compiled.status, 0) << compiled.output;
  return {read_file(output), compiled.output};
}

/// The images of every container in a library: each begins with the magic at a multiple of 8.
std::vector<Image> images_in(const std::string& library) {
  const auto bytes = std::as_bytes(std::span(library.data(), library.size()));
  const std::string magic = "\x50\xed\x55\xba";
  std::vector<Image> images;
  for (std::size_t at = library.find(magic); at != std::string::npos;
       at = library.find(magic, at + 1)) {
    if (at % 8 != 0) continue;
    for (Image& image : read(bytes.subspan(at))) images.push_back(std::move(image));
  }
  return images;
}

unsigned number_in(const std::string& text, const std::string& pattern) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(pattern)) ? std::stoul(match[1]) : 0;
}

/// What ptxas -v printed of each kernel: another reader of the same facts.
std::map<std::string, KernelResources> resources_by_ptxas(const std::string& output) {
  std::map<std::string, KernelResources> kernels;
  std::istringstream lines(output);
  const std::regex heading("Compiling entry function '([^']+)'");
  std::string kernel;
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, heading)) kernel = match[1];
    if (line.find("Used ") == std::string::npos || kernel.empty()) continue;
    kernels[kernel] = {
        .registers_per_thread = number_in(line, "Used ([0-9]+) registers"),
        .static_shared_bytes = number_in(line, "([0-9]+) bytes smem"),
        .local_bytes_per_thread = number_in(line, "([0-9]+) bytes cumulative stack")};
    kernel.clear();
  }
  return kernels;
}

std::map<std::string, KernelResources> resources_by_reader(const std::vector<Image>& images) {
  std::map<std::string, KernelResources> kernels;
  for (const Image& image : images) {
    if (image.kind == Image::Kind::elf) kernels.merge(read_resources(image.payload));
  }
  return kernels;
}

void expect_same(const std::map<std::string, KernelResources>& read,
                 const std::map<std::string, KernelResources>& expected) {
  EXPECT_EQ(read.size(), expected.size());
  for (const auto& [kernel, resources] : expected) {
    SCOPED_TRACE(kernel);
    ASSERT_TRUE(read.contains(kernel));
    EXPECT_EQ(read.at(kernel).registers_per_thread, resources.registers_per_thread);
    EXPECT_EQ(read.at(kernel).static_shared_bytes, resources.static_shared_bytes);
    EXPECT_EQ(read.at(kernel).local_bytes_per_thread, resources.local_bytes_per_thread);
  }
}

class Compression : public ::testing::TestWithParam<const char*> {};

TEST_P(Compression, LeavesPtxAndResourcesReadable) {
  const Compiled compiled = compile("fatbin/testdata/kernels.cu", GetParam());
  const std::vector<Image> images = images_in(compiled.library);
  const auto expected = resources_by_ptxas(compiled.ptxas_says);
  ASSERT_EQ(expected.size(), 2U) << compiled.ptxas_says;
  expect_same(resources_by_reader(images), expected);
  unsigned texts = 0;
  for (const Image& image : images) {
    EXPECT_EQ(image.architecture, 80U);
    if (image.kind != Image::Kind::ptx) continue;
    ++texts;
    const std::string ptx(reinterpret_cast<const char*>(image.payload.data()),
                          image.payload.size());
    EXPECT_THAT(ptx, ::testing::HasSubstr(".visible .entry _Z7reversePf("));
    EXPECT_EQ(ptx.find('\0'), std::string::npos);
  }
  EXPECT_EQ(texts, 1U);
}

INSTANTIATE_TEST_SUITE_P(Modes, Compression,
                         ::testing::Values("-no-compress", "-compress-mode=default",
                                           "-compress-mode=speed", "-compress-mode=size"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase_if(name, [](char c) { return c == '-' || c == '='; });
                           return name;
                         });

TEST(Resources, AgreeWithPtxasOnCallsAndDynamicSharedMemory) {
  for (const char* source : {"ptx/testdata/functions.cu", "ptx/testdata/gemm_tiled.cu"}) {
    const Compiled compiled = compile(source, "");
    const auto expected = resources_by_ptxas(compiled.ptxas_says);
    ASSERT_EQ(expected.size(), 2U) << compiled.ptxas_says;
    expect_same(resources_by_reader(images_in(compiled.library)), expected);
  }
}

/// A chain through 64 values of each thread, which 32 registers do not hold, `turns` times.
constexpr std::string_view kManyValues = R"(
extern "C" __global__ void many(float* p, const float* q, int turns) {
  float a[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) a[i] = p[threadIdx.x + i * 256];
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
    const float x = q[turn];
#pragma unroll
    for (int i = 0; i < 64; ++i) a[i] = a[i] * x + a[(i + 7) % 64];
  }
#pragma unroll
  for (int i = 0; i < 64; ++i) p[threadIdx.x + i * 256] = a[i];
}
extern "C" __global__ void few(float* p) { p[threadIdx.x] += 1; }
)";

struct SpillingCode {
  std::string cubin, ptx, ptxas_says;
};

SpillingCode assemble_many_values(int architecture) {
  const TemporaryDirectory directory;
  const std::string base = (directory.path() / "many").string();
  std::ofstream(base + ".cu") << kManyValues;
  const CommandResult compiled = run_command(
      fmt::format("{0} -std=c++20 -ptx -arch=compute_{1} -o {2}.ptx {2}.cu && $(dirname $(readlink "
                  "-f {0}))/ptxas "
                  "-v -maxrregcount 32 --generate-line-info -arch=sm_{1} -o {2}.cubin {2}.ptx",
                  ROOFLAB_NVCC, architecture, base));
  EXPECT_EQ(compiled.status, 0) << compiled.output;
  return {read_file(base + ".cubin"), read_file(base + ".ptx"), compiled.output};
}

class Spilled : public ::testing::TestWithParam<int> {};

TEST_P(Spilled, WordsAreThoseThatPtxasTellsOf) {
  const SpillingCode code = assemble_many_values(GetParam());
  const auto spills = read_spills(std::as_bytes(std::span(code.cubin)));
  ASSERT_EQ(spills.size(), 1U) << "few() has none";
  double stores = 0, loads = 0;
  for (const Spills& line : spills.at("many")) {
    stores += line.store_words;
    loads += line.load_words;
  }
  const auto told = [&](const char* pattern) {
    const double bytes = number_in(code.ptxas_says, pattern);
    EXPECT_GT(bytes, 0) << code.ptxas_says;
    return bytes;
  };
  const double told_stores = told("([1-9][0-9]*) bytes spill stores");
  const double told_loads = told("([1-9][0-9]*) bytes spill loads");
  EXPECT_DOUBLE_EQ(4 * stores, told_stores);
  EXPECT_DOUBLE_EQ(4 * loads, told_loads);
}

TEST_P(Spilled, LinesAreInstructionsOfThePtx) {
  const SpillingCode code = assemble_many_values(GetParam());
  std::vector<std::string> lines{""};
  std::istringstream text(code.ptx);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  unsigned in_chain = 0;
  const auto all = read_spills(std::as_bytes(std::span(code.cubin)));
  for (const Spills& spills : all.at("many")) {
    if (spills.loads + spills.stores == 0) continue;
    ASSERT_LT(spills.ptx_line, lines.size());
    const std::string& line = lines[spills.ptx_line];
    EXPECT_THAT(line, ::testing::EndsWith(";")) << spills.ptx_line;
    if (line.find("fma.rn.f32") != std::string::npos) ++in_chain;
  }
  EXPECT_GT(in_chain, 16U) << "most of the chain's values have no register";
}

INSTANTIATE_TEST_SUITE_P(Architectures, Spilled, ::testing::Values(75, 80, 90, 120));

TEST(Resources, LeaveOutTheSharedMemoryThatTheSystemKeeps) {
  const Compiled compiled = compile("ptx/testdata/gemm_tiled.cu", "", 90);
  const auto expected = resources_by_ptxas(compiled.ptxas_says);
  ASSERT_EQ(expected.size(), 2U) << compiled.ptxas_says;
  expect_same(resources_by_reader(images_in(compiled.library)), expected);
}

}  // namespace
}  // namespace simgpu::fatbin
