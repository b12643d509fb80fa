#include "grader/pipeline/group_scores.h"

#include <algorithm>
#include <cctype>
#include <tuple>
#include <utility>

namespace rooflab {
namespace {

bool holds(const std::vector<std::string>& groups, const std::string& name) {
  return std::ranges::find(groups, name) != groups.end();
}

/// The words of a message: what is left of it without its numbers.
std::string words_of(const std::string& message) {
  std::string words;
  for (const char c : message) {
    if (!std::isdigit(static_cast<unsigned char>(c))) words += c;
  }
  return words;
}

/// Without a line, only the words tell two reasons apart; of functions that return values, their
/// numbers do, too.
bool is_same_story(const Diagnostic& one, const Diagnostic& other, TaskKind kind) {
  if (one.code != other.code || one.file != other.file || one.line != other.line) return false;
  if (one.line > 0 || one.message == other.message) return true;
  return kind == TaskKind::kernel && words_of(one.message) == words_of(other.message);
}

}  // namespace

Telling telling_of(const Judgement& judgement) {
  if (judgement.verdict == Verdict::wrong_answer) return judgement.telling;
  if (judgement.verdict == Verdict::not_implemented || judgement.diagnostics.empty()) {
    return Telling::nothing;
  }
  const bool is_of_a_device = judgement.diagnostics.front().code.kind().has_value();
  if (is_of_a_device) return Telling::cause;
  return judgement.verdict == Verdict::time_limit ? Telling::nothing : Telling::pattern;
}

std::vector<GroupResult> blank_groups(const TaskSpec& task) {
  std::vector<GroupResult> groups;
  for (const GroupSpec& group : task.groups) {
    groups.push_back({group.name, group.title, Verdict::pass, 0, group.points});
  }
  return groups;
}

GroupScores::GroupScores(const TaskSpec& task)
    : kind_(task.kind), groups_(blank_groups(task)), open_(task.file) {
  for (GroupResult& group : groups_) group.score = group.max_score;
  for (const CaseSpec& spec : task.cases) {
    if (spec.late_inputs) about_stream_.push_back(spec.group);
  }
}

void GroupScores::note_off_stream(const Judgement& judgement, bool hidden) {
  if (!hidden) note_open(judgement);
  if (!off_stream_ || (off_stream_->hidden && !hidden)) off_stream_ = {judgement, hidden};
}

void GroupScores::lose_stream() {
  std::vector<std::string> groups;
  for (const GroupResult& group : groups_) {
    const bool is_about_it = holds(about_stream_, group.name);
    if (is_about_it && group.verdict == Verdict::pass) groups.push_back(group.name);
  }
  if (off_stream_ && !groups.empty()) lose(groups, off_stream_->judgement, off_stream_->hidden);
}

void GroupScores::lose(const std::vector<std::string>& groups, Judgement judgement, bool hidden) {
  for (GroupResult& group : groups_) {
    if (!holds(groups, group.name)) continue;
    group.score = 0;
    if (is_worse(judgement.verdict, group.verdict)) group.verdict = judgement.verdict;
  }
  if (judgement.diagnostics.empty()) return;
  failures_.push_back({groups, judgement.verdict, telling_of(judgement), hidden,
                       std::move(judgement.diagnostics.front()), std::move(judgement.without_cause),
                       std::move(judgement.doubtful_cause)});
}

void GroupScores::note_failure(const Judgement& judgement) {
  if (judgement.verdict != Verdict::wrong_answer) return;
  not_shown_.insert(not_shown_.end(), judgement.not_shown.begin(), judgement.not_shown.end());
}

void GroupScores::drop_refuted_cause(Failure& failure) const {
  const bool is_refuted = std::ranges::find(not_shown_, failure.doubtful_cause) != not_shown_.end();
  if (!failure.without_cause || !is_refuted) return;
  failure.story = *failure.without_cause;
  failure.telling = Telling::nothing;
}

void GroupScores::doubt(const std::vector<std::string>& groups, Diagnostic story) {
  for (GroupResult& group : groups_) {
    const bool is_doubted = holds(groups, group.name);
    if (is_doubted && is_worse(Verdict::suspect, group.verdict)) group.verdict = Verdict::suspect;
  }
  failures_.push_back(
      {groups, Verdict::suspect, Telling::cause, false, std::move(story), std::nullopt, {}});
}

bool GroupScores::pass(const std::vector<std::string>& groups) const {
  return std::ranges::all_of(groups_, [&](const GroupResult& group) {
    return group.verdict == Verdict::pass || !holds(groups, group.name);
  });
}

std::vector<std::string> GroupScores::names() const {
  std::vector<std::string> names;
  for (const GroupResult& group : groups_) names.push_back(group.name);
  return names;
}

Verdict GroupScores::verdict() const {
  Verdict worst = Verdict::pass;
  for (const GroupResult& group : groups_) {
    if (is_worse(group.verdict, worst)) worst = group.verdict;
  }
  return worst;
}

double GroupScores::score() const {
  double sum = 0;
  for (const GroupResult& group : groups_) sum += group.score;
  return sum;
}

bool GroupScores::is_cause_of_one_group(const Failure& failure) const {
  constexpr std::ptrdiff_t kSeveral = 3;  // of two groups, either may be the special one
  const auto is_wrong = [](const auto& one) { return one.verdict == Verdict::wrong_answer; };
  if (failure.telling < Telling::law || !is_wrong(failure)) return false;
  if (!is_wrong(groups_.front()) || std::ranges::count_if(groups_, is_wrong) < kSeveral) {
    return false;
  }
  return std::ranges::all_of(failures_, [&](const Failure& other) {
    const bool is_of_special_group = other.groups == failure.groups && other.groups.size() == 1 &&
                                     !holds(other.groups, groups_.front().name);
    return is_of_special_group || !is_same_story(other.story, failure.story, kind_);
  });
}

std::vector<Diagnostic> GroupScores::stories() const {
  std::vector<Failure> failures = failures_;
  for (Failure& failure : failures) {
    drop_refuted_cause(failure);
    if (failure.hidden) failure.story = open_.told_of_hidden(std::move(failure.story));
    if (is_cause_of_one_group(failure)) failure.telling = failures_.front().telling;
  }
  std::ranges::stable_sort(failures, {}, [](const Failure& failure) {
    const bool is_stub = failure.verdict == Verdict::not_implemented;
    const bool is_of_all = is_worse(failure.verdict, Verdict::runtime_error);
    return std::tuple(is_stub, !is_of_all, -static_cast<int>(failure.telling), failure.hidden);
  });
  std::vector<Diagnostic> stories;
  for (Failure& failure : failures) {
    auto same = std::ranges::find_if(stories, [&](const Diagnostic& story) {
      return is_same_story(story, failure.story, kind_);
    });
    if (same == stories.end()) same = stories.insert(same, std::move(failure.story));
    if (groups_.size() == 1) continue;
    for (const std::string& group : failure.groups) {
      if (!holds(same->groups, group)) same->groups.push_back(group);
    }
  }
  return stories;
}

}  // namespace rooflab
