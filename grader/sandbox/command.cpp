#include "grader/sandbox/command.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <span>

#include "grader/posix/file_in_memory.h"
#include "grader/sandbox/await_program_image.h"
#include "grader/sandbox/device_groups.h"
#include "grader/sandbox/landlock.h"
#include "grader/sandbox/process_tree.h"
#include "grader/sandbox/seccomp_filter.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

// Numbers that bubblewrap gets its own descriptors under; it keeps them from the program.
constexpr int kStatusNumber = 100;
constexpr int kFilterNumber = 101;
constexpr int kAwaitNumber = 102;
// And await_program, which keeps it from the program.
constexpr int kReportNumber = 103;
constexpr const char* kAwaitProgram = "/.await_program";

constexpr const char* kSystemDirectories[] = {"/bin",   "/sbin",  "/lib",
                                              "/lib32", "/lib64", "/libx32"};
constexpr const char* kSystemFiles[] = {"/etc/ld.so.cache", "/etc/alternatives"};
constexpr const char* kHarmlessDevices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                            "/dev/urandom"};

std::string bytes(std::uint64_t number) { return std::to_string(number); }

fs::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return name;
  }
  for (const char* directory : {"/usr/local/bin", "/usr/bin", "/bin"}) {
    fs::path candidate = fs::path(directory) / name;
    if (access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  throw SandboxError("the program " + name +
                     " was not found in /usr/local/bin, /usr/bin or /bin; "
                     "install it, or give its full path");
}

void check_exists(const fs::path& path, const char* what) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    throw SandboxError(std::string(what) + " " + path.string() +
                       " does not exist, so the sandbox cannot show it; build or create it first");
  }
}

std::vector<std::pair<int, rlimit>> resource_limits(const Limits& limits) {
  std::vector<std::pair<int, rlimit>> result;
  const auto add = [&](int resource, std::uint64_t soft, std::uint64_t hard) {
    result.emplace_back(resource, rlimit{static_cast<rlim_t>(soft), static_cast<rlim_t>(hard)});
  };
  add(RLIMIT_CORE, 0, 0);
  add(RLIMIT_MSGQUEUE, 0, 0);
  if (limits.cpu_s > 0) {
    const auto seconds = static_cast<std::uint64_t>(std::ceil(limits.cpu_s));
    add(RLIMIT_CPU, seconds, seconds + 1);  // the hard one is SIGKILL: SIGXCPU can be ignored
  }
  if (limits.file_bytes > 0) {
    add(RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes);
  }
  if (limits.open_files > 0) {
    add(RLIMIT_NOFILE, limits.open_files, limits.open_files);
  }
  if (limits.address_space_bytes > 0) {
    add(RLIMIT_AS, limits.address_space_bytes, limits.address_space_bytes);
  }
  return result;
}

std::vector<std::string> environment_of(const SandboxRequest& request, const fs::path& scratch) {
  std::map<std::string, std::string> all = request.environment;
  all.emplace("PATH", "/usr/local/bin:/usr/bin:/bin");
  all.emplace("HOME", scratch.string());
  all.emplace("TMPDIR", scratch.string());
  all.emplace("LANG", "C.UTF-8");
  std::vector<std::string> result;
  for (const auto& [name, value] : all) {
    std::string entry = name;
    entry += '=';
    entry += value;
    result.push_back(std::move(entry));
  }
  return result;
}

