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

std::string cases_html(const TaskResult& task) {
  std::string items;
  for (const CaseResult& one : task.cases) {
    items += fmt::format("<li>{} {}{}</li>", verdict_mark(one.verdict),
                         escape_html(shorten(one_line(one.name), 120)),
                         one.hidden ? " <b class=\"hidden\">hidden</b>" : "");
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

std::string task_html(const TaskResult& task, const std::vector<RevealedCase>& hidden) {
  const bool is_open = task.verdict != Verdict::pass && task.verdict != Verdict::not_implemented;
  std::string html = fmt::format(
      "<details id=\"{}\"{}><summary>{} <b>{}</b> {} <span class=\"note\">{}, {} of {}</span>"
      "</summary>",
      escape_html(evidence_id(task.id)), is_open ? " open" : "", verdict_mark(task.verdict),
      escape_html(one_line(task.id)), escape_html(one_line(task.title)),
      escape_html(outcome_words(task)), format_points(task.score), format_points(task.max_score));
  if (!task.for_people.empty()) {
    html += "<div class=\"people\"><h4>Notes for people</h4><ul>" +
            lines_html(task.for_people, "<li>", "</li>") + "</ul></div>";
  }
  for (const Diagnostic& story : task.diagnostics) html += story_html(story);
  html += cases_html(task);
  for (const RevealedCase& one : hidden) {
    if (one.task == task.id) html += revealed_html(one);
  }
  const std::string hints = format_hints(task);
  if (!hints.empty()) html += "<p class=\"note\">" + escape_html(hints) + "</p>";
  return html + printed_html(task.printed) + "</details>\n";
}

}  // namespace

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
  for (const TaskResult& task : page.view.grading->tasks) {
    html += task_html(task, page.view.hidden);
  }
  return html + "</section>\n";
}

}  // namespace rooflab
