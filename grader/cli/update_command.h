#pragma once

#include <ostream>

#include "grader/cli/options.h"
#include "grader/pipeline/installation.h"

namespace rooflab {

/// Brings the student kit up to date, and says what was done. @return the exit code
/// @throws FileError when the kit was not unpacked whole
int run_update(std::ostream& out, const Installation& installation);

/// Whether a command shows or grades what students edit, so that starter/ has to be there.
bool is_for_students(Options::Command command);

/// Brings a kit that was unpacked just now up to date. A kit that cannot be written to is no reason
/// not to grade: that is said, and nothing else happens.
void keep_kit_current(std::ostream& out, const Installation& installation);

}  // namespace rooflab
