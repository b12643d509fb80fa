#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/report.h"

/// Whether threads have returned from a kernel or only skipped an `if`: where plain stores follow,
/// the compiler makes the same code of both, and only the source tells.
namespace simgpu {

/// The text of a source file, by the name that a finding has for it; nullopt when there is none.
using SourceText = std::function<std::optional<std::string>(const std::string& file)>;

/// Whether something before the place, in its function or in one that it was inlined into, may make
/// a thread leave early: a `return`, a `goto`, assembly, or a word that the source does not explain
/// and that may be a macro. True also when a source cannot be read.
bool may_leave_before(const AccessSite& site, const SourceText& text);

/// Settles the findings that hold unless threads have returned (Finding::unless_returned): they
/// hold for good, or are dropped. Variables without a value are named (unwritten_variables.h).
void settle_by_source(std::vector<Finding>& findings, const SourceText& text);

}  // namespace simgpu
