# notifier: what people and CI run. `make help` lists the targets.

GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOVULNCHECK   := golang.org/x/vuln/cmd/govulncheck@v1.9.0

# Packages to test: make test T=./internal/outbox
T ?= ./...
# Whatever else `go test` should be told, such as -run or -count.
TESTFLAGS ?=

# The race detector needs a C compiler.
CC_FOUND := $(shell command -v $$(go env CC) 2>/dev/null)
ifdef CC_FOUND
RACE := -race
RACE_ENV := CGO_ENABLED=1
endif

.DEFAULT_GOAL := help
.PHONY: help run build test test-long bench check fmt

help: ## List the targets
	@sed -n 's/^\([a-z][a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

run: build ## Build, and show everything at once: needs no account, no token, no settings
	bin/notifier demo

build: ## Build bin/notifier: static, one file
	CGO_ENABLED=0 go build -trimpath -o bin/notifier ./cmd/notifier

test: ## Run all tests, or one package's; the last lines say which were left out
ifndef CC_FOUND
	@echo "No C compiler found: testing WITHOUT the race detector (install gcc or clang for it)."
endif
	@$(RACE_ENV) go test -json $(RACE) -shuffle=on -timeout=60m $(TESTFLAGS) $(T) | go run .ci/report.go

test-long: ## The long forms: a million rows, a million steps, planted faults; takes an hour or more
	NOTIFIER_LONG=1 go test -tags long -timeout=6h $(TESTFLAGS) $(T)

bench: ## Compare a small file with one of a million sent and a million waiting messages; wants a quiet machine
	go test -run '^$$' -bench AtSize -benchtime 1x -timeout 30m ./internal/outbox

check: ## Check formatting, vet, lint, and look for known vulnerabilities
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "Run make fmt; not formatted:"; echo "$$unformatted"; exit 1; }
	go vet ./...
	go run $(GOLANGCI_LINT) run
	@if curl -sSf -o /dev/null --max-time 10 https://vuln.go.dev/index/db.json; then \
		go run $(GOVULNCHECK) ./...; \
	else \
		echo "vuln.go.dev cannot be reached: known vulnerabilities were NOT looked for."; \
	fi

fmt: ## Format the code
	gofmt -w .
