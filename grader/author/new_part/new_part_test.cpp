#include "grader/author/new_part/new_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "grader/author/starter.h"
#include "grader/spec/files.h"
#include "grader/spec/part.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kReadme =
    "| part | topic | handout |\n|---|---|---|\n"
    "| 1 | First | [handouts/part1-metrics.md](handouts/part1-metrics.md) |\n\nThe end.\n";

/// A checkout with the first part and the template of this one.
class NewPartTest : public testing::Test {
 protected:
  NewPartTest() {
    for (const char* folder :
         {"labs", "solutions", "starter", "handouts", "grader/author/new_part"})
      fs::create_directories(root() / folder);
    const fs::path source = ROOFLAB_SOURCE_DIR;
    fs::create_directory_symlink(source / "labs/part1-metrics", root() / "labs/part1-metrics");
    fs::create_directory_symlink(source / "grader/author/new_part/template", source_of_new_parts());
    write_file_atomically(root() / "README.md", kReadme);
  }

  const fs::path& root() const { return folder_.path(); }
  fs::path source_of_new_parts() const { return root() / "grader/author/new_part/template"; }

  /// Everything in the checkout, with the texts of files.
  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> contents;
    for (const auto& entry : fs::recursive_directory_iterator(root())) {
      contents[entry.path().string()] =
          entry.is_regular_file() && !entry.is_symlink() ? read_file(entry.path()) : "";
    }
    return contents;
  }

  /// What it says when the part cannot be made, and that it left the checkout alone.
  std::string refusal(const NewPart& part) const {
    const auto before = contents();
    std::string message = "no refusal";
    try {
      make_new_part(part, root());
    } catch (const NewPartError& error) {
      message = error.what();
    }
    EXPECT_EQ(contents(), before);
    return message;
  }

 private:
  TemporaryFolder folder_{fs::temp_directory_path()};
};

std::string refusal_of(const std::string& folder, const std::string& title = "") {
  try {
    new_part(folder, title);
  } catch (const NewPartError& error) {
    return error.what();
  }
  return "no refusal";
}

TEST(NewPartNameTest, HasANumberAndWords) {
  const NewPart part = new_part("part12-two-words", "");
  EXPECT_EQ(part.folder, "part12-two-words");
  EXPECT_EQ(part.number, 12);
  EXPECT_EQ(part.title, "Two words");
  EXPECT_EQ(new_part("part0-basics", "").number, 0);
  EXPECT_EQ(new_part("part6-sorting", "Order: who comes first?").title, "Order: who comes first?");
  EXPECT_EQ(new_part("part6-sorting", "Schön schnell").title, "Schön schnell");
}

TEST(NewPartNameTest, IsNothingElse) {
  for (const char* folder :
       {"", "sorting", "part6", "part-sorting", "part00-sorting", "part06-sorting", "part1000-x",
        "Part6-sorting", "part6-Sorting", "part6-", "part6--x", "part6-x-", "part6-x/../../y",
        "../part6-x", "part6-x y", "part6-x\n", "part99999999999999999999-x"}) {
    EXPECT_THAT(refusal_of(folder), HasSubstr("is no name of a part; one is part<number>-<words>"))
        << folder;
  }
  EXPECT_THAT(refusal_of("part6-" + std::string(100, 'x')), HasSubstr("is no name of a part"));
}

TEST(NewPartNameTest, ATitleIsPlainWords) {
  for (const char* title : {"a \"b\"", "a | b", "a\nb", "<b>", "`x`", "a \\ b", "@part@", "[x]"}) {
    EXPECT_THAT(refusal_of("part6-x", title), StartsWith("a title is one line of plain words"))
        << title;
  }
  EXPECT_THAT(refusal_of("part6-x", " x"), HasSubstr("no spaces at its ends"));
  EXPECT_THAT(refusal_of("part6-x", std::string(81, 'x')), HasSubstr("1 to 80 characters"));
}

TEST_F(NewPartTest, IsAPartWithEverythingThatOneHas) {
  const auto files = make_new_part(new_part("part6-sorting", "Order at speed"), root());
  EXPECT_THAT(files, Contains("labs/part6-sorting/oracle/scaled_sum.cpp"));
  EXPECT_THAT(files, Contains("labs/part6-sorting/mistakes/forgets_the_scale/mistake.toml"));
  EXPECT_THAT(files, Contains("handouts/part6-sorting.md"));
  for (const fs::path& file : files) EXPECT_TRUE(fs::is_regular_file(root() / file)) << file;

  const PartSpec part = load_part(root() / "labs", root() / "solutions", 6);
  EXPECT_EQ(part.title, "Order at speed");
  ASSERT_EQ(part.tasks.size(), 1U);
  EXPECT_EQ(part.tasks[0].hints.size(), 3U);
  EXPECT_EQ(part.tasks[0].cases.size(), 5U) << "three public ones, two hidden";
  EXPECT_EQ(maximum_points(part.tasks[0]), 15);
}

