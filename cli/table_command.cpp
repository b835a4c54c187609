// SPDX-License-Identifier: Apache-2.0
// `tunesmith table`: reads the request; timing_tables.h does the work.
#include <unistd.h>

#include <iostream>
#include <memory>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/problem_file.h"
#include "cli/timing_tables.h"
#include "cli/tune_options.h"
#include "generator/error.h"
#include "kernel_file/find_op.h"

namespace tunesmith {
namespace {

constexpr const char* op_words = "An op, or a .cu file with a description";

// Adds the problems of the options, which belong to one op.
void add_problems(TuneOptions& options, const TuneRequest& request) {
  const Op& op = find_op(options.op);
  for (const std::string& text : request.problems)
    options.problems.push_back(complete_problem(op, Problem::parse(text)));
  if (request.problem_file.empty()) return;
  const std::vector<Problem> listed = read_problem_file(request.problem_file, &op)[0].problems;
  options.problems.insert(options.problems.end(), listed.begin(), listed.end());
}

void add_make(CLI::App& table, const std::string& command_line, int& exit_code) {
  struct Request : TuneRequest {
    std::size_t searched = 0, measured = 0;
  };
  auto request = std::make_shared<Request>();
  request->options.command = command_line;
  request->options.search.budget = budget_of_an_anchor;
  CLI::App* make =
      table.add_subcommand("make", "Search problems of the op's usual range and measure the best on all");
  add_op_option(make, request->options.op, op_words)->required();
  make->add_option("--searched", request->searched, "Search this many drawn problems")
      ->check(whole_number(1, 10000))
      ->option_text("UINT");
  make->add_option("--measured", request->measured,
                   "Measure the portfolio on this many more, without a search")
      ->check(whole_number(1, 100000))
      ->option_text("UINT");
  add_problem_options(make, *request);
  add_search_options(make, *request);
  add_template_option(make, *request);
  add_run_options(make, *request);
  make->callback([request, &exit_code] {
    TuneOptions asked = tune_options(*request);
    add_problems(asked, *request);
    if (asked.problems.empty() && request->searched == 0)
      throw UsageError("There is no problem to search; add --searched, --problem or --problems.");
    Progress progress(progress_output(), isatty(STDERR_FILENO) != 0);
    make_table(asked, request->searched, request->measured, seconds_of("--total", request->total), progress,
               exit_code);
  });
}

void add_total_option(CLI::App* command, TuneRequest& request) {
  command->add_option("--total", request.total, "Time for all together (5m); what is begun is finished");
}

struct CountRequest : TuneRequest {
  std::size_t count = 0;
  bool guesses = false;
};

void add_guesses_option(CLI::App* command, CountRequest& request) {
  command->add_flag("--guesses", request.guesses,
                    "Only the configs that templates name without measurements, of each of their ways");
}

void add_extend(CLI::App& table, const std::string& command_line, int& exit_code) {
  auto request = std::make_shared<CountRequest>();
  request->options.command = command_line;
  CLI::App* extend = table.add_subcommand(
      "extend", "Measure a table's portfolio, and winners that may be better, on more problems");
  add_op_option(extend, request->options.op, op_words)->required();
  extend->add_option("--measured", request->count, "On this many drawn problems")
      ->required()
      ->check(whole_number(1, 100000))
      ->option_text("UINT REQUIRED");
  add_guesses_option(extend, *request);
  add_total_option(extend, *request);
  add_run_options(extend, *request);
  extend->callback([request, &exit_code] {
    Progress progress(progress_output(), isatty(STDERR_FILENO) != 0);
    extend_table(tune_options(*request), request->count, request->guesses,
                 seconds_of("--total", request->total), progress, exit_code);
  });
}

void add_fill(CLI::App& table, const std::string& command_line, int& exit_code) {
  auto request = std::make_shared<CountRequest>();
  request->options.command = command_line;
  CLI::App* fill = table.add_subcommand("fill", "Measure times that a table lacks");
  add_op_option(fill, request->options.op, op_words)->required();
  fill->add_option("--anchors", request->count, "On this many of its anchors, those that lack most first")
      ->required()
      ->check(whole_number(1, 100000))
      ->option_text("UINT REQUIRED");
  add_template_option(fill, *request);
  add_guesses_option(fill, *request);
  add_total_option(fill, *request);
  add_run_options(fill, *request);
  fill->callback([request, &exit_code] {
    Progress progress(progress_output(), isatty(STDERR_FILENO) != 0);
    fill_table(tune_options(*request), request->count, request->guesses,
               seconds_of("--total", request->total), progress, exit_code);
  });
}

struct Filter {
  std::filesystem::path database;
  std::string op, device;
  bool extend = false;
};

void add_filter_options(CLI::App* command, Filter& filter) {
  add_op_option(command, filter.op, "Only this op");
  command->add_option("--device", filter.device,
                      "Only this device: auto, cuda, cuda:N, host, or part of a device's name");
  add_db_option(command, filter.database);
}

void add_list(CLI::App& table) {
  auto filter = std::make_shared<Filter>();
  CLI::App* list = table.add_subcommand("list", "List the tables of the database and of the library");
  add_filter_options(list, *filter);
  list->callback([filter] {
    const std::string tables =
        list_tables(database_or_default(filter->database), filter->op, device_filter(filter->device));
    std::cout << (tables.empty() ? "There is no such table.\n" : tables);
  });
}

void add_remake(CLI::App& table, const std::string& command_line) {
  auto filter = std::make_shared<Filter>();
  CLI::App* remake = table.add_subcommand(
      "remake", "Make tables anew from all measurements of the database, without measuring");
  add_filter_options(remake, *filter);
  remake->add_flag("--extend", filter->extend,
                   "Add the measurements to the known tables, the built-in ones included");
  remake->callback([filter, command_line] {
    if (!filter->op.empty()) find_op(filter->op);
    const std::filesystem::path database = database_or_default(filter->database);
    Store store = Store::open(database, Store::Mode::read_write);
    const std::string made = remake_tables(store, database, filter->op, device_filter(filter->device),
                                           filter->extend, command_line);
    std::cout << (made.empty() ? "No problem has enough measurements for a table; see table make.\n" : made);
  });
}

}  // namespace

void add_table_command(CLI::App& app, const std::string& command_line, int& exit_code) {
  CLI::App* table =
      app.add_subcommand("table", "Make, extend, fill and list the timing tables that dispatch chooses from");
  table->require_subcommand(1);
  add_make(*table, command_line, exit_code);
  add_extend(*table, command_line, exit_code);
  add_fill(*table, command_line, exit_code);
  add_list(*table);
  add_remake(*table, command_line);
}

}  // namespace tunesmith
