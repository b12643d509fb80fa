#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/batch/course.h"
#include "grader/batch/progress_file.h"
#include "grader/batch/store/choice_store.h"
#include "grader/batch/store/request_store.h"
#include "grader/batch/store/review_store.h"
#include "grader/batch/store/store.h"
#include "grader/review/analysis_view.h"
#include "grader/review/class_view.h"
#include "grader/review/submission_page.h"
#include "grader/review/web_values.h"

namespace rooflab {

struct ReviewSettings {
  std::filesystem::path database;  ///< of the batch; it has to be there
  std::filesystem::path starter;   ///< what students got: starter/<part directory>/<file>
  std::string by;                  ///< who reviews
  /// Writes every output of the batch anew. @return what somebody should know of it, a line each
  std::function<std::vector<std::string>()> write_outputs;
  std::function<std::int64_t()> now;    ///< seconds since 1970
  std::filesystem::path handouts = {};  ///< whose words examples for a lecture may have
  std::map<std::string, std::string> code_titles = {};  ///< read_code_titles()
};

/// The pages of a review, by their names, and what is done by their forms. Requests may come from
/// several threads; one at a time is answered.
class ReviewApp {
 public:
  /// @throws DatabaseError
  ReviewApp(ReviewSettings settings, const Course& course);

  /// Never throws: what fails is told on a page.
  ReviewResponse answer(const ReviewRequest& request, const std::string& form_token);

 private:
  ReviewResponse page(const ReviewRequest& request, const std::string& form_token);
  ReviewResponse write(const ReviewRequest& request, const std::string& form_token);
  ReviewResponse class_list(const ReviewRequest& request);
  ReviewResponse history(const ReviewFields& fields);
  ReviewResponse analysis(const ReviewFields& fields, const std::string& message,
                          const std::string& form_token);
  ReviewResponse write_examples(const ReviewFields& form, const std::string& form_token);
  ReviewResponse outputs_form(const std::string& form_token) const;
  ReviewResponse write_outputs();

  ReviewResponse submission(const ReviewFields& fields, const UnkeptForm& unkept,
                            const std::string& form_token);
  ReviewResponse write_comment(const ReviewFields& form, const std::string& form_token);
  ReviewResponse write_choice(const ReviewFields& form, const std::string& form_token);
  ReviewResponse write_points(const ReviewFields& form, const std::string& form_token);
  ReviewResponse write_request(const ReviewFields& form, const std::string& form_token);
  ReviewResponse questions();
  ReviewResponse question(const ReviewFields& fields, const UnkeptForm& unkept,
                          const std::string& form_token);
  ReviewResponse write_answer(const ReviewFields& form, const std::string& form_token);
  ReviewResponse write_rubric(const ReviewFields& form, const std::string& form_token);

  /// Who is meant, and which part, by the fields of an address or a form.
  struct Target {
    const ReviewTeam& team;
    int part = 0;
  };
  Target target_of(const ReviewedClass& reviewed, const ReviewFields& fields) const;
  /// The part that the fields name; without one, the first. @throws NotFound for another
  int part_of(const ReviewFields& fields) const;
  /// @return why it was not done, with the answer's status; nothing where it was
  static std::optional<std::pair<int, std::string>> attempt(const std::function<void()>& write);

  ReviewedClass reviewed() {
    return look_at_class(store_, course_, secret_, known_, settings_.now());
  }
  SubmissionView look_at(const ReviewedClass& reviewed, const Target& target,
                         const ReviewFields& fields);
  /// How far a batch is that runs in the folder; empty for none.
  std::string batch_at_work() const { return progress_in(settings_.database.parent_path()); }
  ReviewAct act() const { return {.by = settings_.by, .at = settings_.now()}; }

  std::mutex mutex_;
  ReviewSettings settings_;
  const Course& course_;
  Store store_;
  ReviewStore review_;
  RequestStore requests_;
  ChoiceStore choices_;
  std::string secret_;
  TaskLinesOf known_;
  AnalysisCache analyses_;
};

}  // namespace rooflab
