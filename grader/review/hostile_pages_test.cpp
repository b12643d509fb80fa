#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "grader/batch/outputs/sample_class_testing.h"
#include "grader/review/analysis_view.h"
#include "grader/review/class_list_page.h"
#include "grader/review/history_page.h"
#include "grader/review/question_page.h"
#include "grader/review/requests_page.h"
#include "grader/review/review_frame.h"
#include "grader/review/submission_page.h"

/// Pages in which every text from outside wants to harm: nothing of it may become an element, an
/// attribute or an address.
namespace rooflab {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A strict reader of our own pages: what it does not expect is a fault.
class PageReader {
 public:
  explicit PageReader(const std::string& page) : page_(page) {}

  std::vector<std::string> faults() {
    for (at_ = page_.find('<'); at_ != std::string::npos; at_ = page_.find('<', at_)) read_tag();
    return faults_;
  }

 private:
  static const std::set<std::string>& elements() {
    static const std::set<std::string> kElements = {
        "!doctype", "html",    "head",     "meta",       "title", "link",  "script",  "body",
        "a",        "nav",     "main",     "h1",         "h2",    "h3",    "h4",      "p",
        "b",        "bdi",     "small",    "span",       "div",   "table", "caption", "thead",
        "tbody",    "tr",      "th",       "td",         "form",  "input", "label",   "select",
        "option",   "button",  "textarea", "ul",         "ol",    "li",    "details", "summary",
        "section",  "article", "header",   "code",       "pre",   "kbd",   "wbr",     "fieldset",
        "legend",   "ins",     "del",      "blockquote", "br",    "svg",   "rect",    "path",
        "defs",     "pattern"};
    return kElements;
  }
  static const std::set<std::string>& attributes() {
    static const std::set<std::string> kAttributes = {"html",
                                                      "lang",
                                                      "charset",
                                                      "name",
                                                      "content",
                                                      "rel",
                                                      "href",
                                                      "src",
                                                      "defer",
                                                      "class",
                                                      "id",
                                                      "method",
                                                      "action",
                                                      "enctype",
                                                      "type",
                                                      "value",
                                                      "role",
                                                      "tabindex",
                                                      "title",
                                                      "colspan",
                                                      "scope",
                                                      "selected",
                                                      "checked",
                                                      "required",
                                                      "autofocus",
                                                      "rows",
                                                      "size",
                                                      "open",
                                                      "data-key",
                                                      "data-name",
                                                      "formnovalidate",
                                                      "inputmode",
                                                      "accept-charset",
                                                      "aria-label",
                                                      "aria-current",
                                                      "aria-keyshortcuts",
                                                      "viewBox",
                                                      "x",
                                                      "y",
                                                      "width",
                                                      "height",
                                                      "fill",
                                                      "d",
                                                      "stroke-width",
                                                      "patternUnits"};
    return kAttributes;
  }

  char peek() const { return at_ < page_.size() ? page_[at_] : '\0'; }
  std::string word() {
    std::string text;
    while (std::isalnum(static_cast<unsigned char>(peek())) != 0 || peek() == '-' ||
           peek() == '!') {
      text += page_[at_++];
    }
    return text;
  }
  void complain(const std::string& what) {
    faults_.push_back(what + " at " + page_.substr(at_, 60));
  }

  void read_tag() {
    ++at_;
    if (peek() == '/') ++at_;
    const std::string element = word();
    if (!elements().contains(element)) complain("element " + element);
    while (true) {
      while (peek() == ' ') ++at_;
      if (page_.compare(at_, 2, "/>") == 0) ++at_;  // of SVG
      if (peek() == '>' || peek() == '\0') return;
      const std::string attribute = word();
      if (attribute.empty()) {
        complain("no attribute");
        return;
      }
      if (!attributes().contains(attribute)) complain("attribute " + attribute);
      if (peek() != '=') continue;
      ++at_;
      read_value(element, attribute);
    }
  }

