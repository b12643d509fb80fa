#pragma once

#include <cstdint>
#include <string>

namespace rooflab {

/// A seed from the operating system, below 2^32 so that it can be typed again.
std::uint64_t fresh_seed();

/// The seed of one case: the same for the same grade, part, task and case, whatever else is graded.
std::uint64_t case_seed(std::uint64_t seed, int part, const std::string& task,
                        const std::string& name);

}  // namespace rooflab
