#include "grader/review/submission_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "grader/batch/outputs/class_words.h"
#include "grader/report/text.h"
#include "grader/review/class_list_page.h"
#include "grader/review/history_page.h"
#include "grader/review/review_frame.h"
#include "grader/review/submission_sections.h"

namespace rooflab {

std::string SubmissionPage::address(
    const std::string& name, const std::vector<std::pair<std::string, std::string>>& more) const {
  return review_address(name, hidden(more));
}

std::vector<std::pair<std::string, std::string>> SubmissionPage::hidden(
    const std::vector<std::pair<std::string, std::string>>& more) const {
  AddressFields fields =
      submission_fields(team.id, std::to_string(view.part), focus.choice, view.shown);
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

namespace {

std::string list_html(const std::vector<std::string>& lines) {
  std::string items;
  for (const std::string& line : lines) {
    items += "<li>" + escape_html(shorten(one_line(line), 600)) + "</li>";
  }
  return "<ul>" + items + "</ul>";
}

std::string tabs_html(const SubmissionPage& page) {
  std::string tabs;
  for (const PartSummary& part : page.reviewed.results.parts) {
    const AddressFields fields = submission_fields(page.team.id, std::to_string(part.number),
                                                   page.focus.choice, page.view.shown);
    tabs += review_link(review_address("submission", fields),
                        fmt::format("Part {}, {}", part.number, escape_html(part.title)),
                        part.number == page.view.part ? "aria-current=\"page\"" : "");
  }
  return "<nav class=\"tabs\" aria-label=\"Parts\">" + tabs + "</nav>\n";
}

/// The one before and the one behind in the list that the page was opened from. A submission that
/// has left it, since it is done, still stands where it was.
std::string neighbours_html(const SubmissionPage& page) {
  const TeamChoice& choice = page.focus.choice;
  const auto all = choose_teams(page.reviewed, {.sort = choice.sort});
  const auto chosen = choose_teams(page.reviewed, choice);
  const std::set<const ReviewTeam*> in_list(chosen.begin(), chosen.end());
  const auto here = std::ranges::find(all, &page.team);
  const auto is_listed = [&](const ReviewTeam* team) { return in_list.contains(team); };
  const auto link = [&](const ReviewTeam* team, const char* words, const char* key) {
    const AddressFields fields =
        submission_fields(team->id, std::to_string(page.view.part), choice);
    return review_link(review_address("submission", fields), words,
                       fmt::format("data-key=\"{}\"", key));
  };
  std::string links = review_link(review_address("", fields_of(choice)),
                                  fmt::format("back to the list ({})", chosen.size()));
  const auto before = std::find_if(std::make_reverse_iterator(here), all.rend(), is_listed);
  if (before != all.rend()) links += link(*before, "← previous", "[");
  const auto behind = here == all.end() ? here : std::find_if(here + 1, all.end(), is_listed);
  if (behind != all.end()) links += link(*behind, "next →", "]");
  return "<nav class=\"neighbours\" aria-label=\"Other submissions\">" + links + "</nav>\n";
}

std::string header_html(const SubmissionPage& page) {
  const StudentOutcome& lead = page.reviewed.lead(page.team);
  std::string facts;
  for (const std::size_t member : page.team.members) {
    facts += (facts.empty() ? "" : " · ") +
             escape_html(shorten(one_line(page.reviewed.results.students[member].student.key), 80));
  }
  if (!lead.submission.empty()) facts += " · " + escape_html(shorten(lead.submission, 120));
  if (lead.received_at) facts += " · received " + utc_time(*lead.received_at);
  std::string html = fmt::format(
      "<header><h1><bdi>{}</bdi></h1><p class=\"facts\">{}</p><p>{}</p></header>\n",
      escape_html(page.reviewed.names(page.team)), facts, state_labels(page.reviewed, page.team));
  std::vector<std::string> problems;
  for (const std::size_t member : page.team.members) {
    const StudentOutcome& student = page.reviewed.results.students[member];
    // The choice has a section of its own.
    std::vector<std::string> theirs = problems_beside(student, {PartState::undecided});
    theirs.insert(theirs.end(), student.for_people.begin(), student.for_people.end());
    for (const std::string& problem : theirs) {
      if (std::ranges::find(problems, problem) == problems.end()) problems.push_back(problem);
    }
  }
  if (!problems.empty()) {
    html +=
        "<section class=\"problems\"><h2>Needs a look</h2>" + list_html(problems) + "</section>\n";
  }
  if (!lead.notes.empty()) {
    html += "<details><summary>How the submission was read</summary>" + list_html(lead.notes) +
            "</details>\n";
  }
  return html;
}

std::string part_html(const SubmissionPage& page) {
  const StudentOutcome& lead = page.reviewed.lead(page.team);
  const PartOutcome* outcome = outcome_of(lead, page.view.part);
  if (outcome == nullptr) return {};
  const PartSummary& summary = summary_of(page.reviewed.results, page.view.part);
  const std::string words = outcome->state == PartState::undecided
                                ? "There are no points before one of the submissions is chosen"
                                : part_sentence(summary, *outcome);
  std::string html = fmt::format("<p class=\"score\">{}.</p>\n", escape_html(words));
  if (const std::string checkout = checkout_words(*outcome); !checkout.empty()) {
    html += "<p class=\"note\">" + escape_html(checkout) + "</p>\n";
  }
  if (!page.view.unread.empty()) html += alert_html(page.view.unread);
  return html;
}

bool has_form(const SubmissionPage& page) {
  for (const ReviewComment& comment : page.view.comments) {
    if (page.is_unkept(fmt::format("comment {}", comment.id))) return true;
  }
  for (const PointsPlace& place : page.view.places) {
    if (page.is_unkept("points " + place.item)) return true;
  }
  for (const std::size_t member : page.team.members) {
    for (const RegradeRequest& request : page.reviewed.results.students[member].requests) {
      if (page.is_unkept(request_form(request.id))) return true;
    }
  }
  return page.is_unkept(kChoiceForm) || page.is_unkept(kNewRequest) ||
         page.is_unkept("new comment :0") ||
         page.is_unkept(fmt::format("new comment {}:{}", page.focus.file, page.focus.line));
}

}  // namespace

std::string homeless_html(const UnkeptForm& unkept, bool page_has_it) {
  if (unkept.form.empty() || page_has_it) return {};
  std::string words;
  for (const char* field : {"points", "text", "reason", "comment"}) {
    const std::string value = value_of(unkept.typed, field);
    if (!value.empty()) words += text_html(value);
  }
  return alert_html(unkept.message + ". Nothing was written; this is what you wrote:") +
         "<blockquote>" + words + "</blockquote>\n";
}

std::string submission_page(const ReviewedClass& reviewed, const ReviewTeam& team,
                            const SubmissionView& view, const SubmissionFocus& focus,
                            const UnkeptForm& unkept, const std::string& form_token) {
  const SubmissionPage page{reviewed, team, view, focus, unkept, form_token};
  return review_page(reviewed.names(team),
                     neighbours_html(page) + homeless_html(unkept, has_form(page)) +
                         header_html(page) + tabs_html(page) + choice_section(page) +
                         part_html(page) + points_section(page) + requests_section(page) +
                         answers_section(page) + comments_section(page) + evidence_section(page) +
                         files_section(page) + "<section><h2>What was done in the review</h2>" +
                         log_html(reviewed, view.log) + "</section>\n");
}

}  // namespace rooflab
