#include "grader/batch/intake/held_tests.h"

#include <fmt/format.h>

#include "grader/spec/toml_reader.h"

namespace rooflab {

HeldTest read_held_test(const toml::table& table, const std::string& name) {
  TableReader reader(table, name, "[[after_due]]");
  HeldTest test;
  const std::int64_t part = reader.integer("part");
  if (part < 0 || part > kLastPart) {
    throw reader.error("part", fmt::format("there is no part {}", part),
                       "write the part's number, such as 2");
  }
  test.part = static_cast<int>(part);
  test.task = reader.text("task");
  test.groups = reader.texts("groups");
  if (reader.has("groups") && test.groups.empty()) {
    throw reader.error("groups", "`groups` is empty",
                       "name groups of cases, or leave it out for the whole task");
  }
  reader.finish();
  test.place = fmt::format("{}:{}", name, table.source().begin.line);
  return test;
}

}  // namespace rooflab
