#include "grader/guest/task_call.h"

#include <dlfcn.h>

#include <cstdint>
#include <new>
#include <stdexcept>

#include "grader/contract/guest_call.h"
#include "labs/toolkit/cuda_error.h"
#include "labs/toolkit/not_implemented.h"

namespace rooflab {
namespace {

class NotLoaded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Gives back at its end what an adapter keeps, unless the call is measured: only those are told
/// apart by their time, and whatever is there behind any other counts as forgotten by the student.
class KeepsIfMeasured {
 public:
  KeepsIfMeasured(const Call& call, KeptObjects& kept) : measured_(call.measured), kept_(kept) {}
  ~KeepsIfMeasured() {
    if (!measured_) kept_.clear();
  }
  KeepsIfMeasured(const KeepsIfMeasured&) = delete;
  KeepsIfMeasured& operator=(const KeepsIfMeasured&) = delete;

 private:
  bool measured_;
  KeptObjects& kept_;
};

/// Kept until the process ends: a task's own library finds it loaded.
void load_needed(const std::string& library) {
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return;
  const char* reason = dlerror();
  throw std::runtime_error(
      library + " cannot be loaded: " + (reason == nullptr ? "no reason given" : reason));
}

void* known_stream(std::uint64_t handle) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(handle));
}

}  // namespace

TaskCaller::Entry* TaskCaller::load(const Call& call) {
  if (library_ == nullptr) {
    library_ = dlopen(call.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  void* entry =
      library_ == nullptr ? nullptr : dlsym(library_, ("rooflab_entry_" + call.entry).c_str());
  if (entry == nullptr) {
    const char* reason = dlerror();
    throw NotLoaded(reason == nullptr ? "no reason given" : reason);
  }
  return reinterpret_cast<Entry*>(entry);
}

/// The library's own function sets what its host code looks at.
void TaskCaller::choose(const ChosenVariant& variant) {
  using Choose = void(int, int, double);
  void* symbol = dlsym(library_, "rooflab_choose_variant");
  if (symbol == nullptr) throw NotLoaded("it has no variants");
  reinterpret_cast<Choose*>(symbol)(variant.first, variant.second, variant.value);
}

void* TaskCaller::place_of(const TensorPlace& place) {
  if (place.exported.empty()) {
    // An address of the device, which came as a number.
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(place.address));
  }
  auto found = opened_.find(place.exported);
  if (found == opened_.end()) {
    void* memory = cuda_.open_shared(kMemoryDescriptor, place.exported);
    if (place.own_bytes > 0) {
      memory = cuda_.make_own(place.own_bytes, place.is_copied ? memory : nullptr);
    }
    found = opened_.emplace(place.exported, memory).first;
  }
  return found->second;
}

std::map<std::string, void*> TaskCaller::places_of(
    const std::map<std::string, TensorPlace>& tensors) {
  std::map<std::string, void*> places;
  for (const auto& [name, place] : tensors) places[name] = place_of(place);
  return places;
}

/// The stream that the function gets: the trusted side's, or one of ours.
void* TaskCaller::stream_of(const Call& call) {
  if (!call.gives_stream) return nullptr;
  if (call.stream == 0) return cuda_.own_stream();
  return known_stream(call.stream);
}

Reply TaskCaller::prepare(const Call& call) {
  Reply reply;
  try {
    cuda_.require();
    for (const auto& [name, place] : call.tensors) {
      place_of(place);
    }
    for (const std::string& library : call.libraries) load_needed(library);
    if (call.proves_kernel) {
      cuda_.run_proof(place_of(call.tensors.at("x")), place_of(call.tensors.at("y")));
    }
    void* stream = stream_of(call);
    if (call.measured) {
      cuda_.keep_freed_memory();
      // What a measured call costs beside its work, and the events with it.
      cuda_.start_clock(stream);
      reply.elapsed_us = cuda_.stop_clock_us(stream);
    }
    reply.cuda_error = cuda_.finish();
  } catch (const std::exception& error) {
    reply.cuda_error = error.what();
  }
  return reply;
}

Reply TaskCaller::run(const Call& call) {
  if (call.entry.empty()) {
    return prepare(call);
  }
  Reply reply;
  try {
    Entry* entry = load(call);
    if (call.variant) choose(*call.variant);
    const KeepsIfMeasured keeper(call, kept_);
    void* stream = stream_of(call);
    KeptObjects kept_beside;  // calls that overlap share no workspace and no handle
    GuestCall guest_call(call.parameters, places_of(call.tensors), kept_, stream);
    if (call.measured) {
      cuda_.start_clock(stream);
    }
    entry(guest_call);
    if (call.measured) {
      reply.elapsed_us = cuda_.stop_clock_us(stream);
    }
    if (call.beside) {
      GuestCall second(call.beside->parameters, places_of(call.beside->tensors), kept_beside,
                       known_stream(call.beside->stream));
      entry(second);
    }
    reply.results = guest_call.results();
  } catch (const NotLoaded& error) {
    reply.status = Reply::Status::not_loaded;
    reply.detail = error.what();
    return reply;
  } catch (const NotImplemented& error) {
    reply.status = Reply::Status::not_implemented;
    reply.detail = error.what();
    reply.thrown = {error.file(), static_cast<std::uint32_t>(error.line()), ""};
    if (call.variant) cuda_.finish();  // its errors are none of the next call's
    return reply;
  } catch (const CudaError& error) {
    reply.status = Reply::Status::exception;
    reply.detail = error.failure();
    reply.thrown = {error.file(), static_cast<std::uint32_t>(error.line()), error.advice()};
  } catch (const std::bad_alloc& error) {
    reply.status = Reply::Status::out_of_memory;
    reply.detail = error.what();
  } catch (const std::exception& error) {
    reply.status = Reply::Status::exception;
    reply.detail = error.what();
  } catch (...) {
    reply.status = Reply::Status::exception;
    reply.detail = "something that is not a std::exception";
  }
  reply.cuda_error = call.holds_to_stream ? cuda_.finish(stream_of(call)) : cuda_.finish();
  if (call.beside && reply.cuda_error.empty()) {
    reply.cuda_error = cuda_.finish(known_stream(call.beside->stream));
  }
  return reply;
}

}  // namespace rooflab