  void read_value(const std::string& element, const std::string& attribute) {
    if (peek() != '"') {
      complain("a value without quotes");
      return;
    }
    const std::size_t end = page_.find('"', ++at_);
    const std::string value = page_.substr(at_, end - at_);
    at_ = end == std::string::npos ? page_.size() : end + 1;
    if (value.find_first_of("<>") != std::string::npos) complain("a tag in a value");
    const bool leads = attribute == "href" || attribute == "action" || attribute == "src";
    if (leads && value.find(':') != std::string::npos) complain("address " + value);
    if (leads && value.starts_with("/")) complain("address " + value);
    if (element == "script" && value != "review.js" && attribute == "src") complain(value);
  }

  const std::string& page_;
  std::size_t at_ = 0;
  std::vector<std::string> faults_;
};

void expect_harmless(const std::string& page) {
  EXPECT_THAT(PageReader(page).faults(), IsEmpty());
  // Neither what turns the direction of text nor what a terminal would act on.
  for (const char* harm : {"\u202E", "\x1b", "\x07", "\xff"})
    EXPECT_THAT(page, Not(HasSubstr(harm)));
  EXPECT_EQ(page.find('\0'), std::string::npos);
}

std::string all_hostile() {
  std::string all;
  for (const std::string& text : hostile_texts()) all += text + "\n";
  return all;
}

class HostilePages : public testing::Test {
 protected:
  HostilePages() : sample_(sample_class(40)) {
    make_hostile(sample_);
    reviewed_.results = sample_.results;
    reviewed_.results.problems = hostile_texts();
    for (std::size_t i = 0; i < reviewed_.results.students.size(); ++i) {
      reviewed_.teams.push_back({.id = std::to_string(i), .members = {i}});
    }
  }

  SubmissionView view(const StudentOutcome& student, const std::string& text) {
    SubmissionView view{.part = reviewed_.results.parts[0].number, .source = text};
    const std::string& grading = student.parts.at(0).grading;
    if (!grading.empty()) view.grading = sample_.gradings.at(grading);
    view.unread = text;
    RevealedCase hidden{
        .task = text, .name = text, .parameters = text, .diagnostics = {}, .printed = text};
    if (view.grading && !view.grading->tasks.empty()) {
      hidden.task = view.grading->tasks[0].id;
      hidden.diagnostics = view.grading->tasks[0].diagnostics;
      view.grading->tasks[0].for_people = hostile_texts();
    }
    view.hidden = {hidden};
    view.files = {{.path = "part1/" + text, .text = all_hostile(), .starter = "a\n" + text}};
    view.comments = {
        {.id = 1, .source = text, .path = "part1/" + text, .line = 1, .text = text, .by = text},
        {.id = 2, .text = all_hostile(), .by = text},
        {.id = 3, .source = "other", .path = text, .line = 3, .text = text, .by = text}};
    view.points = {{.row = {.student = student.student.key,
                            .part = view.part,
                            .item = text,
                            .points = -1,
                            .comment = text,
                            .by = text},
                    .revision = 1}};
    view.places = {{.item = text,
                    .words = text,
                    .by_grader = "1 of 2",
                    .score = 1,
                    .most = 2,
                    .is_before_regrade = true}};
    view.candidates = {{.candidate = &candidate_, .by_grader = "1 of 2 points"}};
    view.shown = "lab1";
    candidate_ = {.id = "lab1", .name = text, .counts = text.size() % 2 == 0, .notes = {text}};
    if (view.grading) {
      for (TaskResult& task : view.grading->tasks) {
        task.answers = {{.question = "q", .given = text}};
        view.right[task.id] = {.student = text, .values = {{"q", Value(text)}}};
      }
    }
    FreeText answer{.student = student.student.key,
                    .part = view.part,
                    .question = {.item = text},
                    .prompt = text,
                    .answer = all_hostile(),
                    .waits = true};
    view.texts = {answer};
    view.log = {{.by = text,
                 .what = "points given",
                 .students = {text},
                 .subject = text,
                 .before = text,
                 .after = text}};
    return view;
  }

