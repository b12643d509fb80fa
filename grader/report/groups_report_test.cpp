#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "grader/report/evidence.h"
#include "grader/report/html.h"
#include "grader/report/json.h"
#include "grader/report/since_last_run.h"
#include "grader/report/terminal.h"
#include "grader/report/text.h"

// What reports say of the groups of a task's cases.
namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A task of 12 points that fails in two of its three groups.
TaskResult half_right() {
  TaskResult task;
  task.id = "gemm";
  task.verdict = Verdict::race;
  task.score = 5;
  task.max_score = 12;
  task.groups = {{"basic", "whole tiles", Verdict::pass, 5, 5},
                 {"edges", "", Verdict::wrong_answer, 0, 4},
                 {"types", "", Verdict::race, 0, 3}};
  task.cases = {{"64", Verdict::pass, false, "basic"},
                {"67", Verdict::wrong_answer, false, "edges"}};
  Diagnostic race;
  race.code = "RL0302";
  race.message = "the tile is overwritten";
  race.file = "gemm.cu";
  race.line = 3;
  race.groups = {"types"};
  Diagnostic wrong;
  wrong.code = "RL0401";
  wrong.message = "9 elements are wrong";
  wrong.file = "gemm.cu";
  wrong.groups = {"edges"};
  task.diagnostics = {race, wrong};
  return task;
}

GradeResult result_of(TaskResult task) {
  GradeResult result;
  result.part = 1;
  result.tasks = {std::move(task)};
  return result;
}

std::string on_terminal(const TaskResult& task) {
  std::ostringstream out;
  print_report(out, result_of(task), {});
  return out.str();
}

TEST(Stories, OfManyAnswersAreNoWall) {
  TaskResult task;
  task.id = "answers";
  task.verdict = Verdict::wrong_answer;
  for (int i = 0; i < 23; ++i) {
    Diagnostic story;
    story.code = "RL0408";
    story.message = "the answer to question " + std::to_string(i) + " is missing";
    task.diagnostics.push_back(story);
  }
  std::ostringstream out;
  print_stories(out, task, false);
  EXPECT_THAT(out.str(), HasSubstr("the answer to question 4 is missing"));
  EXPECT_THAT(out.str(), Not(HasSubstr("question 5 is missing")));
  EXPECT_THAT(out.str(), HasSubstr("and 18 more answers, each of them in the report\n"));
}

TEST(GroupsReport, TheTerminalListsLostGroupsBelowTheTask) {
  const std::string text = on_terminal(half_right());
  EXPECT_THAT(text, HasSubstr("  gemm  race              5/12   RL0302 gemm.cu:3 types: the tile"));
  EXPECT_THAT(text,
              HasSubstr("\n        1 of 2 cases pass · edges 0/4 (wrong answer) · types 0/3\n"));
  EXPECT_THAT(text, HasSubstr("fails: types\n"));
  EXPECT_THAT(text, HasSubstr("also[RL0401]: 9 elements are wrong (fails: edges)\n"));
}

TEST(GroupsReport, NothingIsListedWhereAllGroupsFailAlikeOrNone) {
  TaskResult task = half_right();
  for (GroupResult& group : task.groups) group = {group.name, "", Verdict::race, 0, 4};
  EXPECT_EQ(format_lost_groups(task), "");
  for (GroupResult& group : task.groups) group = {group.name, "", Verdict::pass, 4, 4};
  EXPECT_EQ(format_lost_groups(task), "");
}

TEST(GroupsReport, GroupsThatAreOutOfNoPointsAreNamedAlone) {
  TaskResult task = half_right();
  for (GroupResult& group : task.groups) group.score = group.max_score = 0;
  EXPECT_EQ(format_lost_groups(task), "edges (wrong answer) · types");
}

TEST(GroupsReport, AStubOfEachFunctionLeavesTheTerminalReadable) {
  TaskResult task = half_right();
  task.verdict = Verdict::not_implemented;
  for (GroupResult& group : task.groups) group.verdict = Verdict::not_implemented;
  for (Diagnostic& story : task.diagnostics) story.code = "RL0601";
  EXPECT_THAT(on_terminal(task), Not(HasSubstr("RL0601]")));
}

