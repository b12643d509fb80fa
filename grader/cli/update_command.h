#pragma once

#include <ostream>

#include "grader/cli/options.h"
#include "grader/pipeline/installation.h"

namespace rooflab {

/// Brings the student kit up to date, and says what was done. Of a shared kit, the student's own
/// folder, which the installation is of from then on; it is made where there is none. @return the
/// exit code
/// @throws FileError when the kit was not unpacked whole; InstallationError
int run_update(std::ostream& out, Installation& installation);

/// Whether a command shows or grades what students edit, so that starter/ has to be there.
bool is_for_students(Options::Command command);

/// Brings a kit that was unpacked just now up to date, and of a shared kit the student's own
/// folder, as run_update() does. A kit that cannot be written to is no reason not to grade: that is
/// said, and nothing else happens.
/// @throws InstallationError where an own folder cannot be made
void keep_kit_current(std::ostream& out, Installation& installation);

}  // namespace rooflab
