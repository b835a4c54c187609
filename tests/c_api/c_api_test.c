// SPDX-License-Identifier: Apache-2.0
// Uses all of tunesmith.h on the host device, correctly and incorrectly.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>

#include "tunesmith/tunesmith.h"

static int failures = 0;

static void expect(int is_true, const char* what, int line) {
  if (is_true) return;
  ++failures;
  fprintf(stderr, "line %d: not so: %s; message: %s\n", line, what, tunesmith_message());
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)
// Expects that the message contains these words.
#define EXPECT_SAYS(words) expect(strstr(tunesmith_message(), words) != NULL, "says " words, __LINE__)

static const char* const problem = "height=4 width=5 mask_height=2 mask_width=2 dtype=f64 mode=convolution";

static tunesmith_dispatcher* make_dispatcher(void) {
  tunesmith_dispatcher* dispatcher = NULL;
  EXPECT(tunesmith_dispatcher_create("device=host database=\"\" cache_folder=\"\" compile=never",
                                     &dispatcher) == TUNESMITH_SUCCESS);
  return dispatcher;
}

static void test_a_launch(void) {
  tunesmith_dispatcher* dispatcher = make_dispatcher();
  EXPECT(strlen(tunesmith_dispatcher_device(dispatcher)) > 0);
  EXPECT(tunesmith_dispatcher_cuda_ordinal(dispatcher) == -1);
  EXPECT(strstr(tunesmith_dispatcher_notes(dispatcher), "No database is used") != NULL);

  tunesmith_plan* plan = NULL;
  EXPECT(tunesmith_plan_create(dispatcher, "conv2d", problem, &plan) == TUNESMITH_SUCCESS);
  EXPECT(tunesmith_plan_match(plan) == TUNESMITH_BASE);
  EXPECT(tunesmith_plan_expected_us(plan) == 0);
  EXPECT(tunesmith_plan_expected_loss(plan) == 0);
  EXPECT(strcmp(tunesmith_plan_template(plan), "base") == 0);
  EXPECT(strstr(tunesmith_plan_config(plan), "=") != NULL);
  EXPECT(strstr(tunesmith_plan_problem(plan), "batch=1") != NULL);
  EXPECT(tunesmith_plan_alignment_bytes(plan) >= 1);
  EXPECT(tunesmith_plan_workspace_bytes(plan) == 0);
  EXPECT(tunesmith_plan_outdated(plan) == 0);
  EXPECT(tunesmith_plan_argument_count(plan) == 3);
  EXPECT(tunesmith_plan_argument_bytes(plan, 0) == 160);
  EXPECT(tunesmith_plan_argument_bytes(plan, 1) == 32);
  EXPECT(tunesmith_plan_argument_bytes(plan, 3) == 0);  // no such argument

  double image[20], output[20];
  for (int i = 0; i < 20; ++i) image[i] = 1;
  double mask[4] = {1, 2, 3, 4};
  void* arguments[3] = {image, mask, output};
  tunesmith_dispatcher_destroy(dispatcher);  // plans stay valid
  EXPECT(tunesmith_plan_launch(plan, arguments, 3, NULL, NULL) == TUNESMITH_SUCCESS);
  EXPECT(output[0] == 10 && output[4] == 6 && output[15] == 7 && output[19] == 4);

  EXPECT(tunesmith_plan_launch(plan, arguments, 2, NULL, NULL) == TUNESMITH_WRONG_ARGUMENT_COUNT);
  EXPECT_SAYS("one pointer for each");
  arguments[1] = NULL;
  EXPECT(tunesmith_plan_launch(plan, arguments, 3, NULL, NULL) == TUNESMITH_NULL_ARGUMENT);
  EXPECT_SAYS("mask is a null pointer");
  arguments[1] = (char*)mask + 1;
  EXPECT(tunesmith_plan_launch(plan, arguments, 3, NULL, NULL) == TUNESMITH_MISALIGNED_ARGUMENT);
  EXPECT_SAYS("not aligned");
  arguments[1] = output;
  EXPECT(tunesmith_plan_launch(plan, arguments, 3, NULL, NULL) == TUNESMITH_OVERLAPPING_ARGUMENTS);
  EXPECT_SAYS("overlaps");
  EXPECT(tunesmith_plan_launch(plan, NULL, 3, NULL, NULL) == TUNESMITH_WRONG_INPUT);
  EXPECT_SAYS("arguments is null");
  tunesmith_plan_destroy(plan);
}

