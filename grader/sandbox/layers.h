#pragma once

#include <string>
#include <vector>

#include "grader/sandbox/child.h"
#include "grader/sandbox/sandbox.h"

namespace rooflab {

/// Which of the layers a run uses.
struct Layers {
  enum class Bubblewrap {
    none,
    as_root,  ///< set up with root's rights; the program gets a user of its own
    as_user,  ///< in a user namespace; the program keeps our user
  };
  Bubblewrap bubblewrap = Bubblewrap::none;
  bool disable_user_namespaces = false;  ///< bubblewrap knows --disable-userns (as_user only)
  bool own_user = false;
  bool seccomp = false;
  bool landlock = false;
  bool control_groups = false;
};

/// The strongest layers that work here, found by trying them; the answer is kept.
const Layers& probed_layers();

/// The layers for one request.
Layers layers_for(const SandboxRequest& request);

/// Names for reports, strongest first.
std::vector<std::string> names_of(const Layers& layers);

}  // namespace rooflab
