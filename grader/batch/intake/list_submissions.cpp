#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <system_error>

#include "grader/batch/fingerprint.h"
#include "grader/batch/intake/delivery.h"
#include "grader/batch/intake/gradescope.h"
#include "grader/batch/intake/submission.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostInDelivery = 20'000;
constexpr std::size_t kLongestPlainId = 64;
constexpr std::size_t kHashBytes = 8;

bool is_plain(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '.' ||
         letter == '_' || letter == '-';
}

/// A name that ends like a made-up one could be somebody's attempt at another's.
bool ends_like_a_hash(std::string_view name) {
  if (name.size() <= 2 * kHashBytes) return false;
  const std::string_view tail = name.substr(name.size() - 2 * kHashBytes);
  return name[name.size() - tail.size() - 1] == '-' &&
         tail.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// The name where it is plain, and stays apart from others where case does not count; else what is
/// plain of it, and a hash of all its bytes.
std::string id_of(const std::string& name, bool always_hash = false) {
  const bool plain = !name.empty() && name.size() <= kLongestPlainId &&
                     std::ranges::all_of(name, is_plain) && name.front() != '.' &&
                     name.front() != '-' && !ends_like_a_hash(name);
  if (plain && !always_hash) return name;
  std::string id;
  for (const char letter : name.substr(0, kLongestPlainId - 2 * kHashBytes - 1)) {
    const bool letters = is_plain(letter) || (letter >= 'A' && letter <= 'Z');
    const bool leads = id.empty() && (letter == '.' || letter == '-');
    id += letters && !leads ? letter : '_';
  }
  return id + "-" + sha256_hex(name).substr(0, 2 * kHashBytes);
}

/// A name in the folder, with what it says.
struct Named {
  fs::path path;
  std::string name;
  bool is_folder = false;
};

std::vector<Named> names_in(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  std::vector<Named> named;
  while (!error && entries != fs::directory_iterator()) {
    const std::string name = entries->path().filename().string();
    std::error_code unknown;
    const fs::file_status status = entries->symlink_status(unknown);
    const bool is_folder = fs::is_directory(status);
    const bool of_platform = is_gradescope_metadata(name);
    if ((is_folder || fs::is_regular_file(status)) && !is_clutter(name) && !of_platform) {
      named.push_back({entries->path(), name, is_folder});
    }
    if (named.size() > kMostInDelivery) {
      throw FileError(
          fmt::format("{} holds more than {} entries; name the folder that holds one "
                      "entry for each student",
                      folder.string(), kMostInDelivery));
    }
    entries.increment(error);
  }
  if (error && archive_name(folder.filename().string()).is_archive) {
    throw FileError(
        fmt::format("{} is an archive; unpack it, and name the folder that holds one "
                    "entry for each student",
                    folder.string()));
  }
  if (error) {
    throw FileError(
        fmt::format("cannot read the folder {}: {}; check that it exists and may be read",
                    folder.string(), error.message()));
  }
  std::ranges::sort(named, {}, &Named::name);
  return named;
}

/// "assignment_1_export/" of Gradescope may stand for what is in it.
fs::path with_submissions(const fs::path& folder) {
  const std::vector<Named> named = names_in(folder);
  if (named.size() != 1 || !named.front().is_folder) return folder;
  return has_gradescope_metadata(named.front().path) ? named.front().path : folder;
}

}  // namespace

std::vector<SubmissionEntry> list_submissions(const fs::path& folder) {
  std::vector<SubmissionEntry> entries;
  std::map<std::string, std::size_t> of_owner;
  std::set<std::string> ids;
  for (const Named& named : names_in(with_submissions(folder))) {
    const Delivery delivery = delivery_of(named.name, named.is_folder);
    if (const auto other = of_owner.find(delivery.owner); other != of_owner.end()) {
      entries[other->second].paths.push_back(named.path);
      continue;
    }
    const std::string& called = delivery.owner.empty() ? named.name : delivery.owner;
    SubmissionEntry entry{{named.path}, id_of(called)};
    // A folder may be called as Canvas calls somebody's files.
    if (!ids.insert(entry.id).second) entry.id = id_of(named.name + "/", true);
    ids.insert(entry.id);
    if (!delivery.owner.empty()) of_owner.emplace(delivery.owner, entries.size());
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace rooflab
