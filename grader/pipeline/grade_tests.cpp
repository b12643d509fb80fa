#include "grader/pipeline/grade_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <optional>
#include <ranges>

#include "grader/diagnose/tests_story.h"
#include "grader/pipeline/implementations.h"
#include "grader/pipeline/runs_ahead.h"
#include "grader/pipeline/score.h"
#include "grader/pipeline/student_cases.h"
#include "grader/pipeline/tested_runs.h"
#include "grader/spec/tested.h"

namespace rooflab {
namespace {

/// An implementation, and what each case says of it.
struct Tested {
  Implementation implementation;
  std::vector<TestedRun> runs;

  bool is_right() const { return implementation.group == kRightGroup; }
  bool is_refused_by(std::size_t index) const { return runs[index].is_refused; }
  bool is_refused() const { return std::ranges::any_of(runs, &TestedRun::is_refused); }
};

/// Whether two runs name a value alike, to the bit; any NaN is like any other.
bool are_same(const Values::value_type& a, const Values::value_type& b) {
  const auto* first = std::get_if<double>(&a.second);
  const auto* second = std::get_if<double>(&b.second);
  const bool are_nan =
      first != nullptr && second != nullptr && std::isnan(*first) && std::isnan(*second);
  return a.first == b.first && (are_nan || a.second == b.second);
}

class TestsGrader {
 public:
  TestsGrader(const TaskScene& scene, const Oracle& oracle)
      : scene_(scene), oracle_(oracle), result_(blank_result(scene.task())) {}

  TaskResult run() {
    const std::optional<Values> named = named_cases();
    if (!named) return result_;
    try {
      ReadCases read = read_student_cases(*named, task(), oracle_);
      cases_ = std::move(read.cases);
      left_out_ = std::move(read.left_out);
    } catch (const UnusableCases& error) {
      return end(Verdict::wrong_answer,
                 {explain_unusable(error.what(), error.remedy(), context())});
    }
    run_all();
    tell_refused();
    tell_left_out();
    score();
    fill_table();
    return result_;
  }

 private:
  const TaskSpec& task() const { return scene_.task(); }
  DiagnoseContext context() const { return scene_.context(); }

  TaskResult end(Verdict verdict, std::vector<Diagnostic> stories) {
    result_.diagnostics = std::move(stories);
    fail_all(result_, verdict);
    return result_;
  }

  /// Has the tests name their cases, twice: what hangs on the time, on addresses or on chance is
  /// not the same then. Nothing that is tested is in that process.
  std::optional<Values> named_cases() {
    const RunOutcome first = call_tests();
    const CaseSpec spec;
    const Problem none;
    const Judgement judgement =
        judge({task(), spec, none, nullptr, first, context(), scene_.tools.device.gpu()});
    if (judgement.verdict != Verdict::pass) {
      end(judgement.verdict, judgement.diagnostics);
      return std::nullopt;
    }
    const RunOutcome second = call_tests();
    if (second.end == RunOutcome::End::returned &&
        std::ranges::equal(first.results, second.results, are_same)) {
      return first.results;
    }
    end(Verdict::wrong_answer,
        {explain_unusable("the cases are not the same each time the tests are run",
                          "take numbers from a generator with a fixed seed, and nothing from the "
                          "clock, addresses or the environment",
                          context())});
    return std::nullopt;
  }

  RunOutcome call_tests() {
    const Problem none;
    scene_.tools.progress(task().id + ": reading its cases");
    const RunRequest request{
        .library = scene_.built.build.library,
        .entry = task().entry,
        .libraries = task().libraries,
        .problem = &none,
        .time_limit = std::chrono::duration<double>(task().time_limit_s),
        .host_time_limit = std::chrono::duration<double>(task().host_time_limit_s)};
    RunOutcome outcome =
        scene_.slots.use([&] { return run_past_fault(scene_.tools.device, request); });
    result_.printed = outcome.printed;
    return outcome;
  }

  void run_all() {
    for (Implementation& one : scene_.tools.implementations(task())) {
      tested_.push_back({std::move(one), {}});
    }
    scene_.tools.progress(fmt::format("{}: running {} implementations", task().id, tested_.size()));
    std::vector<std::future<void>> runs;
    for (Tested& one : tested_) {
      runs.push_back(std::async(std::launch::async, [this, &one] {
        one.runs = scene_.slots.use([&] {
          return run_cases(scene_.tools.device, one.implementation, cases_, task(), oracle_);
        });
      }));
    }
    for (std::future<void>& run : runs) run.get();
  }

  auto of_group(const std::string& group) const {
    return tested_ | std::views::filter(
                         [group](const Tested& one) { return one.implementation.group == group; });
  }

  /// Whether no right implementation fails the case: only then what else it refuses counts.
  bool is_sound(std::size_t index) const {
    return std::ranges::none_of(of_group(kRightGroup),
                                [&](const Tested& one) { return one.is_refused_by(index); });
  }

  /// Whether some sound case refuses it.
  bool is_caught(const Tested& one) const {
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      if (one.is_refused_by(i) && is_sound(i)) return true;
    }
    return false;
  }

