#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace rooflab {

/// A file that is no 64-bit ELF library, or one that contradicts itself.
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
};

/// Reads .dynsym of a library (ELF-64, little-endian; System V gABI, chapters 4 and 5) without
/// trusting any offset in it. @throws ElfError
DynamicSymbols read_dynamic_symbols(const std::filesystem::path& library);

/// The first symbol that one of the regular expressions (ECMAScript) finds a match in; empty for
/// none. Defined symbols count, too: what the linker took from the toolkit is defined.
std::string first_forbidden(const DynamicSymbols& symbols,
                            const std::vector<std::string>& patterns);

}  // namespace rooflab
