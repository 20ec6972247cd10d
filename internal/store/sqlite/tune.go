package sqlite

/*
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

// The library itself comes with its driver. Weak, it need not be there while
// this file alone is looked at.
extern int sqlite3_config(int, ...) __attribute__((weak));

enum { CONFIG_MEMSTATUS = 9 };

static void tune(void) {
	if (sqlite3_config) {
		sqlite3_config(CONFIG_MEMSTATUS, 0);
	}
#ifdef __GLIBC__
	mallopt(M_TRIM_THRESHOLD, 32 << 20);
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}
*/
import "C"

// init sets what can only be set before the library is first used. It need not
// count its memory, which takes a lock for every allocation. And the C library
// need not give memory back to the system that is wanted again a moment later:
// a reading connection lets go of its pages with every commit of the writing
// one, and the page faults cost more than the reads.
func init() { C.tune() }
