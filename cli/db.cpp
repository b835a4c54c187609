// SPDX-License-Identifier: Apache-2.0
// db: commands on a database file, and merging of others into it.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/text_table.h"
#include "db/store.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/number_text.h"

namespace tunesmith {
namespace {

void print_status(const StoreStatus& status) {
  const double mib = static_cast<double>(status.size_bytes) / (1 << 20);
  std::cout << status.path.string() << ": " << printed("%.1f", mib) << " MiB, schema "
            << status.schema_version << ", journal " << status.journal_mode << ", check " << status.check
            << "\n\n";
  TextTable rows({"table", "rows"});
  for (const auto& [name, count] : status.rows) rows.add({name, count});
  TextTable verdicts({"verdict", "variants"});
  for (const auto& [name, count] : status.verdicts) verdicts.add({name, count});
  std::cout << rows.text();
  if (!verdicts.empty()) std::cout << '\n' << verdicts.text();
  if (const auto& newest = status.newest_session) {
    std::cout << "\nNewest session: " << newest->command << "\n  on " << newest->device << ", "
              << newest->state << ", started " << newest->started_at << ": "
              << counted(static_cast<std::size_t>(newest->measurements), "measurement") << ", " << newest->ok
              << " ok\n";
  }
  for (const std::string& hint : status.hints) std::cout << hint << '\n';
}

void print_merged(const MergeReport& report) {
  const auto number = [](auto count, const char* noun) {
    return counted(static_cast<std::size_t>(count), noun);
  };
  std::cout << number(report.sessions, "session") << " and " << number(report.measurements, "measurement")
            << " were new; " << number(report.winners_taken, "winner") << " taken, " << report.winners_kept
            << " kept.\n";
  if (report.other_kinds > 0) {
    std::cout << "Of these, " << report.other_kinds << (report.other_kinds == 1 ? " was" : " were")
              << " measured with other caches or launches in one file than in the other: the later choice "
                 "counts.\n";
  }
}

constexpr const char* take_binaries =
    "Take the binaries too: machine code that dispatch will run, so only from those whom you trust";

}  // namespace

void add_db_commands(CLI::App& app, const std::string& command_line, int& exit_code) {
  struct Request {
    std::filesystem::path database, file;
    std::vector<std::filesystem::path> others;
    bool binaries = false;
    Store::Blobs blobs() const { return binaries ? Store::Blobs::include : Store::Blobs::omit; }
  };
  auto request = std::make_shared<Request>();
  CLI::App* db =
      app.add_subcommand("db", "Check, carry, dump, load, merge, import and export database files");
  db->require_subcommand(1);

  add_exchange_commands(*db);
  add_carry_command(*db, command_line, exit_code);
  CLI::App* status = db->add_subcommand("status", "Show what the file holds and check that it is intact");
  add_db_option(status, request->database);
  status->callback([request, &exit_code] {
    const StoreStatus found =
        Store::open(database_or_default(request->database), Store::Mode::read_only).status();
    print_status(found);
    warn_if_unused(found.path);
    if (found.check != "ok") exit_code = 1;
  });

  CLI::App* dump = db->add_subcommand("dump", "Write the database as SQL text, fit for version control");
  dump->add_option("-o,--output", request->file, "File to write (default: stdout)");
  dump->add_flag("--binaries", request->binaries, "Include the winners' binaries");
  add_db_option(dump, request->database);
  dump->callback([request] {
    const Store store = Store::open(database_or_default(request->database), Store::Mode::read_only);
    if (request->file.empty()) return store.write_text(exact_output(), request->blobs());
    std::ostringstream text;
    store.write_text(text, request->blobs());
    write_file(request->file, text.str());
  });

  CLI::App* load = db->add_subcommand("load", "Merge a text file, written by \"db dump\", into the database");
  load->add_option("FILE", request->file, "Text file to load")->required();
  load->add_flag("--binaries", request->binaries, take_binaries);
  add_db_option(load, request->database);
  load->callback([request] {
    errno = 0;
    std::ifstream text(request->file, std::ios::binary);
    if (!text)
      throw Error("The file " + request->file.string() + " cannot be read: " + std::strerror(errno) + ".");
    MergeSource source = MergeSource::text(text);
    print_merged(Store::open(database_or_default(request->database), Store::Mode::create)
                     .merge(std::move(source), request->blobs()));
  });

  CLI::App* merge = db->add_subcommand("merge", "Merge databases into one");
  merge->add_option("OUT", request->database, "The database to merge into; created if it does not exist")
      ->required();
  merge->add_option("IN", request->others, "Databases to merge; they are not changed")->required();
  merge->add_flag("--binaries", request->binaries, take_binaries);
  merge->callback([request] {
    for (const auto& other : request->others)
      if (!std::filesystem::exists(other))
        throw Error("There is no database " + other.string() + " to merge.");
    // All files are checked before the first is merged: a damaged one leaves OUT as it is.
    for (const auto& other : request->others) MergeSource::file(other);
    Store store = Store::open(request->database, Store::Mode::create);
    MergeReport all;
    for (const auto& other : request->others) all += store.merge_from(other, request->blobs());
    print_merged(all);
  });
}

}  // namespace tunesmith
