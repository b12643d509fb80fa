#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "grader/review/web_values.h"

/// What all pages of a review are built with. Everything is escaped here.
namespace rooflab {

/// A whole page. Style and script are pages of their own, since nothing within one may be run.
/// @param title not yet escaped
/// @param content of the page's `main`, as HTML
std::string review_page(const std::string& title, const std::string& content);

/// A page that says one thing, and leads back to the class.
ReviewResponse review_message(int status, const std::string& title, const std::string& text);

/// "submission?student=3f&part=1", its values percent-encoded: for a redirect. Fields without a
/// value are left out.
std::string review_address(const std::string& page,
                           const std::vector<std::pair<std::string, std::string>>& fields);
/// A link to it; `html` is already escaped.
std::string review_link(const std::string& address, const std::string& html,
                        const std::string& attributes = {});

/// The beginning of a form that writes: its token and hidden fields.
std::string review_form(const std::string& action, const std::string& form_token,
                        const std::vector<std::pair<std::string, std::string>>& hidden,
                        const std::string& attributes = {});

/// So many choices of a page have a key of the keyboard: 1 to 9.
inline constexpr std::size_t kMostKeys = 9;

/// "<p class="conflict" role="alert">…</p>"; nothing for no text.
std::string alert_html(const std::string& text);

/// Says that a batch runs now, and how far it is (progress_in()); nothing where none does.
std::string batch_html(const std::string& progress);

/// A student's text as people read it: escaped, its line breaks kept. Invisible characters and
/// those that turn the direction of text are shown as what they are.
std::string text_html(const std::string& text);

/// What a form sent as text: line breaks as ours, no control characters, no blanks at its ends.
/// @throws FormError where it is longer than a comment may be
std::string text_of_form(const std::string& text);
/// "2.5", "2,5", "-1". @throws FormError where it is no number of points
double points_of_form(const std::string& text);

/// What was sent cannot be used: what to do. The form is shown again, with what was typed.
class FormError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace rooflab
