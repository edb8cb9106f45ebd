SHELL := /bin/bash -o pipefail
.DEFAULT_GOAL := help

CACHE := $(or $(NETSTEER_CACHE),$(HOME)/.cache/netsteer)
TOOLS := $(CACHE)/bin
TAGS  := e2e,lab,lablong,image

GOLANGCI_LINT := $(TOOLS)/golangci-lint-2.15.0
GOVULNCHECK   := $(TOOLS)/govulncheck-1.9.0

# The same commit gives the same binary: the date is the commit's, and the
# builder is not named.
VERSION  := $(shell cat VERSION)
REVISION := $(or $(shell git rev-parse HEAD 2>/dev/null),unknown)
BRANCH   := $(or $(shell git rev-parse --abbrev-ref HEAD 2>/dev/null),unknown)
DATE     := $(or $(shell TZ=UTC git log -1 --format=%cd --date=format-local:%Y%m%d-%H:%M:%S 2>/dev/null),unknown)
STAMP    := github.com/prometheus/common/version
LDFLAGS  := -s -w -X $(STAMP).Version=$(VERSION) -X $(STAMP).Revision=$(REVISION) \
            -X $(STAMP).Branch=$(BRANCH) -X $(STAMP).BuildDate=$(DATE) -X $(STAMP).BuildUser=netsteer

# The race detector needs cgo, so a C compiler; the product itself never does.
RACE := $(if $(shell command -v $${CC:-gcc}),-race)

# Seconds: each fuzz target gets FUZZTIME, less where that would take more than
# FUZZTOTAL for all, compiling included.
FUZZTIME  ?= 20
FUZZTOTAL ?= 280

##@ Everyday
run: build ## build, then serve on :10420 (ARGS="--flag ..." adds flags)
	@printf 'http://localhost:10420/%s\n' '' metrics snapshot
	@exec ./netsteer $(ARGS)

build: ## the static binary ./netsteer
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o netsteer ./cmd/exporter

test: ## every test that needs no lab; names each one it skips
	@$(if $(RACE),,echo 'no C compiler: the race detector is off')
	@go test -json $(RACE) -timeout 5m $(TESTFLAGS) ./... | go run ./internal/testsummary

lint: $(GOLANGCI_LINT) ## gofmt, go vet, golangci-lint, shellcheck
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
	  [ -z "$$unformatted" ] || { printf 'not gofmt-ed:\n%s\n' "$$unformatted"; exit 1; }
	go vet -tags=$(TAGS) ./...
	$(GOLANGCI_LINT) run --build-tags=$(TAGS) ./...
	scripts/shellcheck.sh

##@ Longer
lab: ## boot the lab's guests and test in them
	lab/fetch.sh
	go test -json -tags=lab -count=1 -timeout 15m $(TESTFLAGS) ./lab/... | go run ./internal/testsummary

lab-long: ## four untouched guests under traffic for ten minutes: no alert
	lab/fetch.sh
	go test -json -tags=lablong -run='Long$$' -count=1 -timeout 25m $(TESTFLAGS) ./lab | go run ./internal/testsummary

e2e: build ## the built binary against this machine, promtool and Prometheus
	go test -json -tags=e2e -count=1 -timeout 5m $(TESTFLAGS) ./e2e/... | go run ./internal/testsummary

# dist holds what the Dockerfile's stage `build` would leave.
image: build ## the image's final stage, built by buildah and run as a container
	install -D netsteer dist/src/netsteer
	go test -json -tags=e2e,image -count=1 -timeout 5m -run '^TestImage' $(TESTFLAGS) ./e2e/... | go run ./internal/testsummary

# TestRuleTestsBite takes long, and make test has it.
rules: build ## alert rules and the dashboard, by promtool and Prometheus
	go test -json -tags=e2e -count=1 -timeout 2m -skip TestRuleTestsBite $(TESTFLAGS) ./alerts/... ./dashboards/... | go run ./internal/testsummary

fuzz: ## every fuzz target in turn (FUZZTIME, FUZZTOTAL in seconds)
	@scripts/fuzz.sh $(FUZZTIME) $(FUZZTOTAL)

bench: ## every benchmark (BENCH=regexp)
	go test -run '^$$' -bench '$(or $(BENCH),.)' -benchmem ./...

vuln: $(GOVULNCHECK) ## known vulnerabilities in our modules, from an offline copy of the Go database
	scripts/vuln.sh $(GOVULNCHECK)

ci: ## everything, as .ci/run does
	.ci/run

##@ Housekeeping
tools: $(GOLANGCI_LINT) $(GOVULNCHECK) ## build the linters and their database into the cache
	@scripts/vulndb.sh

clean: ## remove what build and the tests leave
	rm -rf netsteer dist coverage.out

# Built from source by their own go.mod, outside of ours.
$(GOLANGCI_LINT):
	scripts/tool.sh $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
$(GOVULNCHECK):
	scripts/tool.sh $@ golang.org/x/vuln/cmd/govulncheck@v1.9.0

help:
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z0-9-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run build test lint lab lab-long e2e image rules fuzz bench vuln ci tools clean help
