#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace rooflab::verify {

/// How a command ended.
struct Ran {
  int exit_code = -1;       ///< -1: it did not exit by itself
  std::string end;          ///< in words, when it did not
  std::string log;          ///< what it printed
  nlohmann::json document;  ///< a grade; null when there is none
};

}  // namespace rooflab::verify
