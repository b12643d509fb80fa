#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "grader/contract/problem.h"

namespace rooflab {

/// Of `count` elements those that are compared, ascending: empty, which stands for all, where they
/// are at most `most`; else the first and last 100, where edges go wrong, and `most` that
/// Problem::selection decides.
std::vector<std::size_t> selected_elements(std::size_t count, std::size_t most,
                                           std::uint64_t selection);

/// Of rows 0 … count - 1 those that are compared, ascending: all, where they are at most `sample`;
/// else the first and last 16, and others that Problem::selection decides, `sample` together.
/// @pre sample >= 32
std::vector<std::int64_t> selected_rows(std::int64_t count, std::int64_t sample,
                                        std::uint64_t selection);

/// Of the elements of a problem's output those that are compared, ascending, at most about `most`:
/// as above, or of what was written where the device ran only a part of the call.
std::vector<std::size_t> selected_elements(const Problem& problem, const std::string& output,
                                           std::size_t most);

/// Of an output's rows of `length` elements those that are compared, likewise. A row of which only
/// a part was written is none of them.
/// @pre sample >= 32
std::vector<std::int64_t> selected_rows(const Problem& problem, const std::string& output,
                                        std::int64_t length, std::int64_t sample);

/// Of a vast problem (Problem::vast) the elements of an output that are compared, in the thousands;
/// of any other nothing, which stands for all.
std::vector<std::size_t> elements_if_vast(const Problem& problem, const std::string& output);

/// The elements of these rows of `length` elements.
std::vector<std::size_t> elements_of_rows(const std::vector<std::int64_t>& rows,
                                          std::int64_t length);

/// All of `index`, or 0 … count - 1 where it is empty.
std::vector<std::size_t> listed(const std::vector<std::size_t>& index, std::size_t count);

}  // namespace rooflab
