// CAGE_FOLDER names, in the environment of a worker, the folder that it may use: it
// reads files/ and writes to spill/ in it.
#define CAGE_FOLDER "FEEDMILL_CAGE"

// What became of the cage; a negative number is an error.
#define CAGE_OPEN 0
#define CAGE_CLOSED 1
#define CAGE_WITHOUT_LANDLOCK 2

// These name the files besides that it may read: a database, and the log and the journal
// that may belong to it.
#define CAGE_DATABASE "FEEDMILL_CAGE_DATABASE"
#define CAGE_DATABASE_LOG "FEEDMILL_CAGE_DATABASE_LOG"
#define CAGE_DATABASE_JOURNAL "FEEDMILL_CAGE_DATABASE_JOURNAL"

// CAGE_DATABASE_INDEX names the index of the log of a SQLite database, in which those
// that use the database tell each other what they read. It is written, too.
#define CAGE_DATABASE_INDEX "FEEDMILL_CAGE_DATABASE_INDEX"

int cage_state(void);

// cage_statm is a file that says how much memory the process has, or -1.
int cage_statm(void);
