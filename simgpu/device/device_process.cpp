#include "simgpu/device/device_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simgpu/device/activity_wire.h"
#include "simgpu/device/origins_wire.h"
#include "simgpu/device/protocol.h"
#include "simgpu/device/recording_wire.h"
#include "simgpu/device/wire.h"
#include "simgpu/memory/descriptor.h"

namespace simgpu {
namespace {

using protocol::ControlOperation;

std::pair<Descriptor, Descriptor> connected_pair() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw DeviceProcessError(
        fmt::format("no socket for the device process: {}", std::strerror(errno)));
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

std::vector<std::string> arguments_for(const DeviceProcessOptions& options, int control) {
  std::vector<std::string> arguments{options.program.string(),
                                     "--gpu",
                                     options.gpu.string(),
                                     "--control-fd",
                                     std::to_string(control),
                                     "--workers",
                                     std::to_string(options.workers),
                                     "--instruction-budget",
                                     std::to_string(options.instruction_budget)};
  if (options.lines) arguments.emplace_back("--lines");
  if (options.machine_code) arguments.emplace_back("--read-machine-code");
  if (options.time_from == TimeFrom::machine_code) {
    arguments.emplace_back("--time-from-machine-code");
  }
  if (!options.checkers) arguments.emplace_back("--no-checkers");
  if (options.warp_limit_us > 0) {
    arguments.emplace_back("--warp-limit-us");
    arguments.push_back(std::to_string(options.warp_limit_us));
  }
  if (options.most_registers > 0) {
    arguments.insert(arguments.end(), {"--most-registers", std::to_string(options.most_registers)});
  }
  if (options.host_call_limit > 0) {
    arguments.insert(arguments.end(),
                     {"--host-call-limit", std::to_string(options.host_call_limit)});
  }
  if (options.bounds_long_launches) arguments.emplace_back("--bound-long-launches");
  if (options.bounds_by_blocks_alone) arguments.emplace_back("--bound-by-blocks-alone");
  if (options.backwards) arguments.emplace_back("--backwards");
  if (options.sampled) arguments.emplace_back("--sampled");
  if (options.memory_limit > 0) {
    arguments.insert(arguments.end(), {"--memory-limit", std::to_string(options.memory_limit)});
  }
  const machine_code::AssemblerOptions& assembler = options.assembler;
  for (const std::string& word : assembler.command) arguments.push_back("--ptxas=" + word);
  if (!assembler.command.empty()) {
    arguments.push_back("--ptxas-version=" + assembler.version);
    arguments.push_back("--machine-code=" + assembler.folder.string());
  }
  return arguments;
}

/// Ours, with one thread for OpenBLAS: the device calls it from workers of its own, and a pool
/// that is started all the same spins for a while. And with huge pages for the heap, where the
/// kernel has them: a tenth of a short case is page faults.
std::vector<std::string> environment() {
  constexpr std::array<std::string_view, 2> kOwn = {"OPENBLAS_NUM_THREADS=1",
                                                    "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"};
  std::vector<std::string> variables(kOwn.begin(), kOwn.end());
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view given = *variable;
    const bool is_replaced = std::ranges::any_of(kOwn, [&](std::string_view own) {
      return given.starts_with(own.substr(0, own.find('=') + 1));
    });
    if (!is_replaced) variables.emplace_back(given);
  }
  return variables;
}

/// As exec takes them: ended by a null pointer, and valid as long as `strings` are.
std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

pid_t spawn(const DeviceProcessOptions& options, int control) {
  std::vector<std::string> arguments = arguments_for(options, control);
  std::vector<std::string> variables = environment();
  const std::vector<char*> argv = pointers_to(arguments);
  const std::vector<char*> envp = pointers_to(variables);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, control, control);  // stays open in the child
  pid_t child = -1;
  const int error = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw DeviceProcessError(fmt::format("the device process {} could not be started: {}", argv[0],
                                         std::strerror(error)));
  }
  return child;
}

}  // namespace

