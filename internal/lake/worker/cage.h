// CAGE_FOLDER names, in the environment of a worker, the folder that it may use: it
// reads files/ and writes to spill/ in it.
#define CAGE_FOLDER "FEEDMILL_CAGE"

// What became of the cage; a negative number is an error.
#define CAGE_OPEN 0
#define CAGE_CLOSED 1
#define CAGE_WITHOUT_LANDLOCK 2

// CAGE_DATABASE and CAGE_DATABASE_LOG name the files besides that it may read: a
// database, and the log that may belong to it.
#define CAGE_DATABASE "FEEDMILL_CAGE_DATABASE"
#define CAGE_DATABASE_LOG "FEEDMILL_CAGE_DATABASE_LOG"

int cage_state(void);

// cage_statm is a file that says how much memory the process has, or -1.
int cage_statm(void);
