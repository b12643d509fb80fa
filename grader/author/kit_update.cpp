#include "grader/author/kit_update.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "grader/author/runtime_packages.h"
#include "grader/spec/files.h"
#include "grader/spec/group_hints.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

/// What an update leaves behind for the next one; no archive has it.
constexpr const char* kInstalled = ".kit/installed";  // kKitSums of the last update
constexpr const char* kEarlier = ".kit/earlier";      // sums of originals of all updates before
constexpr const char* kCourse = ".kit/course";        // VERSION of the last update
/// Of kits of version 0.1.0, which had starter/ itself in the archive: their kKitSums.
constexpr const char* kOldSums = "MANIFEST";

constexpr int kMostBeside = 20;  // a.cu.new, a.cu.new2 …
constexpr std::size_t kShown = 8;

/// SHA-256 by path.
using Sums = std::map<std::string, std::string>;

bool is_plain_file(const fs::path& file) {
  std::error_code error;
  return fs::symlink_status(file, error).type() == fs::file_type::regular;
}

/// A path that cannot lead out of the kit.
bool is_inside(const fs::path& path) {
  return path.is_relative() && !path.empty() &&
         std::ranges::find(path, fs::path("..")) == path.end();
}

/// Lines as sha256sum writes them; others are left out.
std::vector<std::pair<std::string, std::string>> parse_sums(const std::string& text) {
  constexpr std::size_t kDigits = 64;
  std::vector<std::pair<std::string, std::string>> sums;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() < kDigits + 3 || line.substr(kDigits, 2) != "  ") continue;
    const std::string path = line.substr(kDigits + 2);
    if (is_inside(path)) sums.emplace_back(path, line.substr(0, kDigits));
  }
  return sums;
}

/// Of the kit's own files, which may be links (grader/pipeline/shared_kit.h).
std::string read_if_there(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) ? read_file(file) : "";
}

/// Whether a folder is a kit whose students' files are originals.
bool is_kit(const fs::path& root) {
  std::error_code error;
  return fs::is_regular_file(root / kKitSums, error) && fs::is_directory(root / kOriginals, error);
}

/// The SHA-256 of those files that are there and can be read.
Sums sums_of(const fs::path& root, const std::vector<std::string>& paths) {
  std::vector<std::string> command = {"sha256sum", "--zero", "--"};  // names as they are
  const std::size_t words = command.size();
  for (const std::string& path : paths) {
    const fs::path file = root / path;
    if (is_plain_file(file) && ::access(file.c_str(), R_OK) == 0) command.push_back(file.string());
  }
  Sums sums;
  if (command.size() == words) return sums;
  const std::string prefix = root.string() + "/";
  std::istringstream lines(run_tool(command));
  for (std::string line; std::getline(lines, line, '\0');) {
    const std::size_t at = line.find("  " + prefix);
    if (at != std::string::npos) sums[line.substr(at + 2 + prefix.size())] = line.substr(0, at);
  }
  return sums;
}

/// "starter/a.cu" of "originals/starter/a.cu"; empty for what is no original.
std::string target_of(const std::string& original) {
  const std::string prefix = std::string(kOriginals) + "/";
  return original.starts_with(prefix) ? original.substr(prefix.size()) : std::string();
}

/// The line "course …" of a kit's VERSION.
std::string fact_in(const std::string& version, const std::string& name) {
  std::istringstream lines(version);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name + " ")) continue;
    return line.substr(std::min(line.find_first_not_of(' ', name.size()), line.size()));
  }
  return "";
}

std::string fact_of_kit(const fs::path& root, const std::string& name) {
  std::error_code error;
  return fs::is_regular_file(root / kKitSums, error)
             ? fact_in(read_if_there(root / "VERSION"), name)
             : "";
}

bool is_read_by_students(const std::string& path) {
  return path.starts_with("handouts/") || path.ends_with("part.toml") ||
         path.ends_with(kTargetsFile) || path.ends_with(kHintsFile) ||
         path.find("/interface/") != std::string::npos;
}

class Updater {
 public:
  explicit Updater(const fs::path& root) : root_(root) {}

  KitUpdate run() {
    read_state();
    check_originals();
    std::vector<std::string> targets;
    for (const auto& [target, sum] : wanted_) targets.push_back(target);
    found_ = sums_of(root_, targets);
    for (const auto& [target, sum] : wanted_) {
      try {
        bring(target, sum);
      } catch (const FileError& error) {
        update_.failed.push_back(error.what());
      }
    }
    tell_differences();
    remove_stale();
    if (update_.failed.empty()) write_state();
    return std::move(update_);
  }