static void test_a_launch_with_numbers(void) {
  tunesmith_dispatcher* dispatcher = make_dispatcher();
  tunesmith_plan* plan = NULL;
  EXPECT(tunesmith_plan_create(dispatcher, "histogram", "length=4 bins=2", &plan) == TUNESMITH_SUCCESS);
  float values[4] = {0.1f, 0.6f, 0.9f, 3};
  int64_t counts[2] = {-1, -1};
  void* arguments[2] = {values, counts};
  EXPECT(tunesmith_plan_launch(plan, arguments, 2, NULL, NULL) == TUNESMITH_SUCCESS);
  EXPECT(counts[0] == 1 && counts[1] == 2);  // its problem's limits are 0 and 1
  double limits[2] = {0, 4};
  EXPECT(tunesmith_plan_launch_with_numbers(plan, arguments, 2, limits, 2, NULL, NULL) == TUNESMITH_SUCCESS);
  EXPECT(counts[0] == 3 && counts[1] == 1);
  EXPECT(tunesmith_plan_launch_with_numbers(plan, arguments, 2, NULL, 0, NULL, NULL) == TUNESMITH_SUCCESS);
  EXPECT(counts[0] == 1 && counts[1] == 2);

  EXPECT(tunesmith_plan_launch_with_numbers(plan, arguments, 2, limits, 1, NULL, NULL) ==
         TUNESMITH_WRONG_NUMBER_COUNT);
  EXPECT_SAYS("one for each of these: lo, hi");
  limits[0] = 5;
  EXPECT(tunesmith_plan_launch_with_numbers(plan, arguments, 2, limits, 2, NULL, NULL) ==
         TUNESMITH_REFUSED_NUMBERS);
  EXPECT_SAYS("lo=5 and hi=4; lo must be less than hi");
  EXPECT(tunesmith_plan_launch_with_numbers(plan, arguments, 2, NULL, 2, NULL, NULL) ==
         TUNESMITH_WRONG_INPUT);
  EXPECT_SAYS("numbers is null");
  EXPECT(counts[0] == 1 && counts[1] == 2);
  tunesmith_plan_destroy(plan);
  tunesmith_dispatcher_destroy(dispatcher);
}

// Tests an op with arrays that a problem may lack: their pointers are null.
static void test_an_expression(void) {
  tunesmith_dispatcher* dispatcher = make_dispatcher();
  tunesmith_plan* plan = NULL;
  EXPECT(tunesmith_plan_create(dispatcher, "tensor",
                               "expression=\"c[i,j] += a[i,k] * b[k,j]\" a=2x3 b=3x2 dtype=f64",
                               &plan) == TUNESMITH_SUCCESS);
  const double a[6] = {1, 2, 3, 4, 5, 6};
  const double b[6] = {1, 2, 3, 4, 5, 6};
  double c[4] = {0};
  void* arguments[7] = {(void*)a, (void*)b, NULL, NULL, NULL, NULL, c};
  EXPECT(tunesmith_plan_argument_count(plan) == 7);
  EXPECT(tunesmith_plan_argument_bytes(plan, 1) == 48 && tunesmith_plan_argument_bytes(plan, 2) == 0);
  EXPECT(tunesmith_plan_launch(plan, arguments, 7, NULL, NULL) == TUNESMITH_SUCCESS);
  EXPECT(c[0] == 22 && c[1] == 28 && c[2] == 49 && c[3] == 64);
  arguments[1] = NULL;
  EXPECT(tunesmith_plan_launch(plan, arguments, 7, NULL, NULL) == TUNESMITH_NULL_ARGUMENT);
  tunesmith_plan* other = NULL;
  EXPECT(tunesmith_plan_create(dispatcher, "tensor", "expression=\"y[i] += x[i,j\" i=3 j=4", &other) ==
         TUNESMITH_WRONG_INPUT);
  EXPECT_SAYS("At character 14: ']' was expected");
  EXPECT(other == NULL);
  tunesmith_plan_destroy(plan);
  tunesmith_dispatcher_destroy(dispatcher);
}

