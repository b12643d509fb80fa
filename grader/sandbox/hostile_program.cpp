// Does one hostile or clumsy thing, named by its first argument: what the tests of the sandbox run
// in it. It bounds itself where it can, so that a broken sandbox fails a test instead of the
// machine.
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr unsigned kAtMostSeconds = 30;

int greet() {
  std::cout << "to stdout" << std::endl;
  std::cerr << "to stderr" << std::endl;
  return 7;
}

int minus_one() { return -1; }

/// Ends by a signal after it has slept for as long as a small limit of the processor allows.
int sleep_and_die() {
  usleep(1'300'000);
  return raise(SIGKILL);
}

/// In bubblewrap that is the process that reports how this one ended.
int kill_its_parent() {
  kill(getppid(), SIGKILL);
  sleep(1);
  return 0;
}

int crash() {
  volatile int* nowhere = nullptr;
  *nowhere = 1;
  return 0;
}

int loop() {
  const volatile bool forever = true;
  while (forever) {
  }
  return 0;
}

int ignore() {
  for (int number = 1; number < NSIG; ++number) {
    signal(number, SIG_IGN);
  }
  return loop();
}

// Every process keeps forking, but all of them together at most kForks times: a sandbox that fails
// to stop this must not take the machine with it.
int fork_bomb() {
  constexpr int kForks = 300;
  auto* forks =
      static_cast<std::atomic<int>*>(mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                                          MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (forks == MAP_FAILED) {
    return 1;
  }
  while (forks->fetch_add(1) < kForks) {
    fork();
  }
  sleep(kAtMostSeconds);
  return 0;
}

int daemonise() {
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      signal(SIGTERM, SIG_IGN);
      signal(SIGHUP, SIG_IGN);
      sleep(kAtMostSeconds);
    }
    _exit(0);
  }
  wait(nullptr);
  return 0;
}

int allocate() {
  constexpr std::size_t kPiece = 8UL << 20;
  constexpr std::size_t kPieces = 100;  // 800 MB: far beyond the limit, not beyond the machine
  for (std::size_t i = 0; i < kPieces; ++i) {
    void* piece = mmap(nullptr, kPiece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (piece == MAP_FAILED) {
      return 1;
    }
    std::memset(piece, 1, kPiece);
  }
  sleep(kAtMostSeconds);
  return 0;
}

// Writes to `file` until `bytes` are there; false when the system will not have more.
bool write_up_to(int file, std::size_t bytes) {
  const std::vector<char> block(1U << 20, 'x');
  for (std::size_t done = 0; done < bytes; done += block.size()) {
    if (write(file, block.data(), block.size()) < 0) {
      return false;
    }
  }
  return true;
}

// Memory that is in nobody's resident set: files of memory that are open, and not mapped.
int memory_files() {
  for (int i = 0; i < 16; ++i) {
    const int file = memfd_create("hoard", 0);
    if (file < 0 || !write_up_to(file, 48U << 20)) {
      return 1;
    }
  }
  sleep(kAtMostSeconds);
  return 0;
}

// Shared memory that is let go of stays where it is.
int shared_memory() {
  constexpr std::size_t kPiece = 16U << 20;
  for (int i = 0; i < 48; ++i) {
    void* piece = mmap(nullptr, kPiece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (piece == MAP_FAILED) {
      return 1;
    }
    std::memset(piece, 1, kPiece);
    madvise(piece, kPiece, MADV_DONTNEED);
  }
  sleep(kAtMostSeconds);
  return 0;
}

// Pages of a device's node or of a file, as a driver maps its memory.
int map(const std::string& path) {
  constexpr std::size_t kBytes = 256UL << 20;
  const int file = open(path.c_str(), O_RDONLY);
  auto* bytes =
      static_cast<const volatile char*>(mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, file, 0));
  if (bytes == MAP_FAILED) return 1;
  for (std::size_t at = 0; at < kBytes; at += 4096) static_cast<void>(bytes[at]);
  usleep(500'000);
  return 0;
}

int removed_files() {
  const std::string name = std::string(std::getenv("TMPDIR")) + "/removed";
  for (int i = 0; i < 8; ++i) {
    const int file = open(name.c_str(), O_CREAT | O_WRONLY, 0600);
    unlink(name.c_str());
    if (file < 0 || !write_up_to(file, 32U << 20)) {
      break;
    }
  }
  sleep(kAtMostSeconds);
  return 0;
}

// Leaves what is hard to walk through and hard to remove.
int dig() {
  if (chdir(std::getenv("TMPDIR")) != 0 || mkdir("unlisted", 0300) != 0 ||
      mkdir("unlisted/inner", 0300) != 0 || symlink("/etc", "unlisted/inner/link") != 0) {
    return 1;
  }
  std::ofstream("unlisted/inner/file") << "text";
  for (int level = 0; level < 300; ++level) {  // deeper than the test's limit on open files
    if (mkdir("deep", 0700) != 0 || chdir("deep") != 0) {
      return 1;
    }
  }
  return 0;
}

int print() {
  for (int i = 0; i < 10'000'000; ++i) {
    std::fputs("all tests passed: 100/100\n", stdout);
  }
  return 0;
}

int fill() {
  const std::string directory = std::getenv("TMPDIR");
  const std::vector<char> block(1U << 16, 'x');
  for (int file = 0; file < 4; ++file) {
    std::ofstream stream(directory + "/fill" + std::to_string(file));
    for (int i = 0; i < 500 && stream; ++i) {
      stream.write(block.data(), static_cast<std::streamsize>(block.size()));
    }
  }
  sleep(kAtMostSeconds);
  return 0;
}

int tiny_files() {
  const std::string directory = std::getenv("TMPDIR");
  for (int file = 0; file < 5000; ++file) {
    std::ofstream stream(directory + "/tiny" + std::to_string(file));
  }
  sleep(kAtMostSeconds);
  return 0;
}

int descriptors() {
  for (int i = 0; i < 100'000; ++i) {
    if (open("/dev/null", O_RDONLY) < 0) {
      return errno;
    }
  }
  return 0;
}

int descriptor_list() {
  std::vector<int> numbers;
  for (int number = 0; number < 1024; ++number) {
    if (fcntl(number, F_GETFD) >= 0) {
      numbers.push_back(number);
    }
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::cout << (i == 0 ? "" : " ") << numbers[i];
  }
  std::cout << std::endl;
  return 0;
}

int print_environment() {
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    std::cout << *entry << '\n';
  }
  return 0;
}

int write_file(const std::string& path) {
  std::ofstream stream(path);
  stream << "written" << std::flush;
  return stream ? 0 : 1;
}

int read_file(const std::string& path) {
  std::string line;
  if (std::ifstream stream(path); std::getline(stream, line)) {
    std::cout << line << std::endl;
  }
  return 0;
}

// A file that the program may read, and that its own user has.
int change_file(const std::string& path) {
  const bool changed = chmod(path.c_str(), 0777) == 0 ||
                       fchmod(open(path.c_str(), O_RDONLY), 0777) == 0 ||
                       utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0 ||
                       setxattr(path.c_str(), "user.mark", "x", 1, 0) == 0;
  std::cout << (changed ? "changed" : "refused") << std::endl;
  return 0;
}

int network() {
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  std::cout << (connection < 0 ? "no network" : "network") << std::endl;
  return 0;
}

int privileges() {
  const auto say = [](bool refused) { return refused ? "refused" : "allowed"; };
  std::cout << say(ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) < 0) << ' '
            << say(mount("none", "/tmp", "tmpfs", 0, nullptr) < 0) << ' '
            << say(unshare(CLONE_NEWUSER) < 0) << ' ' << say(prctl(PR_SET_DUMPABLE, 0) < 0)
            << std::endl;
  return 0;
}

