#include "simgpu/native/translator.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "simgpu/exec/opcodes/opcode.h"
#include "simgpu/native/forms.h"
#include "simgpu/native/native_headers.h"
#include "simgpu/native/segment.h"

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

/// The text of one segment.
class SegmentWriter {
 public:
  SegmentWriter(const LoweredKernel& kernel, std::string& text) : kernel_(kernel), text_(text) {}

  void write(const Lowered& in, const Form& form) {
    const bool is_access =
        form.kind == Form::Kind::shared_load || form.kind == Form::Kind::shared_store;
    // Before the guard: the group is for the instructions behind this one too.
    const std::uint32_t group = is_access ? group_of(in, form) : 0;
    if (in.run == hidden::kGuarded) {
      fmt::format_to(out(), "  if (guarded(f, {}, {}, {}))\n  ", in.index, in.guard, in.guard_flip);
    }
    switch (form.kind) {
      case Form::Kind::lanes:
      case Form::Kind::masks:
        write_function(in, form);
        break;
      case Form::Kind::compare:
        fmt::format_to(out(), "  compare<&{}>(f, {}, {}, {}, {}, {}, {});\n", form.function,
                       in.option, in.dst, in.dst2, in.a, in.b, in.c);
        break;
      case Form::Kind::shared_load:
      case Form::Kind::shared_store:
        write_access(in, form, group);
        break;
    }
    forget_written(in, form);
  }

 private:
  std::back_insert_iterator<std::string> out() { return std::back_inserter(text_); }

  void write_function(const Lowered& in, const Form& form) {
    fmt::format_to(out(), "  {}<&{}>(f, {}", form.kind == Form::Kind::lanes ? "lanes" : "masks",
                   form.function, in.dst);
    const std::uint32_t operands[] = {in.a, in.b, in.c, in.d};
    for (unsigned i = 0; i < form.operands; ++i) fmt::format_to(out(), ", {}", operands[i]);
    text_ += ");\n";
  }

  /// Accesses of less than four bytes have groups of their own: their bank conflicts may depend on
  /// where in a word the first lane's address is.
  std::uint32_t group_of(const Lowered& in, const Form& form) {
    const std::uint32_t bytes = form.bytes * form.elements;
    if (const auto known = groups_.find({in.a, bytes}); known != groups_.end() && bytes >= 4) {
      return known->second;
    }
    groups_[{in.a, bytes}] = in.index;
    fmt::format_to(out(), "  const SharedGroup g{0}(f, {1}, {2}, {0}, {3});\n", in.index, in.a,
                   in.site, bytes);
    return in.index;
  }

  void write_access(const Lowered& in, const Form& form, std::uint32_t group) {
    const bool loads = form.kind == Form::Kind::shared_load;
    fmt::format_to(out(), "  {}_shared<{}>(f, g{}, {}, {}", loads ? "load" : "store", form.bytes,
                   group, static_cast<std::uint32_t>(in.immediate), in.index);
    for (unsigned i = 0; i < form.elements; ++i) {
      const std::uint32_t only = loads ? in.dst : in.b;
      fmt::format_to(out(), ", {}", form.elements == 1 ? only : kernel_.lists[in.list + i]);
    }
    text_ += ");\n";
  }

  /// A group is known only as long as its base register stays what it was.
  void forget_written(const Lowered& in, const Form& form) {
    const auto forget = [&](std::uint32_t offset) {
      std::erase_if(groups_, [&](const auto& group) { return group.first.first == offset; });
    };
    if (form.kind == Form::Kind::shared_store) return;
    forget(in.dst);
    if (form.kind != Form::Kind::shared_load || form.elements == 1) return;
    for (unsigned i = 0; i < form.elements; ++i) forget(kernel_.lists[in.list + i]);
  }

  const LoweredKernel& kernel_;
  std::string& text_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> groups_;
};

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
  void add(const LoweredKernel& kernel, const std::vector<std::optional<Form>>& forms,
           const std::vector<SegmentSpan>& segments) {
    for (const SegmentSpan& segment : segments) {
      fmt::format_to(std::back_inserter(functions_),
                     "void segment{}(Segment& s) {{\n  Frame f(s);\n", count_);
      SegmentWriter writer(kernel, functions_);
      for (std::uint32_t i = segment.first; i < segment.first + segment.length; ++i) {
        writer.write(kernel.code[i], *forms[i]);
      }
      functions_ += "  f.hand_in();\n}\n";
      fmt::format_to(std::back_inserter(table_), "segment{}, ", count_++);
    }
    instructions_ += instructions_of(segments);
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
    segments = find_segments(*kernel, forms);
    writer.add(*kernel, forms, segments);
  }
  translation.functions = writer.count();
  if (writer.count() != 0) translation.text = writer.text();
  return translation;
}

}  // namespace simgpu::native
