#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <variant>

#include "grader/contract/oracle.h"
#include "grader/spec/part.h"

namespace rooflab {

/// Holds an oracle's results against those that the cases of a task give, hidden ones included.
/// Cases whose result is a text are left out.
inline void expect_what_cases_give(int part_number, const std::string& task_id) {
  const PartSpec part =
      load_part(ROOFLAB_SOURCE_DIR "/labs", ROOFLAB_SOURCE_DIR "/solutions", part_number);
  const auto task = std::ranges::find(part.tasks, task_id, &TaskSpec::id);
  ASSERT_NE(task, part.tasks.end());
  const std::unique_ptr<Oracle> oracle = oracle_registry().at(task->oracle)();
  const auto number = [](const Value& value) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
  };
  for (const CaseSpec& given : task->cases) {
    const Values results = oracle->results_elsewhere({given.parameters, {}});
    for (const auto& [name, expected] : given.expect) {
      if (std::holds_alternative<std::string>(expected)) continue;
      ASSERT_TRUE(results.contains(name)) << given.name << ": " << name;
      const double right = number(expected);
      EXPECT_NEAR(number(results.at(name)), right, 1e-12 * std::abs(right))
          << given.name << ": " << name;
    }
  }
}

}  // namespace rooflab
