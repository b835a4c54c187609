// SPDX-License-Identifier: Apache-2.0
// A variant on the host: a shared object whose kernels run on the shim (templates/common/host_shim.h).
#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <mutex>
#include <thread>

#include "runtime/executable.h"
#include "runtime/files.h"
#include "runtime/launch_check.h"
#include "runtime/process_mutex.h"
#include "runtime/watch.h"

namespace tunesmith {
namespace {

using LaunchFunction = int (*)(void* const*, const long long*, const long long*, long long, int);
using SharedBytes = long long (*)();
using Parameter = long long (*)(int);

// The shim's result codes, equal to those in tunesmith_shim; host_shared_overrun is another.
constexpr int out_of_memory = 1, divergent_barrier = 3, trapped = 4, broken_assumption = 5,
              divergent_warp = 6, misaligned = 8, never_signalled = 10, differing_lanes = 11,
              other_block = 12, grid_waits = 13, not_shared = 15;

// Ends the launch that this thread runs, from within its kernel.
thread_local void (*end_launch)(int code) = nullptr;
thread_local const void* fault_address = nullptr;

// A BoxedArray as the shim's TensorMap has it (templates/common/host/boxes.h).
struct alignas(BoxedArray::alignment) HostBoxes {
  const char* first = nullptr;
  long long strides[BoxedArray::most_dimensions] = {};  // in bytes
  int extents[BoxedArray::most_dimensions] = {}, sides[BoxedArray::most_dimensions] = {};
  int rank = 0, element_bytes = 0, walks = 0;
  std::array<short, 3> firsts = {}, behind = {}, steps = {};

