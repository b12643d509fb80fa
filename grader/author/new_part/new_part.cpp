#include "grader/author/new_part/new_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>

#include "grader/author/starter.h"
#include "grader/spec/files.h"
#include "grader/spec/part.h"
#include "grader/spec/pattern.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestFolder = 64;
constexpr std::size_t kLongestTitle = 80;

/// "part12-two-words": the title "Two words".
std::string title_of(const std::string& folder) {
  std::string title = folder.substr(folder.find('-') + 1);
  std::ranges::replace(title, '-', ' ');
  if (title[0] >= 'a' && title[0] <= 'z') title[0] = static_cast<char>(title[0] - 'a' + 'A');
  return title;
}

/// A title stands in TOML, in Markdown tables and in HTML: what means something there may not be
/// in it, so that nobody has to escape it.
void check_title(const std::string& title) {
  if (title.empty() || title.size() > kLongestTitle || title.front() == ' ' ||
      title.back() == ' ') {
    throw NewPartError(
        fmt::format("a title has 1 to {} characters, and no spaces at its ends; '{}' is none",
                    kLongestTitle, title));
  }
  const auto refused = std::ranges::find_if(title, [](const char c) {
    return static_cast<unsigned char>(c) < ' ' || c == 0x7f ||
           std::string_view("\"\\|<>`[]*_#&@").find(c) != std::string_view::npos;
  });
  if (refused != title.end()) {
    throw NewPartError(
        "a title is one line of plain words: none of \" \\ | < > ` [ ] * _ # & @ may be in it");
  }
}

/// What the template says in places that differ from part to part.
std::string filled(std::string text, const NewPart& part) {
  const std::map<std::string, std::string> values = {
      {"@number@", std::to_string(part.number)}, {"@title@", part.title}, {"@part@", part.folder}};
  for (const auto& [mark, value] : values) {
    for (std::size_t at = text.find(mark); at != std::string::npos;
         at = text.find(mark, at + value.size())) {
      text.replace(at, mark.size(), value);
    }
  }
  return text;
}

/// A table of a page that has a row for each part.
struct PartTable {
  std::filesystem::path page;
  const char* row;  ///< a regular expression for each of its rows
  std::string added;
};

std::vector<PartTable> tables_of_parts(const NewPart& part) {
  const std::string page = part.folder + ".md";
  return {{"README.md", R"(\| *[0-9]+ *\|[^\n]*\(handouts/part[^\n]*\|\n)",
           fmt::format("| {} | {} | [handouts/{}](handouts/{}) |\n", part.number, part.title, page,
                       page)},
          {"handouts/README.md", R"(\| *\[[0-9]+ [^\n]*\]\(part[^\n]*\|\n)",
           fmt::format("| [{} {}]({}) | | |\n", part.number, part.title, page)}};
}

/// The text with a row for the part below the last one of the table; as it was when it has none.
std::string with_row(std::string text, const PartTable& table) {
  const std::vector<Pattern::Match> rows = Pattern(table.row).all(text);
  return rows.empty() ? text : text.insert(rows.back().end, table.added);
}

/// labs/course.toml with the part in its list, if it has one: parts = [0, 1].
std::string listed_in_course(const std::string& text, const NewPart& part) {
  static const Pattern list(R"((^|\n)parts *= *\[[^\]]*?([\s,]*\]))");
  const auto found = list.first(text);
  if (!found) return text;
  const std::size_t behind = found->end - found->groups[2].size();
  return text.substr(0, behind) + fmt::format(", {}]", part.number) + text.substr(found->end);
}

/// What is new to a checkout, undone again unless it is kept.
class NewFiles {
 public:
  explicit NewFiles(fs::path root) : root_(std::move(root)) {}
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;
  ~NewFiles() {
    if (kept_) return;
    std::error_code ignored;
    for (const auto& [file, text] : changed_) restore(file, text);
    for (const fs::path& file : files_) fs::remove(root_ / file, ignored);
    // Deepest first, and a folder with something in it stays: it is not all ours.
    for (auto folder = folders_.rbegin(); folder != folders_.rend(); ++folder) {
      fs::remove(root_ / *folder, ignored);
    }
  }

  void write(const fs::path& file, const std::string& text) {
    make_folder(file.parent_path());
    files_.push_back(file);
    write_file_atomically(root_ / file, text);
  }

  /// Changes a file that is there.
  void change(const fs::path& file, const std::string& text) {
    changed_[file] = read_file(root_ / file);
    write_file_atomically(root_ / file, text);
  }