 private:
  void read_state() {
    for (const auto& [path, sum] : parse_sums(read_file(root_ / kKitSums))) {
      sums_[path] = sum;
      if (const std::string target = target_of(path); !target.empty()) wanted_[target] = sum;
    }
    const std::string installed = read_if_there(root_ / kInstalled);
    for (const auto& [path, sum] : parse_sums(installed)) before_[path] = sum;
    if (installed.empty()) {  // what a kit of version 0.1.0 handed out lay in its place
      for (const auto& [path, sum] : parse_sums(read_if_there(root_ / kOldSums))) {
        const std::string original = std::string(kOriginals) + "/" + path;
        before_[sums_.contains(original) || path.starts_with("starter/") ? original : path] = sum;
      }
    }
    for (const auto& [path, sum] : parse_sums(read_if_there(root_ / kEarlier))) {
      known_.insert({target_of(path), sum});
    }
    for (const auto& [path, sum] : before_) known_.insert({target_of(path), sum});
    std::error_code error;
    update_.first = before_.empty() && !fs::exists(root_ / "starter", error);
    update_.before = fact_in(read_if_there(root_ / kCourse), "course");
    update_.now = fact_in(read_if_there(root_ / "VERSION"), "course");
  }

  /// Nothing is done by half a kit: an archive that was cut short, a copy that failed.
  void check_originals() const {
    std::vector<std::string> originals;
    for (const auto& [path, sum] : sums_) {
      if (!target_of(path).empty()) originals.push_back(path);
    }
    const Sums there = sums_of(root_, originals);
    for (const std::string& path : originals) {
      const auto found = there.find(path);
      if (found != there.end() && found->second == sums_.at(path)) continue;
      throw FileError(fmt::format(
          "{} is not as the kit has it, so nothing was updated; unpack the kit once more",
          (root_ / path).string()));
    }
  }

  /// Whether a file is as some kit handed out the target, right now: nobody has changed it.
  bool is_original(const std::string& target, const std::string& path) const {
    const Sums now = sums_of(root_, {path});
    const auto found = now.find(path);
    return found != now.end() && known_.contains({target, found->second});
  }

  bool may_replace(const std::string& path) const {
    std::error_code error;
    const auto mode = fs::status(root_ / path, error).permissions();
    return !error && (mode & fs::perms::owner_write) != fs::perms::none;
  }

  void write(const std::string& target, const std::string& path) {
    write_file_atomically(root_ / path, read_file(root_ / kOriginals / target));
  }

  bool is_there(const std::string& path) const {
    std::error_code error;
    return fs::symlink_status(root_ / path, error).type() != fs::file_type::not_found;
  }

  void bring(const std::string& target, const std::string& sum) {
    if (!is_there(target)) {
      write(target, target);
      update_.created.push_back(target);
      return;
    }
    const auto found = found_.find(target);
    if (found != found_.end() && found->second == sum) return;
    if (is_original(target, target) && may_replace(target)) {
      write(target, target);
      update_.updated.push_back(target);
      return;
    }
    const auto base = before_.find(std::string(kOriginals) + "/" + target);
    if (base == before_.end()) {
      update_.foreign.push_back(target);
    } else if (base->second != sum) {
      update_.kept.push_back({target, put_beside(target, sum)});
    }
  }

  /// The course's new file beside that of the student; what somebody has changed there stays, too.
  std::string put_beside(const std::string& target, const std::string& sum) {
    for (int number = 1; number <= kMostBeside; ++number) {
      const std::string beside =
          fmt::format("{}.new{}", target, number == 1 ? "" : std::to_string(number));
      const Sums now = sums_of(root_, {beside});
      if (const auto found = now.find(beside); found != now.end() && found->second == sum) {
        return beside;
      }
      if (is_there(beside) && !is_original(target, beside)) continue;
      write(target, beside);
      return beside;
    }
    throw FileError(fmt::format("{}.new and its like are all taken; remove some", target));
  }

  void tell_differences() {
    for (const auto& [path, sum] : before_) {
      const std::string target = target_of(path);
      if (!target.empty() && !wanted_.contains(target) && is_there(target)) {
        update_.dropped.push_back(target);
      }
    }
    if (before_.empty()) return;
    for (const auto& [path, sum] : sums_) {
      const auto then = before_.find(path);
      const bool is_changed = then == before_.end() || then->second != sum;
      if (is_changed && is_read_by_students(path)) update_.changed.push_back(path);
    }
  }

