#pragma once

#include <string>
#include <vector>

#include "grader/batch/store/review_store.h"
#include "grader/review/class_view.h"

namespace rooflab {

/// What was done, the newest first, as a list. Those whom it is about lead to their submission.
std::string log_html(const ReviewedClass& reviewed, const std::vector<ReviewLogEntry>& log);

/// What was done in the review, as far as it is chosen.
/// @param choices what there is to choose from
std::string history_page(const ReviewedClass& reviewed, const LogChoice& choice,
                         const LogChoices& choices, const std::vector<ReviewLogEntry>& log);

}  // namespace rooflab