TEST(GroupsReport, JsonNamesGroupsOfTasksCasesAndDiagnostics) {
  const auto task = nlohmann::json::parse(to_json(result_of(half_right()))).at("tasks").at(0);
  EXPECT_EQ(task.at("groups").at(0), (nlohmann::json{{"name", "basic"},
                                                     {"title", "whole tiles"},
                                                     {"verdict", "pass"},
                                                     {"score", 5.0},
                                                     {"max_score", 5.0}}));
  EXPECT_EQ(task.at("cases").at(1).at("group"), "edges");
  EXPECT_EQ(task.at("diagnostics").at(0).at("groups"), nlohmann::json({"types"}));
}

TEST(GroupsReport, HtmlHasATableOfGroupsAndEscapesTheirNames) {
  TaskResult task = half_right();
  task.groups[0].title = "<b>";
  gpu_spec::GpuSpec gpu;
  gpu.peak_flops["fp32"] = 1e12;
  gpu.dram_bytes_per_second = 1e11;
  const std::string html = to_html(result_of(task), gpu);
  EXPECT_THAT(html, HasSubstr("class=\"groups\""));
  EXPECT_THAT(html, HasSubstr("&lt;b&gt;"));
  EXPECT_THAT(html, HasSubstr("fails: types"));
  task.groups.resize(1);
  EXPECT_THAT(to_html(result_of(task), gpu), Not(HasSubstr("class=\"groups\"")));
}

TEST(GroupsReport, HtmlShowsWhatWasAskedAndInAKitWhichQuestionsAreOpen) {
  TaskResult task = half_right();
  task.groups = {{"ridge", "Where for 25.2 & 1420?", Verdict::pass, 1, 1},
                 {"time", "How long?", Verdict::not_implemented, 0, 1}};
  task.cases = {{"ridge", Verdict::pass, false, "ridge"},
                {"time", Verdict::not_implemented, false, "time"}};
  gpu_spec::GpuSpec gpu;
  gpu.peak_flops["fp32"] = 1e12;
  gpu.dram_bytes_per_second = 1e11;
  EXPECT_THAT(to_html(result_of(task), gpu), HasSubstr("<th>question</th><th>verdict</th>"));
  task.graded_later = 2;
  const std::string html = to_html(result_of(task), gpu);
  EXPECT_THAT(html, HasSubstr("ridge <small>Where for 25.2 &amp; 1420?</small></td><td>answered"));
  EXPECT_THAT(html, HasSubstr("time <small>How long?</small></td><td>open"));
}

TEST(GroupsReport, AFurtherAnswerIsToldWithItsQuestion) {
  TaskResult task = half_right();
  task.diagnostics[1].code = "RL0408";
  task.diagnostics[1].evidence = {"Where is it for 25.2?"};
  EXPECT_THAT(on_terminal(task), HasSubstr("also[RL0408]"));
  EXPECT_THAT(on_terminal(task), HasSubstr("\n  Where is it for 25.2?\n"));
  task.diagnostics[1].code = "RL0401";
  EXPECT_THAT(on_terminal(task), Not(HasSubstr("Where is it")));
}

TEST(GroupsReport, EvidenceKeepsThem) {
  const TaskResult task = from_evidence(to_evidence(result_of(half_right()))).tasks.at(0);
  ASSERT_EQ(task.groups.size(), 3U);
  EXPECT_EQ(task.groups[2].verdict, Verdict::race);
  EXPECT_EQ(task.groups[0].title, "whole tiles");
  EXPECT_EQ(task.cases[1].group, "edges");
  EXPECT_THAT(task.diagnostics[0].groups, ElementsAre("types"));
}

TEST(GroupsReport, WhatAGroupBecameSinceTheLastRunIsSaid) {
  const TaskResult before = half_right();
  TaskResult now = before;
  now.groups[1].verdict = Verdict::pass;
  now.groups[0].verdict = Verdict::wrong_answer;
  const auto since = compare_runs(before, now, false);
  ASSERT_TRUE(since.has_value());
  EXPECT_THAT(since->won, ElementsAre("edges"));
  EXPECT_THAT(since->lost, ElementsAre("basic"));
  EXPECT_EQ(words_of(*since, now, 2), "newly right: edges · newly lost: basic");
  TaskResult open = now;
  open.graded_later = 1;
  EXPECT_THAT(words_of(*since, open, 2), testing::HasSubstr("newly answered: edges"));
  TaskResult written = open;
  open.cases.push_back({.name = "why", .verdict = Verdict::not_implemented, .group = "why"});
  written.cases.push_back({.name = "why", .verdict = Verdict::pass, .group = "why"});
  EXPECT_THAT(compare_runs(open, written, false)->won, ElementsAre("why"));
}

}  // namespace
}  // namespace rooflab
