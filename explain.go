package feedmill

import (
	_ "embed" // the explanations
	"encoding/json"
	"sync"
)

// ProblemType explains the problems of one type: those with the type "/problems/" and Slug.
type ProblemType struct {
	Slug  string `json:"slug"`
	Title string `json:"title"`
	// Meaning says what happened, and Fix what to do next.
	Meaning string `json:"meaning"`
	Fix     string `json:"fix"`
}

// WarningCode explains the warnings with one code.
type WarningCode struct {
	Code string `json:"code"`
	// Meaning says what Feedmill found and did, and Fix how to change it.
	Meaning string `json:"meaning"`
	Fix     string `json:"fix"`
}

//go:embed problems.json
var problemTypes []byte

//go:embed warnings.json
var warningCodes []byte

// ProblemTypes lists all types of problems by their slugs.
var ProblemTypes = sync.OnceValue(func() []ProblemType { return explained[ProblemType](problemTypes) })

// WarningCodes lists all codes of warnings.
var WarningCodes = sync.OnceValue(func() []WarningCode { return explained[WarningCode](warningCodes) })

func explained[T any](text []byte) (all []T) {
	if err := json.Unmarshal(text, &all); err != nil {
		panic(err) // the file is part of the program
	}
	return all
}
