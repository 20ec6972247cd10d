package database

import "fmt"

// MaxInventory is how many bytes a database may say about what it has: the names of its
// views or of the columns of one, and what is said of them. They are held in memory, and
// a server that is somebody's own can go on for ever.
const MaxInventory = 16 << 20

// Inventory counts what a database says that it has.
type Inventory struct{ bytes int }

// rowOverhead is about what a row takes besides its texts.
const rowOverhead = 128

// Add counts a row of the list, and fails where that is too long.
func (n *Inventory) Add(texts ...string) error {
	n.bytes += rowOverhead
	for _, text := range texts {
		n.bytes += len(text)
	}
	if n.bytes > MaxInventory {
		return TooMuchThere(nil)
	}
	return nil
}

// TooMuchThere is the failure of a database that says more about what it has than
// can be held.
func TooMuchThere(cause error) error {
	return Fail(ProblemStatement, fmt.Sprintf("The server sent more than %d MiB as the list of its views or columns, the maximum. "+
		"Connect as a user who can read fewer of them.", MaxInventory>>20), cause)
}
