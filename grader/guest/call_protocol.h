#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/contract/problem.h"
#include "grader/contract/thrown.h"

/// What the trusted side and the guest say to each other: one line of JSON each way per call, over
/// a connected socket.
namespace rooflab {

/// The descriptor of the guest that calls come in on and replies go out on.
inline constexpr int kCallDescriptor = 3;
/// The descriptor of the guest that its tensors come by on a real GPU: the pool they lie in.
inline constexpr int kMemoryDescriptor = 4;
/// Longest text among the results: a file that the student's code wrote.
inline constexpr std::size_t kMaxResultBytes = 1U << 20;
/// Longest reply that the trusted side reads.
inline constexpr std::size_t kMaxReplyBytes = 16U << 20;
/// Longest call that the guest reads.
inline constexpr std::size_t kMaxCallBytes = 16U << 20;

/// Where a tensor lies: at an address both sides know (simulated GPU), or in a pool of the trusted
/// process (kMemoryDescriptor).
struct TensorPlace {
  std::uint64_t address = 0;
  /// What cudaMemPoolExportPointer says of it, in hexadecimal; empty when the address is to be
  /// used.
  std::string exported;
  /// With that: the guest takes memory of its own, of exactly so many bytes; 0: it does not.
  std::uint64_t own_bytes = 0;
  bool is_copied = false;  ///< the guest's own memory gets what lies in the pool
};

/// A second call of the same function, made right behind the first one while that may still run.
struct CallBeside {
  Values parameters;
  std::map<std::string, TensorPlace> tensors;
  std::uint64_t stream = 0;  ///< another one than the first call's; both sides know its handle
};

/// What rooflab_choose_variant() of a library gets before a call.
struct ChosenVariant {
  std::int32_t first = 0, second = 0;
  double value = 0;  ///< any, NaN and infinity too
};

struct Call {
  std::string library;  ///< path of the task's shared library, as the guest sees it
  /// Empty: nothing is called, only the tensors opened, `libraries` loaded, the events of a
  /// measured call made and the device waited for.
  std::string entry;
  /// Without an entry: file names of libraries that a task's own library is going to need.
  std::vector<std::string> libraries = {};
  /// Without an entry: the guest's own kernel runs on the tensors `x` and `y` (proof.h).
  bool proves_kernel = false;
  Values parameters;
  std::map<std::string, TensorPlace> tensors;
  bool measured = false;      ///< time the call with CUDA events
  bool gives_stream = false;  ///< the function gets a stream that does not wait for the default one
  /// The guest waits for that stream alone, or for the default one where it gives none: the trusted
  /// side looks at what is ordered with it, and waits for the device itself.
  bool holds_to_stream = false;
  /// With that, the stream's handle, which both sides know (simulated GPU); 0: the guest makes it.
  std::uint64_t stream = 0;
  /// With a stream that both sides know. Neither call waits for the other.
  std::optional<CallBeside> beside = {};
  std::optional<ChosenVariant> variant = {};
};

/// The guest's answer. Student code shares the guest's process, so all of it may be a lie.
struct Reply {
  enum class Status : std::uint8_t {
    returned,         ///< the function came back
    not_implemented,  ///< it threw the toolkit's NotImplemented
    exception,        ///< it threw anything else
    out_of_memory,    ///< it threw std::bad_alloc
    not_loaded,       ///< the library could not be loaded, or lacks the entry
    too_long,         ///< a result or the whole reply is longer than may be; there are no results
  };
  Status status = Status::returned;
  std::string detail;
  Thrown thrown;
  /// "cudaErrorIllegalAddress", or empty. Without an entry: why the GPU cannot be used.
  std::string cuda_error;
  Values results;
  double elapsed_us = 0;  ///< of a measured call, by CUDA events
};

/// One line without its end.
std::string encode(const Call& call);
std::string encode(const Reply& reply);

/// @throws std::runtime_error when the text is not a call.
Call decode_call(const std::string& text);

/// @return nothing when the text is not a reply. Never throws, whatever the text.
std::optional<Reply> decode_reply(const std::string& text);

}  // namespace rooflab
