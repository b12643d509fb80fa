#pragma once

#include <linux/filter.h>

#include <vector>

namespace rooflab {

/// A BPF program that refuses the system calls no compiler and no student program needs, and that
/// give the most to an attacker: tracing, mounting, namespaces, kernel modules, BPF, keys, network
/// sockets, and signals to everybody at once. Refused calls fail with EPERM; calls of another
/// architecture than the grader's, such as 32-bit ones, end the process.
/// @param changes_of_files refused too: mode, owner, times and attributes
std::vector<sock_filter> deny_filter(bool changes_of_files);

}  // namespace rooflab
