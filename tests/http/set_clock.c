// Preloaded into a server, this library sets the system clock for that process alone. CAIRN_TEST_CLOCK names a file with
// the seconds that are added to the clock, as a 64-bit number; the test writes it at any time. As when the kernel's
// clock is set: readings of the wall clock change, waits for an instant of the wall clock end when the changed clock
// reaches it, and timers with TFD_TIMER_CANCEL_ON_SET are cancelled.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { slice_ms = 20 };

static volatile const int64_t* added;  // shared with the test
static volatile int watched = -1;      // a timer that a change of the clock cancels
static volatile int64_t seen;          // the value when that timer was armed

__attribute__((constructor)) static void open_file(void) {
  const char* const path = getenv("CAIRN_TEST_CLOCK");
  const int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void* const shared = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  if (shared != MAP_FAILED) added = shared;
  close(file);
}

static int64_t offset(void) { return added ? *added : 0; }

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int clock_gettime(clockid_t clock, struct timespec* to) {
  static __typeof__(&clock_gettime) real;
  if (!real) real = REAL(clock_gettime);
  const int code = real(clock, to);
  if (code == 0 && clock == CLOCK_REALTIME) to->tv_sec += offset();
  return code;
}

int gettimeofday(struct timeval* restrict to, void* restrict zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  to->tv_sec = now.tv_sec;
  to->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to) *to = now.tv_sec;
  return now.tv_sec;
}

static int wait_slice(pthread_cond_t* changed, pthread_mutex_t* mutex, const struct timespec* until) {
  static __typeof__(&pthread_cond_clockwait) real;
  if (!real) real = REAL(pthread_cond_clockwait);
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_nsec += slice_ms * 1000000L;
  if (end.tv_nsec >= 1000000000L) {
    end.tv_nsec -= 1000000000L;
    ++end.tv_sec;
  }
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const int over = now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec);
  if (over) clock_gettime(CLOCK_MONOTONIC, &end);
  const int code = real(changed, mutex, CLOCK_MONOTONIC, &end);
  return code == ETIMEDOUT && !over ? 0 : code;  // a spurious wake-up: the caller asks again
}

int pthread_cond_timedwait(pthread_cond_t* restrict changed, pthread_mutex_t* restrict mutex,
                           const struct timespec* restrict until) {
  return wait_slice(changed, mutex, until);
}

int pthread_cond_clockwait(pthread_cond_t* restrict changed, pthread_mutex_t* restrict mutex, clockid_t clock,
                           const struct timespec* restrict until) {
  static __typeof__(&pthread_cond_clockwait) real;
  if (!real) real = REAL(pthread_cond_clockwait);
  return clock == CLOCK_REALTIME ? wait_slice(changed, mutex, until) : real(changed, mutex, clock, until);
}

int timerfd_settime(int timer, int flags, const struct itimerspec* to, struct itimerspec* before) {
  static __typeof__(&timerfd_settime) real;
  if (!real) real = REAL(timerfd_settime);
  if (flags & TFD_TIMER_CANCEL_ON_SET) {
    seen = offset();
    watched = timer;
  }
  return real(timer, flags, to, before);
}

static int is_cancelled(int file) { return file == watched && offset() != seen; }

int poll(struct pollfd* files, nfds_t count, int timeout_ms) {
  static __typeof__(&poll) real;
  if (!real) real = REAL(poll);
  for (nfds_t i = 0; timeout_ms < 0 && i < count; ++i) {
    if (files[i].fd != watched) continue;
    for (;;) {
      const int ready = real(files, count, slice_ms);
      if (ready != 0) return ready;
      if (!is_cancelled(files[i].fd)) continue;
      files[i].revents = POLLIN;
      return 1;
    }
  }
  return real(files, count, timeout_ms);
}

ssize_t read(int file, void* to, size_t size) {
  static __typeof__(&read) real;
  if (!real) real = REAL(read);
  if (is_cancelled(file)) {
    errno = ECANCELED;
    return -1;
  }
  return real(file, to, size);
}

// The names that a fortified program calls.
int __poll_chk(struct pollfd* files, nfds_t count, int timeout_ms, size_t bytes) {
  (void)bytes;
  return poll(files, count, timeout_ms);
}
ssize_t __read_chk(int file, void* to, size_t size, size_t bytes) {
  (void)bytes;
  return read(file, to, size);
}
