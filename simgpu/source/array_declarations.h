#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/source/early_returns.h"

namespace simgpu {

/// An array, or a single variable, as the source declares it.
struct ArrayDeclaration {
  std::string name;
  std::string type;                  ///< of an element, "float"
  std::uint64_t element_bytes = 0;   ///< 0: the type is not one of CUDA's own
  std::vector<std::string> lengths;  ///< as they are written; empty for `extern … name[]`
  /// The lengths' values, where constants of the file give them.
  std::vector<std::optional<std::int64_t>> dimensions;
  bool is_shared = false;
  bool is_dynamic = false;  ///< extern __shared__ … name[]
  std::uint32_t line = 0;   ///< of the file itself, 0 in one that it includes

  /// "float As[kTile][33]"
  std::string text() const;
};

/// The arrays that a file declares, and those of the files that it includes from beside it, in
/// order. Empty where directives number its lines anew.
std::vector<ArrayDeclaration> array_declarations(const std::string& file, const SourceText& text);

}  // namespace simgpu
