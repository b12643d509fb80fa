#include "simgpu/arith/compare.h"

#include <array>
#include <utility>

namespace simgpu::arith {

std::optional<Comparison> comparison_of(std::string_view modifier) {
  using enum Comparison;
  static constexpr std::array<std::pair<std::string_view, Comparison>, 18> kNames{{
      {"eq", eq},
      {"ne", ne},
      {"lt", lt},
      {"le", le},
      {"gt", gt},
      {"ge", ge},
      {"lo", lt},
      {"ls", le},
      {"hi", gt},
      {"hs", ge},
      {"equ", equ},
      {"neu", neu},
      {"ltu", ltu},
      {"leu", leu},
      {"gtu", gtu},
      {"geu", geu},
      {"num", num},
      {"nan", nan},
  }};
  for (const auto& [name, comparison] : kNames) {
    if (name == modifier) return comparison;
  }
  return std::nullopt;
}

}  // namespace simgpu::arith
