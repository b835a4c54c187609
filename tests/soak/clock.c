// SPDX-License-Identifier: Apache-2.0
/* For LD_PRELOAD: the time of day jumps by up to ten years, each time that it is read. The monotonic clock is left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long jump(void) { return (random() % 20 - 10) * 31557600L; }

int clock_gettime(clockid_t clock, struct timespec* now) {
  int (*const real)(clockid_t, struct timespec*) =
      (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  const int code = real(clock, now);
  if (code == 0 && clock == CLOCK_REALTIME) now->tv_sec += jump();
  return code;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  struct timespec precise;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}