  HostBoxes() = default;
  HostBoxes(const BoxedArray& boxed, const char* its_first)
      : first(its_first),
        rank(static_cast<int>(boxed.dimensions.size())),
        element_bytes(int32(boxed.element_bytes)),
        walks(static_cast<int>(boxed.walks())) {
    for (std::size_t d = 0; d < boxed.dimensions.size(); ++d) {
      strides[d] = boxed.dimensions[d].stride * boxed.element_bytes;
      extents[d] = int32(boxed.dimensions[d].extent);
      sides[d] = int32(boxed.dimensions[d].side);
    }
    for (std::size_t w = 0; w < boxed.walks(); ++w) {
      const BoxedArray::Dimension& dimension = boxed.dimensions[w + 1];
      firsts.at(w) = static_cast<short>(dimension.first);
      behind.at(w) = static_cast<short>(dimension.behind());
      steps.at(w) = static_cast<short>(dimension.step);
    }
  }
};
static_assert(sizeof(HostBoxes) == BoxedArray::bytes);

void on_fault(int signal, siginfo_t* info, void* /*context*/) {
  if (end_launch == nullptr) {  // not in a kernel: the repeated access ends the process
    ::signal(signal, SIG_DFL);
    return;
  }
  fault_address = info->si_addr;
  end_launch(host_fault);  // does not return: the kernel's stack and this frame on it are abandoned
}

// The loader needs a file: this one is in memory, and is closed after loading.
void* open_library(const std::string& binary) {
  const int file = memfd_create("tunesmith-variant", MFD_CLOEXEC);
  if (file < 0)
    throw LoadError(
        "No memory file could be created for the host's binary: " + std::string(std::strerror(errno)) + ".",
        LoadError::Cause::busy);
  std::size_t written = 0;
  while (written < binary.size()) {
    const ssize_t some = write(file, binary.data() + written, binary.size() - written);
    if (some <= 0) {
      close(file);
      throw LoadError(
          "The host's binary of " + std::to_string(binary.size()) + " bytes did not fit into memory.",
          LoadError::Cause::busy);
    }
    written += static_cast<std::size_t>(some);
  }
  // The loader recognises a library by its path, and file numbers are reused, so each load spells the path
  // differently: by its number, and by the place of the counter, since another copy of this code in the
  // process, such as that of a static export, counts its own loads.
  static std::atomic<std::uint64_t> loads = 0;
  std::string path = "/proc/self/fd";
  for (const std::uint64_t word : {++loads, std::uint64_t{reinterpret_cast<std::uintptr_t>(&loads)}}) {
    for (int bit = 0; bit < 64; ++bit) path += (word >> bit & 1) != 0 ? "/." : "/";
  }
  path += "/" + std::to_string(file);
  errno = 0;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto cause = is_shortage(errno) ? LoadError::Cause::busy : LoadError::Cause::refused;
  const char* why = library == nullptr ? dlerror() : nullptr;
  close(file);
  if (library == nullptr) {
    throw LoadError(
        "The host's binary does not load: " + std::string(why == nullptr ? "no reason given" : why) + ".",
        cause);
  }
  return library;
}

// A binary in this process with the shim's state, shared by the executables made from it.
struct Library {
  Library(const std::string& binary, const std::string& suffix_)
      : suffix(suffix_),
        handle(open_library(binary)),
        fail(reinterpret_cast<void (*)(int)>(dlsym(handle, "tunesmith_fail"))) {}
  ~Library() { dlclose(handle); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  std::string suffix;
  void* handle;
  void (*fail)(int code);  ///< null in a binary of an older version
  ProcessMutex mutex;
};

// Returns the length of an exported variable's name without the variant's suffix, as in count_1f2e3d4c.
std::size_t length_without_suffix(const std::string& name) {
  constexpr std::size_t suffix = 9;
  const std::size_t end = name.size() < suffix ? 0 : name.size() - suffix;
  const bool has_suffix =
      end > 0 && name[end] == '_' && name.find_first_not_of("0123456789abcdef", end + 1) == std::string::npos;
  return has_suffix ? end : name.size();
}

// Returns the name in the source: "part" for the symbol _ZZ10layer_normE4part.
std::string source_name(const std::string& symbol) {
  int status = 0;
  char* const words = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string name = words == nullptr ? symbol : words;
  std::free(words);
  const std::size_t colon = name.rfind("::");
  return colon == std::string::npos ? name.substr(0, length_without_suffix(name)) : name.substr(colon + 2);
}

// Unpacks parameters, which templates/common/host/entry.h packs as 4 * bytes + kind.
std::vector<ParameterFacts> unpacked(Parameter parameter) {
  static constexpr ParameterKind kinds[] = {ParameterKind::unknown, ParameterKind::pointer,
                                            ParameterKind::integer, ParameterKind::floating};
  std::vector<ParameterFacts> facts;
  for (int n = 0; parameter(n) >= 0; ++n) facts.push_back({parameter(n) / 4, kinds[parameter(n) % 4]});
  return facts;
}

// True for a variable of the variant's own text, which lies in an unnamed namespace. A variable that is
// filled before launches is exported by its name.
bool is_of_text(const std::string& name) {
  return name.find("_GLOBAL__N_1") != std::string::npos ||
         (!name.starts_with("_") && length_without_suffix(name) < name.size());
}

// Reads the memory ranges of a shared object, which is loaded at `base`, from its ELF headers.
ModuleMemory memory_of(const std::string& binary, const char* base) {
  const auto at = [&]<typename T>(std::size_t offset, T& to) {
    if (offset + sizeof(T) > binary.size()) throw LoadError("The host's binary is cut off.");
    std::memcpy(&to, binary.data() + offset, sizeof(T));
  };
  ModuleMemory memory;
  Elf64_Ehdr header;
  at(0, header);
  memory.start = memory.end = base;
  for (std::size_t n = 0; n < header.e_phnum; ++n) {
    Elf64_Phdr segment;
    at(header.e_phoff + n * header.e_phentsize, segment);
    if (segment.p_type == PT_LOAD)
      memory.end = std::max(memory.end, base + segment.p_vaddr + segment.p_memsz);
  }
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  for (std::size_t n = 0; n < sections.size(); ++n) at(header.e_shoff + n * header.e_shentsize, sections[n]);
  const auto text = [&](const Elf64_Shdr& names, std::size_t offset) {
    return std::string(binary.data() + std::min<std::size_t>(names.sh_offset + offset, binary.size()));
  };
  std::size_t shared = 0;
  for (std::size_t n = 1; n < sections.size(); ++n) {
    const std::string name = text(sections.at(header.e_shstrndx), sections[n].sh_name);
    if (name != "tunesmith_shared" && name != ".noinit") continue;  // as common/host/shared_memory.h has it
    shared = n;
    memory.shared_start = base + sections[n].sh_addr;
    memory.shared_end = memory.shared_start + sections[n].sh_size;
  }
  for (const Elf64_Shdr& table : sections) {
    if (table.sh_type != SHT_SYMTAB) continue;
    for (std::size_t offset = 0; offset < table.sh_size; offset += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      at(table.sh_offset + offset, symbol);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_size == 0) continue;
      const std::string name = text(sections.at(table.sh_link), symbol.st_name);
      if (name.find("tunesmith_guard_") != std::string::npos) continue;
      const ModuleArray one{source_name(name), base + symbol.st_value,
                            static_cast<std::int64_t>(symbol.st_size)};
      const bool is_shims = name.find("tunesmith_") != std::string::npos;
      if (shared != 0 && symbol.st_shndx == shared) {
        memory.arrays.push_back(one);
      } else if (!is_shims && is_of_text(name) && symbol.st_shndx < sections.size() &&
                 (sections[symbol.st_shndx].sh_flags & SHF_WRITE) != 0) {
        memory.variables.push_back(one);
      }
    }
  }
  std::sort(memory.arrays.begin(), memory.arrays.end(),
            [](const ModuleArray& a, const ModuleArray& b) { return a.start < b.start; });
  return memory;
}

class HostExecutable : public Executable {
 public:
  HostExecutable(std::shared_ptr<Library> library, const Work& work)
      : work_(work), library_(std::move(library)) {
    require_limits(work_, host_facts());
    for (const Step& step : work_.steps) {
      if (const auto* launch = std::get_if<Launch>(&step)) {
        const std::string kernel = launch->kernel + library_->suffix;
        symbols_.push_back(find("tunesmith_run_" + kernel));
        const auto shared = reinterpret_cast<SharedBytes>(find("tunesmith_shared_bytes_" + kernel));
        facts_.static_shared_bytes = std::max(facts_.static_shared_bytes, std::int64_t{shared()});
        if (launch->arguments.size() > max_parameters) {
          throw LoadError(launch->kernel + " has " + std::to_string(launch->arguments.size()) +
                          " parameters; at most " + std::to_string(max_parameters) + " are supported.");
        }
        if (const auto why = place_mismatch(*launch)) throw LoadError(*why);
        if (const auto why = too_many_boxes(*launch)) throw LoadError(*why);
        // A binary of an older version does not export its parameters; its launches are not checked.
        if (void* parameter = dlsym(library_->handle, ("tunesmith_parameter_" + kernel).c_str())) {
          const std::vector<ParameterFacts> taken = unpacked(reinterpret_cast<Parameter>(parameter));
          if (const auto why = parameter_mismatch(launch->kernel, launch->arguments, taken))
            throw LoadError(*why);
        }
      } else if (const auto* copy = std::get_if<ConstantCopy>(&step)) {
        const Symbol symbol = symbol_of(copy->symbol + library_->suffix);
        if (symbol.bytes < copy->bytes) {
          throw LoadError("The symbol " + copy->symbol + " holds " + std::to_string(symbol.bytes) +
                          " bytes, too few for the " + std::to_string(copy->bytes) + " to be copied.");
        }
        symbols_.push_back(symbol.place);
        symbol_bytes_.push_back(symbol.bytes);
      } else {
        symbols_.push_back(nullptr);
      }
    }
    require_limits(work_, host_facts(), facts_.static_shared_bytes);
  }
  HostExecutable(const HostExecutable&) = delete;
  HostExecutable& operator=(const HostExecutable&) = delete;

