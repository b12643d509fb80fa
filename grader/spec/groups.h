#pragma once

#include "grader/spec/part.h"
#include "grader/spec/toml_reader.h"

namespace rooflab {

/// The group of a task whose cases are all worth something together only.
inline constexpr const char* kOnlyGroup = "all";

std::vector<std::string> names_of(const std::vector<GroupSpec>& groups);

/// The groups of a work log, which the grader judges by its form.
inline constexpr const char* kLoggedVersions = "versions";
inline constexpr const char* kLogEntries = "entries";

/// Gives a task that names no groups its own: one for each question of an `answers` task; two for a
/// work log; one for each function of a `values` task whose cases call several, in order of first
/// appearance and with equal shares; else a single one. Then each case and timed case that names no
/// group has its own. What the file says stays as it is.
void complete_groups(TaskSpec& task);

/// The function of the student's that a case calls, where the task has several; else empty.
std::string function_of(const CaseSpec& spec);

/// The group of a case that names none: that of its function, or the only one. Empty when there is
/// none of these.
std::string default_group(const TaskSpec& task, const CaseSpec& spec);

/// Reads [[task.group]] of a task.
/// @throws SpecError for a name that is none or is taken, and points that are none.
void read_groups(TableReader& reader, TaskSpec& task);

/// @throws SpecError when the task has no group of that name; `at` is the key that names it.
void require_group(const TableReader& reader, const std::string& at, const TaskSpec& task,
                   const std::string& group);

/// @throws SpecError when the groups' points are not the task's, or a group has no case that
/// students see and every GPU runs.
void check_groups(const TableReader& reader, const TaskSpec& task);

}  // namespace rooflab
