#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simgpu/device/protocol.h"
#include "simgpu/finding.h"

namespace simgpu {

/// What a program makes that lies with its own libraries, of which the device only hears: what the
/// calls cost the host, and what was never given back. It is the guest's word, which only says what
/// its program has forgotten.
class HostObjects {
 public:
  /// @returns the time that the call takes, in microseconds
  double note(const protocol::HostCall& call);
  /// A measured call begins: whoever makes it may have made one cuBLAS handle for it beforehand,
  /// which costs nothing.
  void begin_call() { blas_handles_of_call_ = 0; }
  /// How many graphs the guest's library keeps, from which executable ones are made.
  void note_graphs_kept(std::uint64_t count) { graphs_kept_ = count; }
  /// A handle was made by a call of host code. @param object as leaks call it, "stream"
  void note_maker(std::string_view object, const std::vector<HostFrame>& called_from);
  /// The call that made all such handles; empty where several calls did, or nobody knows.
  std::vector<HostFrame> maker_of(std::string_view object) const;
  void forget_all() { *this = {}; }

  std::size_t registrations() const { return registrations_; }
  std::size_t blas_handles() const { return blas_handles_; }
  std::uint64_t graphs_kept() const { return graphs_kept_; }

 private:
  std::size_t registrations_ = 0;
  std::size_t blas_handles_ = 0;
  std::size_t blas_handles_of_call_ = 0;
  std::uint64_t graphs_kept_ = 0;
  /// By object; nullopt where several calls made some.
  std::map<std::string, std::optional<std::vector<HostFrame>>, std::less<>> makers_;
};

}  // namespace simgpu
