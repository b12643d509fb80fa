#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "grader/device/device.h"
#include "grader/guest/call_protocol.h"
#include "simgpu/device/device_process.h"

/// One call of a function on the simulated GPU, as the trusted side prepares and reads it.
namespace rooflab {

// A loop on the host that calls the runtime for ever is ended by its calls, of which a machine
// serves some ten thousands in a second. Calls that ask for what is not done yet do not count.
inline constexpr std::uint64_t kHostCallLimit = 200'000;

/// What a launch may take, in warp instructions.
std::uint64_t instruction_budget(const RunRequest& request, bool checkers);

/// Modelled time after which a warp is taken never to end, 0 for none.
double warp_limit_us(const RunRequest& request);

/// The tensors of a problem in the memory of the device, inputs written and outputs poisoned.
/// @return their addresses
std::vector<std::uint64_t> place_tensors(simgpu::DeviceProcess& device, const Problem& problem);

/// The tensors with other inputs where those of an earlier call were, and outputs poisoned.
void replace_tensors(simgpu::DeviceProcess& device, const Problem& problem,
                     const std::vector<std::uint64_t>& addresses);

Call call_for(const RunRequest& request, const std::vector<std::uint64_t>& addresses);

/// The arguments are on their way on the stream that the function is given, or used there. Only of
/// late inputs is the whole order between streams judged: elsewhere inputs are there before the
/// call.
void note_callers_work(simgpu::DeviceProcess& device, const RunRequest& request,
                       const std::vector<std::uint64_t>& addresses);

/// A second call with inputs of its own and on a stream of its own, while the first one may still
/// run: two such calls share nothing that the caller has given them.
struct SecondCall {
  FreshCall fresh;
  std::vector<std::uint64_t> addresses;
};

/// Prepares it where the request asks for late inputs on a stream, and nothing elsewhere.
std::optional<SecondCall> second_call_for(simgpu::DeviceProcess& device, const RunRequest& request,
                                          Call& call);

/// Reads what it stored, once both have returned.
void collect_second(simgpu::DeviceProcess& device, SecondCall& second, RunOutcome& outcome);

/// Takes what the device knows. A guest that ended in time has to have left a device that does so
/// as well.
void collect(simgpu::DeviceProcess& device, const RunRequest& request,
             const std::vector<std::uint64_t>& addresses, RunOutcome& outcome);

}  // namespace rooflab