TEST_F(NewPartTest, StandsInTheListOfACourseThatHasOne) {
  make_new_part(new_part("part6-sorting", ""), root());
  write_file_atomically(root() / "labs/course.toml",
                        "title = 'T'\ngpus = ['a100']\nparts = [\n  6,\n]\n");
  make_new_part(new_part("part7-searching", ""), root());
  EXPECT_THAT(list_parts(root() / "labs"), ElementsAre(6, 7));
  write_file_atomically(root() / "labs/course.toml", "title = 'T'\ngpus = ['a100']\n");
  make_new_part(new_part("part8-more", ""), root());
  EXPECT_EQ(read_file(root() / "labs/course.toml"), "title = 'T'\ngpus = ['a100']\n");
}

TEST_F(NewPartTest, HasTheStarterThatItsSolutionStripsTo) {
  make_new_part(new_part("part6-sorting", ""), root());
  EXPECT_THAT(compare_starter(root() / "starter", generate_starter(root() / "solutions")),
              ElementsAre());
  const std::string starter = read_file(root() / "starter/part6-sorting/scaled_sum.cu");
  EXPECT_THAT(starter, HasSubstr("rooflab::todo("));
  EXPECT_THAT(starter, Not(HasSubstr("__global__")));
}

TEST_F(NewPartTest, FillsInEveryMarkOfTheTemplate) {
  for (const fs::path& file : make_new_part(new_part("part6-sorting", ""), root())) {
    for (const char* mark : {"@number@", "@title@", "@part@"}) {
      EXPECT_THAT(read_file(root() / file), Not(HasSubstr(mark))) << file;
    }
  }
  EXPECT_THAT(read_file(root() / "handouts/part6-sorting.md"), StartsWith("# Part 6: Sorting\n"));
}

TEST_F(NewPartTest, StandsInTheTablesOfParts) {
  write_file_atomically(
      root() / "handouts/README.md",
      "| part | you learn |\n|---|---|\n| [1 First](part1-metrics.md) | much |\n\n");
  make_new_part(new_part("part6-sorting", ""), root());
  EXPECT_THAT(read_file(root() / "README.md"),
              HasSubstr("(handouts/part1-metrics.md) |\n"
                        "| 6 | Sorting | [handouts/part6-sorting.md](handouts/part6-sorting.md) |\n"
                        "\nThe end.\n"));
  EXPECT_THAT(read_file(root() / "handouts/README.md"),
              EndsWith("| much |\n| [6 Sorting](part6-sorting.md) | | |\n\n"));
}

TEST_F(NewPartTest, DoesWithoutATableOfParts) {
  write_file_atomically(root() / "README.md", "Our course.\n");
  make_new_part(new_part("part6-sorting", ""), root());
  EXPECT_EQ(read_file(root() / "README.md"), "Our course.\n");
}

TEST_F(NewPartTest, RefusesANumberThatIsTaken) {
  EXPECT_EQ(refusal(new_part("part1-sorting", "")),
            "there is a part 1 already; the next free number is 2");
}

TEST_F(NewPartTest, OverwritesNothing) {
  write_file_atomically(root() / "handouts/part6-other.md", "mine");
  EXPECT_THAT(refusal(new_part("part6-sorting", "")),
              StartsWith("handouts/part6-other.md is in the way"));
  fs::remove(root() / "handouts/part6-other.md");
  fs::create_symlink("/nowhere", root() / "starter/part6-sorting");
  EXPECT_THAT(refusal(new_part("part6-sorting", "")),
              StartsWith("starter/part6-sorting is in the way"));
}

TEST_F(NewPartTest, SaysThatAStudentsCopyHasNotWhatItNeeds) {
  fs::remove(root() / "solutions");
  EXPECT_THAT(refusal(new_part("part6-sorting", "")),
              HasSubstr("solutions is missing: a part is "));
}

TEST_F(NewPartTest, LeavesNothingBehindWhenItFails) {
  // A template that is no part, noticed when nearly all of it is written.
  fs::remove(source_of_new_parts());
  fs::copy(ROOFLAB_SOURCE_DIR "/grader/author/new_part/template", source_of_new_parts(),
           fs::copy_options::recursive);
  write_file_atomically(source_of_new_parts() / "labs/part.toml", "number = @number@\n");
  EXPECT_THAT(refusal(new_part("part6-sorting", "")), HasSubstr("; nothing was changed"));
  // A page that cannot be changed, when another one is already.
  write_file_atomically(
      source_of_new_parts() / "labs/part.toml",
      read_file(ROOFLAB_SOURCE_DIR "/grader/author/new_part/template/labs/part.toml"));
  fs::create_directory(root() / "handouts/README.md");
  EXPECT_THAT(refusal(new_part("part6-sorting", "")), HasSubstr("; nothing was changed"));
  // A handout that cannot be written, for a folder is gone.
  fs::remove(source_of_new_parts() / "handout.md");
  EXPECT_THAT(refusal(new_part("part6-sorting", "")), HasSubstr("; nothing was changed"));
}

}  // namespace
}  // namespace rooflab
