#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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

/// All of `index`, or 0 … count - 1 where it is empty.
std::vector<std::size_t> listed(const std::vector<std::size_t>& index, std::size_t count);

}  // namespace rooflab
