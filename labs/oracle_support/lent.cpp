#include "labs/oracle_support/lent.h"

#include <cstdint>
#include <string>

#include "labs/oracle_support/evidence.h"

namespace rooflab {
namespace {

/// What the guest says of a handle is one of these: no text of its own gets into a report.
constexpr const char* kParts[] = {"stream", "pointer mode", "math mode"};

}  // namespace

std::vector<Complaint> complaints_of_lent(const CallEvidence& evidence) {
  std::vector<Complaint> complaints;
  const auto kept = result(evidence, kWorkspaceKept, std::int64_t{0});
  if (kept > 0) {
    complaints.push_back(
        {"RL0499",
         "the call did not give back what it took from the workspace" +
             Evidence{message(": ", kept, " bytes were still in use when the function returned")},
         "open a Workspace::Scope at the beginning of the function: it gives back at the end what "
         "is taken after it, and the kernels that were launched may still use that memory"});
  }
  const std::string changed = result(evidence, kHandleChanged, std::string());
  for (const char* part : kParts) {
    if (changed != part) continue;
    complaints.push_back(
        {"RL0499", message("the cuBLAS handle comes back with another ", part),
         message("the handle is the caller's, who goes on using it: read its ", part,
                 " before you set it, and set it back before the function returns")});
  }
  return complaints;
}

}  // namespace rooflab
