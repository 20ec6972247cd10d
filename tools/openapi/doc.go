// Package openapi keeps the modules that the code of oapi-codegen imports, so that the tests
// can compile what it generates from /openapi.json.
package openapi

import (
	_ "github.com/getkin/kin-openapi/openapi3"
	_ "github.com/labstack/echo/v4"
	_ "github.com/oapi-codegen/runtime"
)
