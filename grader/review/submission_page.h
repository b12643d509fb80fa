#pragma once

#include <string>

#include "grader/review/submission_view.h"
#include "grader/review/web_values.h"

namespace rooflab {

/// A form that was sent and not kept: it is shown again with what was typed.
struct UnkeptForm {
  std::string form = {};     ///< "points gemv", "comment 12", "new comment": which of the page's
  std::string message = {};  ///< why, and what stands there now
  ReviewFields typed = {};
};

/// Of a form that the page no longer has, since somebody has removed what it was for: why it was
/// not kept, and what was typed, so that nothing of it is lost. Nothing where the page has it.
std::string homeless_html(const UnkeptForm& unkept, bool page_has_it);

/// Where on the page something is to be written.
struct SubmissionFocus {
  std::string file = {};       ///< with a form for a comment on it
  std::uint32_t line = 0;      ///< of that file; 0: no line of its own
  std::int64_t comment = 0;    ///< with a form to change it
  std::string candidate = {};  ///< of several to choose from, the one to look at
  TeamChoice choice = {};      ///< the list that the page was opened from
};

/// One part of one submission: points, evidence, answers, files beside the starter with comments
/// and diagnostics at their lines, and what was done in the review.
std::string submission_page(const ReviewedClass& reviewed, const ReviewTeam& team,
                            const SubmissionView& view, const SubmissionFocus& focus,
                            const UnkeptForm& unkept, const std::string& form_token);

}  // namespace rooflab
