#include "simgpu/device/server.h"

#include <poll.h>
#include <sched.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <exception>
#include <span>
#include <utility>

#include "simgpu/device/protocol.h"

namespace simgpu {
namespace {

pollfd interest(const Connection& connection) {
  const short events = connection.has_output() ? POLLOUT : POLLIN;
  return {.fd = connection.descriptor(), .events = events, .revents = 0};
}

/// Waits until a peer wants something. A guest that calls the runtime again and again sends its
/// next request sooner than a sleeping process wakes up: for so long nobody sleeps.
int wait_for(std::span<pollfd> sockets) {
  constexpr std::chrono::microseconds kAwake{30};
  const auto end = std::chrono::steady_clock::now() + kAwake;
  do {
    const int ready = poll(sockets.data(), sockets.size(), 0);
    if (ready != 0) return ready;
    sched_yield();  // on a machine with one core the guest needs it
  } while (std::chrono::steady_clock::now() < end);
  return poll(sockets.data(), sockets.size(), -1);
}

}  // namespace

Server::Server(Device& device, Descriptor control)
    : device_(device), control_(std::move(control), true), control_session_(device) {}

void Server::run() {
  while (true) {
    std::array<pollfd, 2> sockets{interest(control_), {.fd = -1, .events = 0, .revents = 0}};
    const bool serves_guest = guest_ && !control_session_.holds_guest();
    if (serves_guest) sockets[1] = interest(guest_->connection);
    // A request that has arrived already does not wait for another one.
    const bool requested =
        serves_guest && !guest_->connection.has_output() && guest_->connection.has_message();
    const int ready = requested ? poll(sockets.data(), sockets.size(), 0) : wait_for(sockets);
    if (ready < 0 && errno != EINTR) return;
    if (sockets[0].revents != 0 && !serve_control()) return;
    // A new guest may have taken the place of the one that was polled, or it has to wait now.
    const bool same_guest = guest_ && !control_session_.holds_guest() &&
                            guest_->connection.descriptor() == sockets[1].fd;
    if (same_guest && (requested || sockets[1].revents != 0) && !serve_guest()) guest_.reset();
  }
}

bool Server::serve_control() {
  if (control_.has_output()) return control_.send();
  if (!control_.receive()) return false;
  while (auto message = control_.next()) {
    const auto connect = static_cast<std::uint32_t>(protocol::ControlOperation::connect_guest);
    if (message->operation == connect) admit(control_.take_descriptor());
    const auto reply = control_session_.handle(message->operation, message->payload);
    control_.reply(static_cast<std::uint32_t>(reply.error), reply.payload);
  }
  return control_.send();
}

void Server::admit(Descriptor socket) {
  guest_.reset();
  device_.release_guest();
  device_.host_findings().begin_guest();
  if (socket) {
    guest_ = std::make_unique<Guest>(Guest{.connection = Connection(std::move(socket), false),
                                           .session = GuestSession(device_)});
  }
}

/// One request a round: the trusted side's turn comes between two of the guest's.
bool Server::serve_guest() {
  Connection& connection = guest_->connection;
  if (connection.has_output()) return connection.send();
  if (!connection.has_message() && !connection.receive()) return false;
  try {
    const auto message = connection.next();
    if (!message) return true;
    auto reply = guest_->session.handle(message->operation, message->payload);
    connection.reply(static_cast<std::uint32_t>(reply.error), reply.payload,
                     std::move(reply.descriptor));
    return connection.send();
  } catch (const std::exception&) {
    // Malformed, or more than this machine can do: it is the guest that asked for it.
    return false;
  }
}

}  // namespace simgpu
