#include "direct.h"

#include <string.h>

// The library itself comes with its driver. Weak, it need not be there while
// this file alone is looked at.
#define LIBRARY __attribute__((weak)) extern

typedef struct sqlite3_context sqlite3_context;
typedef struct sqlite3_value sqlite3_value;

LIBRARY int sqlite3_config(int, ...);
LIBRARY int sqlite3_auto_extension(void (*)(void));
LIBRARY int sqlite3_create_function_v2(sqlite3 *, const char *, int, int, void *, void (*)(sqlite3_context *, int, sqlite3_value **), void *, void *, void *);
LIBRARY sqlite3 *sqlite3_context_db_handle(sqlite3_context *);
LIBRARY void sqlite3_result_int64(sqlite3_context *, int64_t);
LIBRARY int sqlite3_prepare_v3(sqlite3 *, const char *, int, unsigned, sqlite3_stmt **, const char **);
LIBRARY int sqlite3_finalize(sqlite3_stmt *);
LIBRARY int sqlite3_get_autocommit(sqlite3 *);
LIBRARY int sqlite3_bind_parameter_count(sqlite3_stmt *);
LIBRARY int sqlite3_clear_bindings(sqlite3_stmt *);
LIBRARY int sqlite3_bind_null(sqlite3_stmt *, int);
LIBRARY int sqlite3_bind_int64(sqlite3_stmt *, int, int64_t);
LIBRARY int sqlite3_bind_text(sqlite3_stmt *, int, const char *, int, void (*)(void *));
LIBRARY int sqlite3_bind_blob(sqlite3_stmt *, int, const void *, int, void (*)(void *));
LIBRARY int sqlite3_step(sqlite3_stmt *);
LIBRARY int sqlite3_reset(sqlite3_stmt *);
LIBRARY int64_t sqlite3_changes64(sqlite3 *);
LIBRARY int64_t sqlite3_last_insert_rowid(sqlite3 *);
LIBRARY int sqlite3_column_count(sqlite3_stmt *);
LIBRARY int sqlite3_column_type(sqlite3_stmt *, int);
LIBRARY int64_t sqlite3_column_int64(sqlite3_stmt *, int);
LIBRARY const void *sqlite3_column_blob(sqlite3_stmt *, int);
LIBRARY int sqlite3_column_bytes(sqlite3_stmt *, int);
LIBRARY void *sqlite3_wal_hook(sqlite3 *, int (*)(void *, sqlite3 *, const char *, int), void *);
LIBRARY int sqlite3_errcode(sqlite3 *);
LIBRARY int sqlite3_extended_errcode(sqlite3 *);
LIBRARY int sqlite3_system_errno(sqlite3 *);
LIBRARY const char *sqlite3_errmsg(sqlite3 *);

// As in sqlite3.h.
enum { CONFIG_MEMSTATUS = 9, PREPARE_PERSISTENT = 1, UTF8 = 1, DIRECTONLY = 0x80000 };
enum { OK = 0, ROW = 100, DONE = 101 };
#define STATIC NULL
#define TRANSIENT ((void (*)(void *)) - 1)
enum { TYPE_INTEGER = 1, TYPE_FLOAT, TYPE_TEXT, TYPE_BLOB, TYPE_NULL };

static void handle(sqlite3_context *c, int n, sqlite3_value **args) {
	(void)n, (void)args;
	sqlite3_result_int64(c, (int64_t)(intptr_t)sqlite3_context_db_handle(c));
}

// teach gives each connection that is opened a function that returns its handle.
static int teach(sqlite3 *db, char **message, const void *api) {
	(void)message, (void)api;
	return sqlite3_create_function_v2(db, "direct_handle", 0, UTF8 | DIRECTONLY, NULL, handle, NULL, NULL, NULL);
}

void direct_init(void) {
	if (!sqlite3_config) {
		return;
	}
	sqlite3_config(CONFIG_MEMSTATUS, 0);
	sqlite3_auto_extension((void (*)(void))teach);
}

int direct_prepare(sqlite3 *db, const char *text, int length, sqlite3_stmt **stmt) {
	return sqlite3_prepare_v3(db, text, length, PREPARE_PERSISTENT, stmt, NULL);
}

void direct_finish(sqlite3_stmt *stmt) { sqlite3_finalize(stmt); }

int direct_autocommit(sqlite3 *db) { return sqlite3_get_autocommit(db); }

