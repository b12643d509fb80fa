#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "simgpu/ptx/ast.h"
#include "simgpu/ptx/lexer.h"

namespace simgpu::ptx {

/// The strings of the .debug_str section, which .loc's function_name points into.
class DebugStrings {
 public:
  void add_label(std::string_view label) { labels_.emplace(label, bytes_.size()); }
  void add_byte(char byte) { bytes_.push_back(byte); }
  /// The NUL-terminated string at label + offset; empty when there is none.
  std::string_view at(std::string_view label, std::int64_t offset) const;

 private:
  std::string bytes_;
  std::unordered_map<std::string_view, std::size_t> labels_;
};

/// Collects one function's .loc directives into Function::locations, each place once.
class SourceLocations {
 public:
  explicit SourceLocations(Function& function);

  /// Parses what follows `.loc`. @return the index of the place in Function::locations.
  std::uint32_t parse(Lexer& lexer);

  /// Names that wait for .debug_str, which nvcc writes after all functions.
  struct PendingName {
    std::size_t location;
    std::string_view label;
    std::int64_t offset;
  };
  const std::vector<PendingName>& pending_names() const { return pending_; }

 private:
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // file, line, column
  using Key = std::tuple<Place, std::string_view, std::int64_t, std::int32_t>;
  std::uint32_t add(const Place& place, std::string_view label, std::int64_t offset,
                    std::int32_t inlined_at);
  static Place parse_place(Lexer& lexer);

  Function& function_;
  std::map<Key, std::uint32_t> known_;
  std::map<Place, std::uint32_t> latest_;
  std::vector<PendingName> pending_;
};

}  // namespace simgpu::ptx
