#pragma once

#include <stdexcept>
#include <string>

namespace rooflab {

/// Why a student.toml says nothing, in a line.
class StudentFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a student.toml says; all are optional, of at most 400 bytes and one line.
struct StudentFileText {
  std::string id;
  std::string name;
  std::string email;
};

/// Reads a student.toml. It is a student's file: only a process that ends with it may do this.
/// @throws StudentFileError
StudentFileText parse_student_file(const std::string& text);

}  // namespace rooflab
