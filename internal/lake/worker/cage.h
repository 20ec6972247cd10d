// CAGE_FOLDER names, in the environment of a worker, the folder that it may use: it
// reads files/ and writes to spill/ in it.
#define CAGE_FOLDER "FEEDMILL_CAGE"

// What became of the cage; a negative number is an error.
#define CAGE_OPEN 0
#define CAGE_CLOSED 1
#define CAGE_WITHOUT_LANDLOCK 2

int cage_state(void);

// cage_statm is a file that says how much memory the process has, or -1.
int cage_statm(void);