// Tests a word of the op rows, and an expression with two results.
static void test_rows(void) {
  tunesmith_dispatcher* dispatcher = make_dispatcher();
  tunesmith_plan* plan = NULL;
  EXPECT(tunesmith_plan_create(dispatcher, "rows",
                               "expression=layer_norm rows=2 columns=2 gamma=per_column beta=per_column",
                               &plan) == TUNESMITH_SUCCESS);
  const float x[4] = {-1, 1, 5, 5};
  const float gamma[2] = {2, 3};
  const float beta[2] = {10, 20};
  float y[4] = {0};
  float sums[2] = {0};
  void* arguments[10] = {(void*)x, (void*)gamma, (void*)beta, NULL, NULL, NULL, y};
  EXPECT(tunesmith_plan_argument_count(plan) == 10);
  EXPECT(tunesmith_plan_launch(plan, arguments, 10, NULL, NULL) == TUNESMITH_SUCCESS);
  EXPECT(y[0] > 7.99 && y[0] < 8.01 && y[1] > 22.99 && y[1] < 23.01 && y[2] == 10 && y[3] == 20);
  tunesmith_plan_destroy(plan);
  EXPECT(tunesmith_plan_create(dispatcher, "rows",
                               "expression=\"s = sum(x); y = x / s\" rows=2 columns=2 x=matrix:2",
                               &plan) == TUNESMITH_SUCCESS);
  const float positive[4] = {1, 3, 5, 5};
  void* others[10] = {(void*)positive, NULL, NULL, NULL, NULL, NULL, sums, y};
  EXPECT(tunesmith_plan_launch(plan, others, 10, NULL, NULL) == TUNESMITH_SUCCESS);
  EXPECT(sums[0] == 4 && sums[1] == 10 && y[0] == 0.25F && y[1] == 0.75F && y[2] == 0.5F && y[3] == 0.5F);
  tunesmith_plan_destroy(plan);
  plan = NULL;
  EXPECT(tunesmith_plan_create(dispatcher, "rows", "expression=sofmax rows=2 columns=2", &plan) ==
         TUNESMITH_WRONG_INPUT);
  EXPECT_SAYS("'=' was expected");
  EXPECT(plan == NULL);
  tunesmith_dispatcher_destroy(dispatcher);
}

static void test_options(const char* folder) {
  tunesmith_dispatcher* dispatcher = NULL;
  EXPECT(tunesmith_dispatcher_create("device=nosuch", &dispatcher) == TUNESMITH_WRONG_INPUT);
  EXPECT_SAYS("nosuch");
  EXPECT(tunesmith_dispatcher_create("device=cuda:99", &dispatcher) < 0);
  EXPECT_SAYS("99");
  EXPECT(tunesmith_dispatcher_create("device=host colour=red", &dispatcher) == TUNESMITH_WRONG_INPUT);
  EXPECT_SAYS("no option colour; the options are device, ");
  EXPECT(tunesmith_dispatcher_create("device=host compile=later", &dispatcher) == TUNESMITH_WRONG_INPUT);
  EXPECT_SAYS("background, now and never");
  EXPECT(tunesmith_dispatcher_create("device=host overlap=1", &dispatcher) == TUNESMITH_WRONG_INPUT);
  EXPECT_SAYS("overlap is \"1\"; allowed are on and off");
  EXPECT(tunesmith_dispatcher_create("device=host most_bytes=-1", &dispatcher) == TUNESMITH_WRONG_INPUT);
  EXPECT_SAYS("at least 0");
  EXPECT(tunesmith_dispatcher_create("device", &dispatcher) == TUNESMITH_WRONG_INPUT);
  EXPECT_SAYS("name=value");
  EXPECT(dispatcher == NULL);
  EXPECT(tunesmith_dispatcher_create("device=host", NULL) == TUNESMITH_WRONG_INPUT);
  EXPECT_SAYS("new dispatcher is null");

  char options[4096];
  snprintf(options, sizeof options,
           "device=host database=\"%s/no such file.db\" cache_folder=\"%s/c_api cache\" host_binaries=off "
           "compile=background compile_limit_ms=1000 overlap=off check_pointers=on most_bytes=1000000 "
           "tune_on_first_use=0 keep_first_use=off",
           folder, folder);
  EXPECT(tunesmith_dispatcher_create(options, &dispatcher) == TUNESMITH_SUCCESS);
  EXPECT(strstr(tunesmith_dispatcher_notes(dispatcher), "no such file.db") != NULL);
  tunesmith_dispatcher_destroy(dispatcher);
}

