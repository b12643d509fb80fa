#include <fmt/format.h>

#include <algorithm>

#include "grader/report/text.h"
#include "grader/review/class_list_page.h"
#include "grader/review/line_diff.h"
#include "grader/review/review_frame.h"
#include "grader/review/submission_sections.h"

/// The files that were handed in, beside the starter, with what is to be said of their lines.
namespace rooflab {
namespace {

constexpr std::size_t kMostRows = 5000;
constexpr std::size_t kLongestLine = 1000;
constexpr std::size_t kMostStories = 3;  // of a line
constexpr const char* kCells = "<td colspan=\"3\">";

/// One file of the page.
class FileView {
 public:
  FileView(const SubmissionPage& page, const ReviewedFile& file, std::size_t index)
      : page_(page), file_(file), index_(index) {}

  std::string html() const {
    const std::vector<DiffLine> lines =
        file_.starter ? diff_lines(*file_.starter, file_.text) : diff_lines("", file_.text);
    const auto changed = [&](LineOrigin origin) {
      return std::ranges::count(lines, origin, &DiffLine::origin);
    };
    const bool is_as_handed_out = file_.starter && changed(LineOrigin::both) == std::ssize(lines);
    std::string summary = "not in the starter";
    if (file_.starter) {
      summary = is_as_handed_out ? "as it was handed out"
                                 : fmt::format("+{} −{} lines", changed(LineOrigin::submission),
                                               changed(LineOrigin::starter));
    }
    std::string rows;
    std::size_t count = 0;
    for (const DiffLine& line : lines) {
      if (++count > kMostRows) break;
      rows += row_html(line);
    }
    if (count > kMostRows) {
      rows += fmt::format("<tr>{}<p class=\"note\">cut here: the file has {} lines</p></td></tr>",
                          kCells, lines_of(file_.text).size());
    }
    return fmt::format(
        "<details class=\"file\" id=\"f{}\"{}><summary><b>{}</b> <span class=\"note\">{}</span>"
        "</summary>{}<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table "
        "class=\"listing{}\"><caption class=\"unseen\">{}, with line numbers; lines of the starter "
        "that are gone are marked −, new ones +</caption>{}</table></div></details>\n",
        index_, is_open(is_as_handed_out) ? " open" : "", escape_html(file_.path), summary,
        file_notes(), escape_html(file_.path), file_.starter ? "" : " alone",
        escape_html(file_.path), rows);
  }

 private:
  bool is_here(const std::string& file) const {
    return !file.empty() && (file_.path == file || file_.path.ends_with("/" + file));
  }

  bool is_open(bool is_as_handed_out) const {
    const bool has_comments = std::ranges::any_of(
        page_.view.comments, [&](const ReviewComment& one) { return is_mine(one); });
    return page_.focus.file == file_.path || has_comments || !is_as_handed_out;
  }

  bool is_mine(const ReviewComment& comment) const {
    return comment.source == page_.view.source && comment.path == file_.path;
  }

  std::string row_html(const DiffLine& line) const {
    // Tabs stay: the style sheet gives them their width.
    const std::string text = escape_html(shorten(sanitize(line.text), kLongestLine));
    if (line.origin == LineOrigin::starter) {
      return "<tr class=\"gone\"><td class=\"n\"></td><td class=\"m\">−</td><td><code>" + text +
             "</code></td></tr>\n";
    }
    const bool is_new = line.origin == LineOrigin::submission;
    const std::string anchor = fmt::format("f{}-{}", index_, line.line);
    const std::string number = std::to_string(line.line);
    std::string html = fmt::format(
        "<tr id=\"{}\"{}><td class=\"n\">{}</td><td class=\"m\">{}</td><td><code>{}</code></td>"
        "</tr>\n",
        anchor, is_new ? " class=\"new\"" : "",
        review_link(
            page_.address("submission", {{"file", file_.path}, {"line", number}}) + kWriteHere,
            number, fmt::format("rel=\"nofollow\" aria-label=\"comment on line {}\"", number)),
        is_new ? "+" : "", text);
    return html + below(line.line);
  }

  /// What is to be said of a line.
  std::string below(std::uint32_t line) const {
    std::string html;
    const auto add = [&](const std::string& inner) {
      html += "<tr class=\"below\">" + std::string(kCells) + inner + "</td></tr>\n";
    };
    const std::vector<std::string> stories = stories_at(line);
    for (std::size_t i = 0; i < std::min(stories.size(), kMostStories); ++i) add(stories[i]);
    if (stories.size() > kMostStories) {
      add(fmt::format("<p class=\"note\">and {} more of this line, in the evidence above</p>",
                      stories.size() - kMostStories));
    }
    for (const ReviewComment& comment : page_.view.comments) {
      if (is_mine(comment) && comment.line == line) add(comment_html(page_, comment));
    }
    if (page_.focus.file == file_.path && page_.focus.line == line && line > 0) {
      add(new_comment_html(page_, file_.path, line));
    }
    return html;
  }

  std::vector<std::string> stories_at(std::uint32_t line) const {
    std::vector<std::string> stories;
    const auto add = [&](const Diagnostic& story, const std::string& mark) {
      for (const std::string& words : words_at(story, line)) {
        stories.push_back(fmt::format("<p class=\"at\"><b class=\"code\">{}</b>{} {}</p>",
                                      escape_html(story.code.text()), mark,
                                      escape_html(shorten(one_line(words), 400))));
        if (std::ranges::count(stories, stories.back()) > 1) stories.pop_back();
      }
    };
    if (page_.view.grading) {
      for (const TaskResult& task : page_.view.grading->tasks) {
        const HeldOfTask held = page_.view.held_of(task.id);
        for (const Diagnostic& story : task.diagnostics) add(story, held_mark(held.hides(story)));
      }
    }
    for (const RevealedCase& one : page_.view.hidden) {
      for (const Diagnostic& story : one.diagnostics) {
        add(story, " <b class=\"hidden\">hidden</b>");
      }
    }
    return stories;
  }

  std::vector<std::string> words_at(const Diagnostic& story, std::uint32_t line) const {
    std::vector<std::string> words;
    if (is_here(story.file) && story.line == line && line > 0) words.push_back(story.message);
    for (const Label& label : story.labels) {
      const bool here = is_here(label.file) && label.line == line && !label.text.empty();
      if (here) words.push_back(label.text);
    }
    return words;
  }

  /// Comments on the file, and on lines that it does not have.
  std::string file_notes() const {
    const std::size_t lines = lines_of(file_.text).size();
    std::string html;
    for (const ReviewComment& comment : page_.view.comments) {
      if (is_mine(comment) && (comment.line == 0 || comment.line > lines)) {
        html += comment_html(page_, comment);
      }
    }
    return html;
  }

  const SubmissionPage& page_;
  const ReviewedFile& file_;
  std::size_t index_;
};

}  // namespace

std::string files_section(const SubmissionPage& page) {
  if (page.view.files.empty()) {
    return "<section><h2>Files</h2><p class=\"note\">Nothing was handed in for this part.</p>"
           "</section>\n";
  }
  std::string html =
      "<section class=\"files\"><h2>Files</h2><p class=\"note\">Beside what was handed out: + was "
      "written, − was taken out. A line's number leads to a comment on it.</p>\n";
  for (std::size_t i = 0; i < page.view.files.size(); ++i) {
    html += FileView(page, page.view.files[i], i).html();
  }
  return html + "</section>\n";
}

}  // namespace rooflab
