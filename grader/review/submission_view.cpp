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

void add_evidence(SubmissionView& view, Store& store, const PartOutcome& outcome) {
  if (outcome.grading.empty()) return;
  try {
    view.grading = from_evidence(store.evidence(outcome.grading));
    const std::string revealed = store.revealed(outcome.grading);
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

std::vector<PointsPlace> places_of(const SubmissionView& view, const PartOutcome& outcome) {
  std::vector<PointsPlace> places;
  const auto add = [&](PointsPlace place) {
    const bool known = std::ranges::find(places, place.item, &PointsPlace::item) != places.end();
    if (!known && !is_hand_question(view, place.item)) places.push_back(std::move(place));
  };
  for (const TaskLine& task : outcome.tasks) {
    add({.item = task.id,
         .words = task.title.empty() ? task.id : task.id + ": " + task.title,
         .by_grader = format_points(task.score) + " of " + format_points(task.max_score)});
  }
  add({.item = kWholeSubmission, .words = "the submission as a whole"});
  for (const GivenPoints& given : view.points) {
    if (!given.withdrawn) add({.item = given.row.item, .words = given.row.item});
  }
  return places;
}

}  // namespace

SubmissionView look_at_submission(Store& store, const Course& course, const ReviewedClass& reviewed,
                                  const ReviewTeam& team, int part,
                                  const std::filesystem::path& starter) {
  const ReadTransaction look = store.look();
  SubmissionView view{.part = part};
  const StudentOutcome& lead = reviewed.lead(team);
  const std::set<std::string> students = reviewed.students(team);
  ReviewStore review(store);
  if (const auto source = team.sources.find(part); source != team.sources.end()) {
    view.source = source->second;
    view.files = files_of(store, view.source, starter);
  }
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
  if (const PartOutcome* outcome = outcome_of(lead, part)) {
    add_evidence(view, store, *outcome);
    view.places = places_of(view, *outcome);
  }
  for (ReviewLogEntry& entry : review.log(lead.student.key, kMostLogged)) {
    if (entry.part == part) view.log.push_back(std::move(entry));
  }
  return view;
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
