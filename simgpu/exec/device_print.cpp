#include "simgpu/exec/device_print.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <optional>

#include "simgpu/exec/block_runner.h"
#include "simgpu/exec/heap_calls.h"
#include "simgpu/exec/lanes.h"

/// printf and assert on the device. Formats and strings are the student's: every one is read
/// through checked addresses, and a conversion reaches the host's snprintf only after it has been
/// parsed and bounded here.
namespace simgpu {
namespace {

constexpr std::size_t kLongestString = 4096;
constexpr unsigned kWidest = 512;
/// Of one call, once its conversions are replaced.
constexpr std::size_t kLongestText = 64 << 10;

/// Bytes at a generic address, as this lane sees them; false when they are not all there.
bool read_generic(const Warp& warp, unsigned lane, std::uint64_t address, void* to,
                  std::size_t bytes) {
  const BlockRunner& block = *warp.block;
  const std::byte* from = nullptr;
  if (address - kSharedWindow < kWindowBytes) {
    const std::uint64_t offset = address - kSharedWindow;
    if (offset + bytes <= block.shared_bytes()) from = block.shared() + offset;
  } else if (address - kLocalWindow < kWindowBytes) {
    const std::uint64_t offset = address - kLocalWindow;
    if (offset + bytes <= block.local_bytes()) from = block.local(warp, lane) + offset;
  } else if (block.memory().find(address, bytes) != nullptr) {
    from = block.memory().host(address);
  }
  if (from == nullptr) return false;
  std::memcpy(to, from, bytes);
  return true;
}

std::string read_string(const Warp& warp, unsigned lane, std::uint64_t address) {
  std::string text;
  char c = 0;
  while (text.size() < kLongestString && read_generic(warp, lane, address + text.size(), &c, 1) &&
         c != '\0') {
    text += c;
  }
  return text;
}

template <class T>
T frame_value(const Warp& warp, unsigned lane, std::uint64_t offset) {
  T value{};
  if (offset + sizeof(T) <= warp.block->frame_bytes()) {
    std::memcpy(&value, warp.block->frame(warp, lane) + offset, sizeof(T));
  }
  return value;
}

/// The arguments behind a vprintf call, each aligned to its size.
class Arguments {
 public:
  Arguments(const Warp& warp, unsigned lane, std::uint64_t address)
      : warp_(warp), lane_(lane), next_(address) {}

