#pragma once

#include <ostream>
#include <string>

namespace rooflab {

/// Prints the tab completion of a shell, "bash" or "zsh". Returns the exit code.
int print_completion(std::ostream& out, const std::string& shell);

}  // namespace rooflab
