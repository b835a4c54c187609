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

/// Printed above a table with times of the host.
inline constexpr const char* emulated = "whose times are an emulator's and say nothing of a GPU";

void add_ops_commands(CLI::App& app);  ///< devices, ops
void add_space_command(CLI::App& app);
void add_describe_command(CLI::App& app);
void add_render_command(CLI::App& app);
/// The next three commands set `exit_code` to 130 if they were interrupted.
void add_tune_command(CLI::App& app, const std::string& command_line, int& exit_code);
void add_finals_command(CLI::App& app, const std::string& command_line, int& exit_code);
void add_table_command(CLI::App& app, const std::string& command_line, int& exit_code);
/// check; sets `exit_code` to 1 if a variant is wrong or was not decided, to 130 if it was interrupted.
void add_check_command(CLI::App& app, const std::string& command_line, int& exit_code);
void add_query_command(CLI::App& app);
/// db; sets `exit_code` to 1 if the state of a file is not ok.
void add_db_commands(CLI::App& app, const std::string& command_line, int& exit_code);
/// db carry; sets `exit_code` to 1 if something changed and is not carried.
void add_carry_command(CLI::App& db, const std::string& command_line, int& exit_code);
void add_exchange_commands(CLI::App& db);  ///< db import, db export
/// regret; sets `exit_code` to 130 if it was interrupted.
void add_regret_command(CLI::App& app, int& exit_code);
void add_replay_command(CLI::App& app);
void add_dispatch_commands(CLI::App& app);  ///< explain, export
void add_derive_command(CLI::App& app);     ///< derive: forms of an index expression
/// doctor; sets `exit_code` to 1 if something is broken.
void add_doctor_command(CLI::App& app, int& exit_code);
void add_report_command(CLI::App& app);  ///< report: runs the Python package's command

/// Returns the text by which the database's devices are searched: auto, cuda and cuda:N become the name of
/// that device of this machine; host (every host) and any other text (a part of a name) stay as they are.
/// Throws UsageError that names the existing devices.
std::string device_filter(const std::string& text);

/// Adds the option for an op: its name, or a file my_kernel.cu. For a file, the op that it describes is added
/// to the process and its name is stored.
CLI::Option* add_op_option(CLI::App* command, std::string& name, const std::string& what);

/// Adds --reference, for a user's own kernel.
void add_reference_option(CLI::App* command, std::string& text);
void add_inputs_option(CLI::App* command, std::string& text);

void add_db_option(CLI::App* command, std::filesystem::path& path);
std::filesystem::path database_or_default(const std::filesystem::path& path);

/// Warns on standard error if applications will not use the database, with the reason and what to do.
void warn_if_unused(const std::filesystem::path& database);

/// Checks an option that takes a whole number; any other text is refused with a sentence.
CLI::Validator whole_number(std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// Adds --caches and --launches, which select times of one kind.
void add_kind_options(CLI::App* command, QueryFilter& filter);

/// Returns the first device of "cuda:0,cuda:1", "cuda:all" or a single device. Throws UsageError.
DeviceFacts first_device(const std::string& text);

/// Returns the facts that a target implies about a device: its limits, not its size. Throws UsageError if the
/// text is no target.
DeviceFacts facts_of_target(const std::string& target);

/// Writes the whole text, or throws Error that names the file and the cause.
void write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace tunesmith
