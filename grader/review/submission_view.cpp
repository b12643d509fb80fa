#include "grader/review/submission_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "grader/batch/outputs/class_words.h"
#include "grader/report/evidence.h"
#include "grader/report/text.h"
#include "grader/review/review_frame.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

constexpr std::size_t kMostLogged = 50;

std::vector<ReviewedFile> files_of(Store& store, const std::string& source,
                                   const std::filesystem::path& starter) {
  std::vector<ReviewedFile> files;
  for (auto& [path, text] : store.source(source)) {
    ReviewedFile file{.path = path, .text = text, .starter = {}};
    // A path of the database is one that the course asks for: intake takes no others.
    const std::filesystem::path original = starter / path;
    std::error_code missing;
    if (std::filesystem::is_regular_file(original, missing)) file.starter = read_file(original);
    files.push_back(std::move(file));
  }
  return files;
}

/// What students do not see yet, and what would have been right.
void add_marks(SubmissionView& view, Store& store, const Course& course,
               const ReviewedClass& reviewed, const std::string& grading) {
  const auto part = std::ranges::find(course.parts, view.part, &PartSpec::number);
  if (part == course.parts.end()) return;
  const auto row = store.grading(grading);
  const auto keys = course.keys.find(view.part);
  for (const TaskResult& result : view.grading->tasks) {
    const HeldOfTask held = held_of(reviewed.held, *part, result.id);
    if (held.any()) view.held[result.id] = held;
    const auto task = std::ranges::find(part->tasks, result.id, &TaskSpec::id);
    if (!row || keys == course.keys.end() || task == part->tasks.end()) continue;
    if (!draws_numbers(*task)) continue;
    if (auto right =
            right_answers(part->number, *task, keys->second, result, row->subject.students)) {
      view.right[result.id] = std::move(*right);
    }
  }
}

void add_evidence(SubmissionView& view, Store& store, const std::string& grading) {
  const std::string evidence = store.evidence(grading);
  if (evidence.empty()) return;
  try {
    view.grading = from_evidence(evidence);
    const std::string revealed = store.revealed(grading);
    if (!revealed.empty()) view.hidden = revealed_from(revealed);
  } catch (const EvidenceError& error) {
    view.unread = fmt::format(
        "some of the evidence cannot be read: {}; grade it again with "
        "--regrade to have it",
        error.what());
  }
}

bool is_hand_question(const SubmissionView& view, const std::string& item) {
  return std::ranges::any_of(view.texts,
                             [&](const FreeText& text) { return text.question.item == item; });
}

std::vector<PointsPlace> places_of(const SubmissionView& view, const PartSummary& summary,
                                   const StudentOutcome& student, const PartOutcome& outcome) {
  std::vector<PointsPlace> places;
  const auto add = [&](PointsPlace place) {
    const bool known = std::ranges::find(places, place.item, &PointsPlace::item) != places.end();
    if (!known && !is_hand_question(view, place.item)) places.push_back(std::move(place));
  };
  for (const TaskLine& task : outcome.tasks) {
    add({.item = task.id,
         .words = task.title.empty() ? task.id : task.id + ": " + task.title,
         .by_grader = format_points(task.score) + " of " + format_points(task.max_score),
         .score = task.score,
         .most = task.max_score});
  }
  PointsPlace whole{.item = kWholeSubmission, .words = "the submission as a whole"};
  if (outcome.state == PartState::graded) {
    whole.score = outcome.total();
    whole.most = max_total(summary, outcome);
  }
  for (const ManualPoints& given : student.manual) {
    if (given.part == outcome.part && given.item == kWholeSubmission) whole.score -= given.points;
  }
  add(std::move(whole));
  for (const GivenPoints& given : view.points) {
    if (!given.withdrawn) add({.item = given.row.item, .words = given.row.item});
  }
  for (PointsPlace& place : places) {
    place.is_before_regrade = std::ranges::any_of(student.manual, [&](const ManualPoints& given) {
      return given.part == outcome.part && given.item == place.item && given.is_before_regrade;
    });
  }
  return places;
}

std::string points_words(Store& store, const std::string& submission, int part) {
  const auto grade = store.grade(submission, part);
  if (!grade) return "nothing handed in";
  const auto points = store.points_of(grade->grading.name);
  if (!points)
    return grade->grading.state == GradingState::fault ? "the grader failed" : "not graded yet";
  return fmt::format("{} of {} points", format_points(points->score + points->bonus),
                     format_points(points->max_score));
}

/// Those that a person chooses from. @return the one that is looked at
const TeamCandidate& look_at_candidates(SubmissionView& view, Store& store, const ReviewTeam& team,
                                        const std::string& wanted) {
  for (const TeamCandidate& one : team.candidates) {
    view.candidates.push_back(
        {.candidate = &one, .by_grader = points_words(store, one.id, view.part)});
  }
  auto shown = std::ranges::find(team.candidates, wanted, &TeamCandidate::id);
  if (shown == team.candidates.end()) {
    shown = std::ranges::find_if(team.candidates, &TeamCandidate::counts);
  }
  if (shown == team.candidates.end()) shown = team.candidates.begin();
  view.shown = shown->id;
  return *shown;
}

