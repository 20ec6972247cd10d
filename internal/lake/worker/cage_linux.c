// The cage of a worker: what the kernel keeps from the process, whatever runs in
// it. It is closed before main, when there is one thread: all others, those of
// Go and of the database, are born inside.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cage.h"

#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_add_rule 445
#define __NR_landlock_restrict_self 446
#endif

// What follows is of linux/landlock.h, which older systems lack.
struct ruleset {
	uint64_t fs, net, scoped;
};

struct path_rule {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));

enum {
	VERSION = 1,
	PATH_BENEATH = 1,
};

#define WRITE_FILE (1ULL << 1)
#define READ_FILE (1ULL << 2)
#define READ_DIR (1ULL << 3)
#define REMOVE_DIR (1ULL << 4)
#define REMOVE_FILE (1ULL << 5)
#define MAKE_DIR (1ULL << 7)
#define MAKE_REG (1ULL << 8)
#define TRUNCATE (1ULL << 14)

static int state = CAGE_OPEN;
static int statm = -1;

int cage_state(void) { return state; }
int cage_statm(void) { return statm; }

static int allow(int ruleset, const char *begin, const char *rest, uint64_t rights)
{
	char path[PATH_MAX];
	if (snprintf(path, sizeof path, "%s%s", begin, rest) >= (int)sizeof path)
		return -ENAMETOOLONG;
	struct path_rule rule = {rights, open(path, O_PATH | O_CLOEXEC)};
	if (rule.parent < 0)
		return -errno;
	int failed = syscall(__NR_landlock_add_rule, ruleset, PATH_BENEATH, &rule, 0) ? -errno : 0;
	close(rule.parent);
	return failed;
}

static int close_cage(const char *folder)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	int version = syscall(__NR_landlock_create_ruleset, NULL, 0, VERSION);
	if (version < 1)
		return CAGE_WITHOUT_LANDLOCK;
	// Everything that this version knows is forbidden unless it is allowed.
	struct ruleset all = {.fs = (1ULL << 13) - 1};
	size_t size = sizeof all.fs;
	if (version >= 2)
		all.fs |= 1ULL << 13; // to other folders
	if (version >= 3)
		all.fs |= TRUNCATE;
	if (version >= 4) {
		all.net = 3; // TCP
		size = 2 * sizeof all.fs;
	}
	if (version >= 5)
		all.fs |= 1ULL << 15; // devices
	if (version >= 6) {
		all.scoped = 3; // others' sockets and processes
		size = sizeof all;
	}
	int ruleset = syscall(__NR_landlock_create_ruleset, &all, size, 0);
	if (ruleset < 0)
		return -errno;
	int failed = allow(ruleset, folder, "/files", READ_FILE | READ_DIR);
	if (!failed)
		failed = allow(ruleset, folder, "/spill",
			       all.fs & (READ_FILE | WRITE_FILE | READ_DIR | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | TRUNCATE));
	// The database asks how much memory there is, and does not expect to be
	// refused. Where there is no such file it is not.
	allow(ruleset, "/proc/self", "/cgroup", READ_FILE);
	allow(ruleset, "/sys/fs", "/cgroup", READ_FILE);
	// Where one of these is not there, opening it will say so.
	static const char *const files[] = {CAGE_DATABASE, CAGE_DATABASE_LOG, CAGE_DATABASE_JOURNAL};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (!failed && getenv(files[i]))
			allow(ruleset, getenv(files[i]), "", READ_FILE);
	if (!failed && getenv(CAGE_DATABASE_INDEX))
		allow(ruleset, getenv(CAGE_DATABASE_INDEX), "", all.fs & (READ_FILE | WRITE_FILE | TRUNCATE));
	if (!failed && syscall(__NR_landlock_restrict_self, ruleset, 0))
		failed = -errno;
	close(ruleset);
	return failed ? failed : CAGE_CLOSED;
}

__attribute__((constructor)) static void cage(void)
{
	const char *folder = getenv(CAGE_FOLDER);
	if (!folder)
		return;
	statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	// Where the system runs out of memory a worker ends first, and not the server.
	int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (score >= 0) {
		if (write(score, "1000", 4) < 0) {
			// Then the system chooses by size alone.
		}
		close(score);
	}
	state = close_cage(folder);
}