struct DeviceProcess::Impl {
  pid_t child = -1;
  Descriptor control;
  std::string program;

  ~Impl() {
    if (child <= 0) return;
    ::kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }

  [[noreturn]] void fail() {
    int status = 0;
    std::string end = "it broke the protocol";
    // The socket closes a moment before the process can be waited for.
    constexpr int kTries = 100;
    constexpr useconds_t kPauseUs = 10'000;
    bool ended = false;
    for (int i = 0; i < kTries && !ended && child > 0; ++i) {
      ended = waitpid(child, &status, WNOHANG) == child;
      if (!ended) usleep(kPauseUs);
    }
    if (ended) {
      child = -1;
      end = WIFSIGNALED(status) ? fmt::format("it was killed by signal {}", WTERMSIG(status))
                                : fmt::format("it exited with code {}", WEXITSTATUS(status));
    }
    throw DeviceProcessError(fmt::format("the device process {} is gone: {}", program, end));
  }

  void send_all(std::span<const std::byte> bytes, int attached = -1) {
    while (!bytes.empty()) {
      iovec part{.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
      alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> ancillary{};
      msghdr message{};
      message.msg_iov = &part;
      message.msg_iovlen = 1;
      if (attached >= 0) {
        message.msg_control = ancillary.data();
        message.msg_controllen = ancillary.size();
        cmsghdr* item = CMSG_FIRSTHDR(&message);
        item->cmsg_level = SOL_SOCKET;
        item->cmsg_type = SCM_RIGHTS;
        item->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(item), &attached, sizeof attached);
      }
      const ssize_t count = sendmsg(control.get(), &message, MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) fail();
      attached = -1;
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }

  void receive_all(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t count = recv(control.get(), bytes.data(), bytes.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) fail();
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }

  std::vector<std::byte> call(ControlOperation operation, std::span<const std::byte> payload,
                              int attached = -1) {
    wire::Writer writer;
    writer.put(wire::Header{.bytes = static_cast<std::uint32_t>(payload.size()),
                            .tag = static_cast<std::uint32_t>(operation)});
    writer.append(payload);
    send_all(writer.bytes(), attached);
    wire::Header header;
    receive_all(std::as_writable_bytes(std::span(&header, 1)));
    if (header.bytes > protocol::kMaxPayload) fail();
    std::vector<std::byte> reply(header.bytes);
    receive_all(reply);
    if (header.tag != 0) {
      throw DeviceProcessError(
          "the simulated GPU refused: " +
          std::string(reinterpret_cast<const char*>(reply.data()), reply.size()));
    }
    return reply;
  }

  std::vector<std::byte> collected(ControlOperation operation, std::span<const std::byte> payload);

  template <typename... Values>
  std::vector<std::byte> ask(ControlOperation operation, const Values&... values) {
    wire::Writer writer;
    (writer.put(values), ...);
    return call(operation, writer.bytes());
  }
};

/// All of an answer that comes in pieces.
std::vector<std::byte> DeviceProcess::Impl::collected(ControlOperation operation,
                                                      std::span<const std::byte> payload) {
  const auto reply = call(operation, payload);
  wire::Reader reader(reply);
  const auto total = reader.get<std::uint64_t>();
  const auto first = reader.rest();
  std::vector<std::byte> bytes(first.begin(), first.end());
  while (bytes.size() < total) {
    const auto more = ask(ControlOperation::collect_more);
    if (more.empty()) fail();
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  return bytes;
}

DeviceProcess::DeviceProcess(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DeviceProcess::~DeviceProcess() = default;
DeviceProcess::DeviceProcess(DeviceProcess&&) noexcept = default;
DeviceProcess& DeviceProcess::operator=(DeviceProcess&&) noexcept = default;

DeviceProcess DeviceProcess::start(const DeviceProcessOptions& options) {
  auto [ours, theirs] = connected_pair();
  auto impl = std::make_unique<Impl>();
  impl->program = options.program.string();
  impl->control = std::move(ours);
  impl->child = spawn(options, theirs.get());
  theirs.reset();
  impl->ask(ControlOperation::hello, protocol::kVersion);
  return DeviceProcess(std::move(impl));
}

int DeviceProcess::process_id() const { return impl_->child; }

void DeviceProcess::kill() noexcept {
  if (impl_->child > 0) ::kill(impl_->child, SIGKILL);
}

int DeviceProcess::connect_guest() {
  auto [guest, device] = connected_pair();
  impl_->call(ControlOperation::connect_guest, {}, device.get());
  return guest.release();
}

std::uint64_t DeviceProcess::allocate(std::uint64_t bytes, const std::string& label) {
  wire::Writer writer;
  writer.put(bytes);
  writer.put_string(std::string_view(label).substr(0, protocol::kMaxName));
  const auto reply = impl_->call(ControlOperation::allocate, writer.bytes());
  return wire::Reader(reply).get<std::uint64_t>();
}

std::uint64_t DeviceProcess::allocate_vast(std::uint64_t bytes, const std::string& label,
                                           std::span<const std::byte> pattern) {
  wire::Writer writer;
  writer.put(bytes);
  writer.put_string(std::string_view(label).substr(0, protocol::kMaxName));
  writer.append(pattern);
  const auto reply = impl_->call(ControlOperation::allocate_vast, writer.bytes());
  return wire::Reader(reply).get<std::uint64_t>();
}

void DeviceProcess::release(std::uint64_t address) {
  impl_->ask(ControlOperation::release, address);
}

void DeviceProcess::write(std::uint64_t address, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto chunk = bytes.first(std::min<std::size_t>(bytes.size(), protocol::kChunkBytes));
    wire::Writer writer;
    writer.put(address);
    writer.append(chunk);
    impl_->call(ControlOperation::write, writer.bytes());
    address += chunk.size();
    bytes = bytes.subspan(chunk.size());
  }
}

void DeviceProcess::read(std::uint64_t address, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const std::uint64_t count = std::min<std::size_t>(bytes.size(), protocol::kChunkBytes);
    const auto reply = impl_->ask(ControlOperation::read, address, count);
    if (reply.size() != count) impl_->fail();
    std::copy(reply.begin(), reply.end(), bytes.begin());
    address += count;
    bytes = bytes.subspan(count);
  }
}

void DeviceProcess::fill(std::uint64_t address, std::uint8_t value, std::uint64_t bytes) {
  impl_->ask(ControlOperation::fill, address, value, bytes);
}

void DeviceProcess::mark_uninitialized(std::uint64_t address, std::uint64_t bytes) {
  impl_->ask(ControlOperation::mark_uninitialized, address, bytes);
}

void DeviceProcess::set_checkers(bool on) {
  impl_->ask(ControlOperation::set_checkers, static_cast<std::uint8_t>(on));
}

std::uint64_t DeviceProcess::open_callers_stream() {
  const auto reply = impl_->ask(ControlOperation::open_callers_stream);
  return wire::Reader(reply).get<std::uint64_t>();
}

void DeviceProcess::check_from_now_on(std::uint64_t instruction_budget,
                                      std::uint64_t host_call_limit) {
  impl_->ask(ControlOperation::check_from_now_on, instruction_budget, host_call_limit);
}

void DeviceProcess::keep_for_variants() { impl_->ask(ControlOperation::keep_for_variants); }

protocol::CallWork DeviceProcess::work_since_mark() {
  const auto reply = impl_->ask(ControlOperation::work_since_mark);
  return wire::Reader(reply).get<protocol::CallWork>();
}

void DeviceProcess::begin_variant(const protocol::VariantLimits& limits,
                                  const std::vector<VariableContent>& variables) {
  wire::Writer writer;
  writer.put(limits);
  for (const VariableContent& variable : variables) {
    writer.put_string(variable.name);
    writer.put_string(
        {reinterpret_cast<const char*>(variable.bytes.data()), variable.bytes.size()});
  }
  impl_->call(ControlOperation::begin_variant, writer.bytes());
}

void DeviceProcess::note_callers_work(std::span<const ByteRange> ranges, bool alone) {
  std::vector<std::byte> message{std::byte{alone}};
  const auto bytes = std::as_bytes(ranges);
  message.insert(message.end(), bytes.begin(), bytes.end());
  impl_->call(ControlOperation::callers_work, message);
}

void DeviceProcess::mark() { impl_->ask(ControlOperation::mark); }

void DeviceProcess::report_end() { impl_->ask(ControlOperation::report_end); }

void DeviceProcess::set_secret(std::uint64_t secret) {
  impl_->ask(ControlOperation::set_secret, secret);
}

void DeviceProcess::set_built_code(std::span<const std::byte> library) {
  while (!library.empty()) {
    const auto chunk = library.first(std::min<std::size_t>(library.size(), protocol::kChunkBytes));
    impl_->call(ControlOperation::add_built_code, chunk);
    library = library.subspan(chunk.size());
  }
}

void DeviceProcess::name_only_built_code() { impl_->ask(ControlOperation::name_only_built_code); }

SettledBytes DeviceProcess::settled() {
  SettledBytes settled;
  while (true) {
    const std::uint64_t first = settled.ranges.size();
    const auto reply = impl_->ask(ControlOperation::settled, first);
    wire::Reader reader(reply);
    settled.chosen.storing = reader.get<std::uint64_t>();
    settled.chosen.of_grid = reader.get<std::uint64_t>();
    settled.chosen.last_stores_at = reader.get<std::uint64_t>();
    settled.of_grid.resize(reader.get<std::uint64_t>());
    for (ByteRange& stored : settled.of_grid) stored = reader.get<ByteRange>();
    if (reader.empty()) return settled;
    while (!reader.empty()) settled.ranges.push_back(reader.get<ByteRange>());
  }
}

void DeviceProcess::record(const replay::Wanted& wanted) {
  impl_->call(ControlOperation::record, encode(wanted));
}

replay::Recorded DeviceProcess::recorded() {
  const std::vector<std::byte> bytes = impl_->collected(ControlOperation::recorded, {});
  try {
    return decode_recorded(bytes);
  } catch (const std::exception& error) {
    throw DeviceProcessError(
        fmt::format("the device process sent a broken recording: {}", error.what()));
  }
}

void DeviceProcess::follow_origins() { impl_->ask(ControlOperation::follow_origins); }

std::vector<MemoryOrigin> DeviceProcess::origins_of(std::span<const ByteRange> places) {
  std::vector<MemoryOrigin> origins;
  while (!places.empty()) {
    const auto chunk =
        places.first(std::min<std::size_t>(places.size(), protocol::kMostOriginPlaces));
    wire::Writer writer;
    for (const ByteRange& place : chunk) {
      writer.put(protocol::OriginPlace{place.address, place.bytes});
    }
    const auto bytes = impl_->collected(ControlOperation::origins, writer.bytes());
    try {
      std::vector<MemoryOrigin> some = decode_origins(bytes);
      if (some.size() != chunk.size()) impl_->fail();
      std::ranges::move(some, std::back_inserter(origins));
    } catch (const wire::MessageError& error) {
      throw DeviceProcessError(
          fmt::format("the device process sent broken origins: {}", error.what()));
    }
    places = places.subspan(chunk.size());
  }
  return origins;
}

Activity DeviceProcess::collect() {
  const std::vector<std::byte> bytes = impl_->collected(ControlOperation::collect, {});
  try {
    return decode_activity(bytes);
  } catch (const std::exception& error) {
    throw DeviceProcessError(
        fmt::format("the device process sent a broken report: {}", error.what()));
  }
}

}  // namespace simgpu
