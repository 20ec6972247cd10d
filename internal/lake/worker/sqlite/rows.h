#ifndef ROWS_H
#define ROWS_H

#include <stddef.h>
#include <stdint.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

// What came of a call of rows_next.
typedef struct {
	size_t used;  // bytes that were written
	int rows;     // how many rows they are
	int pending;  // whether a row waits that did not fit
} rows_result;

// A value of the row that a statement stands at.
typedef struct {
	int type;
	uint64_t bits;     // of a number
	const void *data;  // of a text or a blob
	uint32_t length;
} rows_value;

// rows_init has every connection that is opened from now on know its own handle.
void rows_init(void);

int rows_prepare(sqlite3 *db, const char *sql, int length, sqlite3_stmt **stmt);
int rows_bind(sqlite3_stmt *stmt, int at, const char *text, int length);
int rows_columns(sqlite3_stmt *stmt);

// rows_name and rows_declared are the name of a column and the type that it is declared
// with, which may be null.
const char *rows_name(sqlite3_stmt *stmt, int at);
const char *rows_declared(sqlite3_stmt *stmt, int at);

sqlite3 *rows_database(sqlite3_stmt *stmt);

// rows_only returns whether a text has not more than one statement.
int rows_only(sqlite3 *db, const char *sql);

void rows_end(sqlite3_stmt *stmt);

// rows_message is what the library says of the last error.
const char *rows_message(sqlite3 *db);

// rows_offset is the byte of the statement where the last error is, -1 for none.
int rows_offset(sqlite3 *db);

// rows_limit_heap bounds the memory of the whole library.
void rows_limit_heap(int64_t bytes);

// rows_cell reads a value of the row that the statement stands at. Its data is gone with
// the next step. It returns 7 where there is no memory.
int rows_cell(sqlite3_stmt *stmt, int at, rows_value *value);

// rows_next writes rows into a buffer, as many as fit. It returns 100 where there may
// be more, 101 at the end, and else the code of an error.
int rows_next(sqlite3_stmt *stmt, uint8_t *buffer, size_t room, rows_result *result);

// The kinds of columns that rows_doubts knows.
enum { KIND_INTEGER = 1, KIND_NUMBER, KIND_BOOLEAN, KIND_DECIMAL, KIND_DATE, KIND_TIMESTAMP };

// What a column is declared as. Doubts counts the values that may be something else.
typedef struct {
	int kind;
	double by, most; // of a decimal: ten to its scale, and to its digits
	int64_t doubts;
} rows_column;

// rows_doubts steps through all rows of a statement. It returns 101 at the end, and else
// the code of an error.
int rows_doubts(sqlite3_stmt *stmt, rows_column *columns, int count);

#endif
