#include "grader/batch/hidden_cases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "grader/batch/intake/csv.h"
#include "grader/report/evidence.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

std::string lines_of(const std::vector<std::string>& lines) {
  return sanitize(fmt::format("{}", fmt::join(lines, "\n")));
}

/// "kernels.cu:12: thread (0,0) stores"
std::string places_of(const Diagnostic& story) {
  std::vector<std::string> places;
  for (const Label& label : story.labels) {
    places.push_back(fmt::format("{}:{}: {}", label.file, label.line, label.text));
  }
  return lines_of(places);
}

/// @param code of the diagnostic, or nothing
void add_row(CsvTable& table, const Student& student, int part, const RevealedCase& one,
             const std::string& code, const Diagnostic& story) {
  table.push_back({one_line(student.key), one_line(student.name), std::to_string(part),
                   one_line(one.task), one_line(one.name), one_line(one.parameters),
                   name_of(one.verdict), code, one_line(story.message), places_of(story),
                   lines_of(story.evidence), lines_of(story.pattern), lines_of(story.notes),
                   sanitize(one.printed)});
}

/// What another version of the grader kept is no reason to write no table: a row without a code
/// says so.
void add_rows(CsvTable& table, const Student& student, int part, const std::string& kept) {
  try {
    for (const RevealedCase& one : revealed_from(kept)) {
      for (const Diagnostic& story : one.diagnostics) {
        add_row(table, student, part, one, story.code.text(), story);
      }
    }
  } catch (const EvidenceError&) {
    Diagnostic story;
    story.message = "another version of the grader kept this; grade it again with --regrade";
    add_row(table, student, part, {}, "", story);
  }
}

}  // namespace

std::string hidden_case_table(Store& store, const ClassResults& results) {
  CsvTable table = {{"student", "name", "part", "task", "hidden case", "parameters", "verdict",
                     "code", "message", "places", "evidence", "pattern", "notes", "printed"}};
  for (const StudentOutcome& student : results.students) {
    for (const PartOutcome& outcome : student.parts) {
      if (outcome.grading.empty()) continue;
      add_rows(table, student.student, outcome.part, store.revealed(outcome.grading));
    }
  }
  return to_csv(table);
}

}  // namespace rooflab
