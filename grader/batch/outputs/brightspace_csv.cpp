#include <fmt/format.h>

#include "grader/batch/intake/csv.h"
#include "grader/batch/outputs/class_words.h"
#include "grader/batch/outputs/gradebooks.h"
#include "grader/report/text.h"

namespace rooflab {

// D2L: "Importing Grades". A student is known by either of the first two columns, a numeric grade
// item by its name and "Points Grade"; for a name that is none yet the import offers to make one.
// The last column marks the end of each line, as in what Brightspace exports.
std::string brightspace_csv(const ClassResults& results, const OutputOptions& options) {
  CsvTable table{{"OrgDefinedId", "Username"}};
  for (const PartSummary& summary : results.parts) {
    table[0].push_back(
        fmt::format("{} part {} Points Grade", one_line(options.assignment), summary.number));
  }
  table[0].emplace_back("End-of-Line Indicator");
  for (const StudentOutcome& student : results.students) {
    const Student& who = student.student;
    if (!who.on_roster) continue;
    std::vector<std::string> row{one_line(who.sis_id), one_line(who.login)};
    for (const PartSummary& summary : results.parts) {
      row.push_back(gradebook_total(outcome_of(student, summary.number)));
    }
    row.emplace_back("#");
    table.push_back(std::move(row));
  }
  return to_csv(table);
}

}  // namespace rooflab