  BinaryFacts facts() const override { return facts_; }

  std::unique_ptr<Executable> with(const Work& work) const override {
    return std::make_unique<HostExecutable>(library_, work);
  }

  int launch(void* const* arguments, void* workspace, void* stream,
             const LaunchNumbers* numbers) noexcept override {
    if (workspace == nullptr && work_.workspace_bytes > 0) {
      constexpr std::size_t alignment = 256;
      const auto bytes =
          (static_cast<std::size_t>(work_.workspace_bytes) + alignment - 1) / alignment * alignment;
      void* const made = std::aligned_alloc(alignment, bytes);
      if (made == nullptr) return out_of_memory;
      std::memset(made, 0, static_cast<std::size_t>(work_.zeroed_bytes));
      const int code = launch(arguments, made, stream, numbers);
      std::free(made);
      return code;
    }
    // The shim's state belongs to the module, so launches of one variant wait for each other. Only on the
    // host a launch takes a lock.
    const std::lock_guard one_at_a_time(library_->mutex);
    std::size_t copies = 0;
    for (std::size_t n = 0; n < work_.steps.size(); ++n) {
      if (const auto* copy = std::get_if<ConstantCopy>(&work_.steps[n])) {
        const auto size = static_cast<std::size_t>(symbol_bytes_[copies++]);
        const auto bytes = static_cast<std::size_t>(copy->bytes);
        auto* const to = static_cast<char*>(symbols_[n]);
        if (copy->argument < 0) {
          std::memset(to, 0, size);
          continue;
        }
        if (bytes > 0) std::memcpy(to, arguments[copy->argument], bytes);
        // Nobody may read what lies behind the argument's elements.
        if (size > bytes) std::memset(to + bytes, 0xff, size - bytes);
        continue;
      }
      if (const auto* zero = std::get_if<Zero>(&work_.steps[n])) {
        std::memset(pointer_to(zero->what, arguments, workspace), 0, static_cast<std::size_t>(zero->bytes));
        continue;
      }
      const auto& launch = std::get<Launch>(work_.steps[n]);
      void* pointers[max_parameters];
      void* parameters[max_parameters];
      HostBoxes boxes[BoxedArray::most_of_launch];
      std::size_t number_of_boxes = 0;
      for (std::size_t p = 0; p < launch.arguments.size(); ++p) {
        const KernelArgument& argument = launch.arguments[p];
        if (const auto* of_op = std::get_if<ArgumentPointer>(&argument)) {
          pointers[p] = pointer_to(*of_op, arguments, workspace);
          parameters[p] = &pointers[p];
        } else if (const auto* inside = std::get_if<WorkspacePointer>(&argument)) {
          pointers[p] = pointer_to(*inside, arguments, workspace);
          parameters[p] = &pointers[p];
        } else if (const auto* boxed = std::get_if<BoxedArray>(&argument)) {
          boxes[number_of_boxes] = HostBoxes(*boxed, first_of(*boxed, arguments, workspace));
          parameters[p] = &boxes[number_of_boxes++];
        } else {
          // A scalar is passed by the address of its value; the kernel's parameter has the same type.
          parameters[p] = const_cast<void*>(scalar_of(argument, place_of(launch, p), numbers));
        }
      }
      const long long grid[] = {launch.grid.x, launch.grid.y, launch.grid.z};
      const long long block[] = {launch.block.x, launch.block.y, launch.block.z};
      const BlockOrder order = launch.waits_for_blocks ? BlockOrder::ascending : order_;
      end_launch = library_->fail;
      const int code = reinterpret_cast<LaunchFunction>(symbols_[n])(
          parameters, grid, block, launch.dynamic_shared_bytes, way_ | static_cast<int>(order) << 2);
      end_launch = nullptr;
      if (code != 0) return code;
    }
    return 0;
  }

