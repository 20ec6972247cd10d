package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func fileSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// openUpload opens the file of an upload feed, with the options of its definition.
func (d *document) openUpload() (u client.Upload, f *os.File, err error) {
	name, coding := cutCompression(d.upload)
	u = client.Upload{Format: formatOf[strings.ToLower(filepath.Ext(name))], FileName: filepath.Base(name), ContentEncoding: coding}
	for _, m := range d.definition.Members {
		text := textOf(&m.Value)
		switch m.Name {
		case "format":
			u.Format = text
		case "path":
			u.Path = text
		case "explode":
			u.Explode = text
		case "entry":
			u.Entry = text
		case "sheet":
			if u.Sheet, err = strconv.Atoi(textOfNumber(&m.Value)); err != nil {
				return u, nil, errors.New("sheet must be the number of a worksheet")
			}
		case "types":
			u.Text = text == "text"
		case "mode":
			u.Mode = feedmill.FeedMode(text)
		case "key":
			for i := range m.Value.Items {
				u.Key = append(u.Key, textOf(&m.Value.Items[i]))
			}
		case "type":
		default:
			option := u.Option(m.Name)
			if option == nil && !slices.Contains(feedPolicies, m.Name) {
				return u, nil, errors.New(m.Name + " is not a member of an upload")
			}
			if option != nil {
				*option = text
				if m.Value.Kind != '"' {
					*option = textOfNumber(&m.Value)
				}
			}
		}
	}
	if f, err = os.Open(d.upload); err != nil {
		return u, nil, err
	}
	u.Data = f
	return u, f, nil
}