// bind gives a statement its parameters and moves on to where their values end.
// STATIC ones must stay in their place as long as they are bound; TRANSIENT ones
// are copied.
static int bind(sqlite3_stmt *stmt, const uint8_t **values, void (*lifetime)(void *)) {
	const uint8_t *v = *values;
	int count = sqlite3_bind_parameter_count(stmt);
	for (int i = 1; i <= count; i++) {
		int64_t number;
		uint32_t length;
		int rc;
		switch (*v++) {
		case VALUE_INT:
			memcpy(&number, v, sizeof number);
			v += sizeof number;
			rc = sqlite3_bind_int64(stmt, i, number);
			break;
		case VALUE_TEXT:
			memcpy(&length, v, sizeof length);
			v += sizeof length;
			rc = sqlite3_bind_text(stmt, i, (const char *)v, (int)length, lifetime);
			v += length;
			break;
		case VALUE_BLOB:
			memcpy(&length, v, sizeof length);
			v += sizeof length;
			rc = sqlite3_bind_blob(stmt, i, v, (int)length, lifetime);
			v += length;
			break;
		default:
			rc = sqlite3_bind_null(stmt, i);
		}
		if (rc != OK) {
			return rc;
		}
	}
	*values = v;
	return OK;
}

static int run(sqlite3 *db, sqlite3_stmt *stmt, const uint8_t **values, int times, uint8_t *changed, direct_result *result) {
	for (int i = 0; i < times; i++) {
		int rc = bind(stmt, values, STATIC);
		if (rc != OK) {
			return rc;
		}
		rc = sqlite3_step(stmt);
		// What the error was stays known to the connection.
		if (rc == ROW || rc == DONE) {
			rc = sqlite3_reset(stmt);
		} else {
			sqlite3_reset(stmt);
		}
		if (rc != OK) {
			return rc;
		}
		int64_t n = sqlite3_changes64(db);
		result->changes += n;
		if (changed) {
			changed[i] = n != 0;
		}
	}
	return OK;
}

int direct_run(sqlite3 *db, sqlite3_stmt *stmt, const uint8_t *values, int times, uint8_t *changed, direct_result *result) {
	const uint8_t *v = values;
	result->changes = 0;
	int rc = run(db, stmt, &v, times, changed, result);
	// The values are Go's: nothing may point to them after this call.
	sqlite3_clear_bindings(stmt);
	result->last = sqlite3_last_insert_rowid(db);
	result->used = (size_t)(v - values);
	return rc;
}

int direct_bind(sqlite3_stmt *stmt, const uint8_t *values) {
	sqlite3_reset(stmt);
	return bind(stmt, &values, TRANSIENT);
}

void direct_reset(sqlite3_stmt *stmt) { sqlite3_reset(stmt); }

// pack writes the row that a statement is at, and returns how long it is; where
// there is not enough room it only does the latter.
static size_t pack(sqlite3_stmt *stmt, uint8_t *p, size_t room) {
	size_t size = 0;
	int count = sqlite3_column_count(stmt);
	for (int i = 0; i < count; i++) {
		int64_t number;
		uint32_t length;
		int type = sqlite3_column_type(stmt, i);
		if (type == TYPE_NULL) {
			if (size + 1 <= room) {
				p[size] = VALUE_NULL;
			}
			size += 1;
		} else if (type == TYPE_INTEGER) {
			if (size + 1 + sizeof number <= room) {
				number = sqlite3_column_int64(stmt, i);
				p[size] = VALUE_INT;
				memcpy(p + size + 1, &number, sizeof number);
			}
			size += 1 + sizeof number;
		} else {
			const void *bytes = sqlite3_column_blob(stmt, i);
			length = (uint32_t)sqlite3_column_bytes(stmt, i);
			if (size + 1 + sizeof length + length <= room) {
				p[size] = type == TYPE_BLOB ? VALUE_BLOB : VALUE_TEXT;
				memcpy(p + size + 1, &length, sizeof length);
				if (length > 0) {
					memcpy(p + size + 1 + sizeof length, bytes, length);
				}
			}
			size += 1 + sizeof length + length;
		}
	}
	return size;
}

int direct_rows(sqlite3_stmt *stmt, int again, uint8_t *rows, size_t room, direct_result *result) {
	result->used = 0;
	for (;; again = 0) {
		int rc = again ? ROW : sqlite3_step(stmt);
		if (rc != ROW) {
			int end = sqlite3_reset(stmt);
			return rc == DONE ? DIRECT_END : end != OK ? end : rc;
		}
		size_t size = pack(stmt, rows + result->used, room - result->used);
		if (size > room - result->used) {
			return DIRECT_MORE;
		}
		result->used += size;
	}
}

static int note(void *frames, sqlite3 *db, const char *name, int length) {
	(void)db, (void)name;
	*(int *)frames = length;
	return OK;
}

void direct_watch_wal(sqlite3 *db, int *frames) { sqlite3_wal_hook(db, frames ? note : NULL, frames); }

const char *direct_error(sqlite3 *db, int *code, int *extended, int *errnum) {
	*code = sqlite3_errcode(db);
	*extended = sqlite3_extended_errcode(db);
	*errnum = sqlite3_system_errno(db);
	return sqlite3_errmsg(db);
}