  /// Files of the kit itself that the new one does not have: a part that was taken out is none.
  void remove_stale() {
    std::vector<std::string> stale;
    for (const auto& [path, sum] : before_) {
      if (!sums_.contains(path)) stale.push_back(path);
    }
    for (const auto& [path, sum] : sums_of(root_, stale)) {
      std::error_code ignored;
      if (before_.at(path) == sum && fs::remove(root_ / path, ignored)) {
        update_.removed.push_back(path);
      }
    }
  }

  /// Last of all, so that an update that was interrupted is done again.
  void write_state() {
    std::string earlier;
    for (const auto& [target, sum] : known_) {
      if (target.empty()) continue;
      earlier += fmt::format("{}  {}/{}\n", sum, kOriginals, target);
    }
    try {
      write_file_atomically(root_ / kEarlier, earlier);
      write_file_atomically(root_ / kCourse, read_if_there(root_ / "VERSION"));
      write_file_atomically(root_ / kInstalled, read_file(root_ / kKitSums));
    } catch (const FileError& error) {
      update_.failed.push_back(error.what());
      return;
    }
    // What it said of the kit that was here before is in kEarlier now, and it fits none any more.
    std::error_code ignored;
    const bool is_ours = !parse_sums(read_if_there(root_ / kOldSums)).empty();
    if (is_ours && !sums_.contains(kOldSums)) fs::remove(root_ / kOldSums, ignored);
  }

  const fs::path& root_;
  Sums sums_;                                            ///< of the kit that was unpacked
  Sums wanted_;                                          ///< of its originals, by target
  Sums before_;                                          ///< of the kit before, by path there
  Sums found_;                                           ///< of what lies at the targets
  std::set<std::pair<std::string, std::string>> known_;  ///< targets, and what they once were
  KitUpdate update_;
};

/// "a, b and 3 more".
std::string listed(const std::vector<std::string>& paths) {
  std::string words;
  for (std::size_t i = 0; i < std::min(paths.size(), kShown); ++i) {
    words += (i == 0 ? "" : ", ") + paths[i];
  }
  if (paths.size() > kShown) words += fmt::format(" and {} more", paths.size() - kShown);
  return words;
}

}  // namespace

bool KitUpdate::has_news() const {
  return first || !created.empty() || !updated.empty() || !kept.empty() || !foreign.empty() ||
         !dropped.empty() || !changed.empty() || !removed.empty() || !failed.empty();
}

std::string course_of_kit(const fs::path& root) { return fact_of_kit(root, "course"); }

std::string commit_of_kit(const fs::path& root) { return fact_of_kit(root, "commit"); }

bool is_kit_outdated(const fs::path& root) {
  if (!is_kit(root)) return false;
  std::error_code error;
  if (!fs::exists(root / "starter", error)) return true;
  return read_if_there(root / kInstalled) != read_file(root / kKitSums);
}

std::optional<KitUpdate> update_kit(const fs::path& root) {
  if (!is_kit(root)) return std::nullopt;
  const fs::path whole = fs::absolute(root).lexically_normal();
  return Updater(whole).run();
}

std::vector<std::string> describe(const KitUpdate& update) {
  std::vector<std::string> lines;
  const auto tell = [&lines](const char* what, const std::vector<std::string>& paths) {
    if (!paths.empty()) lines.push_back(fmt::format("{}: {}", what, listed(paths)));
  };
  if (update.first) {
    lines.push_back(fmt::format("made starter/ for you to edit, {} files", update.created.size()));
  } else {
    if (!update.now.empty() && update.has_news() && update.now != update.before) {
      lines.push_back(
          fmt::format("the course is now {}{}", update.now,
                      update.before.empty() ? "" : fmt::format(" (it was {})", update.before)));
    }
    tell("new", update.created);
    tell("updated, you had not changed them", update.updated);
    for (const KitUpdate::Kept& kept : update.kept) {
      lines.push_back(fmt::format(
          "kept yours: {}, which the course has changed too; its new one is {} (compare them by "
          "diff)",
          kept.path, kept.beside));
    }
    tell("kept, though not as handed out (originals/ has the course's files)", update.foreign);
    tell("no longer part of the course, and left where they are", update.dropped);
    tell("changed to read", update.changed);
    tell("files of the kit that the course has no longer, removed", update.removed);
  }
  for (std::size_t i = 0; i < std::min(update.failed.size(), kShown); ++i) {
    lines.push_back(update.failed[i] + "; the next run tries again");
  }
  return lines;
}

}  // namespace rooflab