class BubblewrapArguments {
 public:
  explicit BubblewrapArguments(const fs::path& program) : words_{program.string()} {}
  void add(std::initializer_list<std::string> words) {
    words_.insert(words_.end(), words.begin(), words.end());
  }
  void add_system() {
    add({"--ro-bind", "/usr", "/usr"});
    std::error_code error;
    for (const char* directory : kSystemDirectories) {
      if (fs::is_symlink(directory, error)) {
        add({"--symlink", fs::read_symlink(directory).string(), directory});
      } else if (fs::exists(directory, error)) {
        add({"--ro-bind", directory, directory});
      }
    }
    for (const char* file : kSystemFiles) {
      add({"--ro-bind-try", file, file});
    }
  }
  // /dev itself is an uncapped tmpfs, so it is sealed once /dev/shm is mounted.
  void add_mounts(const SandboxRequest& request) {
    const std::string size = bytes(request.limits.disk_bytes);
    add({"--proc", "/proc", "--dev", "/dev"});
    for (const fs::path& device : request.devices) {
      add_parents(device);  // as /dev/nvidia-caps
      add({"--dev-bind", device.string(), device.string()});
    }
    for (const char* directory : {"/dev/shm", "/tmp"}) {
      if (request.limits.disk_bytes > 0) {
        add({"--perms", "1777", "--size", size, "--tmpfs", directory});
      } else {
        add({"--perms", "1777", "--tmpfs", directory});
      }
    }
    add({"--remount-ro", "/dev"});
    for (const fs::path& path : request.read_only) {
      add_parents(path);
      add({"--ro-bind", path.string(), path.string()});
    }
    for (const WritableDirectory& directory : request.writable) {
      const fs::path& inside = directory.inside.empty() ? directory.host : directory.inside;
      add_parents(inside);
      add({"--bind", directory.host.string(), inside.string()});
    }
    add({"--perms", "0555", "--ro-bind-data", std::to_string(kAwaitNumber), kAwaitProgram});
    add({"--remount-ro", "/"});
    add({"--chdir",
         request.working_directory.empty() ? "/tmp" : request.working_directory.string()});
  }
  std::vector<std::string> words() && { return std::move(words_); }

 private:
  // Directories that bubblewrap makes by itself can be entered by root alone.
  void add_parents(const fs::path& path) {
    fs::path parent;
    for (const fs::path& name : path.parent_path()) {
      parent /= name;
      if (parent != "/") {
        add({"--perms", "0755", "--dir", parent.string()});
      }
    }
  }

  std::vector<std::string> words_;
};

/// "44,109".
std::string groups_word(const std::vector<gid_t>& groups) {
  std::string word;
  for (const gid_t group : groups) word += (word.empty() ? "" : ",") + std::to_string(group);
  return word;
}

/// What await_program is told: the report's descriptor, the program's user, its groups, and how
/// many processes it may have.
std::vector<std::string> await_words(const SandboxRequest& request, bool as_root,
                                     const SandboxCommand& command) {
  std::vector<std::string> words = {kAwaitProgram, std::to_string(kReportNumber), "-", "", "-"};
  if (as_root) {
    words[2] = std::to_string(command.user->id());
    words[3] = groups_word(groups_for(request.devices));
  }
  // A user namespace counts its own processes, and so await_program.
  if (request.limits.processes > 0) words[4] = bytes(request.limits.processes + (as_root ? 0 : 1));
  return words;
}

std::vector<std::string> bubblewrap_words(const SandboxRequest& request, const Layers& layers,
                                          const SandboxCommand& command) {
  BubblewrapArguments arguments(bubblewrap_program());
  const bool as_root = layers.bubblewrap == Layers::Bubblewrap::as_root;
  if (!as_root) {
    arguments.add({"--unshare-user"});
    if (layers.disable_user_namespaces) {
      arguments.add({"--disable-userns"});
    }
  }
  arguments.add({"--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts",
                 "--unshare-cgroup-try", "--new-session", "--die-with-parent", "--hostname",
                 "sandbox"});
  arguments.add_system();
  arguments.add_mounts(request);
  arguments.add({"--json-status-fd", std::to_string(kStatusNumber)});
  if (command.filter.valid()) {
    arguments.add({"--seccomp", std::to_string(kFilterNumber)});
  }
  // With root's rights, where there are any: the program has others, and cannot reach it.
  arguments.add({"--"});
  std::vector<std::string> words = std::move(arguments).words();
  std::ranges::move(await_words(request, as_root, command), std::back_inserter(words));
  words.push_back(find_program(request.argv.front()).string());
  words.insert(words.end(), request.argv.begin() + 1, request.argv.end());
  return words;
}

