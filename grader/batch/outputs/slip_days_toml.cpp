#include "grader/batch/outputs/slip_days_toml.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <sstream>

namespace rooflab {

std::string slip_days_toml(const ClassResults& results) {
  toml::array spent;
  for (const StudentOutcome& student : results.students) {
    if (student.slip_days == 0) continue;
    spent.push_back(toml::table{{"student", student.student.key}, {"days", student.slip_days}});
  }
  std::ostringstream text;
  text << fmt::format(
      "# Slip days that were spent so far, of {} for each student.\n"
      "# Copy these tables behind [slip_days] in the late policy of the next batch.\n",
      results.slip_days_each);
  if (!spent.empty()) {
    text << toml::table{{"slip_days", toml::table{{"spent", std::move(spent)}}}} << '\n';
  }
  return std::move(text).str();
}

}  // namespace rooflab