// Signal 0 asks whether a signal would be delivered, and does no harm when it would.
int signal_all(const std::string& grader) {
  const bool can_signal_grader = kill(static_cast<pid_t>(std::stol(grader)), 0) == 0;
  const bool can_signal_everybody = kill(-1, 0) == 0;
  std::cout << (can_signal_grader || can_signal_everybody ? "can signal" : "cannot signal")
            << std::endl;
  return 0;
}

/// Writes to a file all the time, and so does a child.
int beat(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0666);
  fork();
  for (;;) {
    if (write(file, ".", 1) != 1) return 1;
    usleep(500);
  }
}

/// The same, with a timer that continues whoever stops it.
int beat_when_stopped(const std::string& path) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGCONT;
  timer_t timer{};
  const itimerspec often{{0, 1'000'000}, {0, 1'000'000}};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 1;
  if (timer_settime(timer, 0, &often, nullptr) != 0) return 1;
  return beat(path);
}

}  // namespace

int main(int count, char** arguments) {
  alarm(kAtMostSeconds);
  const std::string deed = count > 1 ? arguments[1] : "";
  const std::string argument = count > 3 ? arguments[3] : "";
  const std::map<std::string, int (*)()> deeds = {
      {"greet", greet},
      {"minus_one", minus_one},
      {"sleep_and_die", sleep_and_die},
      {"kill_its_parent", kill_its_parent},
      {"crash", crash},
      {"abort",
       [] {
         std::abort();
         return 0;
       }},
      {"loop", loop},
      {"sleep",
       [] {
         sleep(kAtMostSeconds);
         return 0;
       }},
      {"nap",
       [] {
         usleep(200'000);
         return 5;
       }},
      {"stop", [] { return raise(SIGSTOP); }},
      {"ignore", ignore},
      {"fork_bomb", fork_bomb},
      {"daemon", daemonise},
      {"allocate", allocate},
      {"memory_files", memory_files},
      {"shared_memory", shared_memory},
      {"removed_files", removed_files},
      {"dig", dig},
      {"print", print},
      {"fill", fill},
      {"tiny_files", tiny_files},
      {"descriptors", descriptors},
      {"descriptor_list", descriptor_list},
      {"environment", print_environment},
      {"network", network},
      {"privileges", privileges},
  };
  if (const auto found = deeds.find(deed); found != deeds.end()) {
    return found->second();
  }
  if (deed == "exit") {
    return std::atoi(argument.c_str());
  }
  if (deed == "sleep_and_exit") {
    usleep(1'300'000);
    return std::atoi(argument.c_str());
  }
  if (deed == "write") {
    return write_file(argument);
  }
  if (deed == "read") {
    return read_file(argument);
  }
  if (deed == "map") {
    return map(argument);
  }
  if (deed == "change_file") {
    return change_file(argument);
  }
  if (deed == "beat") {
    return beat(argument);
  }
  if (deed == "beat_when_stopped") {
    return beat_when_stopped(argument);
  }
  if (deed == "signal_all") {
    return signal_all(argument);
  }
  return 99;
}