Descriptor file_with(const char* what, std::span<const std::byte> bytes) {
  Descriptor file = file_in_memory(what, bytes);
  if (!file.valid()) {
    throw SandboxError(
        "cannot make a file in memory for the sandbox: " + std::string(std::strerror(errno)) +
        "; raise the limit on open files (ulimit -n)");
  }
  return file;
}

/// A pipe that is read without waiting.
void open_pipe(Descriptor& reader, Descriptor& writer) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw SandboxError("cannot open a pipe for the sandbox: " + std::string(std::strerror(errno)) +
                       "; raise the limit on open files (ulimit -n)");
  }
  reader = Descriptor(ends[0]);
  writer = Descriptor(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

void plan_bubblewrap(const SandboxRequest& request, const Layers& layers, SandboxCommand& command) {
  open_pipe(command.status_reader, command.status_writer);
  open_pipe(command.report_reader, command.report_writer);
  command.await_program = file_with("await_program", await_program_image());
  command.plan.descriptors.emplace_back(command.status_writer.get(), kStatusNumber);
  command.plan.descriptors.emplace_back(command.report_writer.get(), kReportNumber);
  command.plan.descriptors.emplace_back(command.await_program.get(), kAwaitNumber);
  if (layers.seccomp) {
    // What is shown is mounted read-only.
    const std::vector<sock_filter> filter = deny_filter(false);
    command.filter = file_with("seccomp-filter", std::as_bytes(std::span(filter)));
    command.plan.descriptors.emplace_back(command.filter.get(), kFilterNumber);
  }
  command.plan.argv = bubblewrap_words(request, layers, command);
  command.plan.environment = environment_of(request, "/tmp");
  command.plan.no_new_privileges = layers.bubblewrap == Layers::Bubblewrap::as_user;
}

// Processes and threads that the user has already, since the kernel counts those too.
std::uint64_t threads_of_user() {
  std::vector<pid_t> all;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.find_first_not_of("0123456789") == std::string::npos) {
      all.push_back(static_cast<pid_t>(std::strtol(name.c_str(), nullptr, 10)));
    }
  }
  return usage_of(all).threads;
}

void plan_fallback(const SandboxRequest& request, const Layers& layers, SandboxCommand& command) {
  ChildPlan& plan = command.plan;
  command.scratch = ScratchDirectory::make();
  const fs::path& scratch = command.scratch.path();
  command.watched.push_back(scratch);
  plan.argv = request.argv;
  plan.argv.front() = find_program(request.argv.front()).string();
  plan.environment = environment_of(request, scratch);
  plan.working_directory =
      (request.working_directory.empty() ? scratch : request.working_directory).string();
  if (request.limits.processes > 0) {
    const std::uint64_t others = command.user ? 0 : threads_of_user();
    const rlim_t count = static_cast<rlim_t>(request.limits.processes + others);
    plan.limits.emplace_back(RLIMIT_NPROC, rlimit{count, count});
  }
  if (command.user) {
    plan.user = command.user->id();
    plan.groups = groups_for(request.devices);
  }
  std::vector<fs::path> writable{scratch};
  for (const WritableDirectory& directory : request.writable) {
    writable.push_back(directory.host);
  }
  if (layers.landlock) {
    std::vector<fs::path> readable(request.read_only);
    readable.insert(readable.end(), {"/usr", "/proc"});
    readable.insert(readable.end(), std::begin(kSystemDirectories), std::end(kSystemDirectories));
    readable.insert(readable.end(), std::begin(kSystemFiles), std::end(kSystemFiles));
    std::vector<fs::path> devices(request.devices);
    devices.insert(devices.end(), std::begin(kHarmlessDevices), std::end(kHarmlessDevices));
    command.landlock = Descriptor(make_landlock_ruleset(readable, writable, devices));
    if (!command.landlock.valid()) {  // the report says that this layer is there
      throw SandboxError("cannot make Landlock's rules: " + std::string(std::strerror(errno)) +
                         "; raise the limit on open files (ulimit -n)");
    }
    plan.landlock = command.landlock.get();
  }
  if (layers.seccomp) {
    plan.filter = deny_filter(true);
  }
}

