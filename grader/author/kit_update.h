#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Brings what students edit to the state of a kit that was unpacked, and never over their work:
/// docs/design/release.md.
namespace rooflab {

/// Of a kit: the folder of what students edit, as it was handed out, by its path in the kit
/// (originals/starter/part1-metrics/gemv.cu). The archive has these files nowhere else.
inline constexpr const char* kOriginals = "originals";
/// Of a kit: the SHA-256 of every file, as sha256sum writes and checks them.
inline constexpr const char* kKitSums = "SHA256SUMS";

/// What an update has done.
struct KitUpdate {
  /// A file that its student has changed, and the course too.
  struct Kept {
    std::string path;
    std::string beside;  ///< the course's new one, "starter/part1-metrics/gemv.cu.new"
  };
  std::string before;  ///< the course that the folder had; empty when it had none, or nobody knows
  std::string now;
  bool first = false;  ///< nothing of the folder was there
  std::vector<std::string> created;
  std::vector<std::string> updated;  ///< nobody had changed them
  std::vector<Kept> kept;
  std::vector<std::string> foreign;  ///< differ from the originals, and nobody knows since when
  std::vector<std::string> dropped;  ///< the course has them no longer; they stay
  std::vector<std::string> changed;  ///< of what students read: handouts, tasks, headers
  std::vector<std::string> removed;  ///< of the kit itself: the new one does not have them
  std::vector<std::string> failed;   ///< "starter/a.cu: why", tried again by the next update
  bool has_news() const;
};

/// Whether `root` is a student kit that was unpacked and not yet brought up to date.
bool is_kit_outdated(const std::filesystem::path& root);

/// The course that the kit in `root` has, "Efficient AI, version 2026-11-20"; empty where it is
/// none.
std::string course_of_kit(const std::filesystem::path& root);
/// The commit of the course that the kit in `root` was made from; empty where it does not say.
std::string commit_of_kit(const std::filesystem::path& root);

/// Brings the kit in `root` up to date: files that are not there are made, those that nobody has
/// changed are replaced, all others stay as they are, with the course's new one beside each that
/// the course has changed too. Files appear whole or not at all; an update that was interrupted is
/// done by the next one.
/// @return nothing where `root` is no kit
/// @throws FileError when the kit was not unpacked whole
std::optional<KitUpdate> update_kit(const std::filesystem::path& root);

/// What an update has done, for people: a line each, none when there is nothing to tell.
std::vector<std::string> describe(const KitUpdate& update);

}  // namespace rooflab