  bool makes_workspaces() const noexcept override { return true; }

  std::string describe(int error) const override {
    switch (error) {
      case 0:
        return "no error";
      case out_of_memory:
        return "there was not enough memory for the threads' stacks, the block's shared memory or a "
               "workspace";
      case host_shared_overrun:
        return "the kernel wrote outside its dynamic shared memory";
      case divergent_barrier:
        return "threads of a block waited at different barriers";
      case trapped:
        return "the kernel called __trap()";
      case broken_assumption:
        return "the condition of a __builtin_assume() in the kernel was false";
      case host_fault:
        return "the kernel accessed memory that is not there";
      case host_watch_ended:
        return "the watch ended the launch";
      case misaligned:
        return "the kernel loads or stores several elements at once at an address that is not a multiple of "
               "their "
               "size; give the template's alignment_bytes, or align the array in shared memory";
      case divergent_warp:
        return "not all threads of a warp reached the warp collective (shuffle, vote, __syncwarp) whose mask "
               "names them";
      case never_signalled:
        return "threads of a block waited at a cuda::barrier or cuda::pipeline for others that never arrive";
      case differing_lanes:
        return "the lanes of a warp gave one function of matrices (wmma) different pointers";
      case other_block:
        return "a collective of CUB was made for another number of threads than the block has";
      case not_shared:
        return "an instruction of inline PTX got a number that is no address of the block's shared memory "
               "(__cvta_generic_to_shared() gives one)";
      case grid_waits:
        return "threads waited at grid.sync() for others that never arrive, because a block or a thread has "
               "ended or waits elsewhere";
      case host_waits_for_ever:
        return "the kernel waits for ever: its threads look again and again at words in memory that no "
               "thread changes; is a lock not released, or a flag not set?";
      default:
        return "the launch on the host returned the unknown code " + std::to_string(error);
    }
  }

  // Packs the arguments as templates/common/host/launch.h unpacks them; 0 always means in order with NaN.
  void emulate(bool reverse, Poison poison) override {
    const bool alternates = poison == Poison::large_and_small || poison == Poison::small_and_large;
    way_ = (reverse ? 1 : 0) | (alternates ? 2 : 0) | (byte_of(poison) ^ byte_of(Poison::nan)) << 8;
  }

