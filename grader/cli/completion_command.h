#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace rooflab {

/// Prints the tab completion of a shell, "bash" or "zsh": a script that asks complete_words for
/// every word. Returns the exit code.
int print_completion(std::ostream& out, const std::string& shell);

/// Prints what the last of these words of a command line may become, one in each line; nothing
/// where a file is asked for, which the shell completes. Commands, options and choices are those of
/// the program's own command line; parts, tasks, GPUs and codes those of the installation. Returns
/// 0, also where there is no installation.
int complete_words(std::ostream& out, const std::vector<std::string>& words);

}  // namespace rooflab
