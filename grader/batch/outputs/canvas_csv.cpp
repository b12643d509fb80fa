#include <fmt/format.h>

#include "grader/batch/intake/csv.h"
#include "grader/batch/outputs/class_words.h"
#include "grader/batch/outputs/gradebooks.h"
#include "grader/report/text.h"

namespace rooflab {

// Canvas: "How do I import grades in the Gradebook?". The first five columns and their order are
// fixed, the row of points comes first and is indented by four spaces; a heading without the number
// of an assignment makes a new one.
std::string canvas_csv(const ClassResults& results, const OutputOptions& options) {
  CsvTable table{{"Student", "ID", "SIS User ID", "SIS Login ID", "Section"},
                 {"    Points Possible", "", "", "", ""}};
  for (const PartSummary& summary : results.parts) {
    std::string heading = fmt::format("{} part {}", one_line(options.assignment), summary.number);
    const auto number = options.canvas_assignments.find(summary.number);
    if (number != options.canvas_assignments.end()) {
      heading += fmt::format(" ({})", one_line(number->second));
    }
    table[0].push_back(heading);
    table[1].push_back(gradebook_points(max_total(summary)));
  }
  for (const StudentOutcome& student : results.students) {
    const Student& who = student.student;
    if (!who.on_roster) continue;
    std::vector<std::string> row{one_line(who.name), one_line(who.canvas_id), one_line(who.sis_id),
                                 one_line(who.login), one_line(who.section)};
    for (const PartSummary& summary : results.parts) {
      row.push_back(gradebook_total(outcome_of(student, summary.number)));
    }
    table.push_back(std::move(row));
  }
  return to_csv(table);
}

}  // namespace rooflab
