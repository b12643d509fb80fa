#include "simgpu/native/translator.h"

#include <fmt/format.h>

#include <optional>

#include "simgpu/exec/opcodes/opcode.h"
#include "simgpu/native/forms.h"
#include "simgpu/native/native_headers.h"
#include "simgpu/native/segment.h"
#include "simgpu/native/segment_writer.h"

namespace simgpu::native {
namespace {

/// A single instruction is not worth the way into native code.
constexpr std::uint32_t kLeastLength = 2;
/// Of a kernel with more, compiling takes too long to be of use.
constexpr std::uint32_t kMostInstructions = 20'000;
/// Of one with more, the instructions' code is called instead of repeated: 2 ms each to compile.
constexpr std::uint32_t kMostInlined = 1'500;

/// What an instruction does when nothing guards it.
Handler unguarded(const Lowered& in) { return in.run == hidden::kGuarded ? in.guarded : in.run; }

std::vector<SegmentSpan> find_segments(const LoweredKernel& kernel,
                                       const std::vector<std::optional<Form>>& forms) {
  std::vector<SegmentSpan> segments;
  SegmentSpan open;
  const auto close = [&] {
    if (open.length >= kLeastLength) segments.push_back(open);
    open.length = 0;
  };
  for (std::uint32_t i = 0; i < kernel.code.size(); ++i) {
    if (kernel.info.instructions[i].starts_block) close();
    if (!forms[i]) {
      close();
      continue;
    }
    if (open.length == 0) open.first = i;
    ++open.length;
  }
  close();
  return segments;
}

std::uint32_t instructions_of(const std::vector<SegmentSpan>& segments) {
  std::uint32_t instructions = 0;
  for (const SegmentSpan& segment : segments) instructions += segment.length;
  return instructions;
}

/// The segments' functions in a text; their names are numbers.
class TextWriter {
 public:
  /// Returns the segments that have a function: those, in parts where they are large.
  std::vector<SegmentSpan> add(const LoweredKernel& kernel,
                               const std::vector<std::optional<Form>>& forms,
                               const std::vector<SegmentSpan>& segments) {
    std::vector<SegmentSpan> written;
    for (SegmentSpan left : segments) {
      while (left.length >= kLeastLength) {
        const SegmentSpan part = write_segment(kernel, forms, left, count_, functions_);
        fmt::format_to(std::back_inserter(table_), "segment{}, ", count_++);
        written.push_back(part);
        left.first += part.length;
        left.length -= part.length;
      }
    }
    instructions_ += instructions_of(written);
    return written;
  }

  std::string text() const {
    const char* const inlining =
        instructions_ > kMostInlined ? "#define SIMGPU_SEGMENT_INLINE [[gnu::noinline]]\n" : "";
    return fmt::format(
        "{}{}namespace simgpu::native {{\nnamespace {{\n{}"
        "const SegmentFunction kFunctions[] = {{{}}};\n}}\n"
        "extern \"C\" [[gnu::visibility(\"default\")]] const SegmentTable {} = {{{}, "
        "kFunctions}};\n}}\n",
        inlining, native_headers(), functions_, table_, kTableName, count_);
  }
  std::size_t count() const { return count_; }

 private:
  std::string functions_, table_;
  std::size_t count_ = 0;
  std::uint32_t instructions_ = 0;
};

}  // namespace

Translation translate(std::span<const LoweredKernel* const> kernels) {
  Translation translation;
  TextWriter writer;
  for (const LoweredKernel* kernel : kernels) {
    std::vector<SegmentSpan>& segments = translation.segments.emplace_back();
    if (kernel->code.size() > kMostInstructions) continue;
    std::vector<std::optional<Form>> forms;
    for (const Lowered& in : kernel->code) forms.push_back(find_form(unguarded(in)));
    segments = writer.add(*kernel, forms, find_segments(*kernel, forms));
  }
  translation.functions = writer.count();
  if (writer.count() != 0) translation.text = writer.text();
  return translation;
}

}  // namespace simgpu::native
