# Winbake. `make` alone lists what there is.

# stdout of `make payload` is the one line with the digest, also under another
# make, which would announce its directories there.
MAKEFLAGS += --no-print-directory

GO ?= go
BIN := bin
F ?= versions.yaml

.DEFAULT_GOAL := help

## payload: versions.yaml into an OCI layout, _output/image (the main job)
.PHONY: payload
payload: $(BIN)/bake $(BIN)/verify
	$(BIN)/bake payload -f $(F)

## bin: build bake, verify and, for Windows nodes, verify.exe into bin/
.PHONY: bin
bin: $(BIN)/bake $(BIN)/verify $(BIN)/verify.exe

# Always asked: the go command knows better than make what is out of date. The
# tests compile the same packages in the same way (test/steps): once is enough.
.PHONY: $(BIN)/bake $(BIN)/verify
$(BIN)/bake $(BIN)/verify: | need-go
	@CGO_ENABLED=0 $(GO) build -trimpath -o $@ ./cmd/$(@F)

.PHONY: $(BIN)/verify.exe
$(BIN)/verify.exe: $(BIN)/bake
	@$(BIN)/bake -q verify-exe --out $@ >/dev/null

## image: verify in an image of its own, _output/tool (docs/precheck.md), or COMMAND=bake; PUSH=REF pushes it
PLATFORMS ?= linux/amd64,linux/arm64
COMMAND ?= verify
.PHONY: image
image: need-go
	@CGO_ENABLED=0 $(GO) run -trimpath ./hack/image --command $(COMMAND) --platform $(PLATFORMS) $(if $(PUSH),--push $(PUSH))

