#pragma once

#include <string>

#include "grader/batch/store/review_store.h"
#include "grader/batch/store/store.h"

namespace rooflab {

/// Says which submission counts, of several of one student or group of which a person has to
/// choose. @param name of the submission in the folder, or its id
/// @return what was done, a line
/// @throws BatchError where it is none of these, or may be any of several
std::string choose_submission(Store& store, const std::string& name, const ReviewAct& act);

}  // namespace rooflab