  void tell_refused() {
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      result_.cases.push_back({cases_[i].name, Verdict::pass, false});
      if (is_sound(i)) continue;
      result_.cases.back().verdict = Verdict::wrong_answer;
      RefusedRight refused{.case_name = cases_[i].name};
      for (const Tested& right : of_group(kRightGroup)) {
        ++refused.right;
        if (!right.is_refused_by(i)) continue;
        ++refused.refused;
        // A hidden one shows no values.
        if (!right.implementation.hidden && !refused.wrong) refused.wrong = right.runs[i].wrong;
      }
      result_.diagnostics.push_back(explain_refused_right(refused, context()));
    }
  }

  void tell_left_out() {
    for (const LeftOutCase& one : left_out_) {
      result_.cases.push_back({one.name, Verdict::wrong_answer, false});
      result_.verdict = Verdict::wrong_answer;
      result_.diagnostics.push_back(explain_left_out(
          {one.name, one.elements, one.left, task().tested.most_elements}, context()));
    }
  }

  /// A group of mistakes earns its share for each that is caught; the right ones count where none
  /// is refused and the tests catch anything at all.
  void score() {
    const bool catches = std::ranges::any_of(
        tested_, [this](const Tested& one) { return !one.is_right() && is_caught(one); });
    const bool all_sound = std::ranges::all_of(std::views::iota(std::size_t{0}, cases_.size()),
                                               [this](std::size_t i) { return is_sound(i); });
    double points = 0;
    for (std::size_t i = 0; i < result_.groups.size(); ++i) {
      GroupResult& group = result_.groups[i];
      if (group.name == kRightGroup) {
        group.score = all_sound && catches ? group.max_score : 0;
      } else {
        const auto count = std::ranges::distance(of_group(group.name));
        const auto caught = std::ranges::count_if(
            of_group(group.name), [this](const Tested& one) { return is_caught(one); });
        group.score = rounded_points(group.max_score * static_cast<double>(caught) /
                                     static_cast<double>(count));
        if (caught < count) {
          result_.diagnostics.push_back(explain_uncaught(task().groups[i],
                                                         static_cast<int>(count - caught),
                                                         static_cast<int>(count), context()));
        }
      }
      if (group.score < group.max_score) group.verdict = result_.verdict = Verdict::wrong_answer;
      points += group.score;
    }
    result_.score = rounded_points(points);
  }

  /// Marks of a group's public implementations, by `is_marked`.
  template <typename IsMarked>
  std::string marks_of(const std::string& group, IsMarked is_marked) const {
    std::string marks;
    for (const Tested& one : of_group(group)) {
      if (!one.implementation.hidden) marks += is_marked(one) ? 'x' : '.';
    }
    return marks;
  }

  void fill_table() {
    const auto is_hidden_mistake = [](const Tested& one) {
      return one.implementation.hidden && !one.is_right();
    };
    auto hidden = tested_ | std::views::filter(is_hidden_mistake);
    TestsTable table;
    table.hidden = static_cast<int>(std::ranges::distance(hidden));
    table.hidden_caught = static_cast<int>(
        std::ranges::count_if(hidden, [this](const Tested& one) { return is_caught(one); }));
    for (std::size_t i = 0; i < result_.groups.size(); ++i) {
      const GroupResult& group = result_.groups[i];
      const bool is_open = group.verdict != Verdict::pass;
      table.groups.push_back({group.name, group.title,
                              marks_of(group.name,
                                       [this](const Tested& one) {
                                         return one.is_right() ? one.is_refused() : is_caught(one);
                                       }),
                              is_open ? task().groups[i].question : std::string()});
    }
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      TestsTable::Case row{.name = cases_[i].name, .sizes = text_of(cases_[i].chosen)};
      for (const GroupResult& group : result_.groups) {
        row.marks.push_back(
            marks_of(group.name, [i](const Tested& one) { return one.is_refused_by(i); }));
      }
      row.hidden = static_cast<int>(
          std::ranges::count_if(hidden, [i](const Tested& one) { return one.is_refused_by(i); }));
      table.cases.push_back(std::move(row));
    }
    const auto mistakes =
        std::ranges::count_if(tested_, [](const Tested& one) { return !one.is_right(); });
    const auto caught = std::ranges::count_if(
        tested_, [this](const Tested& one) { return !one.is_right() && is_caught(one); });
    result_.summary = fmt::format("{} case{} catch{} {} of {} mistakes", cases_.size(),
                                  cases_.size() == 1 ? "" : "s", cases_.size() == 1 ? "es" : "",
                                  caught, mistakes);
    result_.tests = std::move(table);
  }

  const TaskScene& scene_;
  const Oracle& oracle_;
  TaskResult result_;
  std::vector<StudentCase> cases_;
  std::vector<LeftOutCase> left_out_;
  std::vector<Tested> tested_;
};

}  // namespace

TaskResult grade_tests(const TaskScene& scene, const Oracle& oracle) {
  return TestsGrader(scene, oracle).run();
}

}  // namespace rooflab
