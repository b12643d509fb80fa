#include "grader/cli/typed_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace rooflab {

namespace fs = std::filesystem;

std::string quoted_word(const std::string& word) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-+:@%,=").find(c) != std::string_view::npos;
  };
  if (std::ranges::all_of(word, is_plain)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

namespace {

/// What else decides how a case ends.
std::string device_flags(const Options& options) {
  return (options.device.empty() ? "" : " --device " + options.device) +
         (options.any_gpu ? " --any-gpu" : "") + (options.sandbox ? "" : " --no-sandbox");
}

}  // namespace

std::string submission_flag(const Options& options) {
  return (options.submission.empty() ? "" : " --submission " + quoted_word(options.submission)) +
         (options.student.empty() ? "" : " --student " + quoted_word(options.student));
}

std::string typed_path(const fs::path& path) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  const fs::path relative = error ? fs::path() : path.lexically_relative(here);
  const bool below = !relative.empty() && *relative.begin() != "..";
  return (below ? relative : path).string();
}

std::string typed_program() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return "grader";
  const fs::path self = program.parent_path() / "grader";  // this may be rooflab-teach
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder) / "grader";
    if (fs::exists(candidate, error)) {
      if (fs::equivalent(candidate, self, error)) return "grader";
      break;
    }
  }
  return quoted_word(typed_path(self));
}

std::string grade_command(const Options& options, const std::string& task) {
  return fmt::format("{} --part {} --task {}{}", typed_program(), options.part.value(), task,
                     submission_flag(options));
}

void complete_commands(const Options& options, TaskResult& task) {
  const std::string name = "grader";
  const std::string here = typed_program();
  const auto complete = [&](std::string& command) {
    if (!command.starts_with(name + " ")) return;
    command.replace(0, name.size(), here);
    if (command.find(" --part ") == std::string::npos) return;
    command += submission_flag(options);
    if (command.find(" --case ") != std::string::npos) command += device_flags(options);
  };
  for (Diagnostic& story : task.diagnostics) {
    for (auto& [label, command] : story.commands) complete(command);
  }
}

}  // namespace rooflab
