#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rooflab {

/// What the command line asks for.
struct Options {
  enum class Command : std::uint8_t {
    grade,
    show_tasks,
    hint,
    list,
    doctor,
    explain,
    roofline,
    starter
  };
  Command command = Command::grade;

  int part = 0;
  std::optional<std::string> task;
  std::optional<int> case_number;
  std::string submission;  ///< empty: starter/ of the checkout
  std::string device = "auto";
  std::string json;  ///< a file, "-" for stdout, or empty
  std::string html;  ///< a file, or empty for out/part<N>.html
  std::string trace;
  std::optional<std::uint64_t> seed;
  bool watch = false;
  bool sandbox = true;

  std::string code;            ///< explain
  std::string gpu;             ///< roofline; empty for all
  bool write_starter = false;  ///< starter: write, else check
};

/// The command line is done with: help was shown (0), or it cannot be used (2).
struct Exit {
  int code = 0;
};

/// Reads the command line. @throws Exit after having said why.
Options parse_options(int argc, char** argv);

}  // namespace rooflab
