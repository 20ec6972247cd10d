package xml

import (
	"bytes"
	"strings"
)

// Declaration is what the XML declaration says; all of it is empty where there is none.
type Declaration struct {
	Version, Encoding string
	// Standalone is yes, no or empty.
	Standalone string
}

// Declaration is what the XML declaration says. It is known after the first call of
// Next.
func (r *Reader) Declaration() Declaration { return r.declared }

// readDeclaration reads the beginning of the document, and the XML declaration where there is one.
func (r *Reader) readDeclaration() bool {
	var scanner declarationScanner
	for !scanner.complete() && r.fill(0) {
		scanner.data = r.buf[:r.size]
	}
	if !scanner.begins() {
		return true
	}
	if fault := scanner.scan(); fault != "" {
		if scanner.i >= r.size {
			r.endsEarly("%s", fault)
		}
		r.fail(scanner.i, "%s", fault)
		return false
	}
	r.declared, r.i = scanner.found, scanner.i
	if !r.AnyEncoding && r.declared.Encoding != "" && !isUTF8Name(r.declared.Encoding) {
		r.fail(0, "the document declares the encoding %s but is read as UTF-8; declare the encoding that the document uses", excerpt(r.declared.Encoding))
		return false
	}
	return true
}

// isUTF8Name reports whether a name is that of an encoding whose texts are UTF-8.
func isUTF8Name(name string) bool {
	return strings.EqualFold(name, "utf-8") || strings.EqualFold(name, "utf8") || strings.EqualFold(name, "us-ascii") || strings.EqualFold(name, "ascii")
}

// declarationScanner reads an XML declaration (2.8 [23] XMLDecl) from the beginning of a
// document.
type declarationScanner struct {
	data  []byte
	i     int
	found Declaration
}

// begins reports whether there is one.
func (d *declarationScanner) begins() bool {
	const opening = "<?xml"
	return len(d.data) > len(opening) && string(d.data[:len(opening)]) == opening && classOf[d.data[len(opening)]]&nameByte == 0
}

// complete reports whether the declaration is all there, or there is none or one that is too long.
func (d *declarationScanner) complete() bool {
	return len(d.data) > len("<?xml") && (!d.begins() || len(d.data) >= maxDeclarationBytes || bytes.Contains(d.data, []byte("?>")))
}

const declarationForm = `write the XML declaration as <?xml version="1.0" encoding="UTF-8"?>`

// scan reads the declaration and returns what is wrong with it, at i.
func (d *declarationScanner) scan() string {
	limit := d.data[:min(len(d.data), maxDeclarationBytes)]
	end := bytes.Index(limit, []byte("?>"))
	if end < 0 {
		d.i = len(limit)
		return "the XML declaration is not closed; end it with ?>"
	}
	d.data = d.data[:end]
	d.i = len("<?xml")
	value, fault := d.attribute("version")
	switch {
	case fault != "":
		return fault
	case value == nil:
		return "the XML declaration must start with the version; " + declarationForm
	case !isVersion(value):
		d.i -= len(value) + 1
		return "the version " + excerpt(value) + " is not supported; write 1.0"
	}
	d.found.Version = string(value)
	if value, fault = d.attribute("encoding"); fault != "" {
		return fault
	}
	if value != nil && !isEncodingName(value) {
		d.i -= len(value) + 1
		return "the encoding is not a valid name; write UTF-8"
	}
	d.found.Encoding = string(value)
	if value, fault = d.attribute("standalone"); fault != "" {
		return fault
	}
	if value != nil && string(value) != "yes" && string(value) != "no" {
		d.i -= len(value) + 1
		return "standalone must be yes or no"
	}
	d.found.Standalone = string(value)
	d.space()
	if d.i < len(d.data) {
		return "the XML declaration can contain only version, encoding and standalone, each once and in this order; " + declarationForm
	}
	d.i += len("?>")
	return ""
}

// attribute reads white space, the name where it is there, and its value. The value is nil
// where the name is not there.
func (d *declarationScanner) attribute(name string) (value []byte, fault string) {
	start := d.i
	d.space()
	rest := d.data[d.i:]
	if len(rest) < len(name) || string(rest[:len(name)]) != name {
		if d.i == len(d.data) {
			return nil, ""
		}
		if name == "version" || d.i == start {
			return nil, declarationForm
		}
		d.i = start
		return nil, ""
	}
	if d.i == start {
		return nil, name + " must be preceded by a space in the XML declaration"
	}
	d.i += len(name)
	d.space()
	if d.i >= len(d.data) || d.data[d.i] != '=' {
		return nil, name + ` has no value in the XML declaration; write ` + name + `="…"`
	}
	d.i++
	d.space()
	if d.i >= len(d.data) || d.data[d.i] != '"' && d.data[d.i] != '\'' {
		return nil, "the value of " + name + ` is not in quotes; write ` + name + `="…"`
	}
	quote := d.data[d.i]
	d.i++
	n := bytes.IndexByte(d.data[d.i:], quote)
	if n < 0 {
		return nil, "the value of " + name + " is not closed; add the closing quote"
	}
	value = d.data[d.i : d.i+n : d.i+n]
	d.i += n + 1
	return value, ""
}

func (d *declarationScanner) space() {
	for d.i < len(d.data) && classOf[d.data[d.i]]&spaceByte != 0 {
		d.i++
	}
}

// isVersion reports whether a text is a version of XML 1 (2.8 [26] VersionNum).
func isVersion(text []byte) bool {
	digits, ok := bytes.CutPrefix(text, []byte("1."))
	return ok && len(digits) > 0 && len(bytes.TrimLeft(digits, "0123456789")) == 0
}

// isEncodingName reports whether a text is the name of an encoding (4.3.3 [81] EncName).
func isEncodingName(text []byte) bool {
	for i, c := range text {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || !(c >= '0' && c <= '9') && c != '.' && c != '_' && c != '-') {
			return false
		}
	}
	return len(text) > 0
}
