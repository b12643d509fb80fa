#include "grader/review/question_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/report/text.h"
#include "grader/review/review_frame.h"

namespace rooflab {
namespace {

std::string state_of(const ReviewedAnswer& answer) {
  if (answer.text.to_come) return "is being graded";
  if (answer.text.is_strangers && answer.text.waits) return "not on the roster, waits";
  if (answer.text.is_new && answer.given) {
    return fmt::format("waits again, {} points were for an earlier text",
                       format_points(answer.given->row.points));
  }
  if (answer.text.waits) return "waits";
  if (answer.given) return format_points(answer.given->row.points) + " points";
  return "nothing to grade";
}

/// "3 of 12 answers (and 1 of nobody on the roster)".
std::string queue_words(const QuestionView& view) {
  const std::size_t strangers = view.strangers();
  return fmt::format(
      "{} of {} answers{}", view.waiting(), view.answers.size() - strangers,
      strangers == 0 ? "" : fmt::format(" (and {} of nobody on the roster)", strangers));
}

/// Writes one page.
class Page {
 public:
  Page(const ReviewedClass& reviewed, const QuestionView& view, const QuestionFocus& focus,
       const UnkeptForm& unkept, const std::string& form_token)
      : reviewed_(reviewed),
        view_(view),
        anonymous_(focus.anonymous),
        unkept_(unkept),
        form_token_(form_token) {
    const auto is_focus = [&](const ReviewedAnswer& one) { return one.team->id == focus.student; };
    auto found = std::ranges::find_if(view.answers, is_focus);
    if (found == view.answers.end()) {
      found = std::ranges::find_if(view.answers, &ReviewedAnswer::waits_in_queue);
    }
    here_ =
        found == view.answers.end() ? 0 : static_cast<std::size_t>(found - view.answers.begin());
  }

  std::string html() const {
    std::string more;
    if (!anonymous_) {
      more = review_link(review_address("submission", {{"student", answer().team->id},
                                                       {"part", std::to_string(view_.part)}}),
                         "the whole submission");
    }
    return fmt::format(
               "<h1>{}</h1>\n<p class=\"note\">Part {}, up to {} points · {} wait for "
               "points</p>\n",
               escape_html(one_line(view_.item)), view_.part, format_points(view_.max_points),
               queue_words(view_)) +
           (view_.prompt.empty() ? "" : "<p>" + escape_html(view_.prompt) + "</p>\n") +
           homeless_html(unkept_, has_form()) + navigation() +
           fmt::format(
               "<section><h2><bdi>{}</bdi></h2><blockquote class=\"answer\">{}"
               "</blockquote>{}\n{}</section>\n",
               escape_html(name(here_)), text_html(answer().text.answer), more, grade_form()) +
           rubric_html() + list_html();
  }

 private:
  const ReviewedAnswer& answer() const { return view_.answers[here_]; }

  std::string name(std::size_t index) const {
    return anonymous_ ? fmt::format("Answer {}", index + 1)
                      : reviewed_.names(*view_.answers[index].team);
  }

  std::string address(const std::string& student, bool anonymous) const {
    return review_address("question", {{"part", std::to_string(view_.part)},
                                       {"item", view_.item},
                                       {"student", student},
                                       {"anonymous", anonymous ? "1" : ""}});
  }

  std::string navigation() const {
    std::string links;
    const auto add = [&](const std::string& student, const char* words, const char* key) {
      links += review_link(address(student, anonymous_), words,
                           *key == '\0' ? "" : fmt::format("data-key=\"{}\"", key));
    };
    if (here_ > 0) add(view_.answers[here_ - 1].team->id, "← previous", "[");
    if (here_ + 1 < view_.answers.size()) add(view_.answers[here_ + 1].team->id, "next →", "]");
    const std::string waiting = next_waiting(view_, answer().team->id);
    if (!waiting.empty()) add(waiting, "next that waits", "w");
    links += review_link(address(answer().team->id, !anonymous_),
                         anonymous_ ? "show names" : "hide names");
    return "<nav class=\"tabs\" aria-label=\"Answers\">" + links + "</nav>\n";
  }

  std::vector<std::pair<std::string, std::string>> hidden() const {
    return {{"part", std::to_string(view_.part)},
            {"item", view_.item},
            {"student", answer().team->id},
            {"anonymous", anonymous_ ? "1" : ""}};
  }

