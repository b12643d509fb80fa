#include "grader/review/review_app.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "grader/batch/batch_folder.h"
#include "grader/batch/outputs/class_words.h"
#include "grader/batch/regrade_requests.h"
#include "grader/report/text.h"
#include "grader/review/access.h"
#include "grader/review/analysis_view.h"
#include "grader/review/class_list_page.h"
#include "grader/review/form_values.h"
#include "grader/review/history_page.h"
#include "grader/review/requests_page.h"
#include "grader/review/review_frame.h"
#include "grader/review/review_script.h"
#include "grader/review/review_style.h"
#include "grader/review/submission_sections.h"
#include "grader/review/submission_view.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

constexpr std::size_t kMostOfHistory = 500;

}  // namespace

ReviewApp::ReviewApp(ReviewSettings settings, const Course& course)
    : settings_(std::move(settings)),
      course_(course),
      store_(settings_.database),
      review_(store_),
      requests_(store_),
      choices_(store_),
      secret_(random_token()) {}

ReviewResponse ReviewApp::answer(const ReviewRequest& request, const std::string& form_token) {
  const std::scoped_lock lock(mutex_);
  try {
    return request.writes ? write(request, form_token) : page(request, form_token);
  } catch (const NotFound& error) {
    return review_message(404, "Not found", error.what());
  } catch (const FormError& error) {
    return review_message(400, "Not kept", error.what());
  } catch (const std::exception& error) {
    return review_message(500, "This failed", sanitize(error.what()));
  }
}

ReviewResponse ReviewApp::page(const ReviewRequest& request, const std::string& form_token) {
  if (request.page.empty()) return class_list(request);
  if (request.page == "review.css") return {.body = review_style(), .type = "text/css"};
  if (request.page == "review.js") return {.body = kReviewScript, .type = "text/javascript"};
  if (request.page == "submission") return submission(request.query, {}, form_token);
  if (request.page == "questions") return questions();
  if (request.page == "question") return question(request.query, {}, form_token);
  if (request.page == "requests") return {.body = requests_page(reviewed())};
  if (request.page == "history") return history(request.query);
  if (request.page == "analysis") return analysis(request.query, "", form_token);
  if (request.page == "outputs") return outputs_form(form_token);
  throw NotFound("there is no such page; go back to the class");
}

ReviewResponse ReviewApp::write(const ReviewRequest& request, const std::string& form_token) {
  if (request.page == "comment") return write_comment(request.form, form_token);
  if (request.page == "choice") return write_choice(request.form, form_token);
  if (request.page == "points") return write_points(request.form, form_token);
  if (request.page == "request") return write_request(request.form, form_token);
  if (request.page == "answer") return write_answer(request.form, form_token);
  if (request.page == "rubric") return write_rubric(request.form, form_token);
  if (request.page == "examples") return write_examples(request.form, form_token);
  if (request.page == "outputs") return write_outputs();
  throw NotFound("there is nothing to be written here; go back to the class");
}

ReviewApp::Target ReviewApp::target_of(const ReviewedClass& reviewed,
                                       const ReviewFields& fields) const {
  const ReviewTeam* team = reviewed.team(value_of(fields, "student"));
  if (team == nullptr) {
    throw NotFound(
        "this address leads to nobody of the class: it comes from a grader review that was "
        "started before this one; go back to the class");
  }
  return {.team = *team, .part = part_of(fields)};
}

int ReviewApp::part_of(const ReviewFields& fields) const {
  const auto part = number_of<int>(value_of(fields, "part"));
  if (!part && has(fields, "part")) throw NotFound("there is no such part; go back to the class");
  const int number = part.value_or(course_.parts.front().number);
  if (std::ranges::find(course_.parts, number, &PartSpec::number) == course_.parts.end()) {
    throw NotFound("this batch grades no such part; go back to the class");
  }
  return number;
}

std::optional<std::pair<int, std::string>> ReviewApp::attempt(const std::function<void()>& write) {
  try {
    write();
    return std::nullopt;
  } catch (const LostUpdate& error) {
    return std::pair(409, sanitize(error.what()));
  } catch (const FormError& error) {
    return std::pair(400, sanitize(error.what()));
  } catch (const DatabaseError& error) {
    return std::pair(503, sanitize(error.what()));
  } catch (const FileError& error) {
    return std::pair(503, sanitize(error.what()));
  }
}

ReviewResponse ReviewApp::class_list(const ReviewRequest& request) {
  const ReviewedClass seen = reviewed();
  ClassList list{.choice = team_choice_of(request.query),
                 .part = number_of<int>(value_of(request.query, "part")),
                 .batch = batch_at_work()};
  const bool known =
      list.part && std::ranges::find(seen.results.parts, *list.part, &PartSummary::number) !=
                       seen.results.parts.end();
  if (!known) list.part.reset();
  return {.body = class_list_page(seen, list)};
}

ReviewResponse ReviewApp::history(const ReviewFields& fields) {
  const LogChoice choice{.student = {},
                         .by = value_of(fields, "by"),
                         .what = value_of(fields, "what"),
                         .words = value_of(fields, "q")};
  return {.body = history_page(reviewed(), choice, review_.log_choices(),
                               review_.log(choice, kMostOfHistory))};
}

