#pragma once

#include <stdexcept>
#include <string>

#include "grader/spec/result.h"
#include "grader/spec/revealed.h"

namespace rooflab {

/// A text that is no evidence, or is of another version.
class EvidenceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// All of a result as JSON, to be read again: unlike the document of a grade, nothing is left out
/// or rounded. Malformed UTF-8 of a submission becomes U+FFFD.
std::string to_evidence(const GradeResult& result);

/// @throws EvidenceError
GradeResult from_evidence(const std::string& text);

/// Hidden cases that failed, as JSON to be read again; empty for none.
std::string to_text(const std::vector<RevealedCase>& cases);

/// @throws EvidenceError
std::vector<RevealedCase> revealed_from(const std::string& text);

}  // namespace rooflab
