#include <fmt/format.h>

#include <algorithm>

#include "grader/batch/outputs/class_words.h"
#include "grader/report/text.h"
#include "grader/review/requests_page.h"
#include "grader/review/review_frame.h"
#include "grader/review/submission_sections.h"

/// Regrade requests beside the grade that they are about.
namespace rooflab {
namespace {

std::string decided_html(const RegradeRequest& request) {
  if (request.state == RequestState::open) return {};
  std::string html = fmt::format("<p class=\"note\">{} by {} · {}</p>", name_of(request.state),
                                 escape_html(one_line(request.decided_by)),
                                 utc_time(request.decided_at.value_or(0)));
  if (!request.grading.empty()) {
    html += "<p class=\"note\">It was graded again.</p>";
  } else if (request.regrade) {
    html += "<p class=\"note\">The next grader batch grades it again.</p>";
  }
  return html + text_html(request.reason);
}

std::string evidence_link(const SubmissionPage& page, const std::string& task) {
  if (!page.view.grading) return {};
  const auto& tasks = page.view.grading->tasks;
  if (std::ranges::find(tasks, task, &TaskResult::id) == tasks.end()) return {};
  return "<p>" +
         review_link(page.address("submission") + "#" + evidence_id(task),
                     "evidence and hidden cases of " + escape_html(one_line(task))) +
         "</p>";
}

std::string decision_form(const SubmissionPage& page, const RegradeRequest& request,
                          const std::string& form) {
  const bool is_due = request.regrade && request.grading.empty();
  std::string html = review_form("request", page.form_token,
                                 page.hidden({{"request", std::to_string(request.id)},
                                              {"version", std::to_string(request.version)}}));
  html += fmt::format(
      "<label>Reason, which the student reads <textarea name=\"reason\" rows=\"2\" required>\n{}"
      "</textarea></label><label><input type=\"checkbox\" name=\"regrade\" value=\"1\"{}> the next "
      "grader batch grades the submission again</label>"
      "<button name=\"decision\" value=\"granted\">Grant</button>"
      "<button name=\"decision\" value=\"declined\">Decline</button></form>",
      escape_html(page.typed(form, "reason", request.reason)),
      page.typed(form, "regrade", is_due ? "1" : "").empty() ? "" : " checked");
  return html;
}

std::string request_html(const SubmissionPage& page, const StudentOutcome& student,
                         const RegradeRequest& request) {
  const std::string form = request_form(request.id);
  std::string html = fmt::format(
      "<article class=\"comment\" id=\"r{}\"><p><b>{}</b> <span class=\"note\">{} · asked by {} · "
      "{} "
      "· {}</span></p>",
      request.id,
      escape_html(request.task.empty() ? "the part as a whole" : one_line(request.task)),
      name_of(request.state), escape_html(one_line(request.asked_by)), utc_time(request.asked_at),
      score_words(student, request));
  html += "<blockquote>" + text_html(request.why) + "</blockquote>";
  html += evidence_link(page, request.task);
  html += decided_html(request);
  if (page.is_unkept(form)) html += alert_html(page.unkept.message);
  const bool is_open = request.state == RequestState::open || page.is_unkept(form);
  return html + fmt::format("<details{}><summary>{}</summary>{}</details></article>\n",
                            is_open ? " open" : "",
                            request.state == RequestState::open ? "decide" : "decide otherwise",
                            decision_form(page, request, form));
}

std::string new_request_html(const SubmissionPage& page) {
  const PartOutcome* outcome = outcome_of(page.reviewed.lead(page.team), page.view.part);
  std::string options = "<option value=\"\">the part as a whole</option>";
  const std::string chosen = page.typed(kNewRequest, "task", "");
  for (const TaskLine& task : outcome == nullptr ? std::vector<TaskLine>() : outcome->tasks) {
    options += fmt::format("<option value=\"{0}\"{1}>{0}</option>", escape_html(one_line(task.id)),
                           task.id == chosen ? " selected" : "");
  }
  std::string html = fmt::format("<details{}><summary>write down a request</summary>",
                                 page.is_unkept(kNewRequest) ? " open" : "");
  if (page.is_unkept(kNewRequest)) html += alert_html(page.unkept.message);
  return html + review_form("request", page.form_token, page.hidden({})) +
         fmt::format(
             "<label>About <select name=\"task\">{}</select></label><label>Why, in the student's "
             "words <textarea name=\"text\" rows=\"3\" required>\n{}</textarea></label>"
             "<button>Keep</button></form></details>\n",
             options, escape_html(page.typed(kNewRequest, "text", "")));
}

}  // namespace

std::string request_form(std::int64_t id) { return fmt::format("request {}", id); }

std::string evidence_id(const std::string& task) { return "evidence-" + one_line(task); }

std::string requests_section(const SubmissionPage& page) {
  std::string html;
  for (const std::size_t member : page.team.members) {
    const StudentOutcome& student = page.reviewed.results.students[member];
    for (const RegradeRequest& request : student.requests) {
      if (request.part == page.view.part) html += request_html(page, student, request);
    }
  }
  return "<section><h2>Regrade requests</h2>" + html + new_request_html(page) + "</section>\n";
}

}  // namespace rooflab
