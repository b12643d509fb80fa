#include "grader/batch/outputs/feedback_page.h"

#include <fmt/format.h>

#include "grader/batch/outputs/class_words.h"
#include "grader/batch/outputs/page_style.h"
#include "grader/report/html.h"
#include "grader/report/html_page.h"
#include "grader/report/source_page.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

constexpr std::size_t kLongestFact = 120, kLongestLine = 600;

std::string list_html(const std::vector<std::string>& lines) {
  std::string items;
  for (const std::string& line : lines)
    items += "<li>" + escape_html(shorten(one_line(line), kLongestLine)) + "</li>";
  return "<ul>" + items + "</ul>";
}

const char* words_of(const PartOutcome& outcome) {
  switch (outcome.state) {
    case PartState::graded:
      return outcome.pending.empty() ? "graded" : "answers wait for a person";
    case PartState::not_submitted:
      return "not handed in";
    case PartState::unreadable:
      return "could not be read";
    case PartState::undecided:
      return "two submissions came in";
    case PartState::ungraded:
    case PartState::fault:
      return "not graded yet";
  }
  return "";
}

std::string overview_row(const PartSummary& summary, const PartOutcome& outcome) {
  const auto total = total_of(outcome);
  const auto points = [&](double value) {
    return missing_in(outcome) > Missing::points ? "–" : format_points(value);
  };
  return fmt::format(
      "<tr><th scope=\"row\"><a href=\"#part{0}\">{0}, {1}</a></th><td class=\"state {2}\">{3}</td>"
      "<td class=\"number\">{4}</td><td class=\"number\">{5}</td><td class=\"number\">{6}</td>"
      "<td class=\"number\">{7}</td><td class=\"number\"><b>{8}</b> of {9}</td></tr>\n",
      outcome.part, escape_html(summary.title), state_name(outcome), words_of(outcome),
      points(outcome.score), points(outcome.bonus),
      outcome.keeps < 1 ? format_percent(outcome.keeps) : "in time", format_points(outcome.manual),
      total ? format_points(*total) : "–", format_points(max_total(summary, outcome)));
}

std::string manual_html(const std::vector<ManualPoints>& manual, const PartView& part) {
  const double most = max_manual_of(part.summary, part.outcome);
  if (manual.empty() && most > 0) {
    return fmt::format(
        "<p class=\"note\">Up to {} points are given by hand; none are entered yet.</p>\n",
        format_points(most));
  }
  if (manual.empty()) return {};
  std::string rows;
  for (const ManualPoints& one : manual) {
    const std::string most =
        one.max_points ? fmt::format(" of {}", format_points(*one.max_points)) : std::string();
    rows += fmt::format(
        "<tr><th scope=\"row\" class=\"text\">{}</th><td class=\"number\">{}{}</td><td "
        "class=\"text comment\">{}</td></tr>\n",
        escape_html(shorten(one_line(one.item), kLongestFact)),
        // What is beside any maximum was added, or taken away.
        (one.max_points || one.points <= 0 ? "" : "+") + format_points(one.points), most,
        escape_html(one.comment));
  }
  return html_heading(3, "Points by hand") +
         "<div class=\"wide\"><table><thead><tr><th>for</th><th class=\"number\">points</th>"
         "<th class=\"comment\">comment</th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div>\n";
}

/// The lines that a comment is about; the line itself is marked, and not by colour alone.
std::string excerpt_html(const FileComment& comment) {
  std::string lines;
  for (const auto& [number, text] : comment.excerpt) {
    const bool meant = number == comment.line;
    lines += fmt::format("<span class=\"number\">{} {:>4}</span>  {}{}{}\n", meant ? ">" : " ",
                         number, meant ? "<b>" : "",
                         escape_html(shorten(one_line(text), kLongestLine)), meant ? "</b>" : "");
  }
  return lines.empty() ? "" : "<pre tabindex=\"0\">" + lines + "</pre>";
}

std::string comments_html(const StudentOutcome& student, int part) {
  std::string html;
  for (const FileComment& comment : student.comments) {
    if (comment.part != part) continue;
    std::string where = comment.file.empty() ? "The submission as a whole" : one_line(comment.file);
    if (comment.line > 0) where += fmt::format(":{}", comment.line);
    html += fmt::format(
        "<div class=\"remark\"><p class=\"place\">{}</p>{}<p class=\"said\"><bdi>{}"
        "</bdi></p></div>\n",
        escape_html(where), excerpt_html(comment), escape_html(comment.text));
  }
  return html.empty() ? "" : html_heading(3, "Comments") + html;
}

const char* words_of(RequestState state) {
  switch (state) {
    case RequestState::open:
      return "nobody has decided yet";
    case RequestState::granted:
      return "granted";
    case RequestState::declined:
      return "declined";
  }
  return "";
}

/// What the student asked to be looked at again, with the answer.
std::string requests_html(const StudentOutcome& student, int part) {
  std::string html;
  for (const RegradeRequest& request : student.requests) {
    if (request.part != part) continue;
    html += fmt::format(
        "<div class=\"remark\"><p class=\"place\">{}: <b>{}</b></p><p class=\"said\"><bdi>{}</bdi>"
        "</p>{}</div>\n",
        escape_html(request.task.empty() ? "the part as a whole" : one_line(request.task)),
        words_of(request.state), escape_html(request.why),
        request.reason.empty()
            ? ""
            : "<p class=\"said\">Answer: <bdi>" + escape_html(request.reason) + "</bdi></p>");
  }
  return html.empty() ? "" : html_heading(3, "Regrade requests") + html;
}

