#include "simgpu/native/segment_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "simgpu/exec/opcodes/opcode.h"

namespace simgpu::native {
namespace {

/// Registers and groups that all ends of a segment but the last hand over, taken together: text,
/// and time to compile.
constexpr std::size_t kMostHandedOver = 1024;

bool is_access(const Form& form) {
  return form.kind == Form::Kind::shared_load || form.kind == Form::Kind::shared_store;
}
bool is_guarded(const Lowered& in) { return in.run == hidden::kGuarded; }
std::int32_t offset_of(const Lowered& in) { return static_cast<std::int32_t>(in.immediate); }

/// A register of the segment: where it lies in the file, and what it is there.
struct Register {
  std::uint32_t offset = 0;
  char kind = 'w';  ///< w: 32-bit values, d: 64-bit values, p: a predicate
  auto operator<=>(const Register&) const = default;
};

std::vector<Register> registers_written(const LoweredKernel& kernel, const Lowered& in,
                                        const Form& form) {
  switch (form.kind) {
    case Form::Kind::lanes:
      return {{in.dst, form.result}};
    case Form::Kind::masks:
      return {{in.dst, 'p'}};
    case Form::Kind::compare:
      if ((in.option & 0x100U) != 0) return {{in.dst, 'p'}, {in.dst2, 'p'}};
      return {{in.dst, 'p'}};
    case Form::Kind::shared_load: {
      const char kind = form.bytes == 8 ? 'd' : 'w';
      if (form.elements == 1) return {{in.dst, kind}};
      std::vector<Register> all;
      for (unsigned i = 0; i < form.elements; ++i) all.push_back({kernel.lists[in.list + i], kind});
      return all;
    }
    case Form::Kind::shared_store:
      break;
  }
  return {};
}

/// Accesses with the same base register and size, for as long as the register stays what it is.
struct Group {
  std::uint32_t index = 0;         ///< of the first one
  std::uint32_t bytes = 0;         ///< of a lane
  std::int32_t first = INT32_MAX;  ///< offsets of those that nothing guards
  std::int32_t last = INT32_MIN;
  std::uint32_t loads = 0, stores = 0;  ///< so far, of those that nothing guards
};

class SegmentWriter {
 public:
  SegmentWriter(const LoweredKernel& kernel, std::span<const std::optional<Form>> forms,
                const SegmentSpan& segment, std::string& text)
      : kernel_(kernel), forms_(forms), segment_(segment), text_(text) {
    find_groups();
    for (std::uint32_t i = segment.first; i < segment.first + segment_.length; ++i) {
      for (const Register& to : registers_written(kernel, kernel.code[i], *forms[i])) {
        locals_.emplace(to.offset, to.kind);
      }
    }
  }

  SegmentSpan write(std::size_t number) {
    fmt::format_to(out(), "std::uint32_t segment{}(Segment& s) {{\n  const Frame f(s);\n", number);
    for (const auto& [offset, kind] : locals_) {
      const char* const type = kind == 'p' ? "Predicate" : kind == 'd' ? "Pairs" : "Words";
      // What it was before, for lanes that a guard leaves out; mostly nobody reads that.
      fmt::format_to(out(), "  {0} r{1} = f.before<{0}>({1});\n", type, offset);
    }
    for (at_ = segment_.first; at_ < segment_.first + segment_.length; ++at_) write_instruction();
    text_ += "  ";
    write_end();
    text_ += "\n}\n";
    return segment_;
  }

 private:
  std::back_insert_iterator<std::string> out() { return std::back_inserter(text_); }

  /// Groups are known before their first access is written: it checks the bounds of all. Where a
  /// segment may end in too many places, at each of which all that was written is handed over, it
  /// is cut.
  void find_groups() {
    using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
    std::map<Key, std::size_t> open;
    std::set<std::uint32_t> written;
    std::size_t handed_over = 0;
    for (std::uint32_t i = segment_.first; i < segment_.first + segment_.length; ++i) {
      const Lowered& in = kernel_.code[i];
      const Form& form = *forms_[i];
      if (handed_over > kMostHandedOver) {
        segment_.length = i - segment_.first;
        return;
      }
      if (is_access(form)) {
        const std::uint32_t bytes = form.bytes * form.elements;
        const Key key{in.a, bytes, static_cast<std::uint32_t>(in.immediate) % bytes};
        const auto known = open.find(key);
        // The bank conflicts of less than four bytes may depend on where in a word they begin.
        if (known == open.end() || bytes < 4) {
          open[key] = groups_.size();
          groups_.push_back({.index = i, .bytes = bytes});
          handed_over += written.size() + groups_.size();
        }
        if (is_guarded(in)) handed_over += 2 * (written.size() + groups_.size());
        group_of_[i] = open[key];
        Group& group = groups_[open[key]];
        if (!is_guarded(in)) {
          group.first = std::min(group.first, offset_of(in));
          group.last = std::max(group.last, offset_of(in));
        }
      }
      for (const Register& to : registers_written(kernel_, in, form)) {
        written.insert(to.offset);
        std::erase_if(open, [&](const auto& each) { return std::get<0>(each.first) == to.offset; });
      }
    }
  }

  std::string source(std::uint32_t offset) const {
    return fmt::format("{}{}{}", locals_.contains(offset) ? "r" : "f[", offset,
                       locals_.contains(offset) ? "" : "]");
  }

