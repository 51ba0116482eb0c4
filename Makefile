# Everything a newcomer needs: `make demo`, `make examples`, `make studio`, `make test` and `make docs`. All install LMDB's development package if it is missing.

SHELL := /bin/bash
EXAMPLES := Examples
DEMO_STORE ?= $(CURDIR)/BowTies.strata

# These builds are not debugged or browsed; leaving out the records for that saves an eighth of the time.
QUICK := --disable-index-store -debug-info-format none

STORIES := BowTies LetsEat MustC Photorama

.PHONY: demo examples three-nodes tool server server-test server-load studio studio-test studio-screenshots demo-large test test-shared \
    test-shared-network model-shared trust trust-quick schedules docs bench fuzz sanitize \
    lint format clean dependencies

demo: dependencies
	swift build $(QUICK) --package-path $(EXAMPLES) --product BowTies
	@mkdir -p bin && ln -sf ../$(EXAMPLES)/.build/debug/strata bin/strata
	@$(EXAMPLES)/.build/debug/BowTies --store "$(DEMO_STORE)" --fixtures "$(CURDIR)/Fixtures/BowTies"

# Runs each story on a store beside this file, as `make demo` runs BowTies; the stores stay.
examples: dependencies
	swift build $(QUICK) --package-path $(EXAMPLES)
	@mkdir -p bin && ln -sf ../$(EXAMPLES)/.build/debug/strata bin/strata
	@set -e; for story in $(STORIES); do \
	    printf '\n== %s\n' $$story; \
	    $(EXAMPLES)/.build/debug/$$story --store "$(CURDIR)/$$story.strata" --fixtures "$(CURDIR)/Fixtures/$$story"; \
	done
	@printf '\n== bin/strata inspect\n\n'; bin/strata inspect "$(CURDIR)/Photorama.strata"

# Three processes with a store each and one log, in a PostgreSQL of their own: shows each change travel. Some ten seconds
# after the build. NODES has options: `NODES="--changes 100 --pause 50"`.
three-nodes: dependencies
	swift build $(QUICK) --package-path $(EXAMPLES) --product MustC
	@Scripts/test-shared.sh $(EXAMPLES)/.build/debug/MustC three-nodes --fixtures "$(CURDIR)/Fixtures/MustC" $(NODES)

# A service with Hummingbird over the model of LetsEat, on http://127.0.0.1:8080, with a store beside this file.
SERVER := Examples/Server
server: dependencies
	swift build $(QUICK) --package-path $(SERVER) --product letseat-server
	$(SERVER)/.build/debug/letseat-server --store "$(CURDIR)/LetsEatServer.strata"

server-test: dependencies
	swift build --package-path $(SERVER) --build-tests
	swift test --package-path $(SERVER) --skip-build

# Loads that service for some 20 seconds, kills it meanwhile, and fails if anything that it acknowledged is lost or
# doubled. Most of the time is the release build. LOAD has options: `LOAD="--seconds 30 --kills 9"`.
server-load: dependencies
	swift build -c release --package-path $(SERVER)
	$(SERVER)/.build/release/server-load $(LOAD)

# Strata Studio on the store of `make demo`, or on STORES, in the browser.
STORES ?= "$(DEMO_STORE)"
studio: dependencies
	@[ -n '$(filter-out "$(DEMO_STORE)",$(STORES))' ] || [ -e "$(DEMO_STORE)" ] || $(MAKE) demo
	swift build $(QUICK) --package-path Studio --product strata-studio
	Studio/.build/debug/strata-studio --open $(STORES)

# Studio's tests: of the server, and of its pages in Chromium. Scripts/studio-browser.sh says what they need.
STUDIO_BUILT := STUDIO_PROGRAM=Studio/.build/debug/strata-studio STRATA_PROGRAM=Studio/.build/debug/strata
studio-test: dependencies
	swift build --package-path Studio --build-tests
	swift test --package-path Studio --skip-build
	$(STUDIO_BUILT) Scripts/studio-browser.sh python3 Studio/Tests/Browser/run.py

# Pictures of six pages for the documents.
PICTURES ?= Sources/Strata/Strata.docc/Resources
studio-screenshots: dependencies
	swift build --package-path Studio
	$(STUDIO_BUILT) STUDIO_SCREENSHOTS="$(PICTURES)" Scripts/studio-browser.sh \
	    python3 Studio/Tests/Browser/run.py

# The tool alone, in release and without what only a debugger needs: bin/strata.
tool: dependencies
	STRATA_TESTS= swift build -c release $(QUICK) --product strata
	@mkdir -p bin && ln -sf ../.build/release/strata bin/strata
	@bin/strata --version

# The Debian package index as a graph, with questions; some minutes, most of them for the release build.
demo-large: dependencies
	STRATA_TESTS= swift build -c release --product strata
	Scripts/demo-large.sh .build/release/strata "$(CURDIR)/Debian.strata"

test: dependencies
	swift build --build-tests
	Scripts/test.sh

