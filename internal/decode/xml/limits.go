package xml

import "github.com/feedmill/feedmill/internal/decode/input"

// The limits of a document. What passes one of them is refused with a [Fault].
const (
	// MaxDepth is how many elements can stand in each other.
	MaxDepth = 1000
	// MaxAttributes is how many attributes an element can have, with its
	// declarations of namespaces.
	MaxAttributes = 10_000
	// MaxNameBytes is how long a name can be, with its prefix.
	MaxNameBytes = 1024
	// MaxValueBytes is how long the value of an attribute can be, as it is written.
	MaxValueBytes = 16 << 20
	// MaxTagBytes is how long a tag can be, with all its attributes.
	MaxTagBytes = 64 << 20
	// MaxNamespaces is how many declarations of namespaces can hold at one place.
	MaxNamespaces = 1000
	// MaxNamespaceBytes is how long the name of a namespace can be.
	MaxNamespaceBytes = 8 << 10

	// maxDeclarationBytes is how long what begins the document can be: the XML
	// declaration, and the document type declaration.
	maxDeclarationBytes = 64 << 10
	// maxKnownBytes is how much memory the names that were met may take. Past it
	// they are forgotten and learned again.
	maxKnownBytes = 8 << 20
	// maxExpected is of how many attributes an element is expected to have the
	// same as the last time.
	maxExpected = 64
	// maxMeanings is how many namespaces a name is remembered in.
	maxMeanings = 8

	// blockBytes is how much is read at once. Text is given in pieces of about as much.
	blockBytes = 64 << 10
	// padding is how many bytes stand behind the data, so that words can be read
	// without a look at its end.
	padding = 16
)

// Limits that it takes long to reach; tests make them smaller.
var (
	maxValueBytes  = MaxValueBytes
	maxTagBytes    = MaxTagBytes
	maxFieldBytes  = input.MaxFieldBytes
	maxRecordBytes = int64(input.MaxRecordBytes)
)
