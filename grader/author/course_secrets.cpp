#include "grader/author/course_secrets.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "grader/author/starter.h"
#include "grader/spec/files.h"
#include "grader/spec/pattern.h"
#include "grader/spec/toml_reader.h"
#include "grader/spec/work_log.h"

namespace rooflab {
namespace {

// In words. Two solutions of one task, a handout and the toolkit share idioms of a dozen words
// ("for (int distance = warpSize / 2; …"), and sentences share eight.
constexpr std::size_t kOfCode = 20;
constexpr std::size_t kOfProse = 12;
// One line of code can be anybody's: a page on a mistake shows it, as a planted one has it.
constexpr std::size_t kLeastOfCode = 10;
constexpr std::size_t kLeast = 6;
constexpr std::size_t kLeastOfNumbers = 4;

/// The text of a node as it stands in the file.
std::string source_of(const toml::node& node, const std::string& file) {
  const toml::source_region& region = node.source();
  std::istringstream in(file);
  std::string text;
  for (std::uint32_t line = 1; line <= region.end.line; ++line) {
    std::string words;
    if (!std::getline(in, words)) break;
    if (line < region.begin.line) continue;
    if (line == region.end.line) words = words.substr(0, region.end.column - 1);
    if (line == region.begin.line) words.erase(0, region.begin.column - 1);
    text += words + "\n";
  }
  return text;
}

/// Calls use(table) for each table of an array, if there is one.
template <typename Use>
void each_table(const toml::array* array, Use use) {
  if (array == nullptr) return;
  for (const toml::node& node : *array) {
    if (const toml::table* table = node.as_table()) use(*table);
  }
}

class Collector {
 public:
  explicit Collector(const CourseFolders& folders) : folders_(folders) {}

  CourseSecrets collect() {
    for (const auto& file : files_below(folders_.solutions)) add_solution_file(file);
    for (const auto& part : parts()) {
      add_mistakes(part / "mistakes");
      add_right_submissions(part / "right");
      add_implementations(part / "tested");
    }
    forget_what_is_public();
    return std::move(secrets_);
  }

 private:
  std::vector<std::filesystem::path> parts() const {
    std::vector<std::filesystem::path> folders;
    for (const auto& entry : std::filesystem::directory_iterator(folders_.labs)) {
      if (std::filesystem::exists(entry.path() / "part.toml")) folders.push_back(entry.path());
    }
    std::ranges::sort(folders);
    return folders;
  }

  std::size_t add(std::string what, const std::filesystem::path& file, int line = 0) {
    const auto below = [&](const std::filesystem::path& folder) {
      return file.lexically_relative(folder.parent_path());
    };
    const auto in_labs = below(folders_.labs);
    const bool is_there = !in_labs.empty() && in_labs.begin()->string() == folders_.labs.filename();
    secrets_.all.push_back({std::move(what), is_there ? in_labs : below(folders_.solutions), line});
    return secrets_.all.size() - 1;
  }

  void add_text(const std::string& text, std::size_t length, std::size_t least, std::size_t owner) {
    secrets_.passages.add(words_of(text), length, least, owner);
  }

  void add_solution_file(const std::filesystem::path& file) {
    const std::string name = file.filename().string();
    if (name == "hidden.toml") {
      add_hidden_cases(file);
    } else if (name == kLoggedRunsFile) {
      return;  // its last version is a solution, and is known as that
    } else if (is_secret(file)) {
      add_answer_key(file);
    } else {
      const std::string text = read_file(file);
      for (const SolutionBlock& block : solution_blocks(text, file.string())) {
        const std::size_t owner = add("solution", file, block.line);
        add_text(block.text, kOfCode, kLeastOfCode, owner);
        add_kernels(block.text, owner);
      }
    }
  }

  void add_kernels(const std::string& code, std::size_t owner) {
    static const Pattern kernel(
        R"(__global__\s+(?:__launch_bounds__\([^)]*\)\s*)?void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*[(<])");
    for (const Pattern::Match& match : kernel.all(code)) {
      secrets_.kernels.try_emplace(words_of(match.groups[1]).front().text, owner);
    }
  }

