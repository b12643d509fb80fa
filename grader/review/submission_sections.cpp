#include "grader/review/submission_sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/batch/outputs/class_words.h"
#include "grader/report/text.h"
#include "grader/review/class_list_page.h"
#include "grader/review/review_frame.h"

namespace rooflab {
namespace {

std::string points_form(const SubmissionPage& page, const PointsPlace& place,
                        const GivenPoints* given) {
  const std::string form = "points " + place.item;
  const std::string revisions =
      revisions_of(page.view.points, page.reviewed, page.team, page.view.part, place.item);
  const std::string points =
      page.typed(form, "points", given == nullptr ? "" : signed_points(given->row.points));
  const std::string reason = page.typed(form, "reason", given == nullptr ? "" : given->row.comment);
  std::string html =
      fmt::format("<details{}><summary>{}</summary>", page.is_unkept(form) ? " open" : "",
                  given == nullptr ? "give or take points" : "change");
  if (page.is_unkept(form)) html += alert_html(page.unkept.message);
  html += review_form("points", page.form_token,
                      page.hidden({{"item", place.item}, {"revisions", revisions}}));
  const bool may_be_meant = page.is_unkept(form) && place.most;
  html += fmt::format(
      "<label>Points, as +2 or -1 <input name=\"points\" inputmode=\"text\" size=\"6\" required "
      "value=\"{}\"></label><label>Reason, which the student reads <textarea name=\"reason\" "
      "rows=\"2\" required>\n{}</textarea></label>{}<button>Keep</button>",
      escape_html(points), escape_html(reason),
      may_be_meant ? "<label><input type=\"checkbox\" name=\"beyond\" value=\"1\"> on purpose: a "
                     "bonus above the maximum, or less than 0</label>"
                   : "");
  if (given != nullptr) {
    html += "<button name=\"withdraw\" value=\"1\" formnovalidate>Take back</button>";
  }
  return html + "</form></details>";
}

std::string points_row(const SubmissionPage& page, const PointsPlace& place) {
  const std::string& student = page.reviewed.lead(page.team).student.key;
  const GivenPoints* given = points_for(page.view.points, student, page.view.part, place.item);
  std::string hand;
  if (given != nullptr) {
    hand = fmt::format("<b class=\"{}\">{}</b> <span class=\"note\">by {}</span>{}",
                       given->row.points < 0 ? "minus" : "plus", signed_points(given->row.points),
                       given->row.by.empty() ? "somebody" : escape_html(one_line(given->row.by)),
                       given->row.comment.empty() ? "" : text_html(given->row.comment));
    if (place.is_before_regrade) {
      hand +=
          "<p><b class=\"hidden\">given before this regrade: check</b> Keep them once more, "
          "change them or take them back.</p>";
    }
  }
  return fmt::format(
      "<tr><th scope=\"row\" class=\"text\">{}</th><td class=\"number\" "
      "data-name=\"grader\">{}</td><td class=\"hand\" data-name=\"by hand\">{}{}"
      "</td></tr>\n",
      escape_html(one_line(place.words)), place.by_grader.empty() ? "–" : place.by_grader, hand,
      points_form(page, place, given));
}

}  // namespace

std::string points_section(const SubmissionPage& page) {
  if (page.view.places.empty()) return {};
  std::string rows;
  for (const PointsPlace& place : page.view.places) rows += points_row(page, place);
  const std::string together =
      page.team.members.size() < 2
          ? ""
          : fmt::format(
                "<p class=\"note\">What is written here is written for all {} partners."
                "</p>\n",
                page.team.members.size());
  return "<section><h2>Points</h2>" + together +
         "<div class=\"wide\"><table class=\"points\"><thead><tr><th scope=\"col\">for</th><th "
         "scope=\"col\" class=\"number\">grader</th><th scope=\"col\">by hand</th></tr></thead>"
         "<tbody>\n" +
         rows + "</tbody></table></div></section>\n";
}

std::string answers_section(const SubmissionPage& page) {
  if (page.view.texts.empty()) return {};
  std::string html = "<section><h2>Answers in free text</h2>\n";
  for (const FreeText& text : page.view.texts) {
    const GivenPoints* given =
        points_for(page.view.points, text.student, page.view.part, text.question.item);
    std::string state = "nothing to grade";
    if (text.waits) state = "waits for points";
    if (text.to_come) state = "is being graded";
    if (given != nullptr) state = fmt::format("{} points", format_points(given->row.points));
    if (given != nullptr && text.is_new) state += " for an earlier text, waits again";
    html += fmt::format(
        "<details><summary><b>{}</b>, {} of {}</summary>{}{}{}<p>{}</p></details>\n",
        escape_html(one_line(text.question.item)), state, format_points(text.question.max_points),
        text.prompt.empty() ? "" : "<p>" + escape_html(text.prompt) + "</p>",
        "<blockquote>" + text_html(text.answer) + "</blockquote>",
        given == nullptr || given->row.comment.empty() ? "" : text_html(given->row.comment),
        review_link(page.address("question", {{"item", text.question.item}}), "grade this answer"));
  }
  return html + "</section>\n";
}

std::string comment_html(const SubmissionPage& page, const ReviewComment& comment) {
  const std::string form = fmt::format("comment {}", comment.id);
  const std::string id = std::to_string(comment.id);
  std::string html =
      fmt::format("<article class=\"comment\" id=\"c{}\"><p class=\"note\">{} · {}</p>", id,
                  escape_html(one_line(comment.by)), utc_time(comment.at));
  if (page.focus.comment != comment.id && !page.is_unkept(form)) {
    return html + text_html(comment.text) +
           review_link(page.address("submission", {{"comment", id}}) + kWriteHere, "change",
                       fmt::format("aria-label=\"change the comment of {}\"",
                                   escape_html(one_line(comment.by)))) +
           "</article>";
  }
  if (page.is_unkept(form)) html += alert_html(page.unkept.message);
  html += review_form("comment", page.form_token,
                      page.hidden({{"comment", id}, {"version", std::to_string(comment.version)}}));
  return html + fmt::format(
                    "<label>Comment <textarea name=\"text\" rows=\"4\" required id=\"write\" "
                    "autofocus>\n{}"
                    "</textarea></label>"
                    "<button>Keep</button><button name=\"remove\" value=\"1\" "
                    "formnovalidate>Remove</button> {}</form></article>",
                    escape_html(page.typed(form, "text", comment.text)),
                    review_link(page.address("submission") + "#c" + id, "leave as it is"));
}

std::string new_comment_html(const SubmissionPage& page, const std::string& file,
                             std::uint32_t line) {
  const std::string form = fmt::format("new comment {}:{}", file, line);
  std::string html;
  if (page.is_unkept(form)) html += alert_html(page.unkept.message);
  const std::string where =
      file.empty() ? "the submission as a whole"
                   : fmt::format("{}{}", one_line(file), line > 0 ? fmt::format(":{}", line) : "");
  html += review_form(
      "comment", page.form_token,
      page.hidden({{"source", page.view.source}, {"file", file}, {"line", std::to_string(line)}}));
  return html + fmt::format(
                    "<label>Comment on {}, which the student reads <textarea "
                    "name=\"text\" rows=\"3\" required{}>\n{}</textarea></label>"
                    "<button>Keep</button></form>",
                    escape_html(where), line > 0 ? " id=\"write\" autofocus" : "",
                    escape_html(page.typed(form, "text", "")));
}

std::string comments_section(const SubmissionPage& page) {
  std::string html;
  for (const ReviewComment& comment : page.view.comments) {
    if (comment.path.empty()) {
      html += comment_html(page, comment);
    } else if (comment.source != page.view.source) {
      html += fmt::format("<p class=\"note\">On {}:{} of files that were handed in before:</p>",
                          escape_html(one_line(comment.path)), comment.line) +
              comment_html(page, comment);
    }
  }
  return "<section><h2>Comments on the whole</h2>" + html + new_comment_html(page, "", 0) +
         "</section>\n";
}

}  // namespace rooflab