## release-files: what a release's archives have beside the commands, into _output/release
.PHONY: release-files
release-files: $(BIN)/bake $(BIN)/verify
	@rm -rf _output/release && mkdir -p _output/release/completions
	@set -e; for c in bake verify; do $(BIN)/$$c man _output/release/man; \
	  for s in bash zsh fish powershell; do $(BIN)/$$c completion $$s >_output/release/completions/$$c.$$s; done; \
	  CGO_ENABLED=0 $(GO) run -trimpath ./hack/image --command $$c --tarball _output/release/$$c-image.tar; done
	@# What is linked differs by system.
	@set -e; for os in linux darwin windows; do mkdir -p _output/release/programs/$$os; \
	  CGO_ENABLED=0 GOOS=$$os $(GO) build -trimpath -o _output/release/programs/$$os/ ./cmd/bake ./cmd/verify; done
	@$(GO) run ./hack/release licenses _output/release/programs/*/* >_output/release/THIRD-PARTY.txt
	@$(GO) build -o _output/release/tool ./hack/release
	@printf '#!/bin/sh\nexec kubectl winbake __complete "$$@"\n' >_output/release/kubectl_complete-winbake
	@chmod +x _output/release/kubectl_complete-winbake

## outdated: direct dependencies that have a newer version
.PHONY: outdated
outdated: need-go
	@for m in $(MODULES); do (cd $$m && $(GO) list -m -u -e -f '{{if and .Update (not .Indirect) (not .Main)}}{{.Path}} {{.Version}} {{.Update.Version}}{{end}}' all); done | sort -u

## release-rehearsal: a release as goreleaser makes it, into dist/, and installed from there in an empty home
GORELEASER = $(GO) run github.com/goreleaser/goreleaser/v2@v2.15.1
.PHONY: release-rehearsal
release-rehearsal: need-go
	$(GORELEASER) release --snapshot --clean
	cd packer/plugin && API_VERSION=x5.0 $(GORELEASER) release --snapshot --clean --skip=sign
	$(GO) test -count=1 -tags rehearsal -timeout 60m -v ./test/release/rehearsal
	$(GO) test -count=1 -tags e2e,rehearsal -timeout 90m -run TestOlderPayload ./test/e2e

## lab: bin/lab, which runs Packer where vCenter is simulated (docs/golden-image.md)
.PHONY: lab
lab: need-go
	@CGO_ENABLED=0 $(GO) build -C packer/plugin -trimpath -o ../../$(BIN)/lab ./e2e/lab

## test: the tests that need Go and git alone
.PHONY: test
test: need-go
	@# Made later, they change this folder, and with it the input of each test that
	@# runs a program here: the go command would keep none of their results.
	@mkdir -p $(BIN) _output
	@$(GO) run ./test/steps test

## e2e: the tests on real things, which it installs (Debian, root)
## e2e-PART: one part of them: cluster, images, packer, payload, race, release, wine; or proof, which is none of them; cluster has more than its part of them
PARTS := $(addprefix e2e-,cluster images packer payload proof race release wine)
.PHONY: e2e $(PARTS)
e2e $(PARTS): need-go
	@mkdir -p $(BIN) _output
	@$(GO) run ./test/steps $@

## e2e-operator: start OPERATOR, a program of WMCO's, over the payload of IMAGE
IMAGE ?= _output/image
.PHONY: e2e-operator
e2e-operator: need-go
	@test/deps.sh
	@$(GO) run ./test/cluster/apiserver/prepare
	OPERATOR=$(abspath $(OPERATOR)) IMAGE=$(abspath $(IMAGE)) PINS=$(abspath $(F)) $(GO) test -tags operator -count=1 -timeout=30m ./test/cluster/realoperator

## e2e-drivers: run the drivers of PROGRAMS, RELEASE-NAME.exe, in Wine (docs/csi-drivers.md)
.PHONY: e2e-drivers
e2e-drivers: need-go
	@test/deps.sh
	@$(GO) run ./test/cluster/apiserver/prepare
	PROGRAMS=$(abspath $(PROGRAMS)) $(GO) test -tags drivers -count=1 -timeout=60m ./test/wine/winedriver

## ci: test, then e2e, with their counts summed
.PHONY: ci
ci: need-go
	@mkdir -p $(BIN) _output
	@$(GO) run ./test/steps test e2e

## bench: packing, no-op, verify, a large cluster and images, against named baselines
.PHONY: bench
bench: payload
	$(GO) run ./test/bench -write docs/performance.md
	$(GO) run ./test/bench -cluster -write docs/performance.md
	cd packer/plugin && $(GO) test -tags e2e -timeout 60m ./e2e -run none -bench . -benchtime 1x -write=$(CURDIR)/docs/performance.md

# What is linted: each module, and for Windows the packages with files of its own.
MODULES := . packer/plugin hack/catalog test/release/ci
WINDOWS = $(addprefix ./,$(sort $(dir $(shell git ls-files '*_windows.go' ':!packer/plugin'))))
GOLANGCI_LINT = github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.6.2

## lint: gofmt, go vet, golangci-lint, and the grammar of PowerShell scripts
.PHONY: lint
lint: need-go
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -d $$(git ls-files '*.go'); exit 1; }
	@set -e; for m in $(MODULES); do (cd $$m && set -x && $(GO) vet ./... && $(GO) vet -tags e2e,operator,drivers,rehearsal,cluster ./... && $(GO) run $(GOLANGCI_LINT) run); done
	$(GO) run -exec 'env GOOS=windows' $(GOLANGCI_LINT) run $(WINDOWS)
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	cd packer/plugin && $(GO) run -exec 'env GOOS=windows' $(GOLANGCI_LINT) run ./e2e/service
	@test/packer/powershell/lint.sh

# The packages whose tests define -update; any other's stop at a flag that they
# don't know.
UPDATING = $(addprefix ./,$(sort $(dir $(shell git grep -l 'flag[.]Bool."update"' -- '*_test.go' ':!packer/plugin' ':!hack/catalog'))))

## golden: write all that the tests can write again: golden files, schemas, tables
.PHONY: golden
golden: need-go
	$(GO) test -count=1 $(UPDATING) -update
	cd hack/catalog && $(GO) test -count=1 . -update
	cd packer/plugin && $(GO) test -count=1 -run 'Specs|Docs' . -update

## fuzz: every fuzz target for FUZZTIME (default 20s)
FUZZTIME ?= 20s
.PHONY: fuzz
fuzz:
	@test/fuzz.sh $(FUZZTIME)

## mutants: change N (default 200) places of the product: make test has to notice 90 % of them
N ?= 200
.PHONY: mutants
mutants: need-go
	$(GO) run ./test/support/mutants -n $(N)

## clean: remove bin/ and _output/, not the cache (bin/bake cache path)
.PHONY: clean
clean:
	rm -rf $(BIN) _output

.PHONY: need-go
need-go:
	@command -v $(GO) >/dev/null || { echo "make: no go command on PATH: install Go 1.26 or later from https://go.dev/dl" >&2; exit 1; }
	@$(GO) list -m >/dev/null || { echo "make: this Go is too old: install Go 1.26 or later from https://go.dev/dl" >&2; exit 1; }

## help: this list
.PHONY: help
help:
	@sed -n 's/^## /  make /p' $(MAKEFILE_LIST)
