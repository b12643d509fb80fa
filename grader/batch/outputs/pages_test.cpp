#include <set>

#include "grader/batch/outputs/outputs_testing.h"
#include "grader/spec/pattern.h"

namespace rooflab {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// What stands between < and >: in a text they are escaped.
std::vector<std::string> tags_of(const std::string& html) {
  std::vector<std::string> tags;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    tags.push_back(html.substr(at + 1, html.find('>', at) - at - 1));
  }
  return tags;
}

TEST_F(Outputs, NoPageHasAScriptWhateverAnybodyIsCalledOrPrints) {
  SampleClass sample = sample_class(40);
  make_hostile(sample);
  write(sample, {.leaderboard = true, .assignment = hostile_texts()[1]});
  static const std::set<std::string> kHarmful{"script", "img",   "form", "input", "iframe",
                                              "object", "embed", "base", "link"};
  for (const auto& [name, contents] : files()) {
    if (!name.ends_with(".html")) continue;
    for (const std::string& tag : tags_of(contents)) {
      const std::string element = tag.substr(0, tag.find_first_of(" >"));
      EXPECT_FALSE(kHarmful.contains(element)) << name << ": " << tag;
      for (const char* attribute : {" onerror=", " onload=", " onfocus=", " src", " action",
                                    "href=\"h", "href=\"j", "href=\"."}) {
        EXPECT_EQ(tag.find(attribute), std::string::npos) << name << ": " << tag;
      }
    }
    EXPECT_THAT(contents, HasSubstr("Content-Security-Policy")) << name;
    EXPECT_EQ(contents.find("\u202E"), std::string::npos) << name;
    EXPECT_EQ(contents.find('\x1b'), std::string::npos) << name;
  }
}

TEST_F(Outputs, FeedbackShowsAllPartsWithLatenessAndPointsByHand) {
  SampleClass sample = one_student();
  PartOutcome& late = part(sample, 0, 0);
  late.keeps = 0.9;
  late.lateness = "3.2 hours late: 90 % of the points count";
  late.previous_total = 12;
  write(sample);
  const std::string page = text("feedback/ada.html");
  EXPECT_THAT(page,
              HasSubstr("<section class=\"part\" id=\"part1\"><h2>Part 1, Fundamental metrics"));
  EXPECT_THAT(page, HasSubstr("<section id=\"part2-attention\">"));
  EXPECT_THAT(page, HasSubstr("3.2 hours late: 90 % of the points count"));
  EXPECT_THAT(page, HasSubstr("why_memory_bound</th><td class=\"number\">3.5 of 5</td>"));
  EXPECT_THAT(page, HasSubstr("Right, but say of which memory."));
  EXPECT_THAT(page, HasSubstr("regraded, was 12"));
}

TEST_F(Outputs, FeedbackSaysThatPointsByHandAreStillToCome) {
  SampleClass sample = one_student();
  write(sample);
  EXPECT_THAT(text("feedback/ada.html"), Not(HasSubstr("none are entered yet")));
  sample.results.students[0].manual.clear();
  write(sample);
  EXPECT_THAT(text("feedback/ada.html"), HasSubstr("Up to 5 points are given by hand; none are"));
}

TEST_F(Outputs, FeedbackSaysThatAFaultIsNotTheStudentsAndNotWhatItWas) {
  SampleClass sample = one_student();
  make_fault(part(sample, 0, 1));
  sample.results.students[0].problems = {"part 2: the worker was ended by SIGKILL", "not on it"};
  write(sample);
  EXPECT_THAT(text("feedback/ada.html"), HasSubstr("<ul><li>not on it</li></ul>"));
  EXPECT_THAT(text("gradescope/ada.json"), Not(HasSubstr("SIGKILL")));
  EXPECT_THAT(text("feedback/ada.html"), HasSubstr("the grader failed, which is not your fault"));
  EXPECT_THAT(text("feedback/ada.html"), Not(HasSubstr("SIGKILL")));
  EXPECT_THAT(text("class.html"), HasSubstr("the grader failed: the worker was ended by SIGKILL"));
}