  template <class T>
  T take() {
    ++taken_;
    next_ = (next_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    read_generic(warp_, lane_, next_, &value, sizeof(T));
    next_ += sizeof(T);
    return value;
  }
  std::string take_string() {
    std::string text = read_string(warp_, lane_, take<std::uint64_t>());
    bytes_read_ += text.size();
    return text;
  }
  /// How many there were so far.
  std::int32_t taken() const { return taken_; }
  /// Of strings, all together: "%.0s" reads one and prints nothing.
  std::size_t bytes_read() const { return bytes_read_; }

 private:
  const Warp& warp_;
  unsigned lane_;
  std::uint64_t next_;
  std::size_t bytes_read_ = 0;
  std::int32_t taken_ = 0;
};

/// One %-conversion: "%" flags width .precision length letter.
struct Conversion {
  std::string flags;
  unsigned width = 0;
  std::optional<unsigned> precision;
  bool is_long = false;  ///< l, ll, j, z, t: 64 bits
  char letter = 0;
};

unsigned parse_number(const std::string& format, std::size_t& at, Arguments& arguments,
                      std::string& flags) {
  if (at < format.size() && format[at] == '*') {
    ++at;
    const auto value = arguments.take<std::int32_t>();
    if (value < 0 && flags.find('-') == std::string::npos) flags += '-';
    const auto magnitude =
        value < 0 ? 0U - static_cast<std::uint32_t>(value) : static_cast<std::uint32_t>(value);
    return std::min(magnitude, kWidest);
  }
  unsigned number = 0;
  while (at < format.size() && format[at] >= '0' && format[at] <= '9') {
    number = std::min(kWidest, number * 10 + static_cast<unsigned>(format[at] - '0'));
    ++at;
  }
  return number;
}

Conversion parse_conversion(const std::string& format, std::size_t& at, Arguments& arguments) {
  Conversion conversion;
  while (at < format.size() && std::strchr("-+ #0", format[at]) != nullptr && format[at] != '\0') {
    if (conversion.flags.find(format[at]) == std::string::npos) conversion.flags += format[at];
    ++at;
  }
  conversion.width = parse_number(format, at, arguments, conversion.flags);
  if (at < format.size() && format[at] == '.') {
    std::string ignored;
    ++at;
    conversion.precision = parse_number(format, at, arguments, ignored);
  }
  for (; at < format.size() && std::strchr("hljztL", format[at]) != nullptr && format[at] != '\0';
       ++at) {
    conversion.is_long = conversion.is_long || format[at] != 'h';
  }
  if (at < format.size()) conversion.letter = format[at++];
  return conversion;
}

template <class T>
std::string print_value(const Conversion& conversion, const char* length, T value) {
  std::string format(1, '%');
  format += conversion.flags;
  if (conversion.width > 0) format += std::to_string(conversion.width);
  if (conversion.precision) format.append(1, '.').append(std::to_string(*conversion.precision));
  format += length;
  format += conversion.letter;
  std::array<char, 2048> text{};
  const int length_written = std::snprintf(text.data(), text.size(), format.c_str(), value);
  if (length_written < 0) return {};
  return {text.data(), std::min(text.size() - 1, static_cast<std::size_t>(length_written))};
}

std::string print_string(const Conversion& conversion, std::string text) {
  if (conversion.precision && text.size() > *conversion.precision) {
    text.resize(*conversion.precision);
  }
  if (text.size() < conversion.width) {
    const bool left = conversion.flags.find('-') != std::string::npos;
    text.insert(left ? text.size() : 0, conversion.width - text.size(), ' ');
  }
  return text;
}

std::string print_conversion(const Conversion& conversion, Arguments& arguments) {
  switch (conversion.letter) {
    case '%':
      return {'%'};
    case 'd':
    case 'i':
      return conversion.is_long
                 ? print_value(conversion, "ll",
                               static_cast<long long>(arguments.take<std::int64_t>()))
                 : print_value(conversion, "", static_cast<int>(arguments.take<std::int32_t>()));
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      return conversion.is_long
                 ? print_value(conversion, "ll",
                               static_cast<unsigned long long>(arguments.take<std::uint64_t>()))
                 : print_value(conversion, "",
                               static_cast<unsigned>(arguments.take<std::uint32_t>()));
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      return print_value(conversion, "", arguments.take<double>());
    case 'c': {
      const auto character = static_cast<char>(arguments.take<std::int32_t>());
      return print_string(conversion, std::string{character});
    }
    case 's':
      return print_string(conversion, arguments.take_string());
    case 'p': {
      Conversion hex = conversion;
      hex.letter = 'x';
      hex.flags.assign(1, '#');
      return print_value(hex, "ll",
                         static_cast<unsigned long long>(arguments.take<std::uint64_t>()));
    }
    default:
      return {'%', conversion.letter};  // %n and unknown ones print themselves
  }
}

std::string format_text(const std::string& format, Arguments& arguments) {
  std::string text;
  for (std::size_t at = 0;
       at < format.size() && text.size() < kLongestText && arguments.bytes_read() < kLongestText;) {
    if (format[at] != '%') {
      text += format[at++];
      continue;
    }
    ++at;
    const Conversion conversion = parse_conversion(format, at, arguments);
    if (conversion.letter != 0) text += print_conversion(conversion, arguments);
  }
  return text;
}

constexpr std::uint32_t kNoResult = 0xFFFFFFFFU;
/// So many bytes of text take about the time of a warp instruction.
constexpr std::size_t kBytesOfAnInstruction = 4;

/// immediate: places of the format and the arguments in the frame; option: of the result, or
/// kNoResult; all count from a.
const Lowered* print(const Lowered* in, Warp& warp) {
  const auto places = static_cast<std::uint64_t>(in->immediate);
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    const std::uint64_t base = words(warp, in->a)[lane];
    const auto format = frame_value<std::uint64_t>(warp, lane, base + (places & 0xFFFFFFFFU));
    const auto values = frame_value<std::uint64_t>(warp, lane, base + (places >> 32));
    std::int32_t result = 0;
    if (!warp.block->has_printed_enough()) {
      Arguments arguments(warp, lane, values);
      const std::string text = format_text(read_string(warp, lane, format), arguments);
      result = arguments.taken();
      warp.block->print(text);
      warp.block->spend((text.size() + arguments.bytes_read()) / kBytesOfAnInstruction, in, warp);
    }
    const std::uint64_t place = base + in->option;
    if (in->option != kNoResult && place + sizeof(result) <= warp.block->frame_bytes()) {
      std::memcpy(warp.block->frame(warp, lane) + place, &result, sizeof(result));
    }
  }
  return in + 1;
}

/// immediate: places of the message and the file in the frame; option: of the line; all count from
/// a.
const Lowered* fail_assertion(const Lowered* in, Warp& warp) {
  const auto places = static_cast<std::uint64_t>(in->immediate);
  const auto lane = static_cast<unsigned>(__builtin_ctz(warp.mask));
  const std::uint64_t base = words(warp, in->a)[lane];
  const std::string message = read_string(
      warp, lane, frame_value<std::uint64_t>(warp, lane, base + (places & 0xFFFFFFFFU)));
  const std::string file =
      read_string(warp, lane, frame_value<std::uint64_t>(warp, lane, base + (places >> 32)));
  const auto line = frame_value<std::uint32_t>(warp, lane, base + in->option);
  warp.block->fail(
      LaunchStatus::assert_failed, FindingKind::device_assert, "RL0310", in, warp, lane,
      std::string("Assertion `").append(message).append("` failed at ").append(file).append(":") +
          std::to_string(line),
      "asserts");
}

}  // namespace

VariableHome parameter_home(KernelBuilder& builder, const std::string& name) {
  const auto home = builder.find_variable(name);
  if (!home || home->space != ptx::Space::param || home->kernel_parameter) {
    builder.refuse("a system call with an argument that is no .param variable");
  }
  return *home;
}

bool build_system_call(KernelBuilder& builder, const std::string& name,
                       const std::vector<std::string>& arguments,
                       const std::vector<std::string>& results) {
  if (build_heap_call(builder, name, arguments, results)) return true;
  const bool prints = name == "vprintf" && arguments.size() == 2;
  const bool asserts = name == "__assertfail" && arguments.size() == 5;
  if (!prints && !asserts) return false;
  const VariableHome home = parameter_home(builder, arguments[0]);
  const auto place = [&](const std::string& variable) {
    return parameter_home(builder, variable).address;
  };
  const std::uint64_t first = home.address;
  const std::uint64_t second = place(arguments[1]);
  const std::uint64_t third = asserts           ? place(arguments[2])
                              : results.empty() ? kNoResult
                                                : place(results[0]);
  // A function's variables are either all in frames or none is.
  const Ref base = home.in_frame ? builder.stack_pointer() : builder.constant(0, 4);
  Pending& pending =
      builder.emit(prints ? &print : &fail_assertion, {.cls = InstructionClass::control});
  pending.a = base;
  pending.immediate = static_cast<std::int64_t>(first | second << 32);
  pending.option = static_cast<std::uint32_t>(third);
  return true;
}

}  // namespace simgpu
