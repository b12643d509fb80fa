#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "simgpu/ptx/testing_mutations.h"
#include "simgpu/sass/decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace simgpu::sass {
namespace {

std::string bytes_of(const std::vector<Word>& words) {
  std::string bytes;
  for (const Word& word : words) {
    for (const std::uint64_t half : {word.low, word.high}) {
      std::string eight(sizeof half, '\0');
      std::memcpy(eight.data(), &half, sizeof half);
      bytes += eight;
    }
  }
  return bytes;
}

/// BSSY, a branch, arithmetic, a load, a call, a store, ways back and ends, as ptxas writes them.
std::string code_of_all_kinds() {
  return bytes_of({{0x0000005000007945, 0x000fe20003800000},    // BSSY B0
                   {0x0000002000000947, 0x000fea0003800000},    // @P0 BRA
                   {0x0000000504047223, 0x004fe20000000000},    // FFMA
                   {0x0000080402008981, 0x0080a2000c1e1900},    // @!P0 LDG
                   {0x0000000000007941, 0x000fea0003800000},    // BSYNC B0
                   {0x0000003000007944, 0x021fea0003c00000},    // CALL
                   {0x0000000402007986, 0x002fe2000c101b04},    // STG
                   {0xffffff9000000947, 0x000fea000383ffff},    // @P0 BRA, back
                   {0x000000000000794d, 0x000fea0003800000},    // EXIT
                   {0x0000000002007950, 0x000fec0003c00000}});  // RET
}

TEST(Mutation, OfCodeIsUnderstoodOrHasAReason) {
  ::simgpu::testing::for_each_mutation(
      {code_of_all_kinds(), code_of_all_kinds() + code_of_all_kinds()}, 4000,
      [](const std::string& bytes) {
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      });
}

}  // namespace
}  // namespace simgpu::sass