ReviewResponse ReviewApp::analysis(const ReviewFields& fields, const std::string& message,
                                   const std::string& form_token) {
  const ReviewedClass seen = reviewed();
  const AnalysisView& view =
      analyses_.look(store_, course_, seen, part_of(fields), settings_.handouts);
  return {.body = analysis_page(seen, view, settings_.code_titles, message, form_token)};
}

ReviewResponse ReviewApp::write_examples(const ReviewFields& form, const std::string& form_token) {
  const int part = part_of(form);
  std::set<std::string> ids;
  const auto [first, last] = form.equal_range("example");
  for (auto one = first; one != last; ++one) ids.insert(one->second);
  const auto chosen =
      chosen_examples(analyses_.look(store_, course_, reviewed(), part, settings_.handouts), ids);
  const std::filesystem::path file =
      settings_.database.parent_path() / fmt::format("examples-part{}.html", part);
  std::string message = "Nothing was written: choose an example first.";
  const auto failed = attempt([&] {
    if (chosen.empty()) throw FormError(message);
    write_file_atomically(file, examples_page(fmt::format("Part {}: what many stumbled over", part),
                                              chosen, settings_.code_titles));
    message = fmt::format(
        "{} written to {}. Read it before you show it.",
        chosen.size() == 1 ? "1 example is" : fmt::format("{} examples are", chosen.size()),
        file.string());
  });
  ReviewResponse answer = analysis(form, failed ? failed->second : message, form_token);
  if (failed) answer.status = failed->first;
  return answer;
}

ReviewResponse ReviewApp::outputs_form(const std::string& form_token) const {
  return {.body = review_page(
              "Gradebooks and feedback",
              "<h1>Gradebooks and feedback</h1>\n" + batch_html(batch_at_work()) +
                  "<p>What was written here stands in the batch's "
                  "database. Gradebooks, grades.csv, feedback pages and the other outputs are made "
                  "from it now, or by the next grader batch.</p>\n" +
                  review_form("outputs", form_token, {}) +
                  "<button>Write all outputs now</button></form>\n")};
}

ReviewResponse ReviewApp::write_outputs() {
  std::string items;
  for (const std::string& line : settings_.write_outputs()) {
    items += "<li>" + escape_html(one_line(line)) + "</li>";
  }
  return {.body = review_page("Gradebooks and feedback",
                              "<h1>Gradebooks and feedback</h1>\n<p role=\"status\">All outputs "
                              "are written.</p>\n<ul>" +
                                  items + "</ul>\n")};
}

SubmissionView ReviewApp::look_at(const ReviewedClass& reviewed, const Target& target,
                                  const ReviewFields& fields) {
  return look_at_submission(store_, course_, reviewed, target.team, target.part,
                            value_of(fields, "candidate"), settings_.starter);
}

ReviewResponse ReviewApp::submission(const ReviewFields& fields, const UnkeptForm& unkept,
                                     const std::string& form_token) {
  const ReviewedClass seen = reviewed();
  const Target target = target_of(seen, fields);
  const SubmissionView view = look_at(seen, target, fields);
  const SubmissionFocus focus{
      .file = value_of(fields, "file"),
      .line = number_of<std::uint32_t>(value_of(fields, "line")).value_or(0),
      .comment = number_of<std::int64_t>(value_of(fields, "comment")).value_or(0),
      .candidate = view.shown,
      .choice = team_choice_of(fields)};
  return {.body = submission_page(seen, target.team, view, focus, unkept, form_token)};
}

namespace {

std::string submission_address(const ReviewFields& form, const std::string& anchor) {
  const AddressFields fields = submission_fields(value_of(form, "student"), value_of(form, "part"),
                                                 team_choice_of(form), value_of(form, "candidate"));
  return review_address("submission", fields) + anchor;
}

}  // namespace

ReviewResponse ReviewApp::write_comment(const ReviewFields& form, const std::string& form_token) {
  const ReviewedClass seen = reviewed();
  const Target target = target_of(seen, form);
  const std::string old = value_of(form, "comment");
  std::int64_t id = 0;
  const auto failed = attempt([&] {
    if (!old.empty()) {
      id = number_of_form(form, "comment");
      const std::int64_t version = number_of_form(form, "version");
      if (has(form, "remove")) {
        review_.remove_comment(id, version, act());
      } else {
        review_.change_comment(id, version, required(form, "text", "the comment is empty"), act());
      }
      return;
    }
    ReviewComment comment{.students = seen.students(target.team),
                          .part = target.part,
                          .source = value_of(form, "source"),
                          .path = value_of(form, "file")};
    comment.text = required(form, "text", "the comment is empty; write something");
    const std::int64_t line = number_of_form(form, "line");
    const SourceFiles files = store_.source(comment.source);
    if (comment.path.empty()) {
      const auto now = target.team.sources.find(target.part);
      comment.source = now == target.team.sources.end() ? "" : now->second;
    } else if (!files.contains(comment.path)) {
      throw FormError("there is no such file in the submission; load the page again");
    }
    if (line < 0 || line > std::numeric_limits<std::int32_t>::max()) {
      throw FormError("there is no such line; load the page again");
    }
    comment.line = static_cast<std::uint32_t>(line);
    id = review_.add_comment(comment, act());
  });
  if (!failed) {
    return {.location =
                submission_address(form, has(form, "remove") ? "" : fmt::format("#c{}", id))};
  }
  const std::string name =
      old.empty() ? fmt::format("new comment {}:{}", value_of(form, "file"), value_of(form, "line"))
                  : "comment " + old;
  ReviewResponse answer =
      submission(form, {.form = name, .message = failed->second, .typed = form}, form_token);
  answer.status = failed->first;
  return answer;
}

