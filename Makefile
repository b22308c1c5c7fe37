# Two commands matter: make run and make test. `make help` lists the others.

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME    ?= 10s
# go test, and what failed in it once more by itself; what it forgave it writes
# to the file, which scripts/left-out.sh shows (docs/adr/0053).
AGAIN       := go run ./internal/again bin/again.txt

.DEFAULT_GOAL := help
# Two cores are the machine this is sized for: one step at a time, each of
# which uses them all.
.NOTPARALLEL:

.PHONY: help
help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build the tool into bin/kalan
	go build -o bin/kalan ./cmd/kalan

.PHONY: run
run: build ## start the demo bridges and the gateway, and print a curl line that answers
	bin/kalan demo --serve

.PHONY: demo
demo: build ## tell the story of one bridge that hangs, without and with the defences
	bin/kalan demo

.PHONY: test
test: needs format vet lint race alone readme ## everything CI runs; as root on Debian it installs what that needs
	@scripts/left-out.sh

.PHONY: needs
needs:
	@scripts/needs.sh

.PHONY: quick
quick: format vet ## the same without race detector, long tests and README, in under a minute
	go test -short work

.PHONY: format
format:
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then \
		printf 'not in gofmt form; run make fmt:\n%s\n' "$$unformatted" >&2; exit 1; fi

# A nested module is vetted as somebody gets it who has no workspace, so that a
# go.sum that lacks a line is found here.
.PHONY: vet
vet:
	@scripts/each.sh env GOWORK=off go vet ./...

.PHONY: lint
lint:
	@scripts/each.sh go run $(STATICCHECK) ./...

# `work` is every module of go.work, which ./... is not.
.PHONY: race
race:
	@rm -f bin/again.txt
	$(AGAIN) -race -timeout 12m work

# The library as others import it: without the workspace, and without the race
# detector, which allocation tests must not have. Half of it is the simulator,
# which plays two billion requests to be held to docs/simulator.md. What the
# detector leaves out of the other modules comes after it: the allocation budgets
# of bench, and the scenarios, which would take ten times as long.
.PHONY: alone
alone:
	GOWORK=off $(AGAIN) -timeout 30m ./...
	$(AGAIN) ./bench
	$(AGAIN) -timeout 30m -run '^TestScenarios$$' ./cmd/kalan

# make test holds the mean of five seeds to a row's tolerance; here each seed is
# played for as long as that takes, and the few rows that do not fit there.
.PHONY: theory
theory: ## hold every seed of the simulator to queueing theory, for half an hour
	KALAN_LONG=1 go test -timeout 120m ./sim/...

.PHONY: bench-sim
bench-sim: ## measure the simulator beside three others, and write its table of speed
	scripts/bench-sim.sh

.PHONY: readme
readme: ## run the commands that README.md shows
	scripts/readme.sh README.md

.PHONY: bench
bench: ## measure the hot paths
	go test -run '^$$' -bench . -benchmem -count 5 ./...

.PHONY: bench-overload
bench-overload: ## overload nginx, HAProxy and Kalan side by side, for three quarters of an hour
	scripts/bench-overload.sh

.PHONY: fuzz
fuzz: ## fuzz every target for FUZZTIME (10s)
	scripts/fuzz.sh $(FUZZTIME)

.PHONY: fmt
fmt: ## put every file into gofmt form
	gofmt -w .

.PHONY: clean
clean: ## remove what was built
	rm -rf bin