std::string checkout_html(const PartOutcome& outcome) {
  const std::string words = checkout_words(outcome);
  return words.empty() ? "" : "<p class=\"note\">" + escape_html(words) + "</p>\n";
}

/// Behind "– of 104 points".
const char* no_total_words(Missing missing) {
  switch (missing) {
    case Missing::nothing:
      return "";
    case Missing::points:
      return " so far: answers wait for a person to give points";
    case Missing::choice:
      return ": your instructor has to choose which of your submissions counts";
    case Missing::grading:
      return ": a part is not graded yet";
    case Missing::fault:
      return ": a part has to be graded again, which is not your fault";
  }
  return "";
}

/// What the grader has no evidence of, from the lines that are kept for tables.
std::string tasks_html(const PartOutcome& outcome) {
  std::string rows;
  for (const TaskLine& task : outcome.tasks) {
    const std::string verdict = name_of(task.verdict);
    rows += fmt::format(
        "<tr><td>{}</td><td><span class=\"verdict {}\">{}</span></td><td "
        "class=\"points\">{}/{}</td></tr>\n",
        escape_html(task.id), verdict, verdict, format_points(task.score),
        format_points(task.max_score));
  }
  const std::string note =
      "<p class=\"note\">The details of this part could not be read; ask your instructor for "
      "them.</p>";
  if (rows.empty()) return note + "\n";
  return note +
         "<div class=\"wide\"><table><thead><tr><th>task</th><th>verdict</th><th>points</th>"
         "</tr></thead><tbody>\n" +
         rows + "</tbody></table></div>\n";
}

}  // namespace

FeedbackPage::FeedbackPage(const ClassResults& results, const StudentOutcome& student,
                           const gpu_spec::GpuSpec& gpu)
    : results_(results), student_(student), gpu_(gpu) {}

std::string FeedbackPage::header() const {
  const auto total = total_of(student_);
  std::string facts = escape_html(shorten(one_line(student_.student.key), kLongestFact));
  const auto add_fact = [&](const std::string& fact) {
    if (!fact.empty()) facts += " · " + escape_html(shorten(one_line(fact), kLongestFact));
  };
  add_fact(student_.submission);
  if (student_.received_at) add_fact("received " + utc_time(*student_.received_at));
  add_fact(results_.graded_at.empty() ? "" : "graded " + results_.graded_at);
  add_fact(results_.device);
  add_fact(results_.time_kind.empty() ? "" : "times are " + results_.time_kind);
  return fmt::format(
      "<header><h1><bdi>{}</bdi></h1>\n<p class=\"score\"><b>{}</b> of {} points{}</p>\n"
      "<p class=\"facts\">{}</p></header>\n",
      escape_html(shorten(display_name(student_.student), kLongestFact)),
      total ? format_points(*total) : "–", format_points(max_total(results_, student_)),
      no_total_words(missing_in(student_)), facts);
}

std::string FeedbackPage::overview() const {
  std::string rows;
  for (const PartOutcome& outcome : student_.parts) {
    rows += overview_row(summary_of(results_, outcome.part), outcome);
  }
  return "<section><h2>Parts</h2><div class=\"wide\"><table "
         "class=\"figures\"><thead><tr><th>part</th>"
         "<th>state</th><th class=\"number\">points</th><th class=\"number\">bonus</th>"
         "<th class=\"number\">counts</th><th class=\"number\">by hand</th>"
         "<th class=\"number\">total</th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div></section>\n";
}

std::string FeedbackPage::problems() const {
  const std::vector<std::string> problems =
      problems_beside(student_, {PartState::undecided, PartState::fault});
  if (problems.empty()) return {};
  return "<section class=\"problems\"><h2>Problems with the submission</h2>" + list_html(problems) +
         "</section>\n";
}

std::string FeedbackPage::notes() const {
  if (student_.notes.empty()) return {};
  return "<section><h2>How the submission was read</h2>" + list_html(student_.notes) +
         "</section>\n";
}

void FeedbackPage::add(const PartView& part) {
  const PartOutcome& outcome = part.outcome;
  std::string body;
  if (part.grading != nullptr) {
    body = to_html_body(*part.grading, gpu_,
                        {.id_prefix = fmt::format("part{}-", outcome.part), .heading_level = 3});
  } else if (outcome.state == PartState::graded) {
    body = tasks_html(outcome);
  }
  parts_ += fmt::format(
      "<section class=\"part\" id=\"part{0}\"><h2>Part {0}, {1}</h2>\n<p>{2}.</p>\n", outcome.part,
      escape_html(part.summary.title), escape_html(part_sentence(part.summary, outcome)));
  parts_ += checkout_html(outcome) + requests_html(student_, outcome.part) +
            manual_html(manual_points_of(student_, outcome.part), part) +
            comments_html(student_, outcome.part) + body + "</section>\n";
}

std::string FeedbackPage::finish() && {
  return html_page("Feedback for " + shorten(display_name(student_.student), kLongestFact),
                   header() + problems() + overview() + notes() + parts_,
                   std::string(kPageStyle) + kSourcePageStyle);
}

}  // namespace rooflab