// Processes of ours in the sandbox.
std::uint64_t overhead_of(const Layers& layers) {
  return layers.bubblewrap == Layers::Bubblewrap::none ? 0 : kBubblewrapProcesses;
}

// The program's user has to be able to write into the directories it is given.
void hand_over(const SandboxRequest& request, const SandboxCommand& command) {
  std::vector<fs::path> all;
  if (!command.scratch.path().empty()) {
    all.push_back(command.scratch.path());
  }
  for (const WritableDirectory& directory : request.writable) {
    all.push_back(directory.host);
  }
  for (const fs::path& directory : all) {
    if (lchown(directory.c_str(), command.user->id(), command.user->id()) != 0) {
      throw SandboxError("cannot give " + directory.string() + " to the sandbox's user: " +
                         std::strerror(errno) + "; use a directory on a local disk");
    }
  }
}

// Whether a user without rights of its own can open `path`: every directory on the way lets others
// through, and what is at its end lets them read.
bool open_to_others(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) {
    return true;  // what is not there fails with a better message later
  }
  for (fs::path parent = real.parent_path(); parent != parent.root_path();
       parent = parent.parent_path()) {
    if ((fs::status(parent, error).permissions() & fs::perms::others_exec) == fs::perms::none) {
      return false;
    }
  }
  return (fs::status(real, error).permissions() & fs::perms::others_read) != fs::perms::none;
}

// bubblewrap mounts what a program may see, wherever it lies. Without it a user of its own cannot
// enter, say, a checkout below /root.
bool own_user_can_work(const SandboxRequest& request) {
  const auto above = [](const fs::path& path) { return path.parent_path(); };
  return std::ranges::all_of(request.read_only, open_to_others) &&
         open_to_others(find_program(request.argv.front())) &&
         std::ranges::all_of(request.writable, [&](const WritableDirectory& directory) {
           return open_to_others(above(directory.host));
         });
}

}  // namespace

SandboxCommand make_command(const SandboxRequest& request, const Layers& layers) {
  if (request.argv.empty()) {
    throw SandboxError("the sandbox was given no program to run");
  }
  for (const fs::path& path : request.read_only) {
    check_exists(path, "the path");
  }
  for (const WritableDirectory& directory : request.writable) {
    check_exists(directory.host, "the writable directory");
  }
  SandboxCommand command;
  command.plan.limits = resource_limits(request.limits);
  for (const InheritedDescriptor& inherited : request.descriptors) {
    command.plan.descriptors.emplace_back(inherited.descriptor, inherited.inside);
  }
  for (const WritableDirectory& directory : request.writable) {
    command.watched.push_back(directory.host);
  }
  if (layers.own_user) {
    if (layers.bubblewrap != Layers::Bubblewrap::none || own_user_can_work(request)) {
      command.user = UserLease::take();
    } else {
      command.plan.drop_capabilities = true;
    }
  }
  if (layers.control_groups) {
    const std::uint64_t processes = request.limits.processes;
    if (auto groups = ControlGroups::make(request.limits.memory_bytes,
                                          processes == 0 ? 0 : processes + overhead_of(layers))) {
      command.plan.control_groups = groups->join_descriptors();
      command.control_groups.emplace(std::move(*groups));
    }
  }
  if (layers.bubblewrap != Layers::Bubblewrap::none) {
    plan_bubblewrap(request, layers, command);
  } else {
    plan_fallback(request, layers, command);
  }
  if (command.user) {
    hand_over(request, command);
  }
  return command;
}

}  // namespace rooflab