  void add_hidden_cases(const std::filesystem::path& file) {
    const std::string text = read_file(file);
    const toml::table table = parse_toml_text(text, file.string());
    each_table(table["case"].as_array(), [&](const toml::table& one) {
      const std::size_t owner = add("hidden case", file, static_cast<int>(one.source().begin.line));
      const std::string name = one["name"].value_or(std::string());
      if (words_of(name).size() >= kLeast) {
        add_text(name, kOfProse, kLeast, owner);
      } else if (!name.empty()) {
        secrets_.strings.try_emplace(name, owner);
      }
      for (const char* key : {"parameters", "expect"}) {
        const toml::node* values = one.get(key);
        if (values == nullptr) continue;
        // Whole: of two cases of one function, all but one number may be the same.
        const std::string words = source_of(*values, text);
        add_text(words, words.size(), kLeastOfNumbers, owner);
      }
    });
  }

  void add_answer_key(const std::filesystem::path& file) {
    for (const auto& [id, node] : parse_toml(file)) {
      const toml::table* answer = node.as_table();
      if (answer == nullptr) continue;
      const std::size_t owner = add("answer key", file, static_cast<int>(node.source().begin.line));
      for (const char* key : {"why", "formula"}) {
        add_text((*answer)[key].value_or(std::string()), kOfProse, kLeast, owner);
      }
      each_table((*answer)["rubric"].as_array(), [&](const toml::table& item) {
        add_text(item["text"].value_or(std::string()), kOfProse, kLeast, owner);
      });
    }
  }

  void add_mistakes(const std::filesystem::path& folder) {
    for (const auto& file : files_below(folder)) {
      const std::size_t owner = add("planted mistake", file);
      if (file.filename() != "mistake.toml") {
        add_text(read_file(file), kOfCode, kLeastOfCode, owner);
        continue;
      }
      const std::string name = file.parent_path().filename().string();
      // A name of one word could be any word.
      if (name.find('_') != std::string::npos) secrets_.words.try_emplace(name, owner);
      const toml::table mistake = parse_toml(file);
      add_text(mistake["story"].value_or(std::string()), kOfProse, kLeast, owner);
      each_table(mistake["edit"].as_array(), [&](const toml::table& edit) {
        add_text(edit["replace"].value_or(std::string()), kOfCode, kLeastOfCode, owner);
      });
    }
  }

  /// Each is a solution of its task.
  void add_right_submissions(const std::filesystem::path& folder) {
    for (const auto& file : files_below(folder)) {
      if (file.filename() == "right.toml") continue;
      add_text(read_file(file), kOfCode, kLeastOfCode, add("right submission", file));
    }
  }

  /// What students' tests are run against: right ones and mistakes alike.
  void add_implementations(const std::filesystem::path& folder) {
    if (!std::filesystem::is_directory(folder)) return;
    for (const auto& file : files_below(folder)) {
      add_text(read_file(file), kOfCode, kLeastOfCode, add("implementation to be tested", file));
    }
  }

  void forget_what_is_public() {
    for (const StarterFile& file : generate_starter(folders_.solutions)) forget(file.text);
    for (const auto& file : files_below(folders_.labs / "toolkit")) forget(read_file(file));
    // Two programs that use one instruction of a tensor core spell it alike.
    if (std::filesystem::exists(folders_.examples)) {
      for (const auto& file : files_below(folders_.examples)) {
        if (file.extension() == ".cu") forget(read_file(file));
      }
    }
    for (const auto& part : parts()) {
      // A right submission repeats the signatures that it implements.
      for (const auto& file : files_below(part / "interface")) forget(read_file(file));
      forget_public_cases(part / "part.toml");
    }
  }

  void forget(const std::string& text) {
    const auto words = words_of(text);
    secrets_.passages.forget(words);
    for (const Word& word : words) {
      secrets_.words.erase(word.text);
      secrets_.kernels.erase(word.text);
    }
  }

  /// Names and numbers that a public case has too.
  void forget_public_cases(const std::filesystem::path& file) {
    const std::string text = read_file(file);
    const toml::table table = parse_toml_text(text, file.string());
    each_table(table["task"].as_array(), [&](const toml::table& task) {
      each_table(task["case"].as_array(), [&](const toml::table& one) {
        const std::string name = one["name"].value_or(std::string());
        secrets_.strings.erase(name);
        secrets_.passages.forget(words_of(name));
        for (const char* key : {"parameters", "expect"}) {
          const toml::node* values = one.get(key);
          if (values != nullptr) secrets_.passages.forget(words_of(source_of(*values, text)));
        }
      });
    });
  }

  const CourseFolders& folders_;
  CourseSecrets secrets_;
};

}  // namespace

CourseSecrets collect_secrets(const CourseFolders& folders) { return Collector(folders).collect(); }

}  // namespace rooflab