# How often nodes and servers are killed.
KILL_ROUNDS ?= 9
# How often the connections between nodes and the server change.
PARTITION_ROUNDS ?= 30

# The tests of shared logs on a PostgreSQL of their own, which is installed from Debian if need be.
test-shared: dependencies
	STRATA_CORE_ONLY=1 STRATA_TESTS=StrataPostgresTests swift build --build-tests
	Scripts/test-shared.sh env STRATA_CORE_ONLY=1 STRATA_TESTS=StrataPostgresTests Scripts/test.sh
	STRATA_KILL_ROUNDS=$(KILL_ROUNDS) STRATA_CORE_ONLY=1 STRATA_TESTS=StrataPostgresTests \
	    Scripts/test-shared.sh Scripts/test.sh --filter SharedKillTests
	STRATA_PARTITION_ROUNDS=$(PARTITION_ROUNDS) STRATA_CORE_ONLY=1 STRATA_TESTS=StrataPostgresTests \
	    Scripts/test-shared.sh Scripts/test.sh --filter SharedPartitionTests
	@if [ "$$(id -u)" -eq 0 ]; then \
	    STRATA_POSTGRES_MEGABYTES=64 STRATA_CORE_ONLY=1 STRATA_TESTS=StrataPostgresTests \
	        Scripts/test-shared.sh Scripts/test.sh --filter SharedFullServerTests; \
	else echo "The test of a full disk did not run: it needs root to mount one."; fi
	STRATA_TESTS=ExamplesTests swift build --build-tests
	STRATA_TESTS=ExamplesTests Scripts/test-shared.sh Scripts/test.sh \
	    --filter 'SharedStoryTests|SharedTrimTests|SharedToolTests|ThreeNodesTests'

# The test of partitions with a network for each store, some minutes, as root.
test-shared-network: dependencies
	STRATA_CORE_ONLY=1 STRATA_TESTS=StrataPostgresTests swift build --build-tests
	STRATA_PARTITION_ROUNDS=$(PARTITION_ROUNDS) STRATA_CORE_ONLY=1 STRATA_TESTS=StrataPostgresTests \
	    Scripts/test-shared-network.sh Scripts/test.sh --filter SharedPartitionTests

# Checks the model of how stores append to a shared log.
model-shared:
	Scripts/model-shared.sh

# Kills, power cuts, I/O faults, damage and random suites with fresh seeds, for an hour or five minutes; the result is
# written to Tests/TRUST.md.
trust: dependencies
	swift build --build-tests
	Scripts/trust.sh 60

trust-quick: dependencies
	swift build --build-tests
	Scripts/trust.sh 5

# Many schedules of contexts on a disk that fails, each with four power cuts, in a release build (`SimulationTests` runs 2,000).
# A core checks some 40 a second. FIRST_SEED is the first of the seeds.
SCHEDULES ?= 10000
FIRST_SEED ?= 10001
schedules: dependencies
	STRATA_CORE_ONLY=1 STRATA_TESTS=StrataStoreTests swift build -c release $(QUICK) --product store-crash-child
	Scripts/schedules.sh .build/release/store-crash-child $(SCHEDULES) $(FIRST_SEED)

# The documentation as a static site in .build-docs, with every link and symbol checked.
docs: dependencies
	@Scripts/docs.sh

# A few minutes after the release build. RESULTS=file.json keeps the numbers of the first table.
bench:
	@Scripts/dependencies.sh sqlite
	swift build --package-path Benchmarks -c release
	Benchmarks/.build/release/strata-bench run $(if $(RESULTS),--json $(RESULTS))
	Benchmarks/.build/release/strata-bench queries --sizes 100000
	Benchmarks/.build/release/strata-bench oo1
	Benchmarks/.build/release/strata-bench oo7
	Benchmarks/.build/release/strata-bench views
	Benchmarks/.build/release/strata-bench text
	Benchmarks/.build/release/strata-bench upkeep

# Each codec's fuzz target for FUZZ_SECONDS seconds.
FUZZ_SECONDS ?= 60
fuzz: dependencies
	Scripts/fuzz.sh $(FUZZ_SECONDS)

# The suite of the layers below the macros under the thread sanitizer. The tool's tests are left out: they start the
# built program some hundred times, each a process of its own that reads and prints on one thread.
sanitize: dependencies
	STRATA_CORE_ONLY=1 SWIFT_BACKTRACE=enable=no swift test --sanitize=thread --scratch-path .build-tsan \
	    --skip StrataInspectorTests

lint:
	swift format lint --recursive --parallel --strict Sources Tests Examples/Sources Examples/Server Benchmarks/Sources Studio Package.swift

format:
	swift format --in-place --recursive --parallel Sources Tests Examples/Sources Examples/Server Benchmarks/Sources Studio Package.swift

dependencies:
	@Scripts/dependencies.sh

clean:
	rm -rf .build .build-* $(EXAMPLES)/.build $(SERVER)/.build Benchmarks/.build Studio/.build bin
