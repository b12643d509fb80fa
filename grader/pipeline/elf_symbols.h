#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "grader/spec/pattern.h"

namespace rooflab {

/// A file that is no 64-bit ELF file, or one that contradicts itself: "it has …".
class ElfError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Dynamic symbols of a shared library, without versions, in the table's order.
struct DynamicSymbols {
  std::vector<std::string> undefined;
  std::vector<std::string> defined;
  /// Undefined C++ functions and variables that no library on the link line offers: what the file
  /// should have defined. (Symbols found in a versioned library carry its version, weak ones may
  /// stay undefined.)
  std::vector<std::string> unresolved;
  /// What a submission wants of the toolkit and the task forbids (see `withheld_name`), by the
  /// names that the toolkit has for it.
  std::vector<std::string> withheld;
};

/// The name that submitted files have in the place of a toolkit's function that their task forbids.
/// Nothing defines it but they themselves.
std::string withheld_name(const std::string& symbol);

/// Reads .dynsym of a library (ELF-64, little-endian; System V gABI, chapters 4 and 5) without
/// trusting any offset in it. @throws ElfError
DynamicSymbols read_dynamic_symbols(const std::filesystem::path& library);
/// The same of the library's bytes.
DynamicSymbols dynamic_symbols_in(std::string_view bytes);

/// Whether one of the patterns occurs in the beginning of a symbol, which may be a student's and
/// of any length.
bool has_match(std::string_view symbol, const std::vector<Pattern>& patterns);

/// The symbols that one of the regular expressions (ECMAScript) finds a match in, each once, the
/// first hundred. Defined symbols count, too: what the linker took from the toolkit is defined.
/// Withheld ones come first.
std::vector<std::string> all_forbidden(const DynamicSymbols& symbols,
                                       const std::vector<std::string>& patterns);

/// The symbols that the index of an archive offers to a linker, which `ar` writes (System V's
/// format,
/// "/"), without trusting any number in it; none of an archive without members. @throws ElfError
std::vector<std::string> archive_symbols_in(std::string_view bytes);

/// A place in an object file's code or data that needs a symbol's address.
struct Reference {
  std::string function;  ///< that the place is in; empty in data
  std::string symbol;
};

/// Reads the relocations of an object file (ELF-64, x86-64 and others with addends), debug
/// information left out, without trusting any offset in it. Each pair once. @throws ElfError
std::vector<Reference> read_references(const std::filesystem::path& object);
/// The same of the object file's bytes.
std::vector<Reference> references_in(std::string_view bytes);

}  // namespace rooflab
