#pragma once

#include <functional>
#include <map>
#include <string>

#include "grader/batch/outputs/class_analysis.h"
#include "grader/batch/outputs/write_outputs.h"

/// What a class understood, for its instructors.
namespace rooflab {

/// A submission's name as a link to where its details are, as HTML.
using SubmissionLink = std::function<std::string(SubmissionIndex submission, int part)>;

/// What is said of a part: tasks, questions, diagnoses, and runs until a task passes. It names
/// hidden cases and students. It has no style attributes, so that `grader review` shows it as well.
std::string part_analysis_html(const PartAnalysis& part,
                               const std::map<std::string, std::string>& code_titles,
                               const SubmissionLink& link);

/// analysis.html.
std::string analysis_page(const ClassResults& results, const ClassAnalysis& analysis,
                          const OutputOptions& options);

/// analysis.csv: a row for each task, group, case, question, shared answer, code and journal
/// figure.
std::string analysis_csv(const ClassAnalysis& analysis);

/// The style of these pages beside that of the class page.
extern const char* const kAnalysisStyle;

}  // namespace rooflab
