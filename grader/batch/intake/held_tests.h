#pragma once

#include <toml++/toml.h>

#include <string>
#include <vector>

namespace rooflab {

/// Tests that show and count once their part is due, a table of the late policy:
///
///     [[after_due]]
///     part = 1
///     task = "gemm_tiled"
///     groups = ["edges"]          # of its cases, with the times that need them; the whole task
///     when
///                                 # left out
struct HeldTest {
  int part = 0;
  std::string task;
  std::vector<std::string> groups = {};  ///< empty: all of the task
  std::string place = {};                ///< "late.toml:12", for messages
};

/// @param name of the policy's file, for messages
/// @throws SpecError naming file, line and remedy
HeldTest read_held_test(const toml::table& table, const std::string& name);

}  // namespace rooflab