ReviewResponse ReviewApp::write_choice(const ReviewFields& form, const std::string& form_token) {
  const ReviewedClass seen = reviewed();
  const Target target = target_of(seen, form);
  const std::string id = value_of(form, "submission");
  const auto failed = attempt([&] {
    const auto chosen = std::ranges::find(target.team.candidates, id, &TeamCandidate::id);
    if (chosen == target.team.candidates.end()) {
      throw FormError("this is no submission to choose from; load the page again");
    }
    choices_.choose(chosen->rows, number_of_form(form, "version"), act());
  });
  if (!failed) {
    ReviewFields there = form;
    there.erase("candidate");
    return {.location = submission_address(there, "#choice")};
  }
  ReviewResponse answer =
      submission(form, {.form = kChoiceForm, .message = failed->second, .typed = form}, form_token);
  answer.status = failed->first;
  return answer;
}

ReviewResponse ReviewApp::write_points(const ReviewFields& form, const std::string& form_token) {
  const ReviewedClass seen = reviewed();
  const Target target = target_of(seen, form);
  const std::string item = value_of(form, "item");
  const auto failed = attempt([&] {
    const SubmissionView view = look_at(seen, target, form);
    const auto place = std::ranges::find(view.places, item, &PointsPlace::item);
    if (place == view.places.end()) {
      throw FormError("no points are given for that here; load the page again");
    }
    const PointsTarget points =
        points_target(value_of(form, "revisions"), seen, target.team, target.part, item);
    if (has(form, "withdraw")) {
      review_.withdraw_points(points, act());
      return;
    }
    const std::string reason =
        required(form, "reason", "say why: the student reads the reason with the points");
    const double given = points_of_form(value_of(form, "points"));
    const std::string objection = objection_to_points(*place, given);
    if (!objection.empty() && !has(form, "beyond")) throw FormError(objection);
    review_.give_points(points, given, std::nullopt, reason, act());
  });
  if (!failed) return {.location = submission_address(form, "")};
  ReviewResponse answer = submission(
      form, {.form = "points " + item, .message = failed->second, .typed = form}, form_token);
  answer.status = failed->first;
  return answer;
}

namespace {

RequestDecision decision_of(const ReviewFields& form) {
  const std::string decision = value_of(form, "decision");
  if (decision != "granted" && decision != "declined") {
    throw FormError("the form does not say whether the request is granted; load the page again");
  }
  const bool granted = decision == "granted";
  if (!granted && has(form, "regrade")) {
    throw FormError("a request that is declined is not graded again; grant it, or clear that box");
  }
  return {.state = granted ? RequestState::granted : RequestState::declined,
          .reason = required(form, "reason", "say why: the student reads the reason"),
          .regrade = granted && has(form, "regrade")};
}

RegradeRequest new_request(const ReviewFields& form, const PartSpec& part,
                           const StudentOutcome& student) {
  RegradeRequest request{.student = student.student.key,
                         .part = part.number,
                         .task = value_of(form, "task"),
                         .why = text_of_form(value_of(form, "text"))};
  try {
    check_request_words(part, request.task, request.why, "the request");
  } catch (const BatchError& error) {
    throw FormError(error.what());
  }
  if (const PartOutcome* outcome = outcome_of(student, part.number)) {
    request.old_score = score_of(*outcome);
  }
  return request;
}

}  // namespace

ReviewResponse ReviewApp::write_request(const ReviewFields& form, const std::string& form_token) {
  const ReviewedClass seen = reviewed();
  const Target target = target_of(seen, form);
  const StudentOutcome& lead = seen.lead(target.team);
  const bool is_new = !has(form, "request");
  const auto failed = attempt([&] {
    if (is_new) {
      const auto part = std::ranges::find(course_.parts, target.part, &PartSpec::number);
      if (requests_.add(new_request(form, *part, lead), act())) return;
      throw FormError("the same was asked before; see above");
    }
    requests_.decide(number_of_form(form, "request"), number_of_form(form, "version"),
                     decision_of(form), act());
  });
  const std::string id = value_of(form, "request");
  if (!failed) return {.location = submission_address(form, is_new ? "" : "#r" + id)};
  const std::string name = is_new ? kNewRequest : "request " + id;
  ReviewResponse answer =
      submission(form, {.form = name, .message = failed->second, .typed = form}, form_token);
  answer.status = failed->first;
  return answer;
}

}  // namespace rooflab
