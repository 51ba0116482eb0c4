#!/bin/bash
# Runs the fuzz targets in Fuzz/ one after the other: Scripts/fuzz.sh [seconds each, 60] [targets, all].
# A target is a Swift file with LLVMFuzzerTestOneInput; its first comment says what must hold. Useful inputs are kept in
# .build-fuzz/corpus. An input that fails is written to .build-fuzz, and the script fails.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
shift || true
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    for file in Fuzz/*.swift; do targets+=("$(basename "$file" .swift)"); done
fi

out=.build-fuzz
mkdir -p "$out"
# Swift's own crash report would wait for a debugger; libFuzzer prints its own.
export SWIFT_BACKTRACE=enable=no
# The leak sanitizer is off: it does not recognise pointers that Swift tags in their high bits. Endless growth hits the
# memory limit instead; a small quarantine keeps freed memory from hitting it first.
export ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=16
flags=(
    -O -g -swift-version 6 -package-name strata -enable-upcoming-feature ExistentialAny
    -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature MemberImportVisibility
    -sanitize=fuzzer,address -parse-as-library
)

# Builds the codecs as a library once for all targets.
find Sources/StrataModel -name '*.swift' | sort > "$out/sources"
if [ ! -e "$out/libStrataModel.a" ] || [ -n "$(find Sources/StrataModel -name '*.swift' -newer "$out/libStrataModel.a")" ]; then
    swiftc "${flags[@]}" -wmo -module-name Locking -emit-module -emit-module-path "$out/Locking.swiftmodule" \
        -emit-library -static -o "$out/libLocking.a" Sources/Locking/*.swift
    swiftc "${flags[@]}" -wmo -module-name StrataModel -emit-module -emit-module-path "$out/StrataModel.swiftmodule" \
        -I "$out" -emit-library -static -o "$out/libStrataModel.a" "@$out/sources"
fi

# Builds the reader of Xcode's models.
build_xcode() {
    local newest="$out/libStrataXcode.a"
    if [ -e "$newest" ] && [ -z "$(find Sources/StrataXcode "$out/libStrataModel.a" -newer "$newest")" ]; then return; fi
    swiftc "${flags[@]}" -wmo -module-name StrataXcode -emit-module -emit-module-path "$out/StrataXcode.swiftmodule" \
        -I "$out" -emit-library -static -o "$newest" $(find Sources/StrataXcode -name '*.swift' | sort)
}

# Takes the store's dependencies from the package's debug build.
build_dependencies() {
    local sources=.build/checkouts/swift-crypto/Sources name
    STRATA_CORE_ONLY=1 swift build --target Crypto
    STRATA_CORE_ONLY=1 swift build --target Logging
    for name in CCryptoBoringSSL CCryptoBoringSSLShims CXKCP CXKCPShims; do
        dependency_flags+=(-Xcc "-fmodule-map-file=$sources/$name/include/module.modulemap" -Xcc "-I$sources/$name/include")
    done
    rm -f "$out/libDependencies.a"
    find .build/debug/{CCryptoBoringSSL,CCryptoBoringSSLShims,CXKCP,CXKCPShims,CryptoBoringWrapper,Crypto,Logging}.build \
        -name '*.o' > "$out/objects"
    ar rcsP "$out/libDependencies.a" $(cat "$out/objects")
    cp .build/debug/Modules/{Crypto,CryptoBoringWrapper,Logging}.swiftmodule "$out"
}

# Builds the store, for targets that need more than the codecs.
dependency_flags=()
build_store() {
    local newest="$out/libStrataStore.a"
    build_dependencies
    if [ -e "$newest" ] && [ -z "$(find Sources/LMDB Sources/CLMDBCalls Sources/CChecksum Sources/StrataStore "$out/libStrataModel.a" -newer "$newest")" ]; then
        return
    fi
    clang -O1 -fPIC -c Sources/CLMDBCalls/calls.c -o "$out/CLMDBCalls.o"
    clang -O1 -fPIC -c -I Sources/CChecksum/include Sources/CChecksum/checksum.c -o "$out/CChecksum.o"
    echo "module CChecksum { header \"$PWD/Sources/CChecksum/include/CChecksum.h\" export * }" >"$out/CChecksum.modulemap"
    swiftc "${flags[@]}" -wmo -module-name LMDB -emit-module -emit-module-path "$out/LMDB.swiftmodule" -I "$out" \
        -Xcc -fmodule-map-file=Sources/CLMDB/module.modulemap -Xcc "-fmodule-map-file=$out/CChecksum.modulemap" -emit-library -static -o "$out/libLMDB.a" \
        $(find Sources/LMDB -name '*.swift' | sort)
    swiftc "${flags[@]}" -wmo -module-name StrataStore -emit-module -emit-module-path "$out/StrataStore.swiftmodule" \
        -I "$out" -Xcc -fmodule-map-file=Sources/CLMDB/module.modulemap -Xcc "-fmodule-map-file=$out/CChecksum.modulemap" "${dependency_flags[@]}" -emit-library -static \
        -o "$out/libStrataStore.a" $(find Sources/StrataStore -name '*.swift' | sort)
}

for target in "${targets[@]}"; do
    libraries=("$out/libStrataModel.a" "$out/libLocking.a" -lswiftSynchronization)
    if grep -q '^import StrataXcode' "Fuzz/$target.swift"; then
        build_xcode
        libraries=("$out/libStrataXcode.a" "${libraries[@]}")
    fi
    if grep -q '^import StrataStore' "Fuzz/$target.swift"; then
        build_store
        libraries=("$out/libStrataStore.a" "$out/libLMDB.a" "$out/CLMDBCalls.o" "$out/CChecksum.o" "${libraries[@]}" "$out/libDependencies.a" -llmdb -lstdc++
            -Xcc -fmodule-map-file=Sources/CLMDB/module.modulemap -Xcc "-fmodule-map-file=$out/CChecksum.modulemap" "${dependency_flags[@]}")
    fi
    swiftc "${flags[@]}" -module-name "${target}Fuzz" -I "$out" -use-ld=lld -o "$out/$target" \
        "Fuzz/$target.swift" "${libraries[@]}"
    mkdir -p "$out/corpus/$target"
    # Words that random bytes seldom make.
    dictionary=()
    if [ -e "Fuzz/$target.dict" ]; then dictionary=("-dict=Fuzz/$target.dict"); fi
    echo "$target: $seconds s"
    if ! "$out/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -detect_leaks=0 -max_len=4096 -print_final_stats=1 "${dictionary[@]}" \
        -artifact_prefix="$out/$target-" "$out/corpus/$target" > "$out/$target.log" 2>&1; then
        tail -n 60 "$out/$target.log"
        exit 1
    fi
    grep -E 'stat::number_of_executed_units|DONE' "$out/$target.log"
done