  void write_instruction() {
    const Lowered& in = kernel_.code[at_];
    const Form& form = *forms_[at_];
    if (is_access(form) && groups_[group_of_[at_]].index == at_) begin_group(in);
    if (is_guarded(in)) {
      fmt::format_to(out(), "  const Predicate m{} = guard({}, {}U);\n", at_, source(in.guard),
                     in.guard_flip);
      if (!is_access(form)) fmt::format_to(out(), "  count_guarded(f, {0}, m{0});\n", at_);
    }
    switch (form.kind) {
      case Form::Kind::lanes:
      case Form::Kind::masks:
        assign(in, in.dst, call(in, form));
        break;
      case Form::Kind::compare:
        write_compare(in, form);
        break;
      case Form::Kind::shared_load:
      case Form::Kind::shared_store:
        write_access(in, form);
        break;
    }
    for (const Register& to : registers_written(kernel_, in, form)) written_.insert(to.offset);
  }

  /// The lanes that a guard leaves out keep what they had.
  void assign(const Lowered& in, std::uint32_t offset, const std::string& value) {
    if (is_guarded(in)) {
      fmt::format_to(out(), "  r{0} = where(m{1}, {2}, r{0});\n", offset, at_, value);
    } else {
      fmt::format_to(out(), "  r{} = {};\n", offset, value);
    }
  }

  std::string call(const Lowered& in, const Form& form) const {
    std::string text = form.kind == Form::Kind::masks ? fmt::format("{}(", form.function)
                                                      : fmt::format("lanes<&{}>(", form.function);
    const std::uint32_t operands[] = {in.a, in.b, in.c, in.d};
    for (unsigned i = 0; i < form.operands; ++i) {
      text += (i == 0 ? "" : ", ") + source(operands[i]);
    }
    return text + ")";
  }

  void write_compare(const Lowered& in, const Form& form) {
    const bool joins = (in.option & 0xFFU) != 0;
    fmt::format_to(out(), "  const Predicate b{0} = {1}, c{0} = {2};\n", at_, call(in, form),
                   joins ? source(in.c) : "0");
    assign(in, in.dst, fmt::format("joined({0}, b{1}, c{1})", in.option, at_));
    if ((in.option & 0x100U) != 0) {
      assign(in, in.dst2, fmt::format("joined({0}, ~b{1}, c{1})", in.option, at_));
    }
  }

  void begin_group(const Lowered& in) {
    const Group& group = groups_[group_of_[at_]];
    fmt::format_to(out(), "  const SharedGroup g{0}(f, {1}, {2}, {0}, {3});\n", at_, source(in.a),
                   in.site, group.bytes);
    if (group.first <= group.last) leave_unless(in, group.first, group.last);
  }

  /// What cannot be done here is the interpreter's, and so is all that follows.
  void leave_unless(const Lowered& in, std::int32_t first, std::int32_t last) {
    const Group& group = groups_[group_of_[in.index]];
    fmt::format_to(out(), "  if (!g{}.allows<{}>(f, {}, {})) [[unlikely]] {{ ", group.index,
                   group.bytes, first, last);
    write_end();
    text_ += " }\n";
  }

  void write_access(const Lowered& in, const Form& form) {
    const bool loads = form.kind == Form::Kind::shared_load;
    Group& group = groups_[group_of_[at_]];
    if (is_guarded(in)) {
      // Only lanes that execute it have to be in bounds: all of them, or it is not done here.
      fmt::format_to(out(), "  if (m{} != 0) {{\n  if (m{} != kAllLanes) {{ ", at_, at_);
      write_end();
      text_ += " }\n";
      leave_unless(in, offset_of(in), offset_of(in));
      fmt::format_to(out(), "  count_guarded(f, {0}, m{0});\n  g{1}.count_{2}(f, 1);\n", at_,
                     group.index, loads ? "loads" : "stores");
    } else {
      ++(loads ? group.loads : group.stores);
    }
    fmt::format_to(out(), "  {}_shared<{}>(f, g{}, {}", loads ? "load" : "store", form.bytes,
                   group.index, offset_of(in));
    for (unsigned i = 0; i < form.elements; ++i) {
      const std::uint32_t only = loads ? in.dst : in.b;
      text_ += ", " + source(form.elements == 1 ? only : kernel_.lists[in.list + i]);
    }
    text_ += is_guarded(in) ? "); }\n" : ");\n";
  }

  /// Hands over before instruction `at_`: what has been written, and counted.
  void write_end() {
    for (const std::uint32_t offset : written_) {
      fmt::format_to(out(), "f.keep({0}, r{0}); ", offset);
    }
    for (const Group& group : groups_) {
      if (group.loads != 0)
        fmt::format_to(out(), "g{}.count_loads(f, {}); ", group.index, group.loads);
      if (group.stores != 0) {
        fmt::format_to(out(), "g{}.count_stores(f, {}); ", group.index, group.stores);
      }
    }
    fmt::format_to(out(), "return {};", at_ - segment_.first);
  }

  const LoweredKernel& kernel_;
  std::span<const std::optional<Form>> forms_;
  SegmentSpan segment_;
  std::string& text_;
  std::map<std::uint32_t, char> locals_;  ///< kinds of what is written, by offset
  std::vector<Group> groups_;
  std::map<std::uint32_t, std::size_t> group_of_;  ///< by instruction
  std::set<std::uint32_t> written_;                ///< so far
  std::uint32_t at_ = 0;                           ///< the instruction that is written
};

}  // namespace

SegmentSpan write_segment(const LoweredKernel& kernel, std::span<const std::optional<Form>> forms,
                          const SegmentSpan& segment, std::size_t number, std::string& text) {
  return SegmentWriter(kernel, forms, segment, text).write(number);
}

}  // namespace simgpu::native