TEST_F(Outputs, FeedbackOfOneStudentNamesNobodyElse) {
  const SampleClass sample = sample_class(12);
  write(sample);
  const std::string page = text("feedback/student003.html");
  for (const StudentOutcome& student : sample.results.students) {
    if (student.student.key == "student003") continue;
    EXPECT_THAT(page, Not(HasSubstr(student.student.key)));
  }
  EXPECT_THAT(page, Not(HasSubstr("class.html")));
}

TEST_F(Outputs, TheClassPageLinksEverybodysFeedback) {
  SampleClass sample = sample_class(40);
  make_hostile(sample);
  write(sample);
  const std::string page = text("class.html");
  static const Pattern kLink("href=\"([^#\"][^\"]*)\"");
  std::set<std::string> linked;
  for (const Pattern::Match& link : kLink.all(page)) {
    const std::string& file = *linked.insert(link.groups[1]).first;
    EXPECT_TRUE(fs::is_regular_file(folder() / "out" / file)) << file;
  }
  EXPECT_EQ(linked.erase("analysis.html"), 1U);
  EXPECT_EQ(linked.size(), 40U);
}

TEST_F(Outputs, TheClassPageNamesTheCommonestDiagnosesWithTheirTitles) {
  SampleClass sample = sample_class(3);
  for (StudentOutcome& student : sample.results.students) {
    for (PartOutcome& outcome : student.parts) {
      for (TaskLine& task : outcome.tasks) task.codes.clear();
    }
  }
  part(sample, 0, 0).tasks[0].codes = {"RL0301", "RL0301"};
  part(sample, 1, 0).tasks[1].codes = {"RL0301"};
  part(sample, 1, 0).tasks[0].codes = {"RL0401"};
  write(sample, {.code_titles = {{"RL0301", "overwritten <too early>"}}});
  const std::string page = text("class.html");
  EXPECT_THAT(page, HasSubstr("RL0301</b></td><td class=\"number\">2</td>"));
  EXPECT_THAT(page, HasSubstr("overwritten &lt;too early&gt;"));
  EXPECT_THAT(page, HasSubstr("<td>part 1: counters, gemm_naive</td>"));
  EXPECT_LT(page.find("RL0301</b></td>"), page.find("RL0401</b></td>"));
}

TEST_F(Outputs, TheClassPageTellsEachProblemOnceWithAllWhomItConcerns) {
  SampleClass sample = sample_class(3);
  make_fault(part(sample, 0, 0));
  make_fault(part(sample, 0, 1));
  make_fault(part(sample, 2, 1));
  write(sample);
  const auto link = [&](std::size_t i) {
    const Student& student = sample.results.students[i].student;
    return "<a href=\"feedback/" + student.key + ".html\"><bdi>" + student.name + "</bdi></a>";
  };
  EXPECT_THAT(
      text("class.html"),
      HasSubstr("<tr><td class=\"text\">the grader failed: the worker was ended by SIGKILL</td>"
                "<td class=\"number\">2</td><td class=\"text people\">" +
                link(0) + " (part 1, part 2), " + link(2) + " (part 2)</td></tr>"));
}

TEST_F(Outputs, NotesForPeopleAreOnTheClassPageAndInNobodysFeedback) {
  SampleClass sample = sample_class(3);
  part(sample, 1, 0).tasks[0].for_people = {"1024^3: kernels did 12 of the 100 <FLOPs>"};
  write(sample);
  EXPECT_THAT(text("class.html"), HasSubstr("noticed and not proven: 1024^3: kernels did 12 of the "
                                            "100 &lt;FLOPs&gt;"));
  for (const auto& entry : fs::recursive_directory_iterator(folder())) {
    if (!entry.is_regular_file() || entry.path().filename() == "class.html") continue;
    EXPECT_THAT(read_file(entry.path()), Not(HasSubstr("kernels did 12"))) << entry.path();
  }
}

TEST_F(Outputs, TheClassPageHasALeaderboardWhereOneIsWanted) {
  write(sample_class(5));
  EXPECT_THAT(text("class.html"), Not(HasSubstr("eaderboard")));
  write(sample_class(5), {.leaderboard = true});
  EXPECT_THAT(text("class.html"), HasSubstr("<h2>Leaderboard</h2>"));
}

}  // namespace
}  // namespace rooflab
