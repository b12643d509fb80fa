#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "simgpu/ptx/parser.h"
#include "simgpu/ptx/testing_commands.h"
#include "simgpu/ptx/testing_mutations.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace simgpu::ptx {
namespace {

std::vector<std::string> seeds() {
  std::vector<std::string> texts;
  const auto folder = std::filesystem::path(ROOFLAB_SOURCE_DIR) / "simgpu/ptx/testdata";
  for (const char* const corpus : {"seeds", "grammar"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder / corpus)) {
      texts.push_back(::simgpu::testing::read_file(entry.path()));
    }
  }
  std::sort(texts.begin(), texts.end());  // directories have no order of their own
  return texts;
}

bool parses(const std::string& text) {
  try {
    parse(text);
    return true;
  } catch (const ParseError&) {
    return false;
  }
}

void feed(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

TEST(Seeds, Parse) {
  ASSERT_GE(seeds().size(), 7U);
  for (const std::string& text : seeds()) EXPECT_NO_THROW(parse(text));
}

TEST(Truncation, AtEveryByteParsesOrThrows) {
  for (const std::string& text : seeds()) {
    std::size_t parsed = 0;
    for (std::size_t length = 0; length < text.size(); ++length)
      parsed += parses(text.substr(0, length));
    EXPECT_LT(parsed, text.size()) << "cutting a function in two is an error";
  }
}

TEST(Mutation, ParsesOrThrows) {
  unsigned parsed = 0;
  constexpr unsigned kRounds = 4000;
  ::simgpu::testing::for_each_mutation(seeds(), kRounds, [&](const std::string& text) {
    feed(text);
    parsed += parses(text);
  });
  EXPECT_GT(parsed, 0U) << "some changes fall into comments and names";
  EXPECT_LT(parsed, kRounds);
}

/// Seconds of this process's processor time to parse a text, errors included: other processes' work
/// is not in it, as it would be in a clock on the wall.
double seconds_for(const std::string& text) {
  const std::clock_t begin = std::clock();
  feed(text);
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

std::string repeated(const std::string& piece, std::size_t count) {
  std::string text;
  for (std::size_t index = 0; index < count; ++index) text += piece;
  return text;
}

/// Scopes that each hide all but the last register of the one around; all use the outermost's last.
std::string staircase(std::size_t count) {
  std::string text;
  const std::string use = "mov.b32 %r" + std::to_string(2 * count - 1) + ", 1;";
  for (std::size_t depth = 0; depth < count; ++depth) {
    text += "{.reg .b32 %r<" + std::to_string(2 * count - depth) + ">;" + use;
  }
  return text + std::string(count, '}');
}

TEST(HostileText, CostsTimeInProportionToItsLength) {
  const std::string head = ".version 9.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n";
  const auto texts = [&](std::size_t count) {
    return std::vector<std::string>{
        head + repeated("{bra out;", count) + std::string(count, '}') + "out: }",
        head + repeated("{.reg .b32 %r<9>; mov.b32 %r1, %q;", count) + std::string(count, '}') +
            "}",
        head + repeated("{.reg .b32 %r<1>;mov.b32 %r9, 1;", count) + std::string(count, '}') + "}",
        head + staircase(count) + "}",
        head + repeated("{.param .b64 p;}", count) + "}",
        head + repeated("{a: bra a;", count) + std::string(count, '}') + "}",
        head + repeated(".loc 1 2 3, function_name l, inlined_at 1 2 3\n", count) +
            "}\n.section .debug_str { l: .b8 " + repeated("65,", count) + "0 }",
        head + "mov.b32 _, " + repeated("1+", count) + "1;}",
        head + repeated("/*", count),
        head + "ld.u32 _, [0" + repeated(",{0", count),
        ".version 9.0\n" + repeated(".global .b8 x;", count),
        ".version 9.0\n.global .u8 x[" + repeated("1][", count) + "1] = " + repeated("{", count)};
  };
  const auto small = texts(5'000);
  const auto large = texts(80'000);
  for (std::size_t index = 0; index < small.size(); ++index) {
    // 16 times the text; a quadratic parser would take 256 times as long. The constant is for
    // noise.
    EXPECT_LT(seconds_for(large[index]), 16 * 5 * seconds_for(small[index]) + 0.2)
        << large[index].substr(0, 120);
  }
}

}  // namespace
}  // namespace simgpu::ptx
