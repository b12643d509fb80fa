#include "grader/sandbox/device_groups.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "grader/sandbox/sandbox.h"

namespace rooflab {
namespace {

constexpr unsigned kReadAndWrite = 6;

std::string octal(unsigned mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%04o", mode);
  return text;
}

}  // namespace

std::vector<gid_t> groups_for(const std::vector<std::filesystem::path>& devices) {
  std::vector<gid_t> groups;
  for (const auto& device : devices) {
    struct stat status {};
    if (stat(device.c_str(), &status) != 0) continue;  // mounting it gives a better message
    // What its owner may do is what it is for: capabilities of a GPU's slices are only read.
    const unsigned needed = (status.st_mode >> 6) & kReadAndWrite;
    if ((status.st_mode & needed) == needed) continue;
    if (((status.st_mode >> 3) & needed) != needed || status.st_gid == 0) {
      throw SandboxError("the sandbox's user may not open " + device.string() +
                         ", which has the mode " + octal(status.st_mode & 07777) +
                         " and the group " + std::to_string(status.st_gid) +
                         "; give it to a group other than root's or to all (options nvidia "
                         "NVreg_DeviceFileGID=44 or NVreg_DeviceFileMode=0666 in /etc/modprobe.d)");
    }
    if (std::ranges::find(groups, status.st_gid) == groups.end()) groups.push_back(status.st_gid);
  }
  return groups;
}

}  // namespace rooflab
