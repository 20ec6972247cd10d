#include <stddef.h>
#include <stdint.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

// Values stand one after the other: a byte for the kind, then an integer in
// eight bytes, or a length in four and as many bytes of text or of a blob.
enum { VALUE_NULL, VALUE_INT, VALUE_TEXT, VALUE_BLOB };

// What a call has done. used counts the bytes of values that it took or gave.
typedef struct {
	int64_t changes;
	int64_t last; // the number of the last row inserted
	size_t used;
} direct_result;

void direct_init(void);
int direct_autocommit(sqlite3 *db);
int direct_prepare(sqlite3 *db, const char *text, int length, sqlite3_stmt **stmt);
void direct_finish(sqlite3_stmt *stmt);

// No call keeps a pointer to the memory that it is given: Go may move or free
// that as soon as it returns.

// direct_run runs a statement so many times, each time with the values that
// follow. changed, where it is not NULL, gets for each time whether it changed
// a row.
int direct_run(sqlite3 *db, sqlite3_stmt *stmt, const uint8_t *values, int times, uint8_t *changed, direct_result *result);

// direct_bind begins a query. direct_rows gives its next rows, as many as there
// is room for, and ends it behind the last one: then it returns DIRECT_END, and
// DIRECT_MORE where it has to be called again. With nothing used that is with
// more room. direct_reset ends it before that.
int direct_bind(sqlite3_stmt *stmt, const uint8_t *values);
int direct_rows(sqlite3_stmt *stmt, int again, uint8_t *rows, size_t room, direct_result *result);
void direct_reset(sqlite3_stmt *stmt);

enum { DIRECT_MORE = 100, DIRECT_END = 101 };

// direct_watch_wal makes *frames, from now on, the length of the WAL after each
// commit. Nothing else then writes it to the file. NULL ends that.
void direct_watch_wal(sqlite3 *db, int *frames);

// direct_error describes what went wrong last.
const char *direct_error(sqlite3 *db, int *code, int *extended, int *errnum);