  bool is_unkept(const std::string& form) const {
    return !unkept_.form.empty() && unkept_.form == form;
  }

  std::string typed(const std::string& form, const char* field,
                    const std::string& otherwise) const {
    return is_unkept(form) ? value_of(unkept_.typed, field) : otherwise;
  }

  bool is_chosen(const RubricLine& line) const {
    if (!is_unkept("answer")) return answer().grade && answer().grade->chosen.contains(line.id);
    const auto [first, last] = unkept_.typed.equal_range("rubric");
    return std::any_of(first, last,
                       [&](const auto& one) { return one.second == std::to_string(line.id); });
  }

  bool has_form() const {
    return is_unkept("answer") || is_unkept("rubric") ||
           std::ranges::any_of(view_.rubric, [&](const RubricLine& line) {
             return is_unkept(fmt::format("rubric {}", line.id));
           });
  }

  std::string choices_html() const {
    std::string html;
    for (std::size_t i = 0; i < view_.rubric.size(); ++i) {
      const RubricLine& line = view_.rubric[i];
      const std::string key =
          i < kMostKeys ? fmt::format(" data-key=\"{0}\" aria-keyshortcuts=\"{0}\"", i + 1) : "";
      html += fmt::format(
          "<label class=\"choice\"><input type=\"checkbox\" name=\"rubric\" value=\"{}\"{}{}> "
          "{}<b class=\"{}\">{}</b> <bdi>{}</bdi></label>",
          line.id, is_chosen(line) ? " checked" : "", key,
          i < kMostKeys ? fmt::format("<kbd>{}</kbd> ", i + 1) : "",
          line.points < 0 ? "minus" : "plus", signed_points(line.points), escape_html(line.text));
    }
    if (html.empty()) html = "<p class=\"note\">There is no rubric yet: add its items below.</p>";
    return "<fieldset><legend>Rubric</legend>" + html + "</fieldset>";
  }

  /// Points that a file or another form gave.
  std::string otherwise_html() const {
    if (!answer().given || answer().grade) return {};
    const ManualRow& row = answer().given->row;
    return fmt::format(
        "<p class=\"conflict\">{} gave {} points without the rubric{}{}. What is kept here takes "
        "their place.</p>",
        row.by.empty() ? "Somebody" : escape_html(one_line(row.by)), format_points(row.points),
        row.comment.empty() ? "" : ": ", escape_html(one_line(row.comment)));
  }

  std::string grade_form() const {
    if (answer().text.to_come) return "<p class=\"note\">This submission is being graded.</p>";
    std::string html = is_unkept("answer") ? alert_html(unkept_.message) : otherwise_html();
    auto fields = hidden();
    fields.emplace_back("revisions", answer().revisions);
    fields.emplace_back("grading", answer().text.grading);
    fields.emplace_back("rubric_versions", text_of(versions_of(view_.rubric)));
    const auto& grade = answer().grade;
    const std::string adjustment =
        typed("answer", "adjustment",
              grade && grade->adjustment != 0 ? signed_points(grade->adjustment) : std::string());
    html += review_form("answer", form_token_, fields, "class=\"grade\"") + choices_html();
    html += fmt::format(
        "<label>Points beside the rubric, as +1 or -0.5 <input name=\"adjustment\" size=\"6\" "
        "value=\"{}\"></label><label>Comment, which the student reads <textarea name=\"comment\" "
        "rows=\"2\">\n{}</textarea></label>"
        "<button name=\"go\" value=\"next\" aria-keyshortcuts=\"Control+Enter\">Keep, then the "
        "next that waits"
        "</button><button name=\"go\" value=\"stay\">Keep</button>",
        escape_html(adjustment),
        escape_html(typed("answer", "comment", grade ? grade->comment : std::string())));
    if (answer().given) html += "<button name=\"withdraw\" value=\"1\">Take back</button>";
    html += "</form>\n";
    if (answer().given) {
      html +=
          fmt::format("<p class=\"note\" role=\"status\">{} of {} points, by {}</p>",
                      format_points(answer().given->row.points), format_points(view_.max_points),
                      escape_html(one_line(answer().given->row.by)));
    }
    return html;
  }

