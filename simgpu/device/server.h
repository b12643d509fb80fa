#pragma once

#include <memory>
#include <optional>

#include "simgpu/device/connection.h"
#include "simgpu/device/control_session.h"
#include "simgpu/device/device.h"
#include "simgpu/device/guest_session.h"

namespace simgpu {

/// Serves one trusted side and one guest at a time, one request after another, until the trusted
/// side goes. What the guest leaves behind stays, for collect(), until the next guest comes.
class Server {
 public:
  Server(Device& device, Descriptor control);
  void run();

 private:
  struct Guest {
    Connection connection;
    GuestSession session;
  };

  bool serve_control();
  bool serve_guest();
  void admit(Descriptor socket);

  Device& device_;
  Connection control_;
  ControlSession control_session_;
  std::unique_ptr<Guest> guest_;
};

}  // namespace simgpu
