#include <fmt/format.h>

#include "grader/batch/intake/csv.h"
#include "grader/batch/outputs/class_words.h"
#include "grader/batch/outputs/gradebooks.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

/// Moodle takes comments for HTML.
std::string comments_html(const ClassResults& results, const StudentOutcome& student) {
  std::string html;
  for (const PartOutcome& outcome : student.parts) {
    std::string words = part_sentence(summary_of(results, outcome.part), outcome);
    if (const std::string checkout = checkout_words(outcome); !checkout.empty()) {
      words += "; " + checkout;
    }
    html += fmt::format("<p>Part {}: {}</p>", outcome.part, escape_html(words));
  }
  return html;
}

}  // namespace

// Moodle knows the columns by their headings and leaves alone those that it does not know; it needs
// Identifier, Grade and Last modified (grade). That one stays empty, so that a grade which somebody
// has changed in Moodle is not overwritten unless the person who imports says so.
std::string moodle_csv(const ClassResults& results, const OutputOptions& /*options*/) {
  CsvTable table{{"Identifier", "Full name", "Email address", "Grade", "Maximum grade",
                  "Last modified (grade)"}};
  for (const PartSummary& summary : results.parts) {
    table[0].push_back(fmt::format("Part {}", summary.number));
  }
  table[0].emplace_back("Feedback comments");
  for (const StudentOutcome& student : results.students) {
    const Student& who = student.student;
    if (!who.on_roster) continue;
    const std::optional<double> total = total_of(student);
    std::vector<std::string> row{one_line(who.moodle_identifier),
                                 one_line(who.name),
                                 one_line(who.email),
                                 total ? gradebook_points(*total) : "",
                                 gradebook_points(max_total(results, student)),
                                 ""};
    for (const PartSummary& summary : results.parts) {
      row.push_back(gradebook_total(outcome_of(student, summary.number)));
    }
    row.push_back(comments_html(results, student));
    table.push_back(std::move(row));
  }
  return to_csv(table);
}

}  // namespace rooflab
