#pragma once

#include <optional>
#include <string>

namespace rooflab {

/// The texts of a notebook (.ipynb), one after another: of its cells, of what they showed and of
/// whatever else is a string in it. As a file they are JSON, whose escapes would stand between the
/// words. Nothing where the file is no JSON.
std::optional<std::string> notebook_text(const std::string& contents);

}  // namespace rooflab
