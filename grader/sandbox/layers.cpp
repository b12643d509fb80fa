#include "grader/sandbox/layers.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "grader/sandbox/control_groups.h"
#include "grader/sandbox/landlock.h"
#include "grader/sandbox/running.h"

namespace rooflab {
namespace {

constexpr std::uint64_t kProbeMemory = 256ULL << 20;
constexpr std::uint64_t kProbeProcesses = 64;

// Whether /bin/true comes back with exit code 0 under these layers.
bool works(const Layers& layers) {
  SandboxRequest request;
  request.argv = {"/usr/bin/true"};
  request.limits.wall_s = 10;
  try {
    const SandboxOutcome outcome = Running(request, layers).wait();
    return outcome.exit_code == 0 && outcome.signal == 0 && outcome.limit == LimitHit::none;
  } catch (const SandboxError&) {
    return false;
  }
}

using Change = void (*)(Layers&);

// What may isolate here, each on top of the ones before.
std::vector<Change> candidates() {
  std::vector<Change> all;
  if (geteuid() == 0) all.push_back([](Layers& l) { l.own_user = true; });
  if (!bubblewrap_program().empty()) {
    all.push_back([](Layers& l) {
      l.bubblewrap = l.own_user ? Layers::Bubblewrap::as_root : Layers::Bubblewrap::as_user;
    });
    all.push_back(
        [](Layers& l) { l.disable_user_namespaces = l.bubblewrap == Layers::Bubblewrap::as_user; });
  }
  all.push_back([](Layers& l) { l.seccomp = true; });
  if (ControlGroups::make(kProbeMemory, kProbeProcesses)) {
    all.push_back([](Layers& l) { l.control_groups = true; });
  }
  return all;
}

// All that works. Where it works all together, as on most machines, one program says so.
Layers probe() {
  constexpr std::size_t kDescriptors = 8;
  require_open_files(kDescriptors);  // else nothing works, and the layers are not to blame
  const std::vector<Change> changes = candidates();
  const auto with = [](Layers layers, const Change& change) {
    change(layers);
    return layers;
  };
  Layers layers = std::accumulate(changes.begin(), changes.end(), Layers{}, with);
  if (!works(layers)) {
    layers = {};
    for (const Change change : changes) {
      if (works(with(layers, change))) layers = with(layers, change);
    }
  }
  layers.landlock = landlock_version() > 0;
  return layers;
}

}  // namespace

std::filesystem::path bubblewrap_program() {
  for (const char* candidate : {"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"}) {
    if (access(candidate, X_OK) == 0) {
      return candidate;
    }
  }
  return {};
}

const Layers& probed_layers() {
  static const Layers layers = probe();
  return layers;
}

namespace {

// Without a sandbox a program keeps our user, and where that is root, only control groups limit how
// many processes it starts.
Layers limits_alone() {
  Layers layers;
  layers.control_groups = probed_layers().control_groups;
  return layers;
}

}  // namespace

Layers layers_for(const SandboxRequest& request) {
  if (!request.enabled) {
    return limits_alone();
  }
  Layers layers = probed_layers();
  if (!request.allow_bubblewrap) {
    layers.bubblewrap = Layers::Bubblewrap::none;
  }
  return layers;
}

std::vector<std::string> names_of(const Layers& layers) {
  const bool bubblewrap = layers.bubblewrap != Layers::Bubblewrap::none;
  std::vector<std::string> names;
  if (bubblewrap) {
    names.insert(names.end(), {"bubblewrap", "no network"});
  }
  if (layers.own_user) {
    names.emplace_back("own uid");
  }
  if (layers.seccomp) {
    names.emplace_back("seccomp");
  }
  if (layers.landlock && !bubblewrap) {
    names.emplace_back("landlock");
  }
  if (layers.control_groups) {
    names.emplace_back("control groups");
  }
  names.insert(names.end(), {"rlimits", "watchdog"});
  return names;
}

bool isolates(const std::vector<std::string>& layers) {
  const auto is_active = [&](const char* layer) {
    return std::ranges::find(layers, layer) != layers.end();
  };
  return is_active("bubblewrap") || (is_active("landlock") && is_active("seccomp"));
}

std::vector<std::string> active_layers(bool enabled) {
  return names_of(enabled ? probed_layers() : limits_alone());
}

}  // namespace rooflab
