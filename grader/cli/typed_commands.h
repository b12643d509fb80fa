#pragma once

#include <filesystem>
#include <string>

#include "grader/cli/options.h"
#include "grader/spec/result.h"

/// Commands that are shown to be typed: they name the program and the submission as they are here.
namespace rooflab {

/// A path as one would type it here: relative where it lies below this folder.
std::string typed_path(const std::filesystem::path& path);

/// One word for the shell, whatever a folder is called.
std::string quoted_word(const std::string& word);

/// How to start this program from here: by its name where the shell finds it by that.
std::string typed_program();

/// " --submission mine --student ada" as far as the command line names them; else nothing.
std::string submission_flag(const Options& options);

/// The command that grades a task of the same submission.
std::string grade_command(const Options& options, const std::string& task);

/// Makes the commands of a task's stories repeat the run that they are of: its program, its
/// submission and, where a case is graded again, its device.
void complete_commands(const Options& options, TaskResult& task);

}  // namespace rooflab
