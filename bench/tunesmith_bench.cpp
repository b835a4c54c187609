// The dispatch library behind a C interface, so that bench.py can launch any op on its own buffers
// and streams.
#include <exception>
#include <memory>
#include <span>
#include <string>

#include "tunesmith/dispatcher.h"

namespace {

thread_local std::string last_error;

struct Planned {
  tunesmith::Plan plan;
  std::string description;
};

// Null where `make` throws; last_error then has the message.
template <typename Make>
void* or_null(Make make) {
  try {
    return make().release();
  } catch (const std::exception& error) {
    last_error = error.what();
    return nullptr;
  }
}

}  // namespace

extern "C" {

const char* tunesmith_error() { return last_error.c_str(); }

/// `database` may be empty: then only the winners built into the library are used. Null on failure.
void* tunesmith_open(const char* database, const char* device) {
  return or_null([&] {
    return std::make_unique<tunesmith::Dispatcher>(
        tunesmith::DispatcherOptions{.device = device, .database = database});
  });
}

void tunesmith_close(void* dispatcher) { delete static_cast<tunesmith::Dispatcher*>(dispatcher); }

/// Null on failure.
void* tunesmith_plan(void* dispatcher, const char* op, const char* problem) {
  return or_null([&] {
    auto planned = std::make_unique<Planned>();
    planned->plan = static_cast<tunesmith::Dispatcher*>(dispatcher)->plan(op, std::string_view(problem));
    const tunesmith::Variant& variant = planned->plan.variant();
    planned->description =
        std::string(name(planned->plan.match())) + ": " + variant.template_name + " " + variant.config;
    return planned;
  });
}

void tunesmith_release(void* plan) { delete static_cast<Planned*>(plan); }

/// "exact: tiled BLOCK_X=32 ..."
const char* tunesmith_describe(void* plan) { return static_cast<Planned*>(plan)->description.c_str(); }

long long tunesmith_workspace_bytes(void* plan) {
  return static_cast<Planned*>(plan)->plan.workspace_bytes();
}

/// 0, or an error code; tunesmith_error() then has the message.
int tunesmith_launch(void* plan, void* const* arguments, int count, void* stream, void* workspace) {
  const tunesmith::Status status = static_cast<Planned*>(plan)->plan.launch(
      std::span(arguments, static_cast<std::size_t>(count)), stream, workspace);
  if (!status) last_error = status.message();
  return status.code();
}
}
