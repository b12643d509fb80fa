#include "grader/author/release.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "grader/author/course_pages.h"
#include "grader/author/kit_texts.h"
#include "grader/author/kit_update.h"
#include "grader/author/runtime_packages.h"
#include "grader/author/starter.h"
#include "grader/spec/course_spec.h"
#include "grader/spec/files.h"
#include "grader/spec/part.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "rooflab";  // of the kit, in the archive

void require_fresh_starter(const fs::path& root) {
  const HasPart has_part = has_one_of(list_parts(root / "labs"));
  const auto differences =
      compare_starter(root / "starter", generate_starter(root / "solutions", has_part), has_part);
  if (differences.empty()) return;
  throw ReleaseError(
      fmt::format("starter/{}; it is generated from solutions/: run grader starter --write",
                  differences.front()));
}

void set_mode(const fs::path& path, bool may_run) {
  fs::permissions(path, static_cast<fs::perms>(may_run ? 0755 : 0644));
}

void write_text(const fs::path& file, const std::string& text) {
  write_file_atomically(file, text);
  set_mode(file, false);
}

/// What is in a kit, for the texts that depend on it.
class KitCourse {
 public:
  KitCourse(const fs::path& root, std::vector<int> parts)
      : root_(root), numbers_(std::move(parts)), spec_(load_course_spec(root / "labs")) {
    for (const int number : numbers_) {
      parts_.push_back(load_part(root / "labs", root / "solutions", number));
    }
  }

  const std::vector<PartSpec>& parts() const { return parts_; }
  bool has_part(int number) const { return std::ranges::find(numbers_, number) != numbers_.end(); }

  /// The text of a file whose text is another in each kit; nothing for one that is copied.
  std::optional<std::string> text_of(const KitFile& file) const {
    const auto has = [this](int number) { return has_part(number); };
    switch (file.kind) {
      case KitFile::Kind::page:
        return page_of_course(read_file(file.from), has, file.to.string());
      case KitFile::Kind::filled:
      case KitFile::Kind::script:
        return fill_kit_text(read_file(file.from), spec_, parts_);
      default:
        return std::nullopt;
    }
  }
  std::string course_toml() const { return kit_course_toml(root_ / "labs/course.toml", numbers_); }

 private:
  const fs::path& root_;
  std::vector<int> numbers_;
  CourseSpec spec_;
  std::vector<PartSpec> parts_;
};

/// Copies one file, and takes from compiled ones what no user of theirs needs.
void stage(const KitFile& file, const KitCourse& course, const fs::path& kit) {
  const fs::path to = kit / file.to;
  fs::create_directories(to.parent_path());
  if (file.kind == KitFile::Kind::link) {
    fs::create_symlink(fs::read_symlink(file.from), to);
    return;
  }
  if (const auto text = course.text_of(file)) {
    write_file_atomically(to, *text);
  } else {
    fs::copy_file(file.from, to);
  }
  const auto strip = [&](const char* how) {
    set_mode(to, true);  // strip writes it
    run_tool({"strip", "--enable-deterministic-archives", how, to.string()});
  };
  switch (file.kind) {
    case KitFile::Kind::program:
      strip("--strip-all");
      break;
    case KitFile::Kind::library:
      strip("--strip-unneeded");
      break;
    case KitFile::Kind::object:
      strip("--strip-debug");
      break;
    case KitFile::Kind::text:
    case KitFile::Kind::page:
    case KitFile::Kind::filled:
    case KitFile::Kind::script:
    case KitFile::Kind::link:
      break;
  }
  set_mode(to, file.kind == KitFile::Kind::script || file.kind == KitFile::Kind::program);
}

/// scripts/runtime_libraries of the kit: for each shared library that it needs, the Debian package
/// that has it here, which scripts/setup of the kit reads.
void write_runtime_libraries(const std::vector<KitFile>& files, const fs::path& kit,
                             const fs::path& build) {
  std::vector<fs::path> compiled;
  for (const KitFile& file : files) {
    const bool loads = file.kind == KitFile::Kind::program || file.kind == KitFile::Kind::library;
    if (loads) compiled.push_back(file.from);
  }
  std::string text;
  for (const auto& [name, package] : runtime_libraries(compiled, build / "lib/simgpu")) {
    text += fmt::format("{} {}\n", name, package.empty() ? "-" : package);
  }
  write_text(kit / "scripts/runtime_libraries", text);
}

