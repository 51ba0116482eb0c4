#!/usr/bin/env bash
# Writes the fixture store of a version that is being released with another file format:
#     Scripts/format-fixture.sh 0.2.0
# makes Fixtures/Stores/0.2.0.strata and 0.2.0.txt, what it answers. Read the answers before you commit both, add the
# version to `ReleasedStore.all`, and never write them again.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?usage: Scripts/format-fixture.sh VERSION}
STRATA_CORE_ONLY=1 STRATA_TESTS=StrataGraphTests STRATA_FIXTURE_OUTPUT=$version swift test --filter ReleasedFormatTests.theFixtureIsWritten
rm -f "Fixtures/Stores/$version.strata"/{lock.mdb,writer.lock,blobs.lock,views.lock}
du -sh "Fixtures/Stores/$version.strata" "Fixtures/Stores/$version.txt"
