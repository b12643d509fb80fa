#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/replay/assignments.h"
#include "simgpu/replay/expressions.h"

namespace simgpu::replay {

/// `for (int k = start; …; k += by)`, whose header is on one line and whose body is on later ones
/// and leaves its counter alone.
struct CountedLoop {
  std::uint32_t first_line = 0, last_line = 0;  ///< of the whole statement
  std::string counter;
  std::string type;  ///< of it, as plain_type() gives it
  std::vector<Token> start;
  char operation = '+';   ///< "+-*/", and '<' and '>' for shifts
  std::vector<Token> by;  ///< its right side; empty: 1
};

/// All such loops of a file, in the order of their lines. Loops whose headers share a line are none
/// of them.
std::vector<CountedLoop> counted_loops(const Assignments& source);

/// The counter after so many iterations, in 64 bits; nothing where `names` does not know what it
/// starts with or changes by.
std::optional<std::int64_t> counter_after(const CountedLoop& loop, std::uint32_t iterations,
                                          const IntegerNames& names);

}  // namespace simgpu::replay
