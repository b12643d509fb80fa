#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simgpu/report.h"

/// The text of compute-sanitizer, before anybody asks what it means.
namespace rooflab::sanitizer {

/// A line that begins an error, and the indented ones that follow it.
struct Record {
  std::string_view head;
  std::vector<std::string_view> details;
};

/// The records of a text, whose lines begin with "=========". Lines without that are of the
/// program. At most `most`; of each, at most 64 lines of 8 KiB.
std::vector<Record> records_in(std::string_view text, std::size_t most);

/// The record's first detail that begins so, without that; nothing when there is none.
std::optional<std::string_view> detail(const Record& record, std::string_view start);

/// Walks through a text; each step answers whether it was possible, and changes nothing if not.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  /// Past this word.
  bool word(std::string_view word);
  /// Past everything up to the end of this word.
  bool past(std::string_view word);
  /// A decimal number, thousands between commas: "1,024".
  std::optional<std::uint64_t> number();
  /// A hexadecimal number with 0x before it.
  std::optional<std::uint64_t> address();
  /// "(1,2,3)", blanks allowed.
  std::optional<simgpu::Dim3> coordinates();
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// Where in the source: "kernel(int *)+0x50 in file.cu:34", or without the file.
struct Place {
  std::string function;  ///< with parameters; empty when unknown
  std::string file;      ///< empty when unknown
  std::uint32_t line = 0;
};
Place place_in(std::string_view text);

}  // namespace rooflab::sanitizer
