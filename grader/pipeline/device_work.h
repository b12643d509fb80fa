#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grader/contract/problem.h"
#include "grader/pipeline/roofline.h"
#include "grader/spec/result.h"
#include "simgpu/report.h"

/// Whether the device itself did the work whose result it holds. The right numbers alone do not say
/// so: host code may compute them and copy them there, or ask the device for a library's kernel
/// without the library. Everything here rests on what the device saw, which no guest can forge. A
/// real GPU keeps no such records, and then nothing is found.
namespace rooflab {

/// The first function the device served that one of the regular expressions finds a match in; empty
/// for none. A copy counts as cudaMemcpy and a fill as cudaMemset, whatever issued it. Unlike the
/// symbols of the built file, this cannot be gone around.
std::string forbidden_call(const simgpu::Activity& activity,
                           const std::vector<std::string>& patterns);
/// Whether one of the regular expressions finds a match in the function's name.
bool is_forbidden(const std::string& function, const std::vector<std::string>& patterns);

/// What the device saw that does not fit a right result.
struct Doubt {
  enum class Kind : std::uint8_t {
    for_people,   ///< an honest program may do this: a person looks at it
    detour,       ///< data went over the host, which the tasks do not allow
    not_computed  ///< no honest program does this
  };
  std::string reason;  ///< a clause with figures
  Kind kind = Kind::for_people;
  std::string without_figures = {};  ///< the same for a hidden case, whose sizes they would tell
};

/// Whether the host did what kernels have to do. That the kernels did less than half of the
/// floating-point operations that the case takes proves nothing: there are algorithms with fewer,
/// and what is done with integers or looked up is not counted. It is proven that kernels did not
/// compute the result when
/// - the case takes operations, and no kernel ran,
/// - all their instructions, each taken for the most operations that one can do, are less than a
///   tenth of what the case takes, or
/// - the call took data to the host, the kernels did clearly fewer operations than the case takes,
///   and a thirtieth of the outputs' bytes came back.
/// Where they did them all and a half of the outputs' bytes came back, or an eighth in a case that
/// takes no operations, the data made a detour over the host. Whether it came back as results or as
/// operands, nobody sees; tasks allow neither. As many bytes as the case's integer inputs have may
/// leave: host code reads positions and sizes.
std::optional<Doubt> missing_operations(const Problem& problem, const Work& work,
                                        const simgpu::Activity& activity,
                                        const gpu_spec::GpuSpec& gpu);

/// The part of it that the data's way tells: to the host and back. Of a call that was cut short it
/// is what came before the cut, and its operations are not all.
std::optional<Doubt> round_trip(const Problem& problem, const Work& work,
                                const simgpu::Activity& activity, const gpu_spec::GpuSpec& gpu);

/// Of a problem's tensors.
struct TensorBytes {
  std::uint64_t results = 0;  ///< of those that a call writes
  std::uint64_t all = 0;
  double integers = 0;  ///< of integer inputs
};
TensorBytes tensor_bytes(const Problem& problem);

/// What left the device, in words, when the call brought more than a tenth of the case's bytes to
/// the host, by copies, by stores of kernels to memory that the host shares or by what they print,
/// and results could have come back from there; else empty. Host code runs beside the device's
/// clock, so what it computes costs no time. A copy that only prints or checks costs the student
/// its time and gains nothing.
std::string copies_to_host(const TensorBytes& bytes, const Work& work,
                           const simgpu::Activity& activity, const gpu_spec::GpuSpec& gpu);

/// Whether a time is below the floor. Proven where no arithmetic of this GPU could be that fast,
/// where its memory could not, where the kernels' own operations take longer at their peaks, or
/// where they did too few. Else they did them in another type than the case's, or with an algorithm
/// that needs fewer; where the device keeps no records, nobody saw that.
/// @param gpu by its data sheet
/// @param measured a time of a real GPU, which may clock higher than its data sheet says
std::optional<Doubt> impossible_time(const Timing& timing, const Roofline& roofline,
                                     const Work& work, const simgpu::Activity& activity,
                                     const gpu_spec::GpuSpec& gpu, bool measured);

}  // namespace rooflab
