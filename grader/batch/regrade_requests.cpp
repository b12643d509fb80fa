#include "grader/batch/regrade_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "grader/batch/batch.h"
#include "grader/batch/batch_folder.h"
#include "grader/batch/counted_grade.h"
#include "grader/batch/people_table.h"
#include "grader/batch/store/request_store.h"
#include "grader/report/text.h"
#include "grader/spec/similar_name.h"
#include "grader/spec/toml_reader.h"

namespace rooflab {
namespace {

/// A request as its file has it.
struct WrittenRequest {
  std::string where;  ///< "requests.csv:3"
  std::string student, part, task, why, by;
};

/// What cannot be used is refused by line, and costs nobody else a request.
struct WrittenRequests {
  char delimiter = '\t';  ///< that numbers were written for: see decimal_of()
  std::vector<WrittenRequest> requests = {};
  std::vector<std::string> refused = {};
};

WrittenRequests read_table(std::string_view text, const std::string& name) {
  const PeopleTable table(text, name, {"student", "part", "why"});
  WrittenRequests written{.delimiter = table.delimiter()};
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string where = fmt::format("{}:{}", name, table.line_of(row));
    try {
      table.refuse_more_fields(row, where, "");
      written.requests.push_back({where, table.get(row, "student"), table.get(row, "part"),
                                  table.get(row, "task"), table.get(row, "why"),
                                  table.get(row, "by")});
    } catch (const BatchError& error) {
      written.refused.emplace_back(error.what());
    }
  }
  return written;
}

WrittenRequests read_toml(std::string_view text, const std::string& name) {
  const toml::table table = parse_toml_text(std::string(text), name);
  TableReader reader(table, name, "regrade requests");
  WrittenRequests written;
  reader.each("request", [&](const toml::table& inner) {
    TableReader one(inner, name, "[[request]]");
    try {
      WrittenRequest request{fmt::format("{}:{}", name, inner.source().begin.line),
                             one.text("student"),
                             std::to_string(one.integer("part")),
                             one.text_or("task", ""),
                             one.text("why"),
                             one.text_or("by", "")};
      one.finish();
      written.requests.push_back(std::move(request));
    } catch (const SpecError& error) {
      written.refused.emplace_back(error.what());
    }
  });
  reader.finish();
  return written;
}

class Importer {
 public:
  Importer(Store& store, const Course& course, std::int64_t now)
      : store_(store), requests_(store), names_(store, course), now_(now) {
    counts_ = regrade_counts(store, kept_policy(store));
    for (const SubmissionRow& row : store.submissions()) {
      if (row.counts) submissions_[row.student] = row.id;
    }
  }

  bool keep(const WrittenRequest& written, char delimiter) {
    const PartSpec& part = names_.part(written.part, delimiter, written.where);
    RegradeRequest request{.student = names_.student(written.student, written.where),
                           .part = part.number,
                           .task = written.task,
                           .why = written.why};
    check_request_words(part, request.task, request.why, written.where);
    request.old_score = score_of(request);
    const std::string by = one_line(written.by.empty() ? request.student : written.by);
    return requests_.add(request, {.by = by, .at = now_});
  }

 private:
  std::optional<double> score_of(const RegradeRequest& request) {
    const auto submission = submissions_.find(request.student);
    if (submission == submissions_.end()) return std::nullopt;
    const auto grade = store_.grade(submission->second, request.part);
    if (!grade) return std::nullopt;
    const auto points = store_.points_of(counted_grade(store_, *grade, counts_).grading.name);
    return points ? std::optional(points->score + points->bonus) : std::nullopt;
  }

  Store& store_;
  RequestStore requests_;
  ClassNames names_;
  std::int64_t now_;
  RegradeCounts counts_ = RegradeCounts::latest;
  std::map<std::string, std::string> submissions_;
};

}  // namespace

void check_request_words(const PartSpec& part, std::string& task, std::string& why,
                         const std::string& where) {
  std::vector<std::string> tasks;
  std::ranges::transform(part.tasks, std::back_inserter(tasks), &TaskSpec::id);
  if (!task.empty() && std::ranges::find(tasks, task) == tasks.end()) {
    throw BatchError(fmt::format(
        "{}: part {} has no task {}{}; leave it out to mean the whole part", where, part.number,
        shorten(one_line(task), 80), did_you_mean(shorten(task, 80), tasks)));
  }
  why = sanitize(why);
  if (why.find_first_not_of(" \t\n") == std::string::npos) {
    throw BatchError(fmt::format("{}: why is empty; say what should be looked at again", where));
  }
  if (why.size() > kLongestRequest) {
    throw BatchError(fmt::format("{}: why has {} bytes, and may have {}; shorten it", where,
                                 why.size(), kLongestRequest));
  }
}

RequestImport import_regrade_requests(Store& store, const Course& course, std::string_view text,
                                      const std::string& name, std::int64_t now) {
  WrittenRequests written =
      name.ends_with(".toml") ? read_toml(text, name) : read_table(text, name);
  RequestImport import{.refused = std::move(written.refused)};
  Importer importer(store, course, now);
  for (const WrittenRequest& request : written.requests) {
    try {
      ++(importer.keep(request, written.delimiter) ? import.added : import.known);
    } catch (const BatchError& error) {
      import.refused.emplace_back(error.what());
    }
  }
  return import;
}

}  // namespace rooflab
