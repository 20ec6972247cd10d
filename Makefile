# The commands of this repository; each works in a fresh clone.
#
#   make run      build and serve, with everything in ./feedmill-data
#   make build    write bin/feedmill
#   make static   write bin/feedmill-static, which needs no shared libraries
#   make release  write programs, packages, an image and a chart to dist/; needs compilers for amd64 and arm64
#   make test     install what is missing, lint, and run every test
#   make lint     only the checks that run no test
#   make fmt      format the code
#   make openapi-tools  install the tools that check /openapi.json
#   make readers  install the independent readers of Parquet and Arrow files
#   make mcp-client  install the client that tests the MCP server
#   make iceberg  build a reader of Iceberg tables with iceberg-go for TestIcebergGo, a long test
#   make clickhouse  install ClickHouse (550 MB) for TestClickHouse, a long test
#   make helm     build Helm for TestChart
#   make s3-server  build the S3 server of the tests
#   make vulncheck  look for known vulnerabilities; needs the internet
#   make bench    say how to run the benchmarks
#   make bench-guard BASE=<commit>  compare the speed of the working tree with that of a commit
#   make clean    remove what was built

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# The date of the documentation is the date of the commit, so that builds are reproducible.
DATE := $(shell git log -1 --format=%cs 2>/dev/null)

# Most tests run with the race detector. Compiling SQLite takes more than a
# minute for each mode of building, so the linters ask for the same mode and
# find what the tests need, or the tests what the linters needed.
MODE := -race

STATICCHECK := bin/tools/staticcheck
GOFUMPT := bin/tools/gofumpt
GOVULNCHECK := bin/tools/govulncheck
S3_SERVER := bin/tools/versitygw
OPENAPI_TOOLS := bin/tools/oapi-codegen bin/tools/openapi/installed
READERS := bin/tools/readers/installed
MCP_CLIENT := bin/tools/mcp/installed

CHECKS = go mod verify && GOFLAGS="$$(go env GOFLAGS) $(MODE)" $(STATICCHECK) -checks inherit,ST1000 ./...

.PHONY: run build static release test lint vet staticcheck fmt vulncheck bench bench-guard clean setup openapi-tools s3-server readers mcp-client clickhouse iceberg helm

run: build
	bin/feedmill serve

# Without symbols and debugging information the program is a quarter smaller; stack
# traces do not need them. Go's linker exports the symbols of C for plugins, of which
# there are none; only the linker of Linux knows the option.
comma := ,
LDFLAGS = -buildid= -s -w -X main.version=$(VERSION) -X github.com/feedmill/feedmill/internal/manual.updated=$(DATE)
SMALL := $(if $(filter Linux,$(shell uname -s)),-extldflags=-Wl$(comma)--no-export-dynamic$(comma)--gc-sections)

# Arrow's reader of Parquet links a gRPC client that is never used. The tag leaves out its
# debugging pages, 0.1 MB of the program.
TAGS := grpcnotrace
STATIC := netgo,osusergo

# SQLite then commits with fdatasync, which does not write the time of a change to the disk. With
# a journaling file system that halves the time of a commit.
CFLAGS := -O2 -g -DHAVE_FDATASYNC=1

# The same sources and the same version are the same bytes, wherever they lie.
build:
	@echo 'building bin/feedmill; the first build compiles SQLite and links DuckDB, which takes minutes, later ones seconds'
	CGO_ENABLED=1 CGO_CFLAGS="$(CFLAGS)" go build -trimpath -buildvcs=false -tags $(TAGS) -ldflags "$(LDFLAGS) $(SMALL)" -o bin/feedmill ./cmd/feedmill

# A program without shared libraries runs on every Linux. Names of hosts and users are then looked
# up by Go, so the warnings of the linker about the C library do not apply.
ARCH := $(shell go env GOARCH)
OUT := bin/feedmill-static

static:
	CGO_ENABLED=1 GOOS=linux GOARCH=$(ARCH) CC=$(CC) CXX=$(CXX) CGO_CFLAGS="$(CFLAGS)" go build -trimpath -buildvcs=false -tags $(TAGS),$(STATIC) -ldflags "$(LDFLAGS) -extldflags '-static -Wl$(comma)--gc-sections'" -o $(OUT) ./cmd/feedmill

release:
	scripts/release

# Without the setting every process of the race detector, and so every package,
# sleeps for a second before it ends. One package more than there are processors
# runs on the two of the smallest machine, because many wait for leases, retries
# and processes. The packages that take longest start first, so that none of them
# runs alone at the end. Debugging information would only make linking slower;
# stack traces do not need it.
#
# The tests of cmd/feedmill run beside them without the race detector, as the released
# program does: they start servers, kill them and bound their memory. The same code
# runs with the detector in internal/app.
#
# What the tests leave idle is for staticcheck, which needs minutes without its cache;
# it stands back whenever a test wants the processor.
PROGRAM := ./cmd/feedmill
SLOW := ./internal/app ./internal/app/browser ./internal/store/postgres ./internal/lake/worker ./internal/deliver
TESTS := -ldflags=-w -shuffle=on -vet=off -timeout 30m

