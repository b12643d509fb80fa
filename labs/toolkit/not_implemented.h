#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

namespace rooflab {

/// Thrown where a task is still to be written. what() says what to do first; file() and line() say
/// where.
class NotImplemented : public std::logic_error {
 public:
  NotImplemented(const std::string& message, const std::source_location& place)
      : std::logic_error(message), place_(place) {}

  const char* file() const noexcept { return place_.file_name(); }
  int line() const noexcept { return static_cast<int>(place_.line()); }

 private:
  std::source_location place_;
};

}  // namespace rooflab
