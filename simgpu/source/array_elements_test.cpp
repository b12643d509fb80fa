#include "simgpu/source/array_elements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace simgpu {
namespace {

struct Touched {
  ArraySpace space = ArraySpace::shared;
  std::string name = "As";
  std::uint64_t bytes = 4096;
  std::int64_t offset = 0;
};

/// A finding at the last line of a kernel, with its place named.
Finding named(const Touched& touched, const std::string& text, const std::string& header = "") {
  Finding finding;
  finding.code = "RL0302";
  finding.where.file = "src/k.cu";
  finding.where.line = 1 + static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n'));
  finding.places.push_back({.space = touched.space,
                            .name = touched.name,
                            .words = "some bytes",
                            .bytes = touched.bytes,
                            .offset = touched.offset});
  finding.object = "some bytes";
  finding.message = "it reads some bytes there";
  const std::map<std::string, std::string> files{{"src/k.cu", text}, {"src/common.h", header}};
  std::vector<Finding> findings{finding};
  name_array_elements(findings, [&](const std::string& file) -> std::optional<std::string> {
    const auto found = files.find(file);
    if (found == files.end()) return std::nullopt;
    return found->second;
  });
  EXPECT_EQ(findings[0].message, "it reads " + findings[0].object + " there");
  return findings[0];
}

/// What the message says of a place.
std::string words_for(const Touched& touched, const std::string& text,
                      const std::string& header = "") {
  return named(touched, text, header).object;
}

/// Other lines that belong to it.
std::vector<SourceNote> notes_for(const Touched& touched, const std::string& text) {
  return named(touched, text).also;
}

std::string kernel_with(const std::string& declarations) {
  return "__global__ void k(float* out) {\n" + declarations + "\n  out[0] = As[0][0];";
}

TEST(ArrayElements, HaveTheIndicesOfTheDeclaration) {
  EXPECT_EQ(words_for({}, kernel_with("  __shared__ float As[32][32];")),
            "As[0][0] (shared float As[32][32])");
  EXPECT_EQ(words_for({.offset = 132}, kernel_with("  __shared__ float As[32][32];")),
            "As[1][1] (shared float As[32][32])");
  EXPECT_EQ(
      words_for({.bytes = 4224, .offset = 134}, kernel_with("  __shared__ float As[32][33];")),
      "As[1][0] (shared float As[32][33])");
  EXPECT_EQ(words_for({.bytes = 96, .offset = 50}, kernel_with("__shared__ half As[2][3][8];")),
            "As[1][0][1] (shared half As[2][3][8])");
  EXPECT_EQ(words_for({.bytes = 4}, kernel_with("__shared__ float As;")), "As (shared float As)");
}

TEST(ArrayElements, TakeLengthsFromConstantsMacrosAndHeaders) {
  const Touched second{.bytes = 2112, .offset = 132};
  EXPECT_EQ(words_for(second, "constexpr int kTile = 16, kPad = 17;\n" +
                                  kernel_with("  __shared__ float As[kTile][2 * kTile + 1];")),
            "As[1][0] (shared float As[kTile][2 * kTile + 1])");
  EXPECT_EQ(words_for(second, "#define ROWS (COLUMNS / 2)\n#define COLUMNS 32\n" +
                                  kernel_with("__shared__ float As[ROWS][COLUMNS + 1];")),
            "As[1][0] (shared float As[ROWS][COLUMNS + 1])");
  EXPECT_EQ(
      words_for(second, "#include \"common.h\"\n" + kernel_with("__shared__ float As[M][33];"),
                "enum { kNone, M = 0x10, kMore };\n"),
      "As[1][0] (shared float As[M][33])");
}

TEST(ArrayElements, WorkOutOneLengthThatATemplateGives) {
  EXPECT_EQ(words_for({.offset = 4 * 33},
                      "template <int kWidth>\n" + kernel_with("__shared__ float As[32][kWidth];")),
            "As[1][1] (shared float As[32][kWidth])");
  EXPECT_EQ(
      words_for({.offset = 8}, "template <typename T>\n" + kernel_with("__shared__ T As[64][16];")),
      "As[0][2] (shared T As[64][16])");
}

TEST(ArrayElements, AreCountedWhereLengthsStayUnknown) {
  EXPECT_EQ(words_for({.offset = 132}, "template <int kRows, int kColumns>\n" +
                                           kernel_with("__shared__ float As[kRows][kColumns];")),
            "element 33 of As");
}

TEST(ArrayElements, StayBytesWhereNoDeclarationFits) {
  for (const char* declaration :
       {"__shared__ float Bs[32][32];", "__shared__ float As[32][16];", "float As[32][32];",
        "extern __shared__ float As[];", "__shared__ Tile As;",
        "__shared__ float As[32][32]  // and no semicolon"}) {
    EXPECT_EQ(words_for({}, kernel_with(declaration)), "some bytes") << declaration;
  }
}

TEST(ArrayElements, OfTheNearestDeclarationBeforeThePlace) {
  const std::string other = "__global__ void other() {\n  __shared__ float As[16][64];\n}\n";
  EXPECT_EQ(words_for({.offset = 132}, other + kernel_with("  __shared__ float As[32][32];")),
            "As[1][1] (shared float As[32][32])");
}

TEST(ArrayElements, MayLieOutside) {
  const std::string text = kernel_with("__shared__ float As[32][32], Bs[8];");
  EXPECT_EQ(words_for({.offset = 4096}, text),
            "As[32][0], which is outside of shared float As[32][32]");
  EXPECT_EQ(words_for({.offset = -4}, text),
            "As[-1][31], which is outside of shared float As[32][32]");
  EXPECT_EQ(words_for({.name = "Bs", .bytes = 32, .offset = 32}, text),
            "Bs[8], which is outside of shared float Bs[8]");
}

TEST(ArrayElements, ThatLieOutsideLeadToTheDeclaration) {
  const std::vector<SourceNote> also =
      notes_for({.offset = 4096}, kernel_with("  __shared__ float As[32][32];"));
  ASSERT_EQ(also.size(), 1u);
  EXPECT_EQ(also[0].text, "As is declared here, with 1024 elements");
  EXPECT_EQ(also[0].line, 2u);
  EXPECT_TRUE(notes_for({.offset = 4092}, kernel_with("  __shared__ float As[32][32];")).empty());
}

TEST(ArrayElements, OfDynamicSharedMemoryHaveItsName) {
  EXPECT_EQ(words_for({.space = ArraySpace::dynamic_shared, .name = "", .offset = 40},
                      kernel_with("  extern __shared__ float tile[];")),
            "tile[10] (shared float tile[])");
  EXPECT_EQ(words_for({.space = ArraySpace::dynamic_shared, .name = "", .offset = 40},
                      kernel_with("  extern __shared__ __align__(16) unsigned char raw[];")),
            "raw[40] (shared unsigned char raw[])");
}

TEST(ArrayElements, OfAThreadsOwnArrayAreNamedWhereItHasButOneOfThatSize) {
  const Touched third{.space = ArraySpace::local, .name = "", .bytes = 64, .offset = 20};
  EXPECT_EQ(words_for(third, kernel_with("  float sums[4][4], other[3];")),
            "sums[1][1] (the thread's own float sums[4][4])");
  EXPECT_EQ(words_for(third, kernel_with("  float sums[4][4], other[16];")), "some bytes");
}

TEST(ArrayElements, OfHostileSourcesAreBounded) {
  for (const std::string declaration :
       {"__shared__ float As[", "__shared__ float As[-1][-1024];", "__shared__ float As[0][1024];",
        "constexpr int", "enum {", "alignas("}) {
    EXPECT_EQ(words_for({}, kernel_with(declaration)), "some bytes") << declaration;
  }
  // A length that nobody can compute is what the bytes leave for it.
  for (const std::string& length :
       std::vector<std::string>{"1 / 0", "2147483647 * 2147483647", "9223372036854775807",
                                std::string(100, '(') + "1"}) {
    EXPECT_THAT(words_for({}, kernel_with("__shared__ float As[" + length + "];")),
                testing::StartsWith("As[0] (shared float As["));
  }
}

}  // namespace
}  // namespace simgpu
