#include "grader/batch/outputs/junit_xml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "grader/batch/outputs/class_words.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

/// What escape_html() leaves is text of XML 1.0 too: its entities are XML's own, and characters
/// that XML forbids are gone. Line breaks of an attribute would be read as spaces.
std::string attribute(const char* name, const std::string& value) {
  return fmt::format(" {}=\"{}\"", name, escape_html(one_line(value)));
}

/// <failure type="race" message="…"/>
std::string child_of(const char* element, const std::string& type, const std::string& message) {
  return fmt::format("<{}{}{}/>", element, attribute("type", type), attribute("message", message));
}

std::string message_of(const TaskLine& line, const GradeResult* grading) {
  if (grading != nullptr) {
    for (const TaskResult& task : grading->tasks) {
      if (task.id != line.id || task.diagnostics.empty()) continue;
      const Diagnostic& story = task.diagnostics.front();
      std::string place = story.file;
      if (!place.empty() && story.line > 0) place += fmt::format(":{}", story.line);
      return fmt::format("{}: {}{}", story.code.text(), story.message,
                         place.empty() ? "" : " (" + place + ")");
    }
  }
  return fmt::format("{}", fmt::join(line.codes, " "));
}

std::string child_of(const TaskLine& line, const GradeResult* grading) {
  const std::string type = name_of(line.verdict);
  switch (line.verdict) {
    case Verdict::pass:
      return {};
    case Verdict::not_applicable:
      return "<skipped" + attribute("message", "this GPU cannot run the task") + "/>";
    case Verdict::grader_fault:
      return child_of("error", type, message_of(line, grading));
    default:
      return child_of("failure", type, message_of(line, grading));
  }
}

}  // namespace

std::string JunitXml::Counts::attributes() const {
  return fmt::format(" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", tests, failures,
                     errors, skipped);
}

JunitXml::JunitXml(const ClassResults& results, std::string assignment)
    : assignment_(std::move(assignment)) {
  for (const auto& [name, value] :
       {std::pair{"device", results.device},
        {"times", results.time_kind},
        {"versions", results.versions},
        {"checkouts", fmt::format("{}", fmt::join(checkouts_of(results), "; "))},
        {"graded at", results.graded_at}}) {
    properties_ += "    <property" + attribute("name", name) + attribute("value", value) + "/>\n";
  }
}

void JunitXml::begin(const StudentOutcome& student) {
  student_ = student.student.key;
  cases_.clear();
  counts_ = {};
}

void JunitXml::add_case(const std::string& suite, const std::string& name,
                        const std::string& child) {
  ++counts_.tests;
  counts_.failures += child.starts_with("<failure") ? 1 : 0;
  counts_.errors += child.starts_with("<error") ? 1 : 0;
  counts_.skipped += child.starts_with("<skipped") ? 1 : 0;
  cases_ += "    <testcase" + attribute("classname", suite) + attribute("name", name);
  cases_ += child.empty() ? "/>\n" : ">" + child + "</testcase>\n";
}

void JunitXml::add(const PartView& part) {
  const PartOutcome& outcome = part.outcome;
  const std::string suite = fmt::format("part{}", outcome.part);
  switch (outcome.state) {
    case PartState::graded:
      if (outcome.tasks_unread) {
        add_case(suite, "tasks", child_of("error", "unread", "their details could not be read"));
      }
      for (const TaskLine& line : outcome.tasks) {
        add_case(suite, line.id, child_of(line, part.grading));
      }
      return;
    case PartState::not_submitted:
      return add_case(suite, "submission",
                      child_of("failure", name_of(outcome.state), "nothing was handed in"));
    case PartState::ungraded:
      return add_case(suite, "submission",
                      "<skipped" + attribute("message", "it is not graded yet") + "/>");
    case PartState::undecided:
    case PartState::unreadable:
    case PartState::fault:
      return add_case(suite, "submission", child_of("error", name_of(outcome.state), outcome.why));
  }
}

void JunitXml::end() {
  all_.tests += counts_.tests;
  all_.failures += counts_.failures;
  all_.errors += counts_.errors;
  all_.skipped += counts_.skipped;
  suites_ += "  <testsuite" + attribute("name", student_) + counts_.attributes() + ">\n" +
             "    <properties>\n" + properties_ + "    </properties>\n" + cases_ +
             "  </testsuite>\n";
}

std::string JunitXml::finish() && {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" +
         attribute("name", assignment_) + all_.attributes() + ">\n" + suites_ + "</testsuites>\n";
}

}  // namespace rooflab
