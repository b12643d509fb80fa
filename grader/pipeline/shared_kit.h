#pragma once

#include <filesystem>

/// A student kit that a package has installed for everybody who uses a machine. Nobody works in it:
/// a student works in a folder of their own, `rooflab`, whose entries are links into the kit, but
/// for what students edit, which update_kit() makes there: docs/design/packages.md.
namespace rooflab {

/// Whether a kit is one: its package puts the file build/shared_kit there.
bool is_shared_kit(const std::filesystem::path& kit);

/// The student's own folder of a shared kit: `here`, a folder above it, or `rooflab` in one of
/// these. Empty where there is none yet.
std::filesystem::path find_own_folder(const std::filesystem::path& kit,
                                      const std::filesystem::path& here);

/// Makes the student's own folder `rooflab` in `here`, whole or not at all.
/// @return its path
/// @throws InstallationError where something else has that name, or `here` may not be written to
std::filesystem::path make_own_folder(const std::filesystem::path& kit,
                                      const std::filesystem::path& here);

/// Makes those links in an own folder that are missing: all, or what a newer kit has and the one
/// before had not.
/// @throws std::filesystem::filesystem_error
void link_kit(const std::filesystem::path& kit, const std::filesystem::path& folder);

}  // namespace rooflab
