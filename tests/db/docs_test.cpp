// SPDX-License-Identifier: Apache-2.0
// Tests that the commands in docs/database.md work, and that the page names every column of the schema.
#include <set>
#include <sstream>

#include "fixture.h"
#include "tests/source_folder.h"

namespace tunesmith {
namespace {

using DocsTest = DbTest;

TEST_F(DocsTest, EveryQueryFindsSomethingInTheHistoriesThatAreShipped) {
  const std::filesystem::path h200 = file("h200.db"), failures = file("failures.db"), own = file();
  sql(h200, bytes_of(source_folder + std::string("/db/nvidia_h200_conv2d.sql")));
  sql(failures, bytes_of(source_folder + std::string("/db/every_failure.sql")));
  {  // no application wrote to those
    auto store = Store::open(own, Mode::create);
    populate(store);
    store.put_first_use({.problem_id = store.id_of(ProblemRow{.op = "conv2d", .text = "height=1 width=2"}),
                         .device_id = store.id_of(gpu()),
                         .trials = {{.template_name = "tiled", .config = "A=1", .us = 1.5}}});
  }
  std::ifstream docs(source_folder + std::string("/docs/database.md"));
  ASSERT_TRUE(docs);
  int queries = 0;
  bool inside = false;
  std::string query;
  for (std::string line; std::getline(docs, line);) {
    if (line == "```sql") {
      inside = true;
      query.clear();
    } else if (inside && line == "```") {
      inside = false;
      ++queries;
      const bool of_first_uses = query.find("FROM trials") != std::string::npos;
      const std::string found = of_first_uses ? sql(own, query) : sql(h200, query) + sql(failures, query);
      EXPECT_NE(found, "") << query;
    } else if (inside) {
      query += line + '\n';
    }
  }
  EXPECT_GE(queries, 5);
}

TEST_F(DocsTest, EveryColumnIsNamed) {
  { auto store = Store::open(file(), Mode::create); }
  const auto docs = bytes_of(source_folder + std::string("/docs/database.md"));
  std::istringstream columns(
      sql(file(),
          "SELECT group_concat(DISTINCT c.name) FROM sqlite_master m, pragma_table_info(m.name) c "
          "WHERE m.type IN ('table', 'view')"));
  for (std::string column; std::getline(columns, column, ',');) {
    EXPECT_NE(docs.find('`' + column + '`'), std::string::npos) << column;
  }
}

}  // namespace
}  // namespace tunesmith
