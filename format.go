package feedmill

import (
	"slices"
	"strings"
)

// Format is a format of data: what it is called and how it is told.
type Format struct {
	Name string
	// MediaTypes are those that it is sent as, the best first. One that begins with a
	// star stands for all that end so, as *+xml does.
	MediaTypes []string
	// Suffix is how other media types end whose data is in the format, such as
	// +json; empty where there is none.
	Suffix string
	// Extensions are how the names of its files end, in small letters and with
	// the dot.
	Extensions []string
	// Parameters are those parameters of a request that say how it is read and
	// that not every format takes.
	Parameters []string
	// Readable says that data in it can be read. The other formats are only
	// known.
	Readable bool
}

// Formats are all formats that are known.
type Formats []Format

// Named returns the format of that name.
func (f Formats) Named(name string) (Format, bool) {
	return f.find(func(f Format) bool { return f.Name == name })
}

// OfMediaType returns the readable format that is sent as a media type.
func (f Formats) OfMediaType(mediaType string) (Format, bool) {
	return f.find(func(f Format) bool {
		return f.Readable && slices.ContainsFunc(f.MediaTypes, func(known string) bool {
			end, any := strings.CutPrefix(known, "*")
			return known == mediaType || any && strings.HasSuffix(mediaType, end)
		})
	})
}

// OfSuffix returns the readable format that a media type of its own is built on.
func (f Formats) OfSuffix(mediaType string) (Format, bool) {
	return f.find(func(f Format) bool { return f.Readable && f.Suffix != "" && strings.HasSuffix(mediaType, f.Suffix) })
}

// OfExtension returns the readable format of files whose names end so, with the
// dot.
func (f Formats) OfExtension(extension string) (Format, bool) {
	extension = strings.ToLower(extension)
	return f.find(func(f Format) bool { return f.Readable && slices.Contains(f.Extensions, extension) })
}

func (f Formats) find(is func(Format) bool) (Format, bool) {
	if i := slices.IndexFunc(f, is); i >= 0 {
		return f[i], true
	}
	return Format{}, false
}

// Readable returns the formats that data can be read in.
func (f Formats) Readable() Formats {
	return slices.DeleteFunc(slices.Clone(f), func(f Format) bool { return !f.Readable })
}

// Names are the names of the formats.
func (f Formats) Names() []string {
	names := make([]string, len(f))
	for i := range f {
		names[i] = f[i].Name
	}
	return names
}

// Parameters are those that any of the formats takes.
func (f Formats) Parameters() []string {
	var all []string
	for _, format := range f {
		for _, name := range format.Parameters {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}