  void set_block_order(BlockOrder order) { order_ = order; }

  ModuleMemory set_watch(const Watch* watch, const std::string& binary) {
    reinterpret_cast<void (*)(const Watch*)>(find("tunesmith_watch"))(watch);
    Dl_info image{};
    if (dladdr(reinterpret_cast<void*>(library_->fail), &image) == 0)
      throw Error("The loader does not know where it has put the host's binary.");
    return memory_of(binary, static_cast<const char*>(image.dli_fbase));
  }

 private:
  struct Symbol {
    void* place = nullptr;
    std::int64_t bytes = 0;
  };
  Symbol symbol_of(const std::string& name) const {
    if (void* const exported = dlsym(library_->handle, ("tunesmith_symbol_" + name).c_str())) {
      long long bytes = 0;
      void* const place = reinterpret_cast<void* (*)(long long*)>(exported)(&bytes);
      return {place, bytes};
    }
    Symbol symbol{find(name)};
    Dl_info ignored;
    const Elf64_Sym* entry = nullptr;
    void* extra = nullptr;
    if (dladdr1(symbol.place, &ignored, &extra, RTLD_DL_SYMENT) != 0)
      entry = static_cast<const Elf64_Sym*>(extra);
    symbol.bytes = entry != nullptr ? static_cast<std::int64_t>(entry->st_size) : 0;
    return symbol;
  }
  void* find(const std::string& name) const {
    void* symbol = dlsym(library_->handle, name.c_str());
    if (symbol == nullptr)
      throw LoadError("The host's binary has no " + name + "; it was made from another source.");
    return symbol;
  }

  Work work_;
  std::shared_ptr<Library> library_;
  std::vector<void*> symbols_;              ///< by step: the kernel's entry or the constant symbol
  std::vector<std::int64_t> symbol_bytes_;  ///< by ConstantCopy
  BinaryFacts facts_;
  int way_ = 0;
  BlockOrder order_ = BlockOrder::ascending;
};

}  // namespace

ModuleMemory set_watch(Executable& executable, const Watch* watch, const std::string& binary) {
  return dynamic_cast<HostExecutable&>(executable).set_watch(watch, binary);
}

void set_block_order(Executable& executable, BlockOrder order) {
  if (auto* host = dynamic_cast<HostExecutable*>(&executable)) host->set_block_order(order);
}

void* load_symbol(const std::string& binary, const char* name) {
  void* const symbol = dlsym(open_library(binary), name);
  if (symbol == nullptr) throw LoadError("The host's binary has no function " + std::string(name) + ".");
  return symbol;
}

std::unique_ptr<Executable> load_host(const std::string& binary, const std::string& suffix,
                                      const Work& work) {
  return std::make_unique<HostExecutable>(std::make_shared<Library>(binary, suffix), work);
}

void catch_host_faults() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;  // the handler of a kernel's fault does not return
    ::sigaction(SIGSEGV, &action, nullptr);
    ::sigaction(SIGBUS, &action, nullptr);
  });
}

const void* host_fault_address() { return fault_address; }

bool is_host_memory(const void* first, std::size_t bytes) noexcept {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto is_mapped = [](std::uintptr_t address) {
    unsigned char resident = 0;
    return mincore(reinterpret_cast<void*>(address / page * page), page, &resident) == 0;
  };
  const auto begin = reinterpret_cast<std::uintptr_t>(first);
  return is_mapped(begin) && is_mapped(begin + bytes - 1);
}

namespace {

DeviceFacts read_host_facts() {
  DeviceFacts facts{.kind = DeviceKind::host, .name = "host CPU", .target = "host"};
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      facts.name = line.substr(colon + 2);
      break;
    }
  }
  if (const char* given = ::secure_getenv("TUNESMITH_HOST_NAME"); given != nullptr && *given != '\0')
    facts.name = given;  // many processors have no name in /proc/cpuinfo
  facts.multiprocessors = static_cast<int>(std::thread::hardware_concurrency());
  facts.memory_bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  // The emulated GPU has the limits that CUDA grants every kernel, with the shared memory of compute
  // capability 8.6.
  facts.max_shared_bytes_per_block = std::int64_t{99} * 1024;
  return facts;
}

}  // namespace

DeviceFacts host_facts() {
  static const DeviceFacts facts = read_host_facts();
  return facts;
}

}  // namespace tunesmith