  SampleClass sample_;
  ReviewedClass reviewed_;
  TeamCandidate candidate_;
};

TEST_F(HostilePages, TheClassIsHarmless) {
  expect_harmless(class_list_page(reviewed_, {}));
  for (const std::string& text : hostile_texts()) {
    expect_harmless(class_list_page(
        reviewed_, {.choice = {.words = text, .state = text, .sort = text}, .part = 1}));
  }
}

TEST_F(HostilePages, EverySubmissionIsHarmless) {
  std::size_t at = 0;
  for (const ReviewTeam& team : reviewed_.teams) {
    const std::string& text = hostile_texts()[at++ % hostile_texts().size()];
    const SubmissionView view = this->view(reviewed_.lead(team), text);
    expect_harmless(submission_page(reviewed_, team, view, {}, {}, text));
    expect_harmless(submission_page(
        reviewed_, team, view, {.file = text, .line = 1, .comment = 2},
        {.form = "points " + text, .message = text, .typed = {{"points", text}, {"reason", text}}},
        "token"));
    expect_harmless(submission_page(reviewed_, team, view, {},
                                    {.form = "gone", .message = text, .typed = {{"text", text}}},
                                    ""));
  }
}

TEST_F(HostilePages, RequestsAreHarmless) {
  expect_harmless(requests_page(reviewed_));
  const std::string& text = hostile_texts().front();
  for (const ReviewTeam& team : reviewed_.teams) {
    const SubmissionView view = this->view(reviewed_.lead(team), text);
    for (const char* form : {"request 1", "new request"}) {
      expect_harmless(submission_page(
          reviewed_, team, view, {},
          {.form = form,
           .message = text,
           .typed = {{"reason", all_hostile()}, {"text", all_hostile()}, {"task", text}}},
          text));
    }
  }
}

TEST_F(HostilePages, EveryAnswerIsHarmless) {
  for (const std::string& text : hostile_texts()) {
    QuestionView view{.part = 1, .item = text, .prompt = text, .max_points = 2};
    for (const ReviewTeam& team : reviewed_.teams) {
      ReviewedAnswer answer{.team = &team, .text = {}};
      answer.text.answer = all_hostile();
      answer.given = GivenPoints{.row = {.points = 1, .comment = text, .by = text}, .revision = 1};
      view.answers.push_back(answer);
    }
    view.rubric = {{.id = 1, .text = text, .points = -1}};
    expect_harmless(question_page(reviewed_, view, {}, {}, text));
    expect_harmless(question_page(
        reviewed_, view, {.student = text, .anonymous = true},
        {.form = "answer", .message = text, .typed = {{"comment", text}, {"adjustment", text}}},
        text));
    expect_harmless(questions_page({view}));
  }
}

TEST_F(HostilePages, TheAnalysisIsHarmless) {
  const LoadGrading load = sample_.loader();
  for (PartAnalysis& part : analyse_class(reviewed_.results, load).parts) {
    AnalysisView view{.part = std::move(part), .examples = {}};
    for (const std::string& text : hostile_texts()) {
      view.examples.push_back({.id = "0123", .task = text, .code = text, .lines = {{true, text}}});
    }
    expect_harmless(
        analysis_page(reviewed_, view, {{"RL0401", all_hostile()}}, all_hostile(), "token"));
  }
}

TEST_F(HostilePages, TheHistoryIsHarmless) {
  for (const std::string& text : hostile_texts()) {
    const ReviewLogEntry entry{.by = text,
                               .what = text,
                               .students = {text, reviewed_.lead(reviewed_.teams[0]).student.key},
                               .part = kEveryPart,
                               .subject = text,
                               .before = text,
                               .after = text};
    expect_harmless(history_page(reviewed_, {.by = text, .what = text, .words = text},
                                 {.by = {text}, .what = {text}}, {entry}));
    expect_harmless(review_page(text, batch_html(text)));
  }
}

TEST_F(HostilePages, MessagesAreHarmless) {
  for (const std::string& text : hostile_texts()) {
    expect_harmless(review_message(404, text, text).body);
  }
}

TEST(PageReaderTest, FindsWhatItIsThereFor) {
  EXPECT_THAT(PageReader("<img>").faults(), Not(IsEmpty()));
  EXPECT_THAT(PageReader("<p onclick=\"x\">").faults(), Not(IsEmpty()));
  EXPECT_THAT(PageReader("<a href=\"javascript:x\">").faults(), Not(IsEmpty()));
  EXPECT_THAT(PageReader("<p class=x>").faults(), Not(IsEmpty()));
  EXPECT_THAT(PageReader("<p class=\"x\">1 &lt; 2</p>").faults(), IsEmpty());
}

}  // namespace
}  // namespace rooflab
