#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/source/array_declarations.h"
#include "simgpu/source/tokens.h"

/// What a source file declares, as far as its tokens tell.
namespace simgpu::replay {

inline bool is_word(const Token& token) { return token.kind == Token::Kind::word; }

/// "int", "unsigned", "long", "size_t", "float", "double", "half", "bool", with "*" behind it for a
/// pointer; empty for any other type. `const` and the like do not count.
std::string plain_type(const std::vector<Token>& tokens, std::size_t first, std::size_t end);

struct DeclaredParameter {
  std::string name, type;
};

/// The parameters of a `__global__` function; none where the file has no such function, or several.
std::vector<DeclaredParameter> parameters_of(const SourceTokens& source, const std::string& kernel);

struct DeclaredArray {
  std::string element;
  std::vector<std::uint32_t> extents;
};

/// The `__shared__` variable of that name whose lengths are known and that takes so many bytes;
/// nothing where no declaration does, or several different ones do.
std::optional<DeclaredArray> shared_array(const std::vector<ArrayDeclaration>& declarations,
                                          const std::string& name, std::uint32_t bytes);

/// Integer constants of the file: `constexpr int kTile = 16;`, `#define TILE 16`. Those that are
/// given several values have none.
std::map<std::string, std::optional<std::uint32_t>> constants_of(const SourceTokens& source);

/// Bytes of a plain type; 0: unknown.
std::uint32_t bytes_of_type(const std::string& type);

}  // namespace simgpu::replay
