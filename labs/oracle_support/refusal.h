#pragma once

#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "labs/oracle_support/evidence.h"

/// Judging results that a student's code has put together: the first fault ends it, for the later
/// ones would follow from it.
namespace rooflab {

/// The first fault. Oracles throw it inside of refusals_of, and no further.
class Refusal : public std::exception {
 public:
  explicit Refusal(Complaint complaint) : complaint_(std::move(complaint)) {}
  const Complaint& complaint() const { return complaint_; }
  const char* what() const noexcept override { return complaint_.message.text.c_str(); }

 private:
  Complaint complaint_;
};

/// What `judge` refuses, or nothing.
template <typename Judge>
std::vector<Complaint> refusals_of(Judge&& judge) {
  try {
    judge();
    return {};
  } catch (const Refusal& refusal) {
    return {refusal.complaint()};
  }
}

/// A label as a message may quote it: the student wrote it, at any length.
inline std::string quoted(const std::string& label) {
  constexpr std::size_t kMost = 40;
  return "\"" + (label.size() <= kMost ? label : label.substr(0, kMost) + "...") + "\"";
}

/// One suspicion: a value that a known slip would give.
struct Slip {
  double value;
  Code code;
  Sentence cause;
  const char* advice;
};

/// The first slip that explains `got`, within `tolerance` (relative).
inline std::optional<Complaint> explained(double got, double tolerance,
                                          const std::vector<Slip>& slips,
                                          const Evidence& evidence) {
  for (const Slip& slip : slips) {
    if (is_close(got, slip.value, tolerance)) {
      return Complaint{slip.code, slip.cause + evidence, slip.advice};
    }
  }
  return std::nullopt;
}

}  // namespace rooflab
