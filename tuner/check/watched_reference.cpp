// SPDX-License-Identifier: Apache-2.0
#include "tuner/check/watched_reference.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "generator/ops.h"
#include "kernel_file/add.h"
#include "kernel_file/user_kernel.h"
#include "runtime/toolchain.h"
#include "tuner/check/watcher.h"
#include "tuner/device/check_data.h"
#include "tuner/device/device.h"
#include "tuner/device/device_memory.h"
#include "tuner/device/kernel_reference.h"

namespace tunesmith {
namespace {

constexpr std::uint64_t most_accesses = 60'000'000;

// Returns what the launch of a binary accesses outside of its arrays.
Watcher::Finding found_in(Device& device, const Op& op, const Problem& problem, const Work& work,
                          const Source& source, const std::string& binary,
                          const std::vector<std::vector<double>>& inputs) {
  const std::unique_ptr<Executable> executable = device.load(binary, source.suffix, work);
  std::vector<Watcher::Array> arrays;
  std::vector<DeviceMemory> memory;
  std::vector<void*> pointers;
  for (std::size_t i = 0; i < op.arguments.size(); ++i) {
    const Argument& argument = op.arguments[i];
    const DType dtype = argument.dtype(problem);
    const std::int64_t size = elements(argument, problem) * bytes(dtype);
    DeviceMemory& one = memory.emplace_back(device, size);
    if (argument.role == Role::output) {
      device.fill(one.get(), byte_of(Poison::nan), size);
    } else {
      const std::string packed = pack(dtype, inputs[i]);
      device.upload(one.get(), packed.data(), size);
    }
    arrays.push_back(
        Watcher::Array::of(argument.name, one.as<const char>(), size, dtype, record_of(op, argument)));
    pointers.push_back(one.get());
  }
  const DeviceMemory workspace(device, work.workspace_bytes);
  for (const WorkspaceArray& one : work.workspace_arrays)
    arrays.push_back({one.name, workspace.as<const char>() + one.offset_bytes, one.bytes, one.element_bytes});
  Watcher watcher;
  executable->emulate(false, Poison::nan);
  watcher.begin(set_watch(*executable, watcher.hooks(), binary), std::move(arrays), false, most_accesses);
  executable->launch(pointers.data(), workspace.get(), nullptr);
  watcher.end();
  set_watch(*executable, nullptr, binary);
  return watcher.finding();
}

}  // namespace

std::string outside_access_of_reference(const Op& op, const Problem& problem, std::uint64_t seed) {
  const UserKernel* const own = op.user_kernel;
  if (own == nullptr || !own->reference_text.empty()) return "";
  const std::unique_ptr<Toolchain> toolchain = make_watched_toolchain();
  if (!toolchain) return "";
  const std::unique_ptr<Device> device = make_device(choose_device(DeviceId::parse("host")));
  std::vector<Problem> all = {problem};
  for (const Problem& companion : op.companions(problem)) all.push_back(complete_problem(op, companion));
  for (const Problem& one : all) {
    if (why_not(own->reference, one, device->facts())) continue;
    const Config config = base_config(op, one, device->facts());
    const Work work = own->reference.work(one, config, device->facts());
    const Source source = render(op, own->reference, one, config, device->facts().target);
    const Compilation compiled = toolchain->compile(source);
    if (!compiled.ok) return "";
    std::vector<std::vector<double>> inputs = make_inputs(op, one, seed);
    take_inputs(op, one, seed, inputs);
    const Watcher::Finding found = found_in(*device, op, one, work, source, compiled.bytes, inputs);
    if (found.kind != Watcher::FindingKind::outside) continue;
    std::string sentence = located(found.sentence, source.text);
    constexpr std::string_view subject = "The variant ";
    if (const std::size_t at = sentence.find(subject); at != std::string::npos)
      sentence.replace(at, subject.size(), "it ");
    return "The reference, the kernel " + own->reference.kernels.front() + " of " + own->file.path +
           ", failed on " + one.text() + ": " + sentence + ".";
  }
  return "";
}

}  // namespace tunesmith
