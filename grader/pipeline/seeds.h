#pragma once

#include <cstdint>
#include <string>

#include "grader/spec/seed.h"

namespace rooflab {

/// A seed from the operating system.
Seed fresh_seed();

/// What the random choices of one case come from. Neither tells anything of the other, of another
/// case's or of the grade's seed: each is an HMAC with that seed as its key.
struct CaseSeeds {
  std::uint64_t inputs = 0;     ///< what a guest sees comes from it
  std::uint64_t selection = 0;  ///< Problem::selection
  std::uint64_t blocks = 0;     ///< RunRequest::secret
  bool operator==(const CaseSeeds&) const = default;
};

/// The same for the same grade, part, task and draw, whatever else is graded.
CaseSeeds case_seeds(const Seed& seed, int part, const std::string& task, const std::string& draw);

/// The seed of one source in a class with a seed of its own. A student who learns it, from the
/// commands on a feedback page, say, knows nothing of what is drawn for the next hand-in.
Seed seed_of_source(const Seed& of_class, const std::string& source);

}  // namespace rooflab