test: setup vet $(STATICCHECK) $(OPENAPI_TOOLS) $(READERS) $(MCP_CLIENT) $(S3_SERVER)
	@nice -n 19 sh -c '$(CHECKS)' >bin/staticcheck.log 2>&1 & checks=$$!; \
		go test $(TESTS) $(PROGRAM) >bin/program.log 2>&1 & program=$$!; code=0; \
		GORACE=atexit_sleep_ms=10 go test $(MODE) $(TESTS) -p $$(nproc) $(SLOW) $$(go list ./... | grep -v /cmd/feedmill$$) || code=$$?; \
		wait $$program || code=$$?; cat bin/program.log; \
		wait $$checks || code=$$?; cat bin/staticcheck.log; exit $$code

lint: vet staticcheck

# Compiles what the tests and staticcheck need.
vet: $(GOFUMPT)
	@unformatted=$$($(GOFUMPT) -l .); if [ -n "$$unformatted" ]; then \
		printf 'not formatted, run make fmt:\n%s\n' "$$unformatted"; exit 1; fi
	go mod tidy -diff
	go vet $(MODE) ./...

staticcheck: $(STATICCHECK)
	$(CHECKS)

fmt: $(GOFUMPT)
	$(GOFUMPT) -l -w .

# Not a part of the tests, which dial nothing.
vulncheck: $(GOVULNCHECK)
	$(GOVULNCHECK) ./...

bench:
	@echo 'Each folder below bench/ is one benchmark; bench/README.md says what it measures. Run one with'
	@for folder in $(filter-out bench/internal/ bench/guard/,$(wildcard bench/*/)); do echo "    go run ./$${folder%/}"; done
	@echo 'Compare the working tree with an earlier commit with'
	@echo '    make bench-guard BASE=<commit>'

# Not a part of the tests: it takes 25 minutes and needs a machine that does nothing else.
# ARGS are flags of bench/guard, such as ARGS='-quick -rows uploads'.
bench-guard:
	@[ -n "$(BASE)" ] || { echo "BASE is required: make bench-guard BASE=<commit> [ARGS='-quick -rows uploads']"; exit 2; }
	go run ./bench/guard -base '$(BASE)' $(ARGS)

clean:
	rm -rf bin dist

setup:
	@scripts/setup

# The linters have a module of their own, so that the program does not depend
# on what they depend on.
$(STATICCHECK) $(GOFUMPT) &: tools/go.mod tools/go.sum
	go -C tools build -o ../bin/tools/ tool
	@touch $(STATICCHECK) $(GOFUMPT)

$(GOVULNCHECK): tools/vulncheck/go.mod tools/vulncheck/go.sum
	go -C tools/vulncheck build -o ../../bin/tools/ tool
	@touch $(GOVULNCHECK)

# The S3 server of the tests. Compiling it takes minutes, once.
s3-server: $(S3_SERVER)

$(S3_SERVER): tools/s3/go.mod tools/s3/go.sum
	go -C tools/s3 build -o ../../bin/tools/ tool
	@touch $@

# The tools that check /openapi.json. The tests fail and say so where they are missing, so
# a registry that cannot be reached does not keep the other tests from running.
openapi-tools: $(OPENAPI_TOOLS)

bin/tools/oapi-codegen: tools/openapi/go.mod tools/openapi/go.sum
	go -C tools/openapi build -o ../../bin/tools/ tool && go -C tools/openapi build ./...
	@touch $@

# Readers that share no code with Feedmill read the files that it writes.
readers: $(READERS)

# The client of the Model Context Protocol that the tests use.
mcp-client: $(MCP_CLIENT)

clickhouse: bin/tools/clickhouse/installed

# Helm depends on the client of Kubernetes, so compiling it takes minutes.
helm: bin/tools/helm

bin/tools/helm: tools/helm/go.mod tools/helm/go.sum
	go -C tools/helm build -o ../../bin/tools/ tool
	@touch $@

bin/tools/%/installed: tools/%/package.json tools/%/package-lock.json tools/%/.npmrc
	@mkdir -p $(@D) && cp $^ $(@D)/
	@npm ci --prefix $(@D) --loglevel=error && touch $@ || echo 'npm could not install $*; its tests will fail'

# iceberg-go depends on 52 modules, so it has a module of its own.
iceberg: bin/tools/iceberg

bin/tools/iceberg: tools/iceberg/go.mod tools/iceberg/go.sum tools/iceberg/main.go
	go -C tools/iceberg build -o ../../bin/tools/ .
