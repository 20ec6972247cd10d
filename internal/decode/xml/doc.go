// Package xml reads XML 1.0 (fifth edition) with namespaces (Namespaces in XML
// 1.0, third edition), without validating and from front to back.
//
// [Reader] is a pull reader. It checks every rule of well-formedness of both
// recommendations, allocates nothing for a token, and takes memory that the limits of
// this package bound, whatever the document is. It knows no entities but the five that
// every document has, refuses a document type declaration that could bring others,
// and never opens anything.
//
// The reader takes UTF-8. [FindEncoding] says what a document is written in, so that
// it can be made UTF-8 before.
//
// [Table] makes records and cells of a document, by way of the reader.
//
// What is wrong with a document is a [Fault], which says where and what to do.
package xml
