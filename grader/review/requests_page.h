#pragma once

#include <string>

#include "grader/review/class_view.h"

namespace rooflab {

/// Every regrade request of the class, those that wait for a decision first.
std::string requests_page(const ReviewedClass& reviewed);

/// "14 points when it was asked, 16 now"
std::string score_words(const StudentOutcome& student, const RegradeRequest& request);

}  // namespace rooflab
