// SPDX-License-Identifier: Apache-2.0
// The commands of the `tunesmith` program. Each function adds subcommands whose callbacks do the work and
// throw UsageError or Error; main.cpp turns those into exit codes.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

#include "db/rows.h"
#include "generator/op.h"

namespace tunesmith {

/// Above a table with times of the host.
inline constexpr const char* emulated = "whose times are an emulator's and say nothing of a GPU";

void add_ops_commands(CLI::App& app);  ///< devices, ops
void add_space_command(CLI::App& app);
void add_render_command(CLI::App& app);
/// These three set `exit_code` to 130 if they were interrupted.
void add_tune_command(CLI::App& app, const std::string& command_line, int& exit_code);
void add_finals_command(CLI::App& app, const std::string& command_line, int& exit_code);
void add_table_command(CLI::App& app, const std::string& command_line, int& exit_code);
/// check; sets `exit_code` to 1 where a variant is wrong, to 130 if it was interrupted.
void add_check_command(CLI::App& app, const std::string& command_line, int& exit_code);
void add_query_command(CLI::App& app);
/// db; sets `exit_code` to 1 where a file's state is not ok.
void add_db_commands(CLI::App& app, const std::string& command_line, int& exit_code);
/// db carry; sets `exit_code` to 1 where something changed that is not carried.
void add_carry_command(CLI::App& db, const std::string& command_line, int& exit_code);
void add_exchange_commands(CLI::App& db);  ///< db import, db export
/// regret; sets `exit_code` as above.
void add_regret_command(CLI::App& app, int& exit_code);
void add_replay_command(CLI::App& app);
void add_dispatch_commands(CLI::App& app);  ///< explain, export
void add_derive_command(CLI::App& app);     ///< derive: forms of an index expression
void add_report_command(CLI::App& app);     ///< report: the Python package's

/// What the database's devices are searched for: auto, cuda and cuda:N stand for the name of that device of
/// this machine; host, for every host, and any other text, for a part of a name, stay as they are. Throws
/// UsageError naming the devices there are.
std::string device_filter(const std::string& text);

/// The name of an op; of a file my_kernel.cu, that of the op which it describes, which is then known.
CLI::Option* add_op_option(CLI::App* command, std::string& name, const std::string& what);

/// --reference, of a kernel of the user's own.
void add_reference_option(CLI::App* command, std::string& text);
void add_inputs_option(CLI::App* command, std::string& text);

void add_db_option(CLI::App* command, std::filesystem::path& path);
std::filesystem::path database_or_default(const std::filesystem::path& path);

/// Says on standard error why applications will not use the database, and what to do; nothing if they will.
void warn_if_unused(const std::filesystem::path& database);

/// Of an option that takes a whole number; any other text is refused with a sentence.
CLI::Validator whole_number(std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// --caches and --launches: times of one kind alone.
void add_kind_options(CLI::App* command, QueryFilter& filter);

/// Of "cuda:0,cuda:1", "cuda:all" or a single device, the first. Throws UsageError.
DeviceFacts first_device(const std::string& text);

/// What a target says about a device: its limits, not its size. Throws UsageError for what is no target.
DeviceFacts facts_of_target(const std::string& target);

/// Writes the whole text, or throws Error naming the file and the cause.
void write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace tunesmith