  std::vector<fs::path> keep() {
    kept_ = true;
    std::ranges::sort(files_);
    return files_;
  }

 private:
  void make_folder(const fs::path& folder) {
    if (folder.empty() || fs::exists(root_ / folder)) return;
    make_folder(folder.parent_path());
    folders_.push_back(folder);
    fs::create_directory(root_ / folder);
  }

  /// On a full disk a page keeps a row too many, which is better than a program that ends here.
  void restore(const fs::path& file, const std::string& text) noexcept {
    try {
      write_file_atomically(root_ / file, text);
    } catch (const FileError&) {
    }
  }

  fs::path root_;
  std::map<fs::path, std::string> changed_;  ///< with the texts that they had
  std::vector<fs::path> files_;
  std::vector<fs::path> folders_;  ///< in the order they were made
  bool kept_ = false;
};

/// Whoever has "part6-…" as a name has the number 6, in every one of the folders.
void check_that_nothing_is_in_the_way(const NewPart& part, const fs::path& root) {
  const std::vector<int> numbers = list_parts(root / "labs");
  if (std::ranges::find(numbers, part.number) != numbers.end()) {
    const int next = *std::ranges::max_element(numbers) + 1;
    throw NewPartError(
        fmt::format("there is a part {} already; the next free number is {}", part.number, next));
  }
  const std::string beginning = fmt::format("part{}-", part.number);
  for (const char* folder : {"labs", "solutions", "starter", "handouts"}) {
    for (const auto& entry : fs::directory_iterator(root / folder)) {
      if (!entry.path().filename().string().starts_with(beginning)) continue;
      throw NewPartError(fmt::format("{}/{} is in the way; remove it, or take another number",
                                     folder, entry.path().filename().string()));
    }
  }
}

void check_that_this_is_a_checkout(const fs::path& root, const fs::path& source) {
  for (const fs::path& folder :
       {root / "labs", root / "solutions", root / "starter", root / "handouts", source}) {
    if (fs::is_directory(folder)) continue;
    throw NewPartError(
        fmt::format("{} is missing: a part is begun in a checkout of the course, which has "
                    "everything; a student's copy has not",
                    folder.string()));
  }
}

void write_template(const NewPart& part, const fs::path& root, const fs::path& source,
                    NewFiles& files) {
  for (const char* top : {"labs", "solutions"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source / top)) {
      if (!entry.is_regular_file()) continue;
      const fs::path inside = entry.path().lexically_relative(source / top);
      files.write(fs::path(top) / part.folder / inside, filled(read_file(entry.path()), part));
    }
  }
  for (const StarterFile& file : generate_starter(root / "solutions" / part.folder)) {
    files.write(fs::path("starter") / part.folder / file.path, file.text);
  }
  files.write(fs::path("handouts") / (part.folder + ".md"),
              filled(read_file(source / "handout.md"), part));
}

}  // namespace

NewPart new_part(const std::string& folder, const std::string& title) {
  static const Pattern form("part(0|[1-9][0-9]{0,2})(-[a-z0-9]+)+");
  const auto match = folder.size() > kLongestFolder ? std::nullopt : form.whole(folder);
  if (!match) {
    throw NewPartError(fmt::format(
        "'{}' is no name of a part; one is part<number>-<words>, in small letters, as in "
        "part6-sorting",
        folder));
  }
  NewPart part{folder, std::stoi(match->groups[1]), title.empty() ? title_of(folder) : title};
  check_title(part.title);
  return part;
}

std::vector<fs::path> make_new_part(const NewPart& part, const fs::path& root) {
  const fs::path source = root / "grader" / "author" / "new_part" / "template";
  check_that_this_is_a_checkout(root, source);
  check_that_nothing_is_in_the_way(part, root);
  try {
    NewFiles files(root);
    write_template(part, root, source, files);
    const fs::path course = "labs/course.toml";
    if (fs::exists(root / course)) {
      const std::string before = read_file(root / course);
      const std::string after = listed_in_course(before, part);
      if (after != before) files.change(course, after);
    }
    load_part(root / "labs", root / "solutions", part.number);  // throws if it is no part
    for (const PartTable& table : tables_of_parts(part)) {
      if (!fs::exists(root / table.page)) continue;
      const std::string before = read_file(root / table.page);
      const std::string after = with_row(before, table);
      if (after != before) files.change(table.page, after);
    }
    return files.keep();
  } catch (const std::exception& error) {
    throw NewPartError(fmt::format("{}; nothing was changed", error.what()));
  }
}

}  // namespace rooflab
