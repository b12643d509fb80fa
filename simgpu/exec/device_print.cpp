#include "simgpu/exec/device_print.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/exec/heap_calls.h"
#include "simgpu/exec/lanes.h"
#include "simgpu/exec/thread_block.h"

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
  const ThreadBlock& block = *warp.block;
  const std::byte* from = nullptr;
  if (address - kSharedWindow < kWindowBytes) {
    const std::uint64_t offset = address - kSharedWindow;
    if (offset + bytes <= block.memory.shared_bytes()) from = block.memory.shared() + offset;
  } else if (address - kLocalWindow < kWindowBytes) {
    const std::uint64_t offset = address - kLocalWindow;
    if (offset + bytes <= block.memory.local_bytes())
      from = block.memory.local(warp.index, lane) + offset;
  } else if (block.launch.memory.find(address, bytes) != nullptr) {
    from = block.launch.memory.host(address);
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
  if (offset + sizeof(T) <= warp.block->memory.frame_bytes()) {
    std::memcpy(&value, warp.block->memory.frame(warp.index, lane) + offset, sizeof(T));
  }
  return value;
}

/// An argument as the GPU hands it to the host.
struct Value {
  std::uint64_t bits = 0;
  std::string text;  ///< of %s
};

/// The arguments behind a vprintf call, each aligned to its size.
class Arguments {
 public:
  Arguments(const Warp& warp, unsigned lane, std::uint64_t address)
      : warp_(warp), lane_(lane), next_(address) {}

  Value take(std::size_t bytes) {
    next_ = (next_ + bytes - 1) / bytes * bytes;
    Value value;
    read_generic(warp_, lane_, next_, &value.bits, bytes);
    next_ += bytes;
    return value;
  }
  Value take_string() {
    Value value = take(sizeof(std::uint64_t));
    value.text = value.bits == 0 ? "(null)" : read_string(warp_, lane_, value.bits);
    bytes_read_ += value.text.size();
    return value;
  }
  /// Of strings, all together: "%.0s" reads one and prints nothing.
  std::size_t bytes_read() const { return bytes_read_; }

 private:
  const Warp& warp_;
  unsigned lane_;
  std::uint64_t next_;
  std::size_t bytes_read_ = 0;
};

/// One %-conversion: "%" flags width .precision length letter.
struct Conversion {
  std::string text;  ///< as it stands
  std::string flags;
  unsigned width = 0;
  bool width_is_argument = false;
  std::optional<unsigned> precision;
  bool precision_is_argument = false;
  std::string length;
  char letter = 0;

  bool is_long() const { return length.find_first_of("lL") != std::string::npos; }
  bool has_letter(const char* letters) const {
    return letter != 0 && std::strchr(letters, letter) != nullptr;
  }
};

/// "*" or a number.
unsigned parse_number(const std::string& format, std::size_t& at, bool& is_argument) {
  if (at < format.size() && format[at] == '*') {
    ++at;
    is_argument = true;
    return 0;
  }
  unsigned number = 0;
  while (at < format.size() && format[at] >= '0' && format[at] <= '9') {
    number = std::min(kWidest, number * 10 + static_cast<unsigned>(format[at] - '0'));
    ++at;
  }
  return number;
}

/// Behind the '%' at `at`.
Conversion parse_conversion(const std::string& format, std::size_t& at) {
  const std::size_t begin = at++;
  const auto is_one_of = [&](const char* letters) {
    return at < format.size() && format[at] != '\0' && std::strchr(letters, format[at]) != nullptr;
  };
  Conversion conversion;
  for (; is_one_of("-+ #0"); ++at) {
    if (conversion.flags.find(format[at]) == std::string::npos) conversion.flags += format[at];
  }
  conversion.width = parse_number(format, at, conversion.width_is_argument);
  if (is_one_of(".")) {
    ++at;
    conversion.precision = parse_number(format, at, conversion.precision_is_argument);
  }
  for (; is_one_of("hljztL"); ++at) conversion.length += format[at];
  if (at < format.size()) conversion.letter = format[at++];
  conversion.text = format.substr(begin, at - begin);
  return conversion;
}

/// What the GPU knows takes arguments; the host prints all else as it stands, but for bytes (%hhd),
/// which it knows.
bool is_known_to_gpu(const Conversion& conversion) {
  const bool is_known_length =
      conversion.length == "h" || conversion.length.find_first_not_of("lL") == std::string::npos;
  return is_known_length && !conversion.precision_is_argument &&
         conversion.has_letter("diuxXofFeEgGaAcsp");
}
bool is_byte(const Conversion& conversion) {
  return conversion.length == "hh" && !conversion.precision_is_argument &&
         conversion.has_letter("diuxXo");
}

