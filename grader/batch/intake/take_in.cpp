#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <memory>

#include "grader/batch/intake/delivery.h"
#include "grader/batch/intake/found_files.h"
#include "grader/batch/intake/gradescope.h"
#include "grader/batch/intake/match_wanted.h"
#include "grader/batch/intake/student_file.h"
#include "grader/batch/intake/submission.h"
#include "grader/batch/intake/unpack.h"
#include "grader/report/text.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostArchives = 4;
constexpr std::size_t kStudentFileDepth = 3;  // "repo-main/starter/student.toml"
constexpr std::size_t kLargestMetadata = std::size_t{256} << 20;
// Between 2000 and 2200: archives that know no times say 1970 or 1980.
constexpr std::int64_t kFirstMeaningfulTime = 946'684'800;
constexpr std::int64_t kLastMeaningfulTime = 7'258'118'400;

std::string name_of(const fs::path& path) { return path.filename().string(); }

/// Repositories come as "lab1-ada-main".
std::string without_branch(std::string name) {
  for (const std::string_view branch : {"-main", "-master"}) {
    if (name.ends_with(branch)) name.resize(name.size() - branch.size());
  }
  return name;
}

bool is_real_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(fs::symlink_status(path, error));
}

fs::path scratch_parent() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  return error ? fs::path("/tmp") : parent;
}

/// Nothing was handed in after now. A day is for clocks of other zones.
std::int64_t last_meaningful_time() {
  constexpr std::int64_t kDay_s = 24 * 3600;
  return std::min<std::int64_t>(kLastMeaningfulTime, std::time(nullptr) + kDay_s);
}

std::optional<std::int64_t> newest_of(const std::vector<FoundFile>& files) {
  std::optional<std::int64_t> newest;
  const std::int64_t last = last_meaningful_time();
  for (const FoundFile& file : files) {
    if (file.modified < kFirstMeaningfulTime || file.modified > last) continue;
    newest = std::max(newest.value_or(file.modified), file.modified);
  }
  return newest;
}

/// A file whose time is that of its arrival here was copied, or unpacked without its time.
bool keeps_its_time(const FoundFile& file) {
  constexpr std::int64_t kSlack_s = 60;
  return file.modified < file.here_since - kSlack_s;
}

/// Looks into one entry, step by step; a problem ends it.
class Intake {
 public:
  Intake(const SubmissionEntry& entry, const IntakeOptions& options) : options_(options) {
    submission_.entry = entry;
  }

  Submission run() {
    for (const fs::path& path : submission_.entry.paths) {
      if (submission_.problem.empty()) look_at(path);
    }
    read_name();
    read_platform();
    matched_ = match_wanted(found_, options_.wanted);
    if (matched_.files.empty()) look_into_inner_archives();
    read_student();
    tell_time();
    return finished();
  }

 private:
  void refuse(const std::string& why) {
    if (submission_.problem.empty()) submission_.problem = why;
  }
  void note(std::string text) { submission_.notes.push_back(std::move(text)); }

  void look_at(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    const bool is_folder = fs::is_directory(status);
    const Delivery delivery = delivery_of(name_of(path), is_folder);
    if (!is_folder && !fs::is_regular_file(status)) {
      return refuse(
          fmt::format("{} is gone, or is neither a folder nor a file; put the submission "
                      "there again",
                      shown(name_of(path))));
    }
    submission_.marked_late = submission_.marked_late || delivery.marked_late;
    if (deliveries_.empty()) is_folder_ = is_folder;
    deliveries_.push_back(delivery);
    if (is_folder) return add(find_files(path), "");
    const std::string called = delivery.file.empty() ? name_of(path) : delivery.file;
    if (archive_name(called).is_archive) return look_into_archive(path, called);
    found_.push_back(single_file(path, called));
  }

  void add(FoundFiles found, const std::string& archive) {
    if (!found.problem.empty()) {
      refuse(archive.empty() ? found.problem
                             : fmt::format("{}: {}", shown(archive), found.problem));
    }
    has_repository_ = has_repository_ || found.has_repository;
    if (const auto newest = newest_of(found.files); newest && !archive.empty()) {
      newest_ = std::max(newest_.value_or(*newest), *newest);
    }
    for (FoundFile& file : found.files) {
      file.archive = archive;
      found_.push_back(std::move(file));
    }
  }

