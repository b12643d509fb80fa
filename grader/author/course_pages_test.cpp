#include "grader/author/course_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/spec/files.h"
#include "grader/spec/part.h"

namespace rooflab {
namespace {

bool without_4(int part) { return part != 4; }

std::string page(const std::string& text) { return page_of_course(text, without_4, "page.md"); }

TEST(CoursePagesTest, KeepsAPageThatNamesNoMissingPart) {
  const std::string text =
      "# Title\n\nSee [Part 1](part1-metrics.md#x).\n\n```sh\ngrader --part 1\n```\n\n| a "
      "|\n|---|\n"
      "| [1](part1-metrics.md) |\n\n## Empty\n\n## Last\n";
  EXPECT_EQ(page(text), text);
}

TEST(CoursePagesTest, DropsASectionThatOnlyLeadsThere) {
  EXPECT_EQ(page("# RL0476: x\n\nWords.\n\n## Where it is taught\n\n"
                 "[Part 4, Fusion](../part4-fusion.md#fusion)\n"),
            "# RL0476: x\n\nWords.\n");
  EXPECT_EQ(page("## Where it is taught\n\n[Part 4, Fusion](../part4-fusion.md#fusion)\n\n"
                 "From the beginning: [Part 0, A race](../part0-first-kernel.md#a-race)\n"),
            "## Where it is taught\n\n"
            "From the beginning: [Part 0, A race](../part0-first-kernel.md#a-race)\n");
  EXPECT_EQ(
      page("## Where it is taught\n\n[Part 1](../part1-metrics.md),\n"
           "[Part 4, Fusion](../part4-fusion.md#fusion), [Part 4, `x.h`](../../labs/part4-fusion/"
           "interface/x.h),\n[Part 5](../part5-flash-attention.md)\n"),
      "## Where it is taught\n\n[Part 1](../part1-metrics.md),\n"
      "[Part 5](../part5-flash-attention.md)\n");
  EXPECT_EQ(page("## Taught\n\n[a](part4-fusion.md#a),\n[b](part4-fusion.md#b)\n"), "");
  EXPECT_EQ(page("Words.\n\n## Where it is taught\n\n[Part 4](part4-fusion.md), with more\n"),
            "Words.\n");
  EXPECT_EQ(page("## A\n\n[Part 4](part4-fusion.md)\n\n## B\n\nWords.\n"), "## B\n\nWords.\n");
}

TEST(CoursePagesTest, DropsRowsItemsAndCommands) {
  EXPECT_EQ(
      page("| part | |\n|---|---|\n| [1](part1-metrics.md) | |\n| [4](part4-fusion.md) | |\n"),
      "| part | |\n|---|---|\n| [1](part1-metrics.md) | |\n");
  EXPECT_EQ(page("- [One](part1-metrics.md)\n- [Four](part4-fusion.md): more\n"),
            "- [One](part1-metrics.md)\n");
  EXPECT_EQ(page("```sh\ngrader --part 1\ngrader --part 4\nls starter/part4-fusion\n"
                 "grader --part 40\n```\n"),
            "```sh\ngrader --part 1\ngrader --part 40\n```\n");
  EXPECT_EQ(page("Words.\n\n```sh\ngrader --part 4\n```\n\nMore.\n"), "Words.\n\nMore.\n");
}

TEST(CoursePagesTest, KeepsTheWordsOfOtherLinks) {
  EXPECT_EQ(page("Read [how to\nread it](part4-fusion.md#x), and [this](part1-metrics.md).\n"),
            "Read how to\nread it, and [this](part1-metrics.md).\n");
}

TEST(CoursePagesTest, TakesAwayWhatAuthorsMarked) {
  const std::string text =
      "A.<!-- with part 4 --> Part 4 tells more.<!-- end --><!-- without part 4:  No more. -->\n"
      "<!-- with part 1 -->B.<!-- end --><!-- without part 1: C. -->\n";
  EXPECT_EQ(page(text), "A. No more.\nB.\n");
}

TEST(CoursePagesTest, RefusesMarksThatCannotBeRead) {
  for (const char* text :
       {"a\n<!-- with part 4 -->b", "a\n<!-- with part 4", "a\n<!-- with part -->",
        "a\n<!-- without part 4 -->", "a\n<!-- with part 1 --><!-- with part 2 -->"}) {
    try {
      page(text);
      FAIL() << text;
    } catch (const SpecError& error) {
      EXPECT_THAT(error.what(), testing::StartsWith("page.md:2: the mark")) << text;
    }
  }
}

TEST(CoursePagesTest, TellsWhereAPartIsStillNamed) {
  const auto found = mentions_of_missing_parts(
      "Part 4\npart 40, spare part 4x\nParts 1 and 4\nparts 3, 4\n--part 4\npart4-x\nPart\n4\n"
      "apart 4\n",
      without_4);
  std::vector<int> lines;
  for (const PartMention& mention : found) lines.push_back(mention.line);
  EXPECT_THAT(lines, testing::ElementsAre(1, 2, 3, 4, 5, 6, 7));
}

// Every page, with each part missing in turn: nothing links there, and marks can be read.
TEST(CoursePagesTest, NoPageOfTheCourseLinksToAPartThatIsMissing) {
  for (int missing = 0; missing <= 5; ++missing) {
    const auto has_part = [missing](int part) { return part != missing; };
    const std::string folder = "part" + std::to_string(missing) + "-";
    for (const auto& file : files_below(ROOFLAB_SOURCE_DIR "/handouts")) {
      if (file.extension() != ".md" || part_of_path(file.string()) == missing) continue;
      const std::string text = page_of_course(read_file(file), has_part, file.string());
      EXPECT_THAT(text, testing::Not(testing::HasSubstr("](" + folder))) << file;
      EXPECT_THAT(text, testing::Not(testing::HasSubstr("](../" + folder))) << file;
      EXPECT_EQ(text.find("<!-- with"), std::string::npos) << file;
    }
  }
}

// With all of its parts a page is what its author wrote, but for the marks.
TEST(CoursePagesTest, NothingIsLostOfAWholeCourse) {
  const auto has_all = [](int) { return true; };
  for (const auto& file : files_below(ROOFLAB_SOURCE_DIR "/handouts")) {
    if (file.extension() != ".md") continue;
    const std::string text = read_file(file);
    if (text.find("<!-- with") != std::string::npos) continue;
    EXPECT_EQ(page_of_course(text, has_all, file.string()), text) << file;
  }
}

}  // namespace
}  // namespace rooflab
