#include "grader/author/verify/claim.h"

#include <fmt/format.h>

#include <algorithm>

namespace rooflab::verify {

const char* name_of(Proof proof) {
  switch (proof) {
    case Proof::generated:
      return "generated";
    case Proof::starter:
      return "starter";
    case Proof::solution:
      return "solution";
    case Proof::mistakes:
      return "mistakes";
    case Proof::right:
      return "right";
    case Proof::documents:
      return "documents";
    case Proof::release:
      return "release";
  }
  return "";
}

std::optional<Proof> proof_of(std::string_view name) {
  const auto* found =
      std::ranges::find_if(kProofs, [&](Proof proof) { return name_of(proof) == name; });
  if (found == std::end(kProofs)) return std::nullopt;
  return *found;
}

const char* name_of(Recognition recognition) {
  switch (recognition) {
    case Recognition::recognised:
      return "recognised";
    case Recognition::unrecognised:
      return "unrecognised";
    case Recognition::wrongly_recognised:
      return "wrongly recognised";
  }
  return "";
}

std::string describe(const Claim& claim) {
  if (!claim.part) {
    return claim.name.empty() ? name_of(claim.proof)
                              : fmt::format("{}: {}", name_of(claim.proof), claim.name);
  }
  const std::string kind = claim.proof == Proof::right ? "right submission" : "mistake";
  const std::string what = claim.name.empty() ? name_of(claim.proof) : kind + " " + claim.name;
  return fmt::format("{} of part {} on {}", what, *claim.part, claim.gpu);
}

}  // namespace rooflab::verify