  void look_into_archive(const fs::path& path, const std::string& called) {
    if (!archive_name(called).readable) {
      return refuse(fmt::format(
          "{} is an archive of a kind that is not read; pack it as .zip, .tar, .tar.gz or .tar.xz",
          shown(called)));
    }
    if (archives_ == kMostArchives) {
      return refuse(fmt::format("it holds more than {} archives; hand in one", kMostArchives));
    }
    if (scratch_ == nullptr) scratch_ = std::make_unique<TemporaryFolder>(scratch_parent());
    const fs::path into = scratch_->path() / std::to_string(++archives_);
    fs::create_directory(into);
    const std::string reason = unpack(path, into, options_);
    if (!reason.empty()) return refuse(fmt::format("{}: {}", shown(called), reason));
    FoundFiles found = find_files(into);
    if (found.files.empty()) refuse(fmt::format("{} holds no files; pack it again", shown(called)));
    note(fmt::format("{} was unpacked.", shown(called)));
    add(std::move(found), called);
  }

  /// One level: what an archive in an archive holds is nobody's business here.
  void look_into_inner_archives() {
    if (!submission_.problem.empty()) return;
    std::vector<FoundFile> inner;
    std::ranges::copy_if(found_, std::back_inserter(inner), [](const FoundFile& file) {
      return file.refused.empty() && archive_name(file.path).is_archive;
    });
    if (inner.empty()) return;
    if (archives_ > 0) {
      return refuse(
          fmt::format("it holds an archive in an archive ({}), which is not looked into; "
                      "pack the files themselves",
                      shown(inner.front())));
    }
    for (const FoundFile& file : inner) {
      if (submission_.problem.empty()) look_into_archive(file.folder / file.stored, file.path);
    }
    matched_ = match_wanted(found_, options_.wanted);
  }

  void read_name() {
    const fs::path& first = submission_.entry.paths.front();
    if (deliveries_.empty()) deliveries_.emplace_back();
    const Delivery& delivery = deliveries_.front();
    platform_ = delivery.platform;
    submission_.hints = delivery.hints;
    submission_.platform = delivery.platform;
    submission_.return_name = delivery.return_name;
    submission_.called = shown(delivery.owner.empty() ? name_of(first) : delivery.owner);
    if (platform_ != Platform::none) return;
    const std::string name = name_of(first);
    if (is_folder_ && has_repository_) {
      submission_.platform = Platform::git;
      submission_.return_name = name;
    }
    if (!is_folder_ && is_wanted_name(name, options_.wanted)) return;  // says what, not who
    submission_.hints.login = without_branch(is_folder_ ? name : without_extension(name));
    submission_.hints.name = submission_.hints.login;
  }

  void read_platform() {
    const fs::path& first = submission_.entry.paths.front();
    std::optional<GradescopeRecord> record;
    if (platform_ == Platform::gradescope) {
      record = read_export_metadata(metadata(first.parent_path() / "submission_metadata.yml"),
                                    name_of(first));
      if (!record) note("Gradescope's submission_metadata.yml says nothing about it.");
    } else if (platform_ == Platform::none && is_folder_ && !has_repository_ &&
               is_real_folder(first / "submission")) {
      record = read_autograder_metadata(read_submitted(first, "submission_metadata.json").text);
      submission_.names_itself = record.has_value();
    }
    if (!record) return;
    platform_ = Platform::gradescope;
    submission_.hints = record->hints;
    submission_.received_at = record->created_at;
    if (record->created_at) {
      note(fmt::format("Handed in {}, as {} says.", utc_time(*record->created_at),
                       submission_.names_itself ? "its submission_metadata.json" : "Gradescope"));
    }
    submission_.partners = record->partners;
  }

  /// A platform's file, so not a stranger's. @return empty when there is none
  std::string metadata(const fs::path& file) {
    std::error_code error;
    if (!fs::is_regular_file(fs::symlink_status(file, error))) return "";
    return read_file(file, kLargestMetadata);
  }

