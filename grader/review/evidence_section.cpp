#include <fmt/format.h>

#include "grader/report/text.h"
#include "grader/review/class_list_page.h"
#include "grader/review/review_frame.h"
#include "grader/review/submission_sections.h"

/// What the grader found out, hidden cases included.
namespace rooflab {
namespace {

constexpr std::size_t kMostPrinted = 4000;

std::string lines_html(const std::vector<std::string>& lines, const char* before,
                       const char* behind) {
  std::string html;
  for (const std::string& line : lines) {
    html += before + escape_html(shorten(one_line(line), 600)) + behind;
  }
  return html;
}

std::string printed_html(const std::string& printed) {
  if (printed.empty()) return {};
  return "<details><summary>what its code printed</summary><pre tabindex=\"0\">" +
         escape_html(shorten(printed, kMostPrinted)) + "</pre></details>";
}

std::string cases_html(const TaskResult& task, const HeldOfTask& held) {
  std::string items;
  for (const CaseResult& one : task.cases) {
    items += fmt::format("<li>{} {}{}{}</li>", verdict_mark(one.verdict),
                         escape_html(shorten(one_line(one.name), 120)),
                         one.hidden ? " <b class=\"hidden\">hidden</b>" : "",
                         held_mark(held.hides(one)));
  }
  for (const Timing& timing : task.timings) {
    if (!held.is_whole && !held.timings.contains(timing.name)) continue;
    items += fmt::format("<li>the time of {}{}</li>",
                         escape_html(shorten(one_line(timing.name), 120)), held_mark(true));
  }
  return items.empty() ? "" : "<ul class=\"cases\">" + items + "</ul>";
}

std::string revealed_html(const RevealedCase& one) {
  std::string html = fmt::format(
      "<div class=\"revealed\"><h4><b class=\"hidden\">hidden</b> {} {} <span class=\"note\">{}"
      "</span></h4><p class=\"note\">Students are not told what stands here.</p>",
      verdict_mark(one.verdict), escape_html(one_line(one.name)),
      escape_html(shorten(one_line(one.parameters), 300)));
  for (const Diagnostic& story : one.diagnostics) html += story_html(story);
  return html + printed_html(one.printed) + "</div>";
}

/// What would have been right, beside what was answered.
std::string right_html(const TaskResult& task, const RightAnswers& right) {
  std::string rows;
  for (const AnswerResult& answer : task.answers) {
    const auto value = right.values.find(answer.question);
    if (value == right.values.end()) continue;
    const auto* letter = std::get_if<std::string>(&value->second);
    rows += fmt::format(
        "<tr><th scope=\"row\" class=\"text\">{} {}</th><td data-name=\"answered\">{}</td><td "
        "data-name=\"right\"><b>{}</b></td></tr>\n",
        verdict_mark(answer.verdict), escape_html(one_line(answer.question)),
        answer.given.empty() ? "–" : escape_html(shorten(one_line(answer.given), 200)),
        letter != nullptr ? escape_html(*letter) : fmt::format("{:.6g}", number_in(value->second)));
  }
  return fmt::format(
      "<div class=\"people\"><h4>Right answers</h4><p class=\"note\">With {}. Students are not "
      "told them.</p><table class=\"points\"><thead><tr><th scope=\"col\">question</th><th "
      "scope=\"col\">answered</th><th scope=\"col\">right</th></tr></thead><tbody>\n{}</tbody>"
      "</table></div>",
      right.student.empty() ? "the page's own numbers"
                            : "the numbers of <bdi>" + escape_html(right.student) + "</bdi>",
      rows);
}

std::string task_html(const TaskResult& task, const SubmissionView& view) {
  const HeldOfTask held = view.held_of(task.id);
  const bool is_open = task.verdict != Verdict::pass && task.verdict != Verdict::not_implemented;
  std::string html = fmt::format(
      "<details id=\"{}\"{}><summary>{} <b>{}</b> {} <span class=\"note\">{}, {} of {}</span>{}"
      "</summary>",
      escape_html(evidence_id(task.id)), is_open ? " open" : "", verdict_mark(task.verdict),
      escape_html(one_line(task.id)), escape_html(one_line(task.title)),
      escape_html(outcome_words(task)), format_points(task.score), format_points(task.max_score),
      held_mark(held.is_whole));
  if (!task.for_people.empty()) {
    html += "<div class=\"people\"><h4>Notes for people</h4><ul>" +
            lines_html(task.for_people, "<li>", "</li>") + "</ul></div>";
  }
  if (const auto right = view.right.find(task.id); right != view.right.end()) {
    html += right_html(task, right->second);
  }
  for (const Diagnostic& story : task.diagnostics) {
    if (held.hides(story)) html += "<p>" + held_mark(true) + "</p>";
    html += story_html(story);
  }
  html += cases_html(task, held);
  for (const RevealedCase& one : view.hidden) {
    if (one.task == task.id) html += revealed_html(one);
  }
  const std::string hints = format_hints(task);
  if (!hints.empty()) html += "<p class=\"note\">" + escape_html(hints) + "</p>";
  return html + printed_html(task.printed) + "</details>\n";
}

}  // namespace

std::string held_mark(bool is_held) { return is_held ? " <b class=\"hidden\">held back</b>" : ""; }

std::string story_html(const Diagnostic& story) {
  std::string html =
      fmt::format("<div class=\"story\"><p><b class=\"code\">{}</b> {}</p>",
                  escape_html(story.code.text()), escape_html(one_line(story.message)));
  std::string where = one_line(story.file);
  if (story.line > 0) where += fmt::format(":{}", story.line);
  if (!story.context.empty()) where += (where.empty() ? "" : " · ") + one_line(story.context);
  if (!where.empty()) html += "<p class=\"place\">" + escape_html(shorten(where, 300)) + "</p>";
  for (const Label& label : story.labels) {
    html += fmt::format("<p class=\"place\">{}:{}: {}</p>", escape_html(one_line(label.file)),
                        label.line, escape_html(shorten(one_line(label.text), 300)));
  }
  if (!story.evidence.empty()) {
    html += "<pre tabindex=\"0\">" + lines_html(story.evidence, "", "\n") + "</pre>";
  }
  if (!story.pattern.empty()) {
    html +=
        "<pre class=\"pattern\" tabindex=\"0\">" + lines_html(story.pattern, "", "\n") + "</pre>";
  }
  html += lines_html(story.notes, "<p class=\"note\">", "</p>");
  if (!story.help.empty()) {
    html += "<p class=\"help\">" + escape_html(one_line(story.help)) + "</p>";
  }
  return html + "</div>";
}

std::string evidence_section(const SubmissionPage& page) {
  if (!page.view.grading) return {};
  std::string html = "<section><h2>Evidence</h2>\n";
  if (!page.view.held.empty()) {
    html += fmt::format(
        "<p class=\"note\">Students do not see what is marked <b class=\"hidden\">held back</b> "
        "before {}: neither it nor its points.</p>\n",
        page.reviewed.held_until.at(page.view.part));
  }
  for (const TaskResult& task : page.view.grading->tasks) html += task_html(task, page.view);
  return html + "</section>\n";
}

}  // namespace rooflab
