#include "grader/batch/lecture_examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "grader/batch/fingerprint.h"
#include "grader/report/html_page.h"
#include "grader/report/text.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

constexpr std::size_t kMostCodes = 8;
constexpr std::size_t kMostOfCode = 3;
constexpr std::size_t kIdDigits = 20;

/// The code that every submission of the part holds, each different one once.
WordsToShow words_of_class(Store& store, int part, const std::vector<std::string>& pages) {
  WordsToShow words(store.students(), pages);
  std::set<std::string> sources;
  for (const SubmissionRow& submission : store.submissions()) {
    if (!submission.counts) continue;
    const auto handed_in = store.handed_in(submission.id);
    const auto source = handed_in.find(part);
    if (source != handed_in.end()) sources.insert(source->second);
  }
  for (const std::string& source : sources) words.add(store.source(source));
  return words;
}

std::optional<std::string> code_at(Store& store, const PartSpec& part, const Sighting& sighting) {
  // A work log or a file of answers is a student's own words, and no code.
  if (sighting.line == 0 || sighting.file.ends_with(".toml")) return std::nullopt;
  const auto grading = store.grading(sighting.grading);
  if (!grading) return std::nullopt;
  const SourceFiles files = store.source(grading->subject.source);
  for (const std::string& path : {sighting.file, part.directory + "/" + sighting.file}) {
    if (const auto file = files.find(path); file != files.end()) return file->second;
  }
  return std::nullopt;
}

std::string id_of(const LectureExample& example) {
  Fingerprint print;
  print.add(example.task).add(example.code);
  for (const AnonymousLine& line : example.lines) print.add(line.text);
  return print.hex().substr(0, kIdDigits);
}

std::vector<LectureExample> examples_of(Store& store, const PartSpec& part, const CodeInTask& one,
                                        const WordsToShow& words) {
  std::map<std::string, LectureExample> by_id;  // whose it is does not order them
  for (const Sighting& sighting : one.code->sightings) {
    const auto text = code_at(store, part, sighting);
    if (!text) continue;
    LectureExample example{.id = {},
                           .task = one.task->id,
                           .code = one.code->code,
                           .submissions = one.code->sightings.size(),
                           .of = one.task->submissions,
                           .lines = anonymous_lines(*text, sighting.line, words)};
    if (example.lines.empty()) continue;
    example.id = id_of(example);
    by_id.emplace(example.id, std::move(example));
  }
  std::vector<LectureExample> examples;
  for (auto& [id, example] : by_id) {
    if (examples.size() < kMostOfCode) examples.push_back(std::move(example));
  }
  return examples;
}

}  // namespace

const char* const kHowAnonymous =
    "How the code was made anonymous: comments and preprocessor lines are left out, and texts in "
    "quotation marks are \"…\". A word or a long number stays where at least three submissions of "
    "the class have it, or where the course's own pages have it and it is no part of a student's "
    "name; others are name1, name2, … and N. Only mistakes that at least three submissions have "
    "are shown. How code is laid out stays, and may still tell its writer to a friend.";

std::vector<std::string> texts_of_pages(const std::filesystem::path& handouts) {
  std::vector<std::string> texts;
  for (const std::filesystem::path& file : files_below(handouts)) {
    if (file.extension() == ".md") texts.push_back(read_file(file));
  }
  return texts;
}

std::vector<LectureExample> lecture_examples(Store& store, const PartSpec& part,
                                             const PartAnalysis& analysis,
                                             const std::vector<std::string>& pages) {
  std::vector<LectureExample> all;
  std::vector<CodeInTask> codes = commonest_codes(analysis);
  std::erase_if(
      codes, [](const CodeInTask& one) { return one.code->sightings.size() < kLeastForExample; });
  if (codes.empty()) return all;
  const WordsToShow words = words_of_class(store, part.number, pages);
  std::size_t shown = 0;
  for (const CodeInTask& one : codes) {
    const std::vector<LectureExample> examples = examples_of(store, part, one, words);
    all.insert(all.end(), examples.begin(), examples.end());
    if (!examples.empty() && ++shown == kMostCodes) break;
  }
  return all;
}

std::string example_html(const LectureExample& example) {
  std::string lines;
  for (const AnonymousLine& line : example.lines) {
    const std::string text = escape_html(line.text);
    lines += line.is_meant ? "<b>&gt; " + text + "</b>\n" : "  " + text + "\n";
  }
  return "<pre tabindex=\"0\">" + lines + "</pre>";
}

std::string examples_page(const std::string& title, const std::vector<LectureExample>& examples,
                          const std::map<std::string, std::string>& code_titles) {
  std::string content = fmt::format("<header><h1>{}</h1></header>\n", escape_html(one_line(title)));
  std::string before;
  for (const LectureExample& example : examples) {
    const std::string heading = example.task + ", " + example.code;
    if (heading != before) {
      const auto known = code_titles.find(example.code);
      content += fmt::format("<h2>{}{}</h2>\n<p>{} of {} submissions have it.</p>\n",
                             escape_html(one_line(heading)),
                             known == code_titles.end() ? "" : ": " + escape_html(known->second),
                             example.submissions, example.of);
      before = heading;
    }
    content += example_html(example) + "\n";
  }
  content += fmt::format("<p class=\"note\">{}</p>\n", escape_html(kHowAnonymous));
  return html_page(one_line(title), content);
}

}  // namespace rooflab
