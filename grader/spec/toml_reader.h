#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grader/contract/problem.h"
#include "grader/spec/moment.h"
#include "grader/spec/part.h"

namespace rooflab {

/// Parses a TOML file. @throws SpecError "file:line: message; what to do" when it is missing,
/// unreadable, larger than 1 MiB or no TOML.
toml::table parse_toml(const std::filesystem::path& file);

/// Parses a text. @param name stands for the file in messages. @throws SpecError when it is no
/// TOML.
toml::table parse_toml_text(const std::string& text, const std::string& name);

/// A basic string of TOML in one line, quotes included.
std::string toml_string(const std::string& text);

/// "file:line: message; remedy" as an error to throw.
SpecError spec_error(const std::filesystem::path& file, const toml::node& at,
                     const std::string& message, const std::string& remedy);

/// Reads one table strictly: every value has its type checked, and `finish` refuses keys nobody
/// asked for.
class TableReader {
 public:
  /// @param where what the table is, for messages: "[[task]] \"gemm\""
  TableReader(const toml::table& table, std::filesystem::path file, std::string where)
      : table_(table), file_(std::move(file)), where_(std::move(where)) {}

  bool has(const std::string& key) const { return table_.contains(key); }
  void name(std::string where) { where_ = std::move(where); }

  std::string text(const std::string& key);
  std::string text_or(const std::string& key, std::string fallback);
  double number(const std::string& key);
  double number_or(const std::string& key, double fallback);
  std::int64_t integer(const std::string& key);
  std::optional<std::int64_t> maybe_integer(const std::string& key);
  bool boolean_or(const std::string& key, bool fallback);
  /// A date with time and offset from UTC, as seconds since 1970; a local time is an error.
  std::int64_t time(const std::string& key);
  std::optional<std::int64_t> maybe_time(const std::string& key);
  /// The same with its offset.
  Moment moment(const std::string& key);
  std::optional<Moment> maybe_moment(const std::string& key);
  std::vector<std::string> texts(const std::string& key);
  /// An array of integers, if there is one.
  std::optional<std::vector<std::int64_t>> maybe_integers(const std::string& key);
  /// A table of scalars; empty when the key is absent.
  Values values(const std::string& key);
  /// One scalar of any type.
  Value value(const std::string& key);
  /// Calls `read` for each table of an array of tables, in order; none when the key is absent.
  void each(const std::string& key, const std::function<void(const toml::table&)>& read);
  /// Calls `read` for a table, if there is one.
  bool maybe(const std::string& key, const std::function<void(const toml::table&)>& read);

  /// @throws SpecError naming the first key that nothing has read, and the nearest that there is.
  void finish() const;

  /// An error at `key`, or at the table when it has no such key.
  SpecError error(const std::string& key, const std::string& message,
                  const std::string& remedy) const;
  const std::filesystem::path& file() const { return file_; }

 private:
  const toml::node* take(const std::string& key);
  const toml::node& require(const std::string& key);
  SpecError wrong_type(const std::string& key, const toml::node& node,
                       const std::string& wanted) const;

  const toml::table& table_;
  std::filesystem::path file_;
  std::string where_;
  std::set<std::string> known_;
};

}  // namespace rooflab
