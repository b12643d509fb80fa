#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "grader/diagnose/diagnose.h"

namespace rooflab {

/// A function that is called and that no file defines, as the linker says.
struct MissingFunction {
  std::string called;  ///< "gemv(float const*, int)", as the linker writes it
  /// The definition in the student's files that comes nearest: of this name, else of one that is
  /// much like it; empty where there is none.
  std::string nearest;
  std::string file;
  std::uint32_t line = 0;
  bool same_name = false;
};

/// The first such function among a linker's messages; nullopt where it names none.
std::optional<MissingFunction> missing_function(const std::string& messages,
                                                const DiagnoseContext& context);

}  // namespace rooflab
