package manifest

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"sync"
)

//go:embed builtin/*.yaml
var builtin embed.FS

// BuiltIn are the services that come with the program. They are read once, and
// the slice is whoever asks for it's own.
func BuiltIn() ([]*Manifest, error) {
	all, err := readBuiltIn()
	return slices.Clone(all), err
}

var readBuiltIn = sync.OnceValues(func() ([]*Manifest, error) {
	files, err := fs.Glob(builtin, "builtin/*.yaml")
	if err != nil {
		return nil, err
	}
	all := make([]*Manifest, 0, len(files))
	for _, file := range files {
		data, err := builtin.ReadFile(file)
		if err != nil {
			return nil, err
		}
		m, faults := Parse(data)
		if len(faults) > 0 {
			return nil, fmt.Errorf("%s:%s", file, faults[0])
		}
		all = append(all, m)
	}
	return all, nil
})