  std::string rubric_form(const RubricLine* line) const {
    const std::string form = line == nullptr ? "rubric" : fmt::format("rubric {}", line->id);
    auto fields = hidden();
    if (line != nullptr) {
      fields.emplace_back("rubric", std::to_string(line->id));
      fields.emplace_back("version", std::to_string(line->version));
    }
    std::string html = is_unkept(form) ? alert_html(unkept_.message) : "";
    html += review_form("rubric", form_token_, fields, "class=\"line\"");
    html += fmt::format(
        "<label>Points <input name=\"points\" size=\"5\" required value=\"{}\"></label>"
        "<label>{} <input name=\"text\" size=\"40\" required value=\"{}\"></label>"
        "<button>{}</button>",
        escape_html(
            typed(form, "points", line == nullptr ? std::string() : signed_points(line->points))),
        line == nullptr ? "New item" : fmt::format("Item, which {} have", view_.with(line->id)),
        escape_html(typed(form, "text", line == nullptr ? std::string() : line->text)),
        line == nullptr ? "Add" : "Keep");
    if (line != nullptr) {
      html += "<button name=\"remove\" value=\"1\" formnovalidate>Remove</button>";
    }
    return html + "</form>\n";
  }

  std::string rubric_html() const {
    const bool is_open = unkept_.form.starts_with("rubric") || view_.rubric.empty();
    std::string forms;
    for (const RubricLine& line : view_.rubric) forms += rubric_form(&line);
    return fmt::format(
               "<details class=\"rubric\"{}><summary>Change the rubric</summary><p class=\"note\">"
               "A change counts for everybody who has the item: their points are added up anew."
               "</p>\n",
               is_open ? " open" : "") +
           forms + rubric_form(nullptr) + "</details>\n";
  }

  std::string list_html() const {
    std::string items;
    for (std::size_t i = 0; i < view_.answers.size(); ++i) {
      items += fmt::format("<li>{} <span class=\"note\">{}</span></li>",
                           review_link(address(view_.answers[i].team->id, anonymous_),
                                       "<bdi>" + escape_html(name(i)) + "</bdi>",
                                       i == here_ ? "aria-current=\"true\"" : ""),
                           state_of(view_.answers[i]));
    }
    return "<section><h2>All answers</h2><ol class=\"answers\">" + items + "</ol></section>\n";
  }

  const ReviewedClass& reviewed_;
  const QuestionView& view_;
  bool anonymous_;
  const UnkeptForm& unkept_;
  const std::string& form_token_;
  std::size_t here_ = 0;
};

}  // namespace

std::string next_waiting(const QuestionView& view, const std::string& student) {
  const auto is_here = [&](const ReviewedAnswer& one) { return one.team->id == student; };
  const auto here = std::ranges::find_if(view.answers, is_here) - view.answers.begin();
  const std::ptrdiff_t count = std::ssize(view.answers);
  for (std::ptrdiff_t step = 1; step < count; ++step) {
    const ReviewedAnswer& one = view.answers[static_cast<std::size_t>((here + step) % count)];
    if (one.waits_in_queue()) return one.team->id;
  }
  return {};
}

std::string questions_page(const std::vector<QuestionView>& questions) {
  std::string rows;
  for (const QuestionView& view : questions) {
    const std::vector<std::pair<std::string, std::string>> fields = {
        {"part", std::to_string(view.part)}, {"item", view.item}};
    auto nameless = fields;
    nameless.emplace_back("anonymous", "1");
    rows += fmt::format(
        "<tr><th scope=\"row\" class=\"text\">Part {}, {}</th><td class=\"number\" "
        "data-name=\"waiting\">{}</td><td>{} · {}</td></tr>\n",
        view.part, escape_html(one_line(view.item)), queue_words(view),
        review_link(review_address("question", fields), "grade"),
        review_link(review_address("question", nameless), "grade without names"));
  }
  if (rows.empty()) {
    return review_page("Free text",
                       "<h1>Free text</h1><p>No part that was graded asks for any.</p>\n");
  }
  return review_page("Free text",
                     "<h1>Free text</h1>\n<table class=\"points\"><thead><tr><th "
                     "scope=\"col\">question</th><th scope=\"col\" class=\"number\">waiting</th>"
                     "<th scope=\"col\"><span class=\"unseen\">grade</span></th></tr></thead>"
                     "<tbody>\n" +
                         rows + "</tbody></table>\n");
}

std::string question_page(const ReviewedClass& reviewed, const QuestionView& view,
                          const QuestionFocus& focus, const UnkeptForm& unkept,
                          const std::string& form_token) {
  return review_page(view.item, Page(reviewed, view, focus, unkept, form_token).html());
}

}  // namespace rooflab