/// A format in parts: each a text, or a conversion.
std::vector<Conversion> parse_format(const std::string& format) {
  std::vector<Conversion> parts;
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] == '%') {
      parts.push_back(parse_conversion(format, at));
    } else {
      const std::size_t end = std::min(format.find('%', at), format.size());
      parts.emplace_back().text = format.substr(at, end - at);
      at = end;
    }
  }
  return parts;
}

/// The GPU's part: the arguments of the conversions that it knows, 32 at most. Their number is what
/// printf returns.
std::vector<Value> collect_values(const std::vector<Conversion>& parts, Arguments& arguments) {
  constexpr std::size_t kMost = 32;
  std::vector<Value> values;
  const auto add = [&](const auto& take) {
    if (values.size() < kMost && arguments.bytes_read() < kLongestText) values.push_back(take());
  };
  for (const Conversion& part : parts) {
    if (!is_known_to_gpu(part)) continue;
    if (part.width_is_argument) add([&] { return arguments.take(4); });
    const bool is_wide = part.has_letter("fFeEgGaAp") || (part.is_long() && part.letter != 'c');
    if (part.letter == 's') {
      add([&] { return arguments.take_string(); });
    } else {
      add([&] { return arguments.take(is_wide ? 8 : 4); });
    }
  }
  return values;
}

/// The host's part: a buffer with the values, in 8 bytes each, and behind them the format, which is
/// what is printed where there is no value.
class Buffer {
 public:
  Buffer(const std::vector<Value>& values, const std::string& format)
      : values_(values), format_(format) {}

  Value next() {
    const std::size_t place = next_++;
    if (place < values_.size()) return values_[place];
    Value value;
    const std::size_t at = std::min((place - values_.size()) * 8, format_.size());
    std::memcpy(&value.bits, format_.data() + at, std::min<std::size_t>(8, format_.size() - at));
    return value;
  }

 private:
  const std::vector<Value>& values_;
  const std::string& format_;
  std::size_t next_ = 0;
};

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

std::string print_integer(const Conversion& conversion, std::uint64_t bits) {
  const bool is_signed = conversion.has_letter("di");
  if (conversion.is_long()) {
    return is_signed ? print_value(conversion, "ll", static_cast<long long>(bits))
                     : print_value(conversion, "ll", static_cast<unsigned long long>(bits));
  }
  // snprintf narrows to a short or a byte by itself.
  return is_signed
             ? print_value(conversion, conversion.length.c_str(), static_cast<int>(bits))
             : print_value(conversion, conversion.length.c_str(), static_cast<unsigned>(bits));
}

void take_width(Conversion& conversion, Buffer& buffer) {
  const auto value = static_cast<std::int32_t>(buffer.next().bits);
  if (value < 0 && conversion.flags.find('-') == std::string::npos) conversion.flags += '-';
  const auto magnitude =
      value < 0 ? 0U - static_cast<std::uint32_t>(value) : static_cast<std::uint32_t>(value);
  conversion.width = std::min(magnitude, kWidest);
}

std::string print_part(Conversion part, Buffer& buffer) {
  if (part.text == "%%") return {'%'};
  const bool is_known = is_known_to_gpu(part) || is_byte(part);
  if (!is_known) return part.text;
  if (part.width_is_argument) take_width(part, buffer);
  const Value value = buffer.next();
  switch (part.letter) {
    case 'c':
      return print_string(part, std::string{static_cast<char>(value.bits)});
    case 's':
      return print_string(part, value.text);
    case 'p':
      return print_value(part, "", std::bit_cast<const void*>(value.bits));
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      return print_integer(part, value.bits);
    default:
      return print_value(part, "", std::bit_cast<double>(value.bits));
  }
}

std::string format_text(const std::vector<Conversion>& parts, Buffer buffer) {
  std::string text;
  for (const Conversion& part : parts) {
    if (text.size() >= kLongestText) break;
    text += print_part(part, buffer);
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
    if (!warp.block->printed.is_full()) {
      Arguments arguments(warp, lane, values);
      const std::string format_string = read_string(warp, lane, format);
      const std::vector<Conversion> parts = parse_format(format_string);
      const std::vector<Value> taken = collect_values(parts, arguments);
      const std::string text = format_text(parts, {taken, format_string});
      result = static_cast<std::int32_t>(taken.size());
      warp.block->printed.append(text);
      warp.block->budget.spend((text.size() + arguments.bytes_read()) / kBytesOfAnInstruction, warp,
                               in);
    }
    const std::uint64_t place = base + in->option;
    if (in->option != kNoResult && place + sizeof(result) <= warp.block->memory.frame_bytes()) {
      std::memcpy(warp.block->memory.frame(warp.index, lane) + place, &result, sizeof(result));
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
  warp.block->failures.fail(in, warp, lane,
                            {.code = "RL0310",
                             .message = std::string("Assertion `")
                                            .append(message)
                                            .append("` failed at ")
                                            .append(file)
                                            .append(":") +
                                        std::to_string(line),
                             .action = "asserts"});
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
