#include "grader/batch/outputs/write_outputs.h"

#include <fmt/format.h>

#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <system_error>

#include "grader/batch/outputs/analysis_page.h"
#include "grader/batch/outputs/attempts.h"
#include "grader/batch/outputs/class_analysis.h"
#include "grader/batch/outputs/class_page.h"
#include "grader/batch/outputs/class_statistics.h"
#include "grader/batch/outputs/class_words.h"
#include "grader/batch/outputs/feedback_archives.h"
#include "grader/batch/outputs/feedback_page.h"
#include "grader/batch/outputs/gradebooks.h"
#include "grader/batch/outputs/gradescope_json.h"
#include "grader/batch/outputs/junit_xml.h"
#include "grader/batch/outputs/slip_days_toml.h"
#include "grader/report/text.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

/// Marks of our files near their beginning: what bears none is somebody else's and stays.
constexpr const char* kPageMark = "<meta name=\"generator\" content=\"Rooflab\">";
constexpr const char* kJsonMark = "\"made_by\": \"rooflab\"";

bool bears(const std::filesystem::path& file, const std::string& mark) {
  std::string beginning(1024, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  beginning.resize(static_cast<std::size_t>(stream.gcount()));
  return beginning.find(mark) != std::string::npos;
}

class Writer {
 public:
  Writer(const std::filesystem::path& folder, const ClassResults& results, const LoadGrading& load,
         const gpu_spec::GpuSpec& gpu, const OutputOptions& options)
      : folder_(folder),
        results_(results),
        load_(load),
        gpu_(gpu),
        options_(options),
        analyst_(results) {}

  void write_all() {
    attempts_.make([&] { collect_stems(); });
    attempts_.make([&] { remove_stale("gradescope", ".json", kJsonMark); });
    attempts_.make([&] { remove_stale("feedback", ".html", kPageMark); });
    // What is of the whole class first: it is missed most, should the disk be full.
    for (const ClassTable& table : kClassTables) {
      write(table.file, [&] { return table.csv(results_, options_); });
    }
    if (results_.slip_days_each > 0) {
      write("slip_days.toml", [&] { return slip_days_toml(results_); });
    }
    write("class.html", [&] { return class_page(results_, gpu_, options_); });
    JunitXml junit(results_, options_.assignment);
    timed_tasks_ = count_timed_tasks(results_);
    for (std::size_t student = 0; student < results_.students.size(); ++student) {
      attempts_.make([&] { write_student(student, junit); });
    }
    write("junit.xml", [&] { return std::move(junit).finish(); });
    attempts_.make([&] { write_archives(); });
    const ClassAnalysis analysis = std::move(analyst_).finish();
    write("analysis.html", [&] { return analysis_page(results_, analysis, options_); });
    write("analysis.csv", [&] { return analysis_csv(analysis); });
    attempts_.end();
  }

 private:
  void write(const std::string& name, const std::function<std::string()>& text) {
    attempts_.make([&] { write_file_atomically(folder_ / name, text()); });
  }

  /// Nobody may get what is another's: where two students have one name, neither gets a file.
  void collect_stems() {
    std::string doubled;
    for (const StudentOutcome& student : results_.students) {
      const std::string stem = file_stem(student.student.key);
      if (stems_.insert(stem).second) continue;
      doubled_stems_.insert(stem);
      doubled = student.student.key;
    }
    if (doubled_stems_.empty()) return;
    throw FileError(
        fmt::format("two students have the key {}; give them different ones in the roster",
                    shorten(one_line(doubled), 80)));
  }

  std::optional<GradeResult> load(const PartOutcome& outcome) {
    if (outcome.grading.empty() || outcome.state != PartState::graded) return std::nullopt;
    try {
      return load_(outcome.grading);
    } catch (const std::exception& error) {
      throw FileError(
          fmt::format("the evidence of grading {} cannot be used: {}; grade it again to have its "
                      "details in the reports",
                      one_line(outcome.grading), error.what()));
    }
  }

  void write_student(std::size_t index, JunitXml& junit) {
    const StudentOutcome& student = results_.students[index];
    FeedbackPage feedback(results_, student, gpu_);
    std::optional<Standing> standing;
    if (options_.leaderboard) standing = standing_of(student, timed_tasks_);
    GradescopeJson gradescope(results_, student, standing);
    junit.begin(student);
    for (const PartOutcome& outcome : student.parts) {
      std::optional<GradeResult> grading;
      attempts_.make([&] { grading = load(outcome); });
      if (grading) analyst_.add(index, *grading, outcome.grading);
      const PartView part{summary_of(results_, outcome.part), outcome,
                          grading ? &*grading : nullptr};
      if (!attempts_.make([&] { feedback.add(part); }))
        feedback.add({part.summary, outcome, nullptr});
      gradescope.add(part);
      junit.add(part);
    }
    junit.end();
    const std::string stem = file_stem(student.student.key);
    if (doubled_stems_.contains(stem)) return;
    const std::string result = std::move(gradescope).finish();
    const std::string page = std::move(feedback).finish();
    write("gradescope/" + stem + ".json", [&] { return result; });
    write("feedback/" + stem + ".html", [&] { return page; });
    archives_.add(student, page, result);
  }

  /// One that nobody's feedback is in any more may hold that of somebody who is gone.
  void write_archives() {
    const auto archives = std::move(archives_).finish();
    for (const char* name : {kCanvasFeedback, kMoodleFeedback, kGradescopeRerun}) {
      const auto archive = archives.find(name);
      if (archive == archives.end()) {
        std::filesystem::remove(folder_ / name);
      } else {
        write(name, [&] { return archive->second; });
      }
    }
  }

  /// Removes our files of students who are gone. Whatever else lies there, links too, is left
  /// alone.
  void remove_stale(const char* name, const std::string& extension, const char* mark) {
    std::error_code missing;
    std::vector<std::filesystem::path> stale;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / name, missing)) {
      const std::filesystem::path& file = entry.path();
      if (file.extension() == extension &&
          entry.symlink_status().type() == std::filesystem::file_type::regular &&
          !stems_.contains(file.stem().string()) && bears(file, mark)) {
        stale.push_back(file);
      }
    }
    for (const std::filesystem::path& file : stale) {
      std::error_code error;
      std::filesystem::remove(file, error);
      if (error) {
        throw FileError(
            fmt::format("cannot remove {}, of a student who is gone: {}; check that the folder may "
                        "be written to",
                        file.string(), error.message()));
      }
    }
  }

  const std::filesystem::path& folder_;
  const ClassResults& results_;
  const LoadGrading& load_;
  const gpu_spec::GpuSpec& gpu_;
  const OutputOptions& options_;
  std::set<std::string> stems_, doubled_stems_;
  std::size_t timed_tasks_ = 0;
  FeedbackArchives archives_;
  ClassAnalyst analyst_;
  Attempts attempts_;
};

}  // namespace

void write_outputs(const std::filesystem::path& folder, const ClassResults& results,
                   const LoadGrading& load, const gpu_spec::GpuSpec& gpu,
                   const OutputOptions& options) {
  Writer(folder, results, load, gpu, options).write_all();
}

}  // namespace rooflab
