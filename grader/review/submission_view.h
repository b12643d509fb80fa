#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/batch/free_text.h"
#include "grader/batch/right_answers.h"
#include "grader/batch/store/review_store.h"
#include "grader/review/class_view.h"
#include "grader/spec/revealed.h"

namespace rooflab {

/// A file as it was handed in, beside what was handed out.
struct ReviewedFile {
  std::string path;                    ///< "part1-metrics/gemv.cu"
  std::string text;                    ///< untrusted
  std::optional<std::string> starter;  ///< nothing where none was handed out
};

/// What points are given for by hand, beside questions of free text.
struct PointsPlace {
  std::string item;                 ///< a task, or what else somebody gave points for
  std::string words;                ///< "gemv: Matrix times vector"
  std::string by_grader = {};       ///< "8 of 10"; empty for what the grader gives none for
  double score = 0;                 ///< beside which points are given
  std::optional<double> most = {};  ///< that there are; nothing where nobody knows
  bool is_before_regrade = false;   ///< points were given for an earlier grading
};

/// What is wrong with so many points for it, so that somebody is asked once: that they make more
/// than there are, or less than none. Empty where nothing is.
std::string objection_to_points(const PointsPlace& place, double points);

/// One of several submissions of which a person chooses, in one part.
struct CandidateView {
  const TeamCandidate* candidate = nullptr;
  std::string by_grader = {};  ///< "8 of 10 points"
};

/// One part of one team, with all that its reviewers look at.
struct SubmissionView {
  int part = 0;
  std::vector<CandidateView> candidates = {};
  std::string shown = {};   ///< the candidate whose files and evidence these are; empty for none
  std::string source = {};  ///< the set of files; empty for none
  std::optional<GradeResult> grading = {};
  std::string unread = {};                      ///< why there is no grading, where one should be
  std::vector<RevealedCase> hidden = {};        ///< hidden cases that failed: for instructors alone
  std::map<std::string, HeldOfTask> held = {};  ///< by task: what students do not see yet
  std::map<std::string, RightAnswers> right = {};  ///< by task, for the student's own numbers
  std::vector<ReviewedFile> files = {};
  std::vector<ReviewComment> comments = {};  ///< of this part
  std::vector<GivenPoints> points = {};      ///< of this part, of every member
  std::vector<PointsPlace> places = {};
  std::vector<FreeText> texts = {};  ///< of the first member, with what was given for them
  std::vector<ReviewLogEntry> log = {};

  HeldOfTask held_of(const std::string& task) const;
};

/// The item of points for no task in particular.
inline constexpr const char* kWholeSubmission = "overall";

/// @param candidate the submission to look at, where a person chooses; of others, and where it is
/// empty, the one that counts
/// @param starter see ReviewSettings
SubmissionView look_at_submission(Store& store, const Course& course, const ReviewedClass& reviewed,
                                  const ReviewTeam& team, int part, const std::string& candidate,
                                  const std::filesystem::path& starter);

/// What a form has to bring along to write these points: the revision of every member, in their
/// order: "3-0".
std::string revisions_of(const std::vector<GivenPoints>& points, const ReviewedClass& reviewed,
                         const ReviewTeam& team, int part, const std::string& item);
/// The reverse. @throws FormError for what no form of ours sends
PointsTarget points_target(const std::string& revisions, const ReviewedClass& reviewed,
                           const ReviewTeam& team, int part, const std::string& item);

/// What stands for the first member; null where there is nothing, or it was withdrawn.
const GivenPoints* points_for(const std::vector<GivenPoints>& points, const std::string& student,
                              int part, const std::string& item);

}  // namespace rooflab
