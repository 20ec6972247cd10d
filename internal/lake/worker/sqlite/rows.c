#include "rows.h"

#include <math.h>
#include <string.h>

// The library itself comes with its driver. Weak, it need not be there while
// this file alone is looked at.
#define LIBRARY __attribute__((weak)) extern

typedef struct sqlite3_context sqlite3_context;
typedef struct sqlite3_value sqlite3_value;

LIBRARY int sqlite3_auto_extension(void (*)(void));
LIBRARY int sqlite3_create_function_v2(sqlite3 *, const char *, int, int, void *, void (*)(sqlite3_context *, int, sqlite3_value **), void *, void *, void *);
LIBRARY sqlite3 *sqlite3_context_db_handle(sqlite3_context *);
LIBRARY void sqlite3_result_int64(sqlite3_context *, int64_t);
LIBRARY int sqlite3_prepare_v2(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
LIBRARY int sqlite3_bind_text(sqlite3_stmt *, int, const char *, int, void (*)(void *));
LIBRARY int sqlite3_step(sqlite3_stmt *);
LIBRARY int sqlite3_finalize(sqlite3_stmt *);
LIBRARY const char *sqlite3_errmsg(sqlite3 *);
LIBRARY int sqlite3_error_offset(sqlite3 *);
LIBRARY int64_t sqlite3_hard_heap_limit64(int64_t);
LIBRARY int sqlite3_column_count(sqlite3_stmt *);
LIBRARY const char *sqlite3_column_name(sqlite3_stmt *, int);
LIBRARY const char *sqlite3_column_decltype(sqlite3_stmt *, int);
LIBRARY sqlite3 *sqlite3_db_handle(sqlite3_stmt *);
LIBRARY int sqlite3_data_count(sqlite3_stmt *);
LIBRARY int sqlite3_column_type(sqlite3_stmt *, int);
LIBRARY int64_t sqlite3_column_int64(sqlite3_stmt *, int);
LIBRARY double sqlite3_column_double(sqlite3_stmt *, int);
LIBRARY const unsigned char *sqlite3_column_text(sqlite3_stmt *, int);
LIBRARY const void *sqlite3_column_blob(sqlite3_stmt *, int);
LIBRARY int sqlite3_column_bytes(sqlite3_stmt *, int);

// As in sqlite3.h.
enum { UTF8 = 1, DIRECTONLY = 0x80000, NOMEM = 7, ROW = 100 };
enum { TYPE_INTEGER = 1, TYPE_FLOAT, TYPE_TEXT, TYPE_BLOB, TYPE_NULL };
#define TRANSIENT ((void (*)(void *)) - 1)

static void handle(sqlite3_context *c, int n, sqlite3_value **args) {
	(void)n, (void)args;
	sqlite3_result_int64(c, (int64_t)(intptr_t)sqlite3_context_db_handle(c));
}

static int teach(sqlite3 *db, char **message, const void *api) {
	(void)message, (void)api;
	return sqlite3_create_function_v2(db, "rows_handle", 0, UTF8 | DIRECTONLY, NULL, handle, NULL, NULL, NULL);
}

void rows_init(void) {
	if (sqlite3_auto_extension) {
		sqlite3_auto_extension((void (*)(void))teach);
	}
}

int rows_prepare(sqlite3 *db, const char *sql, int length, sqlite3_stmt **stmt) {
	return sqlite3_prepare_v2(db, sql, length, stmt, NULL);
}

int rows_bind(sqlite3_stmt *stmt, int at, const char *text, int length) {
	return sqlite3_bind_text(stmt, at, length ? text : "", length, TRANSIENT);
}

sqlite3 *rows_database(sqlite3_stmt *stmt) { return sqlite3_db_handle(stmt); }

const char *rows_name(sqlite3_stmt *stmt, int at) { return sqlite3_column_name(stmt, at); }

const char *rows_declared(sqlite3_stmt *stmt, int at) { return sqlite3_column_decltype(stmt, at); }

int rows_only(sqlite3 *db, const char *sql) {
	const char *tail = sql;
	for (int n = 0; *tail; n++) {
		sqlite3_stmt *stmt = NULL;
		if (sqlite3_prepare_v2(db, tail, -1, &stmt, &tail)) {
			return 0;
		}
		int any = stmt != NULL;
		sqlite3_finalize(stmt);
		if (n > 0 && any) {
			return 0;
		}
	}
	return 1;
}

int rows_columns(sqlite3_stmt *stmt) { return sqlite3_column_count(stmt); }

void rows_end(sqlite3_stmt *stmt) { sqlite3_finalize(stmt); }

const char *rows_message(sqlite3 *db) { return sqlite3_errmsg(db); }

int rows_offset(sqlite3 *db) { return sqlite3_error_offset ? sqlite3_error_offset(db) : -1; }

void rows_limit_heap(int64_t bytes) {
	if (sqlite3_hard_heap_limit64) {
		sqlite3_hard_heap_limit64(bytes);
	}
}

int rows_cell(sqlite3_stmt *stmt, int at, rows_value *value) {
	value->type = sqlite3_column_type(stmt, at);
	value->data = NULL;
	value->length = 0;
	double d;
	switch (value->type) {
	case TYPE_INTEGER:
		value->bits = (uint64_t)sqlite3_column_int64(stmt, at);
		break;
	case TYPE_FLOAT:
		d = sqlite3_column_double(stmt, at);
		memcpy(&value->bits, &d, sizeof d);
		break;
	case TYPE_TEXT:
	case TYPE_BLOB:
		value->data = value->type == TYPE_TEXT ? (const void *)sqlite3_column_text(stmt, at) : sqlite3_column_blob(stmt, at);
		value->length = (uint32_t)sqlite3_column_bytes(stmt, at);
		if (!value->data && (value->length || value->type == TYPE_TEXT)) {
			return NOMEM;
		}
	}
	return 0;
}

// write writes the row that the statement stands at. It returns how many bytes that
// are, of which it wrote none past the end, and 0 where there was no memory.
static size_t write(sqlite3_stmt *stmt, uint8_t *buffer, size_t room) {
	size_t at = 0;
	int columns = sqlite3_data_count(stmt);
	for (int i = 0; i < columns; i++) {
		int type = sqlite3_column_type(stmt, i);
		if (at < room) {
			buffer[at] = (uint8_t)type;
		}
		at++;
		int64_t n;
		double d;
		switch (type) {
		case TYPE_INTEGER:
			n = sqlite3_column_int64(stmt, i);
			if (at + sizeof n <= room) {
				memcpy(buffer + at, &n, sizeof n);
			}
			at += sizeof n;
			break;
		case TYPE_FLOAT:
			d = sqlite3_column_double(stmt, i);
			if (at + sizeof d <= room) {
				memcpy(buffer + at, &d, sizeof d);
			}
			at += sizeof d;
			break;
		case TYPE_TEXT:
		case TYPE_BLOB: {
			// The text first: it may have to be made of another encoding, and is then as long as
			// it says.
			const void *data = type == TYPE_TEXT ? (const void *)sqlite3_column_text(stmt, i) : sqlite3_column_blob(stmt, i);
			uint32_t length = (uint32_t)sqlite3_column_bytes(stmt, i);
			if (!data && (length || type == TYPE_TEXT)) {
				return 0;
			}
			if (at + sizeof length + length <= room) {
				memcpy(buffer + at, &length, sizeof length);
				if (length) {
					memcpy(buffer + at + sizeof length, data, length);
				}
			}
			at += sizeof length + length;
		}
		}
	}
	return at;
}

int rows_next(sqlite3_stmt *stmt, uint8_t *buffer, size_t room, rows_result *result) {
	result->used = 0;
	result->rows = 0;
	for (;;) {
		if (!result->pending) {
			int rc = sqlite3_step(stmt);
			if (rc != ROW) {
				return rc;
			}
		}
		size_t size = write(stmt, buffer + result->used, room - result->used);
		if (!size) {
			return NOMEM;
		}
		result->pending = size > room - result->used;
		if (result->pending) {
			return ROW;
		}
		result->used += size;
		result->rows++;
	}
}

// two reads two digits, or returns a number that nothing has.
static int two(const unsigned char *text) {
	if (text[0] < '0' || text[0] > '9' || text[1] < '0' || text[1] > '9') {
		return 1000000;
	}
	return 10 * (text[0] - '0') + (text[1] - '0');
}

// day reports whether there is a 2006-01-02 that the calendar has.
static int day(const unsigned char *text) {
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int year = 100 * two(text) + two(text + 2), month = two(text + 5), at = two(text + 8);
	if (year > 9999 || text[4] != '-' || text[7] != '-' || month < 1 || month > 12) {
		return 0;
	}
	int leap = month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
	return at >= 1 && at <= days[month - 1] + leap;
}

// moment reports whether it is a 2006-01-02 15:04:05, with or without a fraction and a zone.
static int moment(const unsigned char *text, int length) {
	if (length < 19 || !day(text) || (text[10] != ' ' && text[10] != 'T') || text[13] != ':' || text[16] != ':' ||
		two(text + 11) > 23 || two(text + 14) > 59 || two(text + 17) > 59) {
		return 0;
	}
	int at = 19;
	if (at < length && text[at] == '.') {
		int digits = at + 1;
		for (at = digits; at < length && text[at] >= '0' && text[at] <= '9'; at++) {
		}
		if (at == digits || at - digits > 9) {
			return 0;
		}
	}
	if (at == length || (length == at + 1 && text[at] == 'Z')) {
		return 1;
	}
	return length == at + 6 && (text[at] == '+' || text[at] == '-') && text[at + 3] == ':' && two(text + at + 1) <= 12 && two(text + at + 4) <= 59;
}

// certain reports whether a value is certainly of the kind of its column.
static int certain(sqlite3_stmt *stmt, int i, const rows_column *c) {
	int type = sqlite3_column_type(stmt, i);
	if (type == TYPE_NULL) {
		return 1;
	}
	const int64_t exact = 9007199254740992; // up to which every whole number is a float
	switch (c->kind) {
	case KIND_INTEGER:
		return type == TYPE_INTEGER;
	case KIND_BOOLEAN:
		return type == TYPE_INTEGER && (uint64_t)sqlite3_column_int64(stmt, i) <= 1;
	case KIND_NUMBER:
		if (type == TYPE_INTEGER) {
			int64_t n = sqlite3_column_int64(stmt, i);
			return n >= -exact && n <= exact;
		}
		return type == TYPE_FLOAT;
	case KIND_DECIMAL:
		if (type == TYPE_INTEGER || type == TYPE_FLOAT) {
			double f = sqlite3_column_double(stmt, i), n = round(f * c->by);
			return n / c->by == f && fabs(n) < c->most;
		}
		return 0;
	}
	if (type != TYPE_TEXT) {
		return 0;
	}
	const unsigned char *text = sqlite3_column_text(stmt, i);
	int length = sqlite3_column_bytes(stmt, i);
	if (!text) {
		return 0;
	}
	return c->kind == KIND_DATE ? length == 10 && day(text) : moment(text, length);
}

int rows_doubts(sqlite3_stmt *stmt, rows_column *columns, int count) {
	for (;;) {
		int rc = sqlite3_step(stmt);
		if (rc != ROW) {
			return rc;
		}
		for (int i = 0; i < count; i++) {
			columns[i].doubts += !certain(stmt, i, &columns[i]);
		}
	}
}
