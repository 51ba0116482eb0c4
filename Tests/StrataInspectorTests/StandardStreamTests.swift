import Foundation
import Testing

/// How the tool gets on where its parent has closed descriptors, limits files, or has it ignore signals.
@Suite struct StandardStreamTests {
    private let store: FilmStore

    init() throws { store = try FilmStore() }

    /// What is printed goes nowhere else: not into a file that has the number of a closed descriptor.
    @Test(arguments: ["count STORE Film", "query STORE Film", "export STORE Film", "tag STORE"], ["<&- >&-", ">&-"])
    func aClosedOutputIsAnError(words: String, closed: String) throws {
        let result = try Tool.shell(
            "$strata \(words.replacing("STORE", with: "'\(store.path)'")) 2>&1 \(closed.replacing(">&-", with: "1>&-")); echo $?"
        )
        #expect(result.output == "strata: Standard output cannot be written: Bad file descriptor.\n1\n", "\(result)")
        try store.expectUntouched()
    }

    @Test(arguments: ["<&-", ">&-", "2>&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"])
    func aStoreIsSoundAfterCommandsWithoutStreams(closed: String) throws {
        for words in [
            "insert STORE Genre label=comedy", "insert STORE Genre nothing=1", "query STORE Film --where '='",
        ] {
            let line = words.replacing("STORE", with: "'\(store.path)'")
            _ = try Tool.shell("$strata \(line) \(closed)")
        }
        #expect(try Tool.run("count", store.path, "Genre").output == "3\n")
        let verified = try Tool.run("verify", store.path)
        #expect(verified.exitCode == 0, "\(verified)")
    }

    /// A shell that ends without input leaves nothing behind either.
    @Test func aShellWithoutInputEnds() throws {
        #expect(try Tool.shell("$strata shell '\(store.path)' <&-; echo $?").output == "0\n")
    }

    /// A limit of the shell on files is as a full disk.
    @Test(arguments: [
        "backup STORE STORE.new", "export STORE Film STORE.new", "replay STORE --into STORE.new",
        "insert STORE Genre label=comedy",
    ])
    func filesThatMayNotGrowAreAnError(words: String) throws {
        let line = words.replacing("STORE", with: store.path)
        let blocks = words.hasPrefix("export") ? 0 : 4
        let result = try Tool.shell("ulimit -c 0; ulimit -f \(blocks); $strata \(line) 2>&1; echo $?")
        #expect(
            result.output.hasPrefix("strata: ") && result.output.hasSuffix(".\n1\n")
                || result.output.hasSuffix(")\n1\n"), "\(result)")
        let names = try FileManager.default.contentsOfDirectory(
            atPath: store.directory.deletingLastPathComponent().path)
        #expect(names.filter { $0.contains(store.directory.lastPathComponent) } == [store.directory.lastPathComponent])
        #expect(try Tool.run("verify", store.path).exitCode == 0)
    }

    /// `nohup` has a command go on when its terminal is closed.
    @Test func anIgnoredHangUpEndsNothing() throws {
        let result = try Tool.shell(
            """
            trap '' HUP
            STRATA_PROGRESS=0 $strata backup '\(store.path)' '\(store.path).new' >/dev/null 2>&1 & child=$!
            for i in $(seq 200); do kill -HUP $child 2>/dev/null || break; sleep 0.01; done
            wait $child; echo $?
            """)
        try? FileManager.default.removeItem(atPath: store.path + ".new")
        #expect(result.output == "0\n", "\(result)")
    }
}