std::string source_in(const std::map<int, std::string>& sources, int part) {
  const auto source = sources.find(part);
  return source == sources.end() ? "" : source->second;
}

}  // namespace

HeldOfTask SubmissionView::held_of(const std::string& task) const {
  const auto found = held.find(task);
  return found == held.end() ? HeldOfTask() : found->second;
}

SubmissionView look_at_submission(Store& store, const Course& course, const ReviewedClass& reviewed,
                                  const ReviewTeam& team, int part, const std::string& candidate,
                                  const std::filesystem::path& starter) {
  const ReadTransaction look = store.look();
  SubmissionView view{.part = part};
  const StudentOutcome& lead = reviewed.lead(team);
  const std::set<std::string> students = reviewed.students(team);
  ReviewStore review(store);
  const PartOutcome* outcome = outcome_of(lead, part);
  std::string grading = outcome == nullptr ? "" : outcome->grading;
  view.source = source_in(team.sources, part);
  if (!team.candidates.empty()) {
    const TeamCandidate& shown = look_at_candidates(view, store, team, candidate);
    if (!shown.counts) {
      view.source = source_in(store.handed_in(shown.id), part);
      const auto grade = store.grade(shown.id, part);
      grading = grade ? grade->grading.name : "";
    }
  }
  if (!view.source.empty()) view.files = files_of(store, view.source, starter);
  for (ReviewComment& comment : review.comments()) {
    const bool theirs = std::ranges::any_of(
        comment.students, [&](const std::string& one) { return students.contains(one); });
    if (comment.part == part && theirs) view.comments.push_back(std::move(comment));
  }
  for (GivenPoints& given : review.points()) {
    if (given.row.part == part && students.contains(given.row.student)) {
      view.points.push_back(std::move(given));
    }
  }
  for (FreeText& text : free_texts(store, course)) {
    if (text.part == part && text.student == lead.student.key) view.texts.push_back(text);
  }
  if (!grading.empty()) add_evidence(view, store, grading);
  if (view.grading) add_marks(view, store, course, reviewed, grading);
  if (outcome != nullptr) {
    view.places = places_of(view, summary_of(reviewed.results, part), lead, *outcome);
  }
  for (ReviewLogEntry& entry : review.log({.student = lead.student.key}, kMostLogged)) {
    if (entry.part == part || entry.part == kEveryPart) view.log.push_back(std::move(entry));
  }
  return view;
}

std::string objection_to_points(const PointsPlace& place, double points) {
  if (!place.most) return {};
  const double sum = place.score + points;
  if (points > 0 && sum > *place.most) {
    return fmt::format(
        "{} points beside {} of {} make {}, more than there are; write at most {}, or tick that it "
        "is on purpose and keep it once more",
        signed_points(points), format_points(place.score), format_points(*place.most),
        format_points(sum), signed_points(std::max(0.0, *place.most - place.score)));
  }
  if (points < 0 && sum < 0) {
    return fmt::format(
        "{} points beside {} make less than 0; write {} at least, or tick that it is on purpose "
        "and "
        "keep it once more",
        signed_points(points), format_points(place.score), signed_points(-place.score));
  }
  return {};
}

std::string revisions_of(const std::vector<GivenPoints>& points, const ReviewedClass& reviewed,
                         const ReviewTeam& team, int part, const std::string& item) {
  std::string revisions;
  for (const std::size_t member : team.members) {
    const std::string& student = reviewed.results.students[member].student.key;
    std::int64_t revision = 0;
    for (const GivenPoints& given : points) {
      if (given.row.student == student && given.row.part == part && given.row.item == item) {
        revision = given.revision;
      }
    }
    revisions += fmt::format("{}{}", revisions.empty() ? "" : "-", revision);
  }
  return revisions;
}

PointsTarget points_target(const std::string& revisions, const ReviewedClass& reviewed,
                           const ReviewTeam& team, int part, const std::string& item) {
  PointsTarget target{.revisions = {}, .part = part, .item = item};
  const char* at = revisions.data();
  const char* end = at + revisions.size();
  for (const std::size_t member : team.members) {
    std::int64_t revision = -1;
    const auto read = std::from_chars(at, end, revision);
    if (read.ec != std::errc() || revision < 0) {
      throw FormError("the partners of this submission have changed; look at it and send it again");
    }
    target.revisions[reviewed.results.students[member].student.key] = revision;
    at = read.ptr == end ? end : read.ptr + 1;
  }
  return target;
}

const GivenPoints* points_for(const std::vector<GivenPoints>& points, const std::string& student,
                              int part, const std::string& item) {
  for (const GivenPoints& given : points) {
    if (given.row.student == student && given.row.part == part && given.row.item == item) {
      return given.withdrawn ? nullptr : &given;
    }
  }
  return nullptr;
}

}  // namespace rooflab
