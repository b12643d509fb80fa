// The process that student code runs in: takes calls from its descriptor 3, makes them, and
// replies. It is started by the grader inside the sandbox, and knows neither references nor limits.
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <iostream>
#include <optional>
#include <string>

#include "grader/guest/call_protocol.h"
#include "grader/guest/task_call.h"

namespace {

/// Next line from the trusted side, or nothing when it has no more calls.
std::optional<std::string> read_line(std::string& pending) {
  for (;;) {
    if (const std::size_t end = pending.find('\n'); end != std::string::npos) {
      std::string line = pending.substr(0, end);
      pending.erase(0, end + 1);
      return line;
    }
    char buffer[65536];
    const ssize_t got = read(rooflab::kCallDescriptor, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0 || pending.size() > rooflab::kMaxCallBytes) {
      return std::nullopt;
    }
    pending.append(buffer, static_cast<std::size_t>(got));
  }
}

bool write_line(std::string line) {
  line += '\n';
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t wrote = write(rooflab::kCallDescriptor, line.data() + done, line.size() - done);
    if (wrote < 0 && errno != EINTR) {
      return false;
    }
    done += wrote > 0 ? static_cast<std::size_t>(wrote) : 0;
  }
  return true;
}

}  // namespace

int main() {
  signal(SIGPIPE, SIG_IGN);
  try {
    rooflab::TaskCaller caller;
    std::string pending;
    while (const auto line = read_line(pending)) {
      const rooflab::Reply reply = caller.run(rooflab::decode_call(*line));
      std::cout.flush();
      std::fflush(nullptr);
      if (!write_line(rooflab::encode(reply))) {
        break;
      }
    }
  } catch (const std::exception& error) {
    std::cerr << "rooflab-guest: " << error.what() << std::endl;
    _exit(3);
  }
  _exit(0);  // without the destructors of student code: nobody is interested in them any more
}
