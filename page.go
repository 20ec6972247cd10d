package feedmill

// Page asks for a part of a list that runs from the newest record to the oldest.
type Page struct {
	// Before is the last id of the page before; empty means from the newest on.
	Before ID
	Limit  int
}