static void test_problems(void) {
  tunesmith_dispatcher* dispatcher = make_dispatcher();
  tunesmith_plan* plan = NULL;
  EXPECT(tunesmith_plan_create(dispatcher, "nosuch", problem, &plan) == TUNESMITH_WRONG_INPUT);
  EXPECT_SAYS("nosuch");
  EXPECT(tunesmith_plan_create(dispatcher, "conv2d", "height=-4", &plan) == TUNESMITH_WRONG_INPUT);
  EXPECT_SAYS("-4");
  EXPECT(tunesmith_plan_create(dispatcher, NULL, problem, &plan) == TUNESMITH_WRONG_INPUT);
  EXPECT_SAYS("op is null");
  EXPECT(tunesmith_plan_create(dispatcher, "conv2d", NULL, &plan) == TUNESMITH_WRONG_INPUT);
  EXPECT(tunesmith_plan_create(NULL, "conv2d", problem, &plan) == TUNESMITH_WRONG_INPUT);
  EXPECT_SAYS("dispatcher is null");
  EXPECT(tunesmith_plan_create(dispatcher, "conv2d", problem, NULL) == TUNESMITH_WRONG_INPUT);
  EXPECT(plan == NULL);

  const char* text = NULL;
  EXPECT(tunesmith_explain(dispatcher, "conv2d", problem, &text) == TUNESMITH_SUCCESS);
  EXPECT(text != NULL && strstr(text, "match: base") != NULL);
  EXPECT(tunesmith_explain(dispatcher, "conv2d", "height=1000000000", &text) == TUNESMITH_WRONG_INPUT);
  EXPECT(tunesmith_explain(dispatcher, "conv2d", problem, NULL) == TUNESMITH_WRONG_INPUT);

  const tunesmith_problem problems[] = {{"conv2d", problem}, {"transpose", "height=3 width=4 dtype=b32"}};
  EXPECT(tunesmith_prepare(dispatcher, problems, 2) == TUNESMITH_SUCCESS);
  EXPECT(tunesmith_prepare(dispatcher, NULL, 0) == TUNESMITH_SUCCESS);
  EXPECT(tunesmith_prepare(dispatcher, NULL, 1) == TUNESMITH_WRONG_INPUT);
  const tunesmith_problem half = {"conv2d", NULL};
  EXPECT(tunesmith_prepare(dispatcher, &half, 1) == TUNESMITH_WRONG_INPUT);
  EXPECT(tunesmith_wait_until_ready(dispatcher, -1) == TUNESMITH_SUCCESS);
  EXPECT(tunesmith_wait_until_ready(dispatcher, INT64_MAX) == TUNESMITH_SUCCESS);
  EXPECT(tunesmith_wait_until_ready(NULL, 0) == TUNESMITH_WRONG_INPUT);
  tunesmith_dispatcher_destroy(dispatcher);
}

static void test_summary(const char* folder) {
  tunesmith_dispatcher* dispatcher = make_dispatcher();
  const tunesmith_usage* usages = NULL;
  size_t count = 9;
  EXPECT(tunesmith_summary(dispatcher, &usages, &count) == TUNESMITH_SUCCESS && count == 0);

  tunesmith_plan* plan = NULL;
  EXPECT(tunesmith_plan_create(dispatcher, "conv2d", problem, &plan) == TUNESMITH_SUCCESS);
  double image[20] = {0}, mask[4] = {0}, output[20];
  void* arguments[3] = {image, mask, output};
  for (int i = 0; i < 3; ++i)
    EXPECT(tunesmith_plan_launch(plan, arguments, 3, NULL, NULL) == TUNESMITH_SUCCESS);
  EXPECT(tunesmith_summary(dispatcher, &usages, &count) == TUNESMITH_SUCCESS);
  EXPECT(count == 1 && strcmp(usages[0].op, "conv2d") == 0);
  EXPECT(strcmp(usages[0].problem, tunesmith_plan_problem(plan)) == 0);
  EXPECT(usages[0].match == TUNESMITH_BASE && usages[0].launches == 3);
  EXPECT(usages[0].expected_us == 0 && usages[0].expected_loss == 0 && usages[0].lost_us > 0);

  char file[4096], line[4096];
  snprintf(file, sizeof file, "%s/c_api_problems.txt", folder);
  EXPECT(tunesmith_save_problems(dispatcher, file) == TUNESMITH_SUCCESS);
  FILE* saved = fopen(file, "r");
  int found = 0;
  while (saved != NULL && fgets(line, sizeof line, saved) != NULL)
    found += strncmp(line, "conv2d weight=", 14) == 0 && strstr(line, "# 3 launches, base") != NULL;
  EXPECT(found == 1);
  if (saved != NULL) fclose(saved);
  remove(file);

  snprintf(file, sizeof file, "%s/no such folder/problems.txt", folder);
  EXPECT(tunesmith_save_problems(dispatcher, file) == TUNESMITH_FAILED);
  EXPECT_SAYS("no such folder");
  EXPECT(tunesmith_save_problems(dispatcher, NULL) == TUNESMITH_WRONG_INPUT);
  EXPECT_SAYS("file's name is null");
  EXPECT(tunesmith_save_problems(NULL, file) == TUNESMITH_WRONG_INPUT);
  EXPECT_SAYS("dispatcher is null");
  const tunesmith_usage* before = usages;
  EXPECT(tunesmith_summary(NULL, &usages, &count) == TUNESMITH_WRONG_INPUT);
  EXPECT(tunesmith_summary(dispatcher, NULL, &count) == TUNESMITH_WRONG_INPUT);
  EXPECT(tunesmith_summary(dispatcher, &usages, NULL) == TUNESMITH_WRONG_INPUT);
  EXPECT_SAYS("count is null");
  EXPECT(usages == before && count == 1);
  tunesmith_plan_destroy(plan);
  tunesmith_dispatcher_destroy(dispatcher);
}

