#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/diagnose/open_failures.h"
#include "grader/pipeline/judge.h"
#include "grader/spec/part.h"
#include "grader/spec/result.h"

namespace rooflab {

/// Which groups of a task's cases fail, what their points are, and what is said of them.
class GroupScores {
 public:
  /// All groups pass.
  explicit GroupScores(const TaskSpec& task);

  /// These groups have no points, and `judgement` says why.
  /// @param hidden whether a hidden case showed it
  void lose(const std::vector<std::string>& groups, Judgement judgement, bool hidden = false);
  /// A public case has failed: what a hidden one may say depends on it.
  void note_open(const Judgement& judgement) { open_.add(judgement.diagnostics); }
  /// A case has failed. Where it does not show a cause that another case is put down to by a few
  /// values, that is not the cause.
  void note_failure(const Judgement& judgement);
  /// Some case, of whatever group, works off the stream that the function is given. The first
  /// public one is told.
  void note_off_stream(const Judgement& judgement, bool hidden = false);
  /// What was noted costs the groups that are about the stream, if they pass.
  void lose_stream();
  /// Their answers are right and keep their points, but somebody has to look at these groups.
  void doubt(const std::vector<std::string>& groups, Diagnostic story);

  /// Whether all of these groups pass.
  bool pass(const std::vector<std::string>& groups) const;
  std::vector<std::string> names() const;
  const std::vector<GroupResult>& results() const { return groups_; }
  /// The worst of its groups' verdicts: that of the task.
  Verdict verdict() const;
  /// Of all groups, not rounded.
  double score() const;

  /// One story for each failing group, the most telling first: a cause before a look of the values,
  /// a public case before a hidden one, a stub last. A cause of wrong values that one special group
  /// alone shows, while the first group and others are wrong in another way, does not explain
  /// these: it counts for no more than the first group's story. Groups that fail for the same
  /// reason at the same place share a story, which names them where the task has several groups.
  /// What only hidden cases show names no place (OpenFailures).
  std::vector<Diagnostic> stories() const;

 private:
  struct Failure {
    std::vector<std::string> groups;
    Verdict verdict = Verdict::pass;
    Telling telling = Telling::nothing;
    bool hidden = false;
    Diagnostic story;
    std::optional<Diagnostic> without_cause;  ///< Judgement::without_cause
    std::string doubtful_cause;               ///< Judgement::doubtful_cause
  };

  struct OffStream {
    Judgement judgement;
    bool hidden = false;
  };

  void drop_refuted_cause(Failure& failure) const;
  bool is_cause_of_one_group(const Failure& failure) const;

  TaskKind kind_;
  std::vector<GroupResult> groups_;
  std::vector<Failure> failures_;
  OpenFailures open_;
  std::vector<std::string> not_shown_;     ///< Judgement::not_shown of all cases that fail
  std::vector<std::string> about_stream_;  ///< groups with late inputs
  std::optional<OffStream> off_stream_;
};

/// How much the first story of a failed run tells: what the device saw happen (RL02xx, RL03xx) is a
/// cause, the way in which the call ended is not.
Telling telling_of(const Judgement& judgement);

/// The groups of a task as results that have no points yet.
std::vector<GroupResult> blank_groups(const TaskSpec& task);

}  // namespace rooflab
