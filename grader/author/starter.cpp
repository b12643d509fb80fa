#include "grader/author/starter.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "grader/spec/files.h"
#include "grader/spec/handed_out.h"
#include "grader/spec/pattern.h"
#include "grader/spec/work_log.h"

namespace rooflab {
namespace {

const Pattern kBegin(R"((\s*)(//|#)\s*BEGIN SOLUTION\s*)");
const Pattern kEnd(R"(\s*(//|#)\s*END SOLUTION\s*)");
const Pattern kReplacement(R"(\s*(//|#)\s*STARTER:( (.*))?)");

/// Walks a master's lines; a region keeps only its STARTER lines, which stand at its head.
class Stripper {
 public:
  explicit Stripper(std::string name) : name_(std::move(name)) {}

  void line(const std::string& text) {
    ++number_;
    if (const auto begin = kBegin.whole(text)) {
      if (begin_ != 0)
        fail("a second BEGIN SOLUTION", fmt::format("end the region of line {} first", begin_));
      begin_ = number_;
      blocks_.push_back({number_, ""});
      at_head_ = true;
      indent_ = begin->groups[1];
    } else if (kEnd.fits(text)) {
      if (begin_ == 0) fail("END SOLUTION without a BEGIN", "add BEGIN SOLUTION above it");
      begin_ = 0;
    } else if (const auto replacement = kReplacement.whole(text)) {
      if (begin_ == 0 || !at_head_)
        fail("STARTER: stands in no region's head", "put it right after BEGIN SOLUTION");
      const std::string& line = replacement->groups[3];
      keep(line.empty() ? "" : indent_ + line);
    } else {
      at_head_ = false;
      if (begin_ == 0) {
        keep(text);
      } else {
        blocks_.back().text += text + "\n";
      }
    }
  }

  void finish() {
    if (begin_ == 0) return;
    number_ = begin_;
    fail("BEGIN SOLUTION without an END", "add END SOLUTION below it");
  }

  std::string kept() && { return std::move(kept_); }
  std::vector<SolutionBlock> blocks() && { return std::move(blocks_); }

 private:
  void keep(const std::string& text) { kept_ += text + "\n"; }
  [[noreturn]] void fail(const std::string& what, const std::string& remedy) const {
    throw StarterError(fmt::format("{}:{}: {}; {}", name_, number_, what, remedy));
  }

  std::string name_;
  std::string kept_;
  std::vector<SolutionBlock> blocks_;
  std::string indent_;
  int number_ = 0;
  int begin_ = 0;  ///< line of the open region, 0 for none
  bool at_head_ = false;
};

std::set<std::filesystem::path> left_over(const std::filesystem::path& starter,
                                          const std::vector<StarterFile>& files,
                                          const HasPart& has_part) {
  std::set<std::filesystem::path> extra;
  for (const auto& path : files_below(starter)) extra.insert(path.lexically_relative(starter));
  for (const StarterFile& file : files) extra.erase(file.path);
  // Whoever tries the course out asks for hints and logs runs, too; git ignores where that is kept.
  std::erase_if(extra, is_note_of_student);
  std::erase_if(extra, [&](const auto& path) { return !is_there(path.string(), has_part); });
  return extra;
}

Stripper stripped(const std::string& text, const std::string& name) {
  Stripper stripper(name);
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) stripper.line(line);
  stripper.finish();
  return stripper;
}

}  // namespace

std::string strip_solution(const std::string& text, const std::string& name) {
  return stripped(text, name).kept();
}

std::vector<SolutionBlock> solution_blocks(const std::string& text, const std::string& name) {
  return stripped(text, name).blocks();
}

bool is_secret(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  return name == "hidden.toml" || name == kLoggedRunsFile || name.ends_with(".key.toml");
}

std::vector<StarterFile> generate_starter(const std::filesystem::path& solutions,
                                          const HasPart& has_part) {
  if (!std::filesystem::is_directory(solutions)) {
    throw StarterError(fmt::format(
        "there are no masters in {}; only the course's own checkout has them", solutions.string()));
  }
  std::vector<StarterFile> files;
  for (const auto& master : files_below(solutions)) {
    const auto path = master.lexically_relative(solutions);
    if (is_secret(master) || !is_there(path.string(), has_part)) continue;
    files.push_back({path, strip_solution(read_file(master), master.string())});
  }
  return files;
}

std::vector<std::string> compare_starter(const std::filesystem::path& starter,
                                         const std::vector<StarterFile>& files,
                                         const HasPart& has_part) {
  std::vector<std::string> differences;
  for (const StarterFile& file : files) {
    const auto path = starter / file.path;
    if (!std::filesystem::exists(path)) {
      differences.push_back(file.path.string() + " is missing");
    } else if (read_file(path) != file.text) {
      differences.push_back(file.path.string() + " differs from its master");
    }
  }
  for (const auto& path : left_over(starter, files, has_part)) {
    differences.push_back(path.string() + " is left over: it has no master");
  }
  return differences;
}

std::vector<std::filesystem::path> write_starter(const std::filesystem::path& starter,
                                                 const std::vector<StarterFile>& files,
                                                 const std::filesystem::path& before,
                                                 const HasPart& has_part) {
  std::vector<std::filesystem::path> moved;
  const auto keep = [&](const std::filesystem::path& path) {
    write_file_atomically(before / path, read_file(starter / path));
    moved.push_back(path);
  };
  for (const auto& path : left_over(starter, files, has_part)) {
    keep(path);
    std::filesystem::remove(starter / path);
  }
  for (const StarterFile& file : files) {
    const auto path = starter / file.path;
    if (std::filesystem::exists(path)) {
      if (read_file(path) == file.text) continue;
      keep(file.path);
    }
    write_file_atomically(path, file.text);
  }
  return moved;
}

}  // namespace rooflab
