#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "grader/pipeline/elf_symbols.h"
#include "grader/spec/part.h"

/// Who calls a forbidden function: the student's own code, or an inline function of a header that
/// the student included. docs/design/trust.md says what each means for a grade.
namespace rooflab {

/// A forbidden symbol of a built library.
struct ForbiddenCall {
  enum class By : std::uint8_t {
    student,  ///< code of a submitted file calls it, or something of ours that calls it
    header,   ///< only functions do whose source is a header that is not the student's
    unknown,  ///< nobody could find out
  };
  std::string symbol;  ///< as the library has it, mangled
  By by = By::student;
  std::string file;        ///< of the student's call, in the part's folder; empty when unknown
  std::uint32_t line = 0;  ///< of that call; 0 when unknown
};

/// A submitted file, compiled so that no call was inlined.
struct TracedFile {
  std::string name;  ///< "gemm.cu"
  std::string text;  ///< as it was handed in
  /// The texts of the submitted headers that it may include, by name.
  std::map<std::string, std::string> headers{};
  /// Where headers are that nobody handed in, as whole paths; "*" is any one folder's name.
  std::vector<std::string> header_folders{};
  std::vector<Reference> references;  ///< of its object file
  std::string places;                 ///< what `nm --line-numbers` says of the object; untrusted
  bool complete = false;              ///< false: a limit ended the compiler, and nothing is known
};

/// What the task forbids, as regular expressions (ECMAScript) for symbols. Looking functions up at
/// run time goes around every prohibition, so it is one itself, except where the toolkit's profiler
/// has to look for CUPTI.
std::vector<std::string> forbidden_symbols(const TaskSpec& task);

/// The text with every `#line` made a pragma that nobody knows, so that no code passes for a
/// header's by it. Macros and inline assembly can still move lines: who calls decides nothing that
/// only the device or the linker could know.
std::string without_line_directives(const std::string& text);

/// Tells for each forbidden symbol of a library who calls it. A header's call is told from the
/// student's own only for functions of other libraries: the toolkit's reach a submission by no name
/// (`withheld_name`), and those that are there all the same came with the course's own code, which
/// only a call of the student's can have brought in.
/// @param files the task's; without them all symbols count as the student's
std::vector<ForbiddenCall> forbidden_calls_of(const DynamicSymbols& symbols, const TaskSpec& task,
                                              const std::vector<TracedFile>& files);

/// What a person should know of a call whose caller is unknown.
std::string note_of_untraced(const ForbiddenCall& call);

}  // namespace rooflab