  /// What a platform says of who it is counts more than what a student says.
  void read_student() {
    std::vector<const FoundFile*> files;
    for (const FoundFile& file : found_) {
      const auto depth = static_cast<std::size_t>(std::ranges::count(file.path, '/'));
      if (file.path.substr(file.path.rfind('/') + 1) != "student.toml") continue;
      if (depth < kStudentFileDepth) files.push_back(&file);
    }
    if (files.empty()) return;
    if (platform_ != Platform::none) {
      return note("Its student.toml is left alone: the platform says whose it is.");
    }
    if (files.size() > 1) return note("It has several files student.toml: none is taken.");
    const SubmittedFile text = read_found(*files.front());
    StudentFile file;
    if (text.state == SubmittedFile::State::present) {
      file = read_student_file(text.text, options_);
    } else {
      file.problem = text.reason;
    }
    if (!file.problem.empty()) return note("Its student.toml is left alone: " + file.problem + ".");
    StudentHints& hints = submission_.hints;
    hints.sis_id = file.hints.sis_id;
    hints.email = file.hints.email;
    if (!file.hints.name.empty()) hints.name = file.hints.name;
    submission_.names_itself = true;
    note("Whose it is was taken from its student.toml.");
  }

  void tell_time() {
    if (submission_.received_at) return;
    if (platform_ == Platform::canvas) {
      if (submission_.marked_late) note("Canvas marks it late, without saying by how much.");
      return;
    }
    if (platform_ == Platform::moodle && !found_.empty()) {
      // Moodle's archive has the times of the uploads; what unpacks it keeps them.
      std::vector<FoundFile> delivered;
      for (const fs::path& path : submission_.entry.paths) {
        std::ranges::move(delivered_in(path), std::back_inserter(delivered));
      }
      std::erase_if(delivered, [](const FoundFile& file) { return !keeps_its_time(file); });
      submission_.received_at = newest_of(delivered);
      note(submission_.received_at ? fmt::format("Handed in {}: the time of its newest file.",
                                                 utc_time(*submission_.received_at))
                                   : "When it was handed in is not known: its files have the times "
                                     "of their coming here.");
      return;
    }
    if (platform_ != Platform::none) return;
    if (newest_ && !is_folder_) {
      submission_.received_at = newest_;
      submission_.owner_chose_time = true;
      note(
          fmt::format("Handed in {}: the newest time in the archive, which its owner can choose; "
                      "a zip archive's times are taken for UTC.",
                      utc_time(*newest_)));
    } else {
      note("When it was handed in is not known.");
    }
  }

  static std::vector<FoundFile> delivered_in(const fs::path& path) {
    if (is_real_folder(path)) return find_files(path).files;
    return {single_file(path, name_of(path))};
  }

  Submission finished() {
    for (std::string& text : matched_.notes) note(std::move(text));
    for (const std::string& doubt : matched_.doubts) note(doubt + ".");
    submission_.files = std::move(matched_.files);
    if (submission_.problem.empty() && submission_.files.empty()) {
      submission_.problem = nothing_taken();
    } else if (submission_.problem.empty()) {
      submission_.doubts = std::move(matched_.doubts);
    }
    if (!submission_.problem.empty()) submission_.files.clear();
    return std::move(submission_);
  }

  std::string nothing_taken() const {
    if (!matched_.doubts.empty()) return fmt::format("{}", fmt::join(matched_.doubts, "; "));
    return fmt::format(
        "none of the files asked for is in it, such as {}; hand in these files, by themselves or "
        "in "
        "their folders",
        options_.wanted.empty() ? "(none)" : options_.wanted.front());
  }

  const IntakeOptions& options_;
  Submission submission_;
  std::vector<Delivery> deliveries_;
  Platform platform_ = Platform::none;
  bool is_folder_ = false;  ///< the first path is one
  bool has_repository_ = false;
  std::vector<FoundFile> found_;
  std::optional<std::int64_t> newest_;  ///< of files in archives
  std::unique_ptr<TemporaryFolder> scratch_;
  std::size_t archives_ = 0;
  Matched matched_;
};

}  // namespace

Submission take_in(const SubmissionEntry& entry, const IntakeOptions& options) {
  return Intake(entry, options).run();
}

}  // namespace rooflab
