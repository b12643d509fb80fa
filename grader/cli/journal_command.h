#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <set>
#include <string>

#include "grader/cli/options.h"
#include "grader/pipeline/installation.h"
#include "grader/spec/part.h"
#include "grader/spec/result.h"

namespace rooflab {

/// Turns the journal on or off, or shows what is in it. @throws UsageError, FileError
int keep_journal(std::ostream& out, const JournalOptions& options,
                 const Installation& installation);

/// Notes the runs of a result, where the student has chosen that.
/// @param unchanged tasks that are as they were in their last run, which this one repeats
/// @param time seconds since 1970
/// @return why they could not be noted, which is no reason to lose a grade; empty where they were
std::string note_in_journal(const std::filesystem::path& submission, const PartSpec& part,
                            const GradeResult& result, const std::set<std::string>& unchanged,
                            std::int64_t time);

}  // namespace rooflab