/// Of each part, how many hidden cases there are: their number is no secret. @return their paths
std::vector<std::string> write_hidden_counts(const KitCourse& course, const fs::path& kit,
                                             const ReleaseRequest& request) {
  std::vector<std::string> written;
  for (PartSpec part : course.parts()) {
    const fs::path path = fs::path("labs") / part.directory / kHiddenCounts;
    for (TaskSpec& task : part.tasks) {
      if (task.kind == TaskKind::tests) task.hidden_elsewhere = request.count_hidden(part, task);
    }
    write_text(kit / path, hidden_counts_of(part));
    written.push_back(path.string());
  }
  return written;
}

/// Where texts that students read name a part that is not in the kit.
std::vector<std::string> find_mentions(const std::vector<KitFile>& files, const KitCourse& course,
                                       const fs::path& kit) {
  std::vector<std::string> found;
  for (const KitFile& file : files) {
    const bool is_text = file.kind == KitFile::Kind::text || file.kind == KitFile::Kind::page ||
                         file.kind == KitFile::Kind::filled;
    if (!is_text) continue;
    for (const PartMention& mention : mentions_of_missing_parts(
             read_file(kit / file.to), [&](int part) { return course.has_part(part); })) {
      found.push_back(fmt::format("{}:{}: part {}", file.to.string(), mention.line, mention.part));
    }
  }
  return found;
}

/// kKitSums, which `sha256sum --check SHA256SUMS` reads.
void write_sums(const std::vector<KitFile>& files, const std::vector<std::string>& generated,
                const fs::path& kit) {
  std::vector<std::string> command = {"sha256sum", "--"};
  for (const KitFile& file : files) {
    if (file.kind != KitFile::Kind::link) command.push_back((kit / file.to).string());
  }
  for (const std::string& file : generated) command.push_back((kit / file).string());
  std::string text = run_tool(command);
  const std::string prefix = kit.string() + "/";
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
    text.erase(at, prefix.size());
  }
  write_text(kit / kKitSums, text);
}

/// VERSION, with the kit's version: of the sums of all other files, which are those there now.
void write_version(std::string made_of, const fs::path& kit) {
  constexpr std::string_view kMark = "@kit@";
  constexpr std::size_t kDigits = 12;
  const std::string sum = run_tool({"sha256sum", "--", (kit / kKitSums).string()});
  for (std::size_t at = made_of.find(kMark); at != std::string::npos;
       at = made_of.find(kMark, at)) {
    made_of.replace(at, kMark.size(), sum.substr(0, kDigits));
  }
  write_text(kit / "VERSION", made_of);
}

/// An archive of which nothing depends on when, where and by whom it was made.
void pack(const fs::path& folder, const fs::path& archive) {
  run_tool({"tar", "--create", "--format=ustar", "--sort=name", "--owner=0", "--group=0",
            "--numeric-owner", "--mtime=@0", "--mode=u=rwX,go=rX",
            "--use-compress-program=gzip --no-name", "--file=" + archive.string(),
            "--directory=" + folder.string(), kFolder});
}

/// Each once, ascending. @throws UnknownPart
std::vector<int> parts_of(const ReleaseRequest& request) {
  if (request.parts.empty()) return list_parts(request.root / "labs");
  const std::set<int> parts(request.parts.begin(), request.parts.end());
  return {parts.begin(), parts.end()};
}

}  // namespace

Release make_release(const ReleaseRequest& request) {
  require_fresh_starter(request.root);
  const KitCourse course(request.root, parts_of(request));
  std::vector<int> parts;
  for (const PartSpec& part : course.parts()) parts.push_back(part.number);
  const auto files = list_kit_files(request.root, request.build, parts);
  const fs::path beside = fs::absolute(request.out).parent_path();
  fs::create_directories(beside);
  const TemporaryFolder staging(beside);
  const fs::path kit = staging.path() / kFolder;
  for (const KitFile& file : files) stage(file, course, kit);
  write_runtime_libraries(files, kit, request.build);
  std::vector<std::string> generated = write_hidden_counts(course, kit, request);
  write_text(kit / "labs/course.toml", course.course_toml());
  generated.insert(generated.end(), {"labs/course.toml", "scripts/runtime_libraries"});
  write_sums(files, generated, kit);
  write_version(request.made_of, kit);
  generated.emplace_back("VERSION");
  write_sums(files, generated, kit);

  Release release;
  release.parts = parts;
  release.mentions = find_mentions(files, course, kit);
  release.files = files.size() + generated.size() + 1;
  release.leaks = find_leaks(
      kit, {request.root / "labs", request.root / "solutions", request.root / "docs/examples"});
  if (!release.leaks.empty()) return release;
  const fs::path archive = staging.path() / "kit.tar.gz";
  pack(staging.path(), archive);
  release.bytes = fs::file_size(archive);
  fs::rename(archive, request.out);
  return release;
}

}  // namespace rooflab
