#pragma once

#include <string>

#include "grader/review/submission_page.h"

/// The sections of a submission's page.
namespace rooflab {

/// Behind an address: the text field that the page was opened for, which then has the focus.
inline constexpr const char* kWriteHere = "#write";

/// What every section is made from.
struct SubmissionPage {
  const ReviewedClass& reviewed;
  const ReviewTeam& team;
  const SubmissionView& view;
  const SubmissionFocus& focus;
  const UnkeptForm& unkept;
  const std::string& form_token;

  std::string address(const std::string& page,
                      const std::vector<std::pair<std::string, std::string>>& more = {}) const;
  /// Fields that every form of the page brings along.
  std::vector<std::pair<std::string, std::string>> hidden(
      const std::vector<std::pair<std::string, std::string>>& more) const;
  bool is_unkept(const std::string& form) const {
    return !unkept.form.empty() && unkept.form == form;
  }
  /// What was typed into a form that was not kept, else what stands there.
  std::string typed(const std::string& form, const std::string& field,
                    const std::string& otherwise) const {
    return is_unkept(form) ? value_of(unkept.typed, field) : otherwise;
  }
};

/// Where several were handed in and no time decides: all of them, with a form to choose one.
std::string choice_section(const SubmissionPage& page);
std::string points_section(const SubmissionPage& page);
std::string evidence_section(const SubmissionPage& page);
/// Requests for another look at the grade, with forms to decide about them and to write one down.
std::string requests_section(const SubmissionPage& page);
std::string answers_section(const SubmissionPage& page);
std::string files_section(const SubmissionPage& page);
/// Comments on no file, and on files that were handed in before.
std::string comments_section(const SubmissionPage& page);

/// The name of the form that decides about a request, and of the one for a new one.
std::string request_form(std::int64_t id);
inline constexpr const char* kNewRequest = "new request";
/// The name of the form that chooses a submission.
inline constexpr const char* kChoiceForm = "choice";
/// "evidence-gemm", not escaped: the id of a task's evidence on the page.
std::string evidence_id(const std::string& task);

/// One comment with its place to change it.
std::string comment_html(const SubmissionPage& page, const ReviewComment& comment);
/// The form for a new one.
std::string new_comment_html(const SubmissionPage& page, const std::string& file,
                             std::uint32_t line);
/// Marks what students do not see before the deadline; nothing for what they see.
std::string held_mark(bool is_held);
/// A diagnostic in the grader's words.
std::string story_html(const Diagnostic& story);

}  // namespace rooflab
