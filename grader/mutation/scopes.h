#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "grader/mutation/code_tokens.h"

namespace rooflab::mutation {

/// Types whose values can stand for each other: int, std::int64_t and the like.
bool is_whole_number(std::string_view type);

/// Other names that a file gives to types, with typedef or using.
class TypeNames {
 public:
  explicit TypeNames(const Code& code);
  /// What stands behind a name; the name itself where the file does not define it.
  std::string resolve(std::string type) const;

 private:
  std::map<std::string, std::string> types_;
};

/// A variable that a function has declared.
struct Variable {
  std::string name;
  std::string type;  ///< as it is written, without const and the like
  /// What it begins with, if that is known where it is read: a number, or braces; "{}" of an object
  /// that needs none.
  std::string initial = {};
};

/// The variables that can be named at a place in a function.
class Scopes {
 public:
  void open() { marks_.push_back(variables_.size()); }
  void close() {
    variables_.resize(marks_.back());
    marks_.pop_back();
  }
  void declare(Variable variable) { variables_.push_back(std::move(variable)); }

  /// All that can be named, the outermost first.
  const std::vector<Variable>& all() const { return variables_; }
  /// The innermost of this name; nullptr when there is none.
  const Variable* find(std::string_view name) const;
  /// Those that hold a number, floating-point ones first, of each the latest first.
  /// @param is_whole whole numbers alone
  std::vector<std::string> numbers(bool is_whole = false) const;
  /// Others of the same type, the latest first.
  std::vector<std::string> others_like(const Variable& variable) const;

 private:
  std::vector<Variable> variables_;
  std::vector<std::size_t> marks_;
};

}  // namespace rooflab::mutation
