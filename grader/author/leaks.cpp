#include "grader/author/leaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <tuple>
#include <unordered_set>

#include "grader/author/notebook_text.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 30;
constexpr std::size_t kWordsShown = 12;

bool is_compiled(std::string_view bytes) { return bytes.find('\0') != std::string_view::npos; }

std::string shown(const std::vector<Word>& words, const Passages::Match& match) {
  std::string text;
  for (std::size_t i = 0; i < std::min(match.length, kWordsShown); ++i) {
    text += (i == 0 ? "" : " ") + words[match.first + i].text;
  }
  return match.length > kWordsShown ? text + " …" : text;
}

int line_at(std::string_view text, std::size_t position) {
  return 1 + static_cast<int>(std::ranges::count(text.substr(0, position), '\n'));
}

/// Searches one file.
class FileSearch {
 public:
  FileSearch(const CourseSecrets& secrets, std::filesystem::path name, std::string contents)
      : secrets_(secrets),
        name_(std::move(name)),
        contents_(std::move(contents)),
        unreadable_notebook_(!read_notebook()),
        compiled_(is_compiled(contents_)),
        words_(compiled_ ? words_of_compiled(contents_) : words_of(contents_)) {}

  std::vector<Leak> leaks() {
    look_at_name();
    look_for_passages();
    look_for_words();
    look_for_strings();
    if (!compiled_) look_for_marks();
    return std::move(leaks_);
  }

 private:
  /// Puts a notebook's texts in the place of its JSON; false where it has none.
  bool read_notebook() {
    if (name_.extension() != ".ipynb") return true;
    auto text = notebook_text(contents_);
    if (!text) return false;
    contents_ = *std::move(text);
    return true;
  }

  void add(std::size_t owner, int line, std::string words) {
    const Secret& secret = secrets_.all[owner];
    std::string origin = secret.origin.generic_string();
    if (secret.line > 0) origin += fmt::format(":{}", secret.line);
    leaks_.push_back({name_, line, secret.what, std::move(origin), std::move(words)});
  }

  void look_at_name() {
    const std::string file = name_.filename().string();
    static constexpr std::array kPacked = {".zip", ".gz", ".xz", ".zst", ".bz2", ".tar", ".7z"};
    const auto ends = [&](const char* ending) { return file.ends_with(ending); };
    const auto folder = [&](const char* name) {
      return std::ranges::find(name_, std::filesystem::path(name)) != name_.end();
    };
    const auto found = [&](const char* what) { leaks_.push_back({name_, 0, what, "", file}); };
    if (file == "hidden.toml") found("file of hidden cases");
    if (file.ends_with(".key.toml")) found("file of answers");
    if (file == "mistake.toml" || folder("mistakes")) found("file of a planted mistake");
    if (file == "right.toml" || folder("right")) found("file of a right submission");
    if (folder("oracle") || folder("oracle_support")) found("source of an oracle");
    if (folder("solutions")) found("file of the solutions");
    if (unreadable_notebook_) found("notebook that is no JSON, which cannot be searched");
    if (std::ranges::any_of(kPacked, ends)) found("packed file, which cannot be searched");
  }

  void look_for_passages() {
    for (const Passages::Match& match : secrets_.passages.find(words_)) {
      add(match.owner, words_[match.first].line, shown(words_, match));
    }
  }

  void look_for_words() {
    std::unordered_set<std::size_t> told;
    for (const Word& word : words_) {
      const auto found = secrets_.words.find(word.text);
      if (found != secrets_.words.end() && told.insert(found->second).second) {
        add(found->second, word.line, word.text);
      }
      if (compiled_) look_for_kernels(word.text, told);
    }
  }

  /// In a mangled name, "_Z11gemv_kernelPKf", each name follows its length.
  void look_for_kernels(std::string_view word, std::unordered_set<std::size_t>& told) {
    for (std::size_t at = 0; at < word.size();) {
      std::size_t length = 0;
      const std::size_t begin = at;
      while (at < word.size() && std::isdigit(static_cast<unsigned char>(word[at])) != 0 &&
             length < 1000) {
        length = 10 * length + static_cast<std::size_t>(word[at++] - '0');
      }
      if (at == begin) {
        ++at;
      } else if (length > 0 && at + length <= word.size()) {
        const auto found = secrets_.kernels.find(std::string(word.substr(at, length)));
        const bool of_std = word.substr(0, begin).ends_with("st");  // "St4copy" is std::copy
        if (found != secrets_.kernels.end() && !of_std && told.insert(found->second).second) {
          add(found->second, 0, found->first);
        }
      }
    }
  }

  void look_for_strings() {
    for (const auto& [text, owner] : secrets_.strings) {
      for (std::size_t at = contents_.find(text); at != std::string::npos;
           at = contents_.find(text, at + 1)) {
        if (!stands_alone(at, text.size())) continue;
        add(owner, compiled_ ? 0 : line_at(contents_, at), text);
        break;
      }
    }
  }

  bool stands_alone(std::size_t at, std::size_t length) const {
    const char mark = compiled_ ? '\0' : '"';
    const std::size_t end = at + length;
    return at > 0 && end < contents_.size() && contents_[at - 1] == mark && contents_[end] == mark;
  }

  void look_for_marks() {
    for (std::size_t at = 0; at < contents_.size();) {
      std::size_t end = contents_.find('\n', at);
      if (end == std::string::npos) end = contents_.size();
      std::string_view line(contents_.data() + at, end - at);
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      line.remove_suffix(line.size() - (line.find_last_not_of(" \t\r") + 1));
      for (const char* mark : {"// BEGIN SOLUTION", "# BEGIN SOLUTION"}) {
        if (line != mark) continue;
        leaks_.push_back({name_, line_at(contents_, at), "mark of a solution", "", mark});
      }
      at = end + 1;
    }
  }

  const CourseSecrets& secrets_;
  std::filesystem::path name_;
  std::string contents_;
  bool unreadable_notebook_;
  bool compiled_;
  std::vector<Word> words_;
  std::vector<Leak> leaks_;
};

}  // namespace

std::vector<Leak> find_leaks(const std::filesystem::path& folder, const CourseFolders& sources) {
  const CourseSecrets secrets = collect_secrets(sources);
  std::vector<Leak> leaks;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.is_symlink()) continue;
    auto found = FileSearch(secrets, entry.path().lexically_relative(folder),
                            read_file(entry.path(), kLargestFile))
                     .leaks();
    leaks.insert(leaks.end(), found.begin(), found.end());
  }
  const auto place = [](const Leak& leak) { return std::tie(leak.file, leak.line, leak.origin); };
  std::ranges::sort(leaks, {}, place);
  return leaks;
}

std::string describe(const Leak& leak) {
  std::string text = leak.file.generic_string();
  if (leak.line > 0) text += fmt::format(":{}", leak.line);
  text += ": " + leak.what;
  if (!leak.origin.empty()) text += " of " + leak.origin;
  return text + ": " + leak.words;
}

}  // namespace rooflab
