#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "simgpu/codes/code.h"

namespace simgpu::sarif {

enum class Level : std::uint8_t { note, warning, error };
/// As SARIF and compilers spell it: "warning".
const char* name_of(Level level);

/// A place in a source.
struct Place {
  std::string file;          ///< absolute, or relative to Run::base
  std::uint32_t line = 0;    ///< 0: the file as a whole
  std::uint32_t column = 0;  ///< in characters, from 1; 0: not known
  std::uint32_t length = 0;  ///< in characters; 0: not known
  std::string text{};        ///< what happens there; may be empty
};

struct Result {
  Code code;
  Level level = Level::error;
  std::string message;                              ///< the cause, one sentence
  std::vector<std::string> details{};               ///< further lines: evidence, notes, what helps
  std::vector<Place> places{};                      ///< the first is where it is; empty: not known
  std::map<std::string, std::string> properties{};  ///< "task": "gemv"
};

/// The page that explains a code.
struct Page {
  std::string uri{};       ///< absolute; empty: there is none
  std::string markdown{};  ///< may be empty
};

/// All of one run of a program.
struct Run {
  std::string tool;     ///< "grader"
  std::string version;  ///< "0.1.0"
  std::string base{};   ///< folder of files with a relative name, absolute; empty: not known
  std::vector<Result> results{};
};

/// The address of a file: of an absolute path with the scheme `file`, of any other a relative one.
std::string uri_of(const std::string& path);

/// The document, valid UTF-8 whatever the texts hold.
/// @param page_of a code that occurs; asked once for each
std::string document_of(const Run& run, const std::function<Page(Code)>& page_of);

}  // namespace simgpu::sarif
