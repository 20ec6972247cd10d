package blob

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Location is where a bucket is, as FEEDMILL_BLOB_URL describes it.
type Location struct {
	Bucket, Prefix, Region string
	// Endpoint is the host of the S3 server, empty for AWS.
	Endpoint string
	// Plain reports whether the endpoint is called without TLS.
	Plain     bool
	PathStyle bool
	// Role is "instance" or "container" to use the credentials of the machine, else empty.
	Role string
}

// ParseLocation reads a URL such as s3://bucket/prefix?region=…&endpoint=https://…&pathStyle=true.
// Its errors do not contain the URL.
func ParseLocation(text string) (at Location, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.Opaque != "" {
		return Location{}, errors.New("must have the form s3://bucket/prefix?region=…&endpoint=https://…&pathStyle=true")
	}
	if u.User != nil {
		return Location{}, errors.New("must not contain credentials; set FEEDMILL_BLOB_ACCESS_KEY and FEEDMILL_BLOB_SECRET_KEY")
	}
	at = Location{Bucket: u.Host, Prefix: strings.Trim(u.Path, "/")}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Location{}, errors.New("has parameters that cannot be read")
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		values := query[name]
		if len(values) != 1 {
			return Location{}, fmt.Errorf("has the parameter %s more than once", name)
		}
		if err := at.set(name, values[0]); err != nil {
			return Location{}, err
		}
	}
	return at, nil
}

func (at *Location) set(name, value string) error {
	switch name {
	case "region":
		at.Region = value
	case "endpoint":
		u, err := url.Parse(value)
		if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
			return errors.New("endpoint must have the form https://host:port")
		}
		at.Endpoint, at.Plain = u.Host, u.Scheme == "http"
	case "pathStyle":
		if value != "true" && value != "false" {
			return fmt.Errorf("pathStyle must be true or false; got %q", value)
		}
		at.PathStyle = value == "true"
	case "role":
		if value != "instance" && value != "container" {
			return fmt.Errorf("role must be instance or container; got %q", value)
		}
		at.Role = value
	default:
		return fmt.Errorf("has the unknown parameter %q; region, endpoint, pathStyle and role are known", name)
	}
	return nil
}
