#include <fmt/format.h>

#include "grader/batch/outputs/class_words.h"
#include "grader/report/text.h"
#include "grader/review/class_list_page.h"
#include "grader/review/review_frame.h"
#include "grader/review/submission_sections.h"

/// Several submissions of a team, of which a person chooses the one that counts.
namespace rooflab {
namespace {

std::string candidate_row(const SubmissionPage& page, const CandidateView& one) {
  const TeamCandidate& candidate = *one.candidate;
  const bool is_shown = candidate.id == page.view.shown;
  std::string notes;
  for (const std::string& note : candidate.notes) {
    notes += "<li>" + escape_html(shorten(one_line(note), 300)) + "</li>";
  }
  const AddressFields fields = submission_fields(page.team.id, std::to_string(page.view.part),
                                                 page.focus.choice, candidate.id);
  const std::string name = "<bdi>" + escape_html(shorten(one_line(candidate.name), 120)) + "</bdi>";
  return fmt::format(
      "<tr><th scope=\"row\" class=\"text\">{}{}</th><td data-name=\"grader\">{}</td><td "
      "class=\"hand\"><ul>{}</ul></td><td>{}</td></tr>\n",
      review_link(review_address("submission", fields), name,
                  is_shown ? "aria-current=\"true\"" : ""),
      is_shown ? " <span class=\"note\">shown below</span>" : "", one.by_grader, notes,
      candidate.counts
          ? "<b>counts</b>"
          : fmt::format("<button name=\"submission\" value=\"{}\">This one counts</button>",
                        escape_html(candidate.id)));
}

}  // namespace

std::string choice_section(const SubmissionPage& page) {
  if (page.view.candidates.empty()) return {};
  const SubmissionChoice& choice = page.team.choice;
  const bool is_open = page.team.is_undecided();
  std::string rows;
  for (const CandidateView& one : page.view.candidates) rows += candidate_row(page, one);
  const std::string words =
      is_open
          ? "No time of a platform says which of these is the newest. Look at each, then choose "
            "the one that counts, for all parts. The gradebooks have no points before that."
          : fmt::format("{} chose on {}. You may choose another one.",
                        escape_html(one_line(choice.by)), utc_time(choice.at));
  return fmt::format("<section class=\"problems\" id=\"choice\"><h2>{}</h2>{}<p>{}</p>",
                     is_open ? "Two submissions: choose" : "One of several submissions was chosen",
                     page.is_unkept(kChoiceForm) ? alert_html(page.unkept.message) : "", words) +
         review_form("choice", page.form_token,
                     page.hidden({{"version", std::to_string(choice.version)}})) +
         "<div class=\"wide\"><table class=\"points\"><thead><tr><th "
         "scope=\"col\">submission</th><th "
         "scope=\"col\">points by the grader</th><th scope=\"col\">how it was read</th><th "
         "scope=\"col\"><span class=\"unseen\">choose</span></th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div></form></section>\n";
}

}  // namespace rooflab