// Null pointers give an error or nothing, and do no harm.
static void test_nulls(void) {
  tunesmith_dispatcher_destroy(NULL);
  tunesmith_plan_destroy(NULL);
  EXPECT(strcmp(tunesmith_dispatcher_device(NULL), "") == 0);
  EXPECT(strcmp(tunesmith_dispatcher_notes(NULL), "") == 0);
  EXPECT(tunesmith_dispatcher_cuda_ordinal(NULL) == -1);
  EXPECT(tunesmith_plan_match(NULL) == TUNESMITH_BASE);
  EXPECT(tunesmith_plan_expected_us(NULL) == 0 && tunesmith_plan_expected_loss(NULL) == 0);
  EXPECT(strcmp(tunesmith_plan_template(NULL), "") == 0 && strcmp(tunesmith_plan_config(NULL), "") == 0);
  EXPECT(strcmp(tunesmith_plan_problem(NULL), "") == 0);
  EXPECT(tunesmith_plan_alignment_bytes(NULL) == 0 && tunesmith_plan_workspace_bytes(NULL) == 0);
  EXPECT(tunesmith_plan_argument_count(NULL) == 0 && tunesmith_plan_argument_bytes(NULL, 0) == 0);
  EXPECT(tunesmith_plan_outdated(NULL) == 0);
  EXPECT(tunesmith_plan_launch(NULL, NULL, 0, NULL, NULL) == TUNESMITH_WRONG_INPUT);
  EXPECT_SAYS("plan is null");
}

// A thread sees only its own messages.
static int fail_otherwise(void* message_before) {
  strcpy(message_before, tunesmith_message());
  tunesmith_plan* plan = NULL;
  return tunesmith_plan_create(NULL, "conv2d", problem, &plan);
}

static void test_threads(void) {
  EXPECT(tunesmith_dispatcher_create("device=nosuch", NULL) == TUNESMITH_WRONG_INPUT);
  char message_before[1000] = "?";
  thrd_t thread;
  int status = 0;
  EXPECT(thrd_create(&thread, fail_otherwise, message_before) == thrd_success);
  EXPECT(thrd_join(thread, &status) == thrd_success);
  EXPECT(status == TUNESMITH_WRONG_INPUT);
  EXPECT(strcmp(message_before, "") == 0);
  EXPECT_SAYS("new dispatcher");
}

// Calls read files, at which a requested cancellation would begin; it waits for the end of the call.
static void* cancelled(void* made) {
  pthread_cancel(pthread_self());
  tunesmith_dispatcher* dispatcher = make_dispatcher();
  tunesmith_plan* plan = NULL;
  EXPECT(tunesmith_plan_create(dispatcher, "conv2d", problem, &plan) == TUNESMITH_SUCCESS);
  tunesmith_plan_destroy(plan);
  tunesmith_dispatcher_destroy(dispatcher);
  *(int*)made = 1;
  pthread_testcancel();
  *(int*)made = 2;
  return NULL;
}

static void test_cancellation(void) {
  pthread_t thread;
  int made = 0;
  void* result = NULL;
  EXPECT(pthread_create(&thread, NULL, cancelled, &made) == 0);
  EXPECT(pthread_join(thread, &result) == 0);
  EXPECT(made == 1 && result == PTHREAD_CANCELED);
}

int main(int count, char** words) {
  const char* folder = count > 1 ? words[1] : ".";
  EXPECT(strcmp(tunesmith_message(), "") == 0);
  EXPECT(strcmp(tunesmith_version(), TUNESMITH_VERSION) == 0);
  const char* first = tunesmith_first_device();
  EXPECT(strcmp(first, "host") == 0 || strcmp(first, "cuda") == 0);
  test_a_launch();
  test_a_launch_with_numbers();
  test_an_expression();
  test_rows();
  test_options(folder);
  test_problems();
  test_summary(folder);
  test_nulls();
  test_threads();
  test_cancellation();
  if (failures == 0) printf("All is as tunesmith.h says.\n");
  return failures == 0 ? 0 : 1;
}
