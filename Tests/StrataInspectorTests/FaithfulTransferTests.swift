import Foundation
import StrataTestSupport
import Testing

/// What goes out comes in as it was: nil beside defaults, dates to the last bit and of every age, lines that look empty;
/// and it goes where the path leads.
@Suite struct FaithfulTransferTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder(
            entity: """
                <attribute name="name" optional="YES" attributeType="String"/>
                <attribute name="when" optional="YES" attributeType="Date"/>
                <attribute name="data" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
                <attribute name="rating" optional="YES" attributeType="Double" defaultValueString="3"/>
                """)
    }

    private func rows(_ store: String, _ columns: String) throws -> String {
        try folder.run("query", store, "E", "--columns", columns, "--sort", "name", "--format", "csv")
    }

    @Test(arguments: ["csv", "plist", "json", "ndjson"]) func nilIsNotTheDefault(form: String) throws {
        try folder.make("a")
        try folder.run("insert", "a", "E", "name=x", "--nil", "rating")
        try folder.run("insert", "a", "E", "name=y")
        #expect(try rows("a", "name, rating") == "name,rating\nx,\ny,3\n")
        try folder.run("export", "a", "E", "out.\(form)")
        try folder.make("b")
        try folder.run("import", "b", "E", "out.\(form)")
        #expect(try rows("b", "name, rating") == "name,rating\nx,\ny,3\n")
    }

    @Test(arguments: ["csv", "plist", "json", "ndjson"]) func anEmptyCompositeIsNotNil(form: String) throws {
        let folder = try ScratchFolder(
            entity: """
                <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/></entity>
                <composite name="Place"><attribute name="city" optional="YES" attributeType="String"/></composite>
                <entity name="F"><attribute name="name" optional="YES" attributeType="String"/>
                """)
        for store in ["a", "b"] { try folder.make(store) }
        for place in [#"{"city":"Bonn"}"#, "{}"] { try folder.run("insert", "a", "E", "place=\(place)") }
        try folder.run("insert", "a", "E")
        try folder.run("export", "a", "E", "a.\(form)")
        try folder.run("import", "b", "E", "a.\(form)")
        try folder.run("export", "b", "E", "b.\(form)")
        #expect(try folder.text("b.\(form)") == folder.text("a.\(form)"))
        #expect(try folder.run("count", "b", "E", "--where", "place == nil") == "1\n")
    }

    @Test(arguments: ["csv", "plist", "json", "ndjson"]) func marksAndSignsComeBack(form: String) throws {
        try folder.make("a")
        let lines = [
            #"{"name":"\ufeffmark","rating":-0.0}"#, #"{"name":"\ufeff"}"#, #"{"name":"a\r\nb\rc\nd"}"#,
            #"{"name":"a\ufeff\u0001b","rating":0.0}"#, #"{"name":"\ufffd]]>&\ue000"}"#,
        ]
        try folder.write("in.ndjson", lines.joined(separator: "\n"))
        try folder.run("import", "a", "E", "in.ndjson")
        try folder.run("export", "a", "E", "out.\(form)")
        try folder.make("b")
        try folder.run("import", "b", "E", "out.\(form)")
        for store in ["a", "b"] { try folder.run("export", store, "E", "\(store).ndjson", "--columns", "name, rating") }
        #expect(try folder.text("b.ndjson") == folder.text("a.ndjson"))
        #expect(try folder.text("b.ndjson").contains("-0"))
    }

    @Test func aBlankLeavesWhatAMergedObjectHas() throws {
        let folder = try ScratchFolder(
            entity: """
                <attribute name="name" optional="YES" attributeType="String"/>
                <attribute name="rating" optional="YES" attributeType="Double" defaultValueString="3"/>
                <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint>\
                </uniquenessConstraints>
                """)
        try folder.make("a")
        try folder.run("insert", "a", "E", "name=x", "rating=4.5")
        try folder.write("in.csv", "name,rating\nx,\n")
        #expect(try folder.run("import", "a", "E", "in.csv", "--on-clash", "merge").contains("1 merged"))
        #expect(
            try folder.run("query", "a", "E", "--columns", "name, rating", "--format", "csv") == "name,rating\nx,4.5\n")
    }

    @Test func aLineOfOneEmptyFieldIsARecord() throws {
        try folder.make("a")
        try folder.run("insert", "a", "E")
        try folder.run("insert", "a", "E", "name=x")
        try folder.run("export", "a", "E", "one.csv", "--columns", "name")
        try folder.make("b")
        #expect(try folder.run("import", "b", "E", "one.csv").hasPrefix("2 records: 2 inserted"))
    }

    @Test(arguments: ["csv", "plist", "json", "ndjson"]) func datesComeBackToTheLastBit(form: String) throws {
        var generator = SystemRandomNumberGenerator()
        let seconds =
            (0..<300).map { _ in Double.random(in: 6e8...9e8, using: &generator) }
            + (0..<100).map { _ in Double.random(in: -6e10...2e11, using: &generator) }
            + [0, 0.25, -1.5, 1e300, -1e15]
        try folder.write("in.csv", "when\n" + seconds.map { "\($0)\n" }.joined())
        try folder.make("a")
        try folder.run("import", "a", "E", "in.csv", "--dates", "reference")
        try folder.run("export", "a", "E", "out.\(form)")
        try folder.make("b")
        try folder.run("import", "b", "E", "out.\(form)")
        func stored(_ store: String) throws -> [String] {
            try folder.run("query", store, "E", "--columns", "CAST(when, 'NSNumber')", "--format", "csv")
                .split(separator: "\n").dropFirst().map(String.init).sorted()
        }
        let (before, after) = (try stored("a"), try stored("b"))
        #expect(before.count == seconds.count)
        #expect(before == after)
    }

    /// ISO 8601 has one calendar for all times.
    @Test(arguments: [
        ("0001-01-01", -62_135_596_800.0), ("1066-10-14", -28_502_755_200), ("1582-10-04", -12_220_243_200),
        ("1582-10-10", -12_219_724_800), ("1582-10-15", -12_219_292_800), ("1600-01-01", -11_676_096_000),
        ("1970-01-01", 0), ("9999-12-31", 253_402_214_400),
    ]) func daysOfEveryAgeAreThatDay(day: String, seconds: Double) throws {
        try folder.make("a")
        try folder.run("insert", "a", "E", "name=x", "when=\(day)")
        #expect(try rows("a", "when") == "when\n\(day)T00:00:00.000Z\n")
        let number = try rows("a", "CAST(when, 'NSNumber')").split(separator: "\n").last.flatMap { Double($0) }
        #expect(number == seconds - 978_307_200)
        try folder.run("export", "a", "E", "out.plist")
        #expect(try folder.text("out.plist").contains("<date>\(day)T00:00:00Z</date>"))
    }

    // MARK: Where an export goes

    @Test func aLinkIsFollowedAndTheFileKeepsItsRights() throws {
        try folder.make("a")
        try folder.run("insert", "a", "E", "name=x")
        try folder.write("real.csv", "old")
        try folder.shell("chmod 600 real.csv && ln -s real.csv link.csv && echo precious > real.csv.partial")
        try folder.run("export", "a", "E", "link.csv", "--columns", "name")
        #expect(try folder.text("real.csv") == "name\nx\n")
        #expect(
            try folder.shell("stat -c %a real.csv; readlink link.csv; cat real.csv.partial; ls") == """
                600
                real.csv
                precious
                E.xcdatamodel
                a
                link.csv
                real.csv
                real.csv.partial

                """)
    }

    @Test func aPipeGetsWhatIsWritten() throws {
        try folder.make("a")
        try folder.run("insert", "a", "E", "name=x")
        let output = try folder.shell(
            "mkfifo pipe; cat pipe & \"$strata\" export a E pipe --form csv --columns name >/dev/null; wait; "
                + "test -p pipe && echo still")
        #expect(output == "name\nx\nstill\n")
    }

    @Test func manyExportsToOneFileDoNotMix() throws {
        try folder.make("a")
        try folder.run("insert", "a", "E", "name=x")
        let output = try folder.shell(
            "for i in 1 2 3 4 5; do \"$strata\" export a E same.csv --columns name & done; wait; cat same.csv; ls *.partial"
        )
        #expect(output.hasPrefix("same.csv: 1 object\n"))
        #expect(output.contains("name\nx\n") && !output.contains("cannot be written"), "\(output)")
    }

    // MARK: Arguments

    @Test func whatIsGivenTwiceIsRefused() throws {
        try folder.make("a")
        try folder.run("insert", "a", "E", "name=x")
        for arguments in [["name=a", "name=b"], ["--nil", "name", "name=z"], ["--nil", "name", "--nil", "name"]] {
            let result = try folder.result(["update", "a", "E/p1"] + arguments)
            #expect(result == .init(output: "", error: "strata: name is given twice.\n", exitCode: 2))
        }
        #expect(try rows("a", "name") == "name\nx\n")
    }

    @Test func bytesThatAreNoTextAreRefused() throws {
        try folder.make("a")
        #expect(
            try folder.shell(
                "\"$strata\" insert a E $'name=\\xe9t' 2>&1; echo $?; \"$strata\" create $'caf\\xe9'; echo $?"
            )
            .contains("strata: Argument 4 is not UTF-8"))
        #expect(try folder.run("count", "a", "E") == "0\n")
        #expect(try folder.shell("ls | wc -l") == "2\n")
    }

    @Test func anAuthorDrivesNoTerminal() throws {
        try folder.make("a")
        try folder.insert("x", into: "a", by: "ev\u{1B}[31mil\nx")
        for command in [["log", "a"], ["blame", "a", "E/p1"], ["show", "a", "E/p1", "--history"], ["inspect", "a"]] {
            let output = try folder.run(command)
            #expect(!output.contains("\u{1B}") && output.contains("ev\\u{1b}[31mil\\nx"), "\(command): \(output)")
        }
    }

    @Test func textTurnsNoDirectionRound() throws {
        try folder.make("a")
        try folder.insert("a\u{202E}b\u{2066}c – אב", into: "a", by: "ev\u{202E}il")
        for command in [["query", "a", "E"], ["log", "a"], ["show", "a", "E/p1"]] {
            let output = try folder.run(command)
            #expect(output.contains("a\\u{202e}b\\u{2066}c – אב"), "\(command): \(output)")
            #expect(!output.unicodeScalars.contains { $0.value == 0x202E || $0.value == 0x2066 }, "\(command)")
        }
        // Programs get the text itself.
        #expect(try folder.run("query", "a", "E", "--format", "csv").contains("a\u{202E}b\u{2066}c – אב"))
    }

    // MARK: What is saved of a damaged store

    @Test func theDoctorBringsLargeValuesAndLeavesOutOnlyWhatIsLost() throws {
        try folder.make("a")
        try folder.shell("head -c 60000 /dev/urandom > kept; head -c 60000 /dev/urandom > lost")
        for name in ["FIRST", "MARKER", "third"] { try folder.run("insert", "a", "E", "name=\(name)") }
        try folder.run("insert", "a", "E", "name=kept", "data=@kept")
        try folder.run("insert", "a", "E", "name=lost", "data=@lost")
        // Without pages of before, on which the event would be found as it was.
        try folder.run("compact", "a")
        try folder.shell("rm a/blobs/$(sha256sum lost | cut -c1-2)/$(sha256sum lost | cut -c3-64)")
        let file = folder.url.appending(path: "a/data.mdb")
        let bytes = try Data(contentsOf: file)
        var start = bytes.startIndex
        var wasSaved = false
        while let range = bytes.range(of: Data("MARKER".utf8), in: start..<bytes.endIndex) {
            start = range.upperBound
            var damaged = bytes
            damaged[range.lowerBound] ^= 1
            try damaged.write(to: file)
            try folder.shell("rm -rf b")
            let result = try folder.result(["doctor", "a", "--into", "b"])
            #expect(result.exitCode == 1)
            guard result.output.contains("sound through") else { continue }
            wasSaved = true
            #expect(result.output.contains("left out after the damage: 1 × damaged record"), "\(result.output)")
            // The row of the damaged event is in the views, and sound.
            #expect(try rows("b", "name") == "name\nFIRST\nMARKER\nkept\nthird\n")
            #expect(try folder.result(["verify", "b"]).exitCode == 0)
            try folder.run("export", "b", "E", "out.json", "--where", "name == 'kept'", "--columns", "data")
            #expect(try folder.text("out.json").contains(folder.data("kept").base64EncodedString()))
        }
        #expect(wasSaved)
    }

    /// What would lead to nothing, or to others, when it is read again, is named otherwise or refused.
    @Test func linksAreNamedSoThatTheyAreFoundAgain() throws {
        let folder = try ScratchFolder(
            entity: """
                <attribute name="name" optional="YES" attributeType="String"/>\
                <relationship name="up" optional="YES" maxCount="1" destinationEntity="E" inverseName="down" \
                inverseEntity="E"/>\
                <relationship name="down" optional="YES" toMany="YES" destinationEntity="E" inverseName="up" \
                inverseEntity="E"/>\
                <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint>\
                </uniquenessConstraints>
                """)
        try folder.make("a")
        try folder.run("insert", "a", "E", "name=a;b")
        try folder.run("insert", "a", "E", "name=top", "down=E/p1")
        #expect(
            try folder.run("export", "a", "E", "--where", "name = 'a;b'") == #"{"name":"a;b","up.name":"top"}"# + "\n")
        let list = try folder.result(["export", "a", "E", "--columns", "name,down.name", "--form", "csv"])
        #expect(list.exitCode == 2 && list.error.contains("cannot name a member by 'a;b'"), "\(list)")
        #expect(
            try folder.run("export", "a", "E", "--columns", "down", "--form", "csv", "--where", "name = 'top'")
                == "down\nE/p1\n")
        // From now on one has no name: all are named by reference.
        try folder.run("update", "a", "E/p1", "--nil", "name")
        let top = try folder.run("export", "a", "E", "--where", "name = 'top'")
        #expect(top == #"{"name":"top","up":null}"# + "\n")
        for form in ["csv", "plist"] {
            let result = try folder.result(["export", "a", "E", "--columns", "down.name", "--form", form])
            #expect(result.exitCode == 2 && result.error.contains("nil"), "\(result)")
        }
        // A member that is named twice is one.
        let owner =
            "E/p\(try folder.run("export", "a", "E", "--columns", "SELF", "--where", "name = 'top'", "--form", "csv").split(separator: "/p").last?.split(separator: "\n").first ?? "")"
        try folder.run("unlink", "a", owner, "down", "E/p1", "E/p1")
        #expect(try folder.run("import", "a", "E", "/dev/null", "--form", "ndjson").hasPrefix("0 records"))
    }

    @Test func aModelVersionStaysInItsBundle() throws {
        for name in ["../q", "a/b", "", ".hidden"] {
            let result = try folder.result(["model", "export", "E.xcdatamodel", "Y.xcdatamodeld", "--as", name])
            #expect(result.exitCode != 0 && result.error.contains("cannot be the name of a model version"), "\(result)")
        }
        #expect(try folder.shell("ls -A") == "E.xcdatamodel\n")
        for name in ["one", "two"] {
            try folder.run("model", "export", "E.xcdatamodel", "Y.xcdatamodeld", "--as", name)
        }
        // Who names a version does not ask which is current.
        try folder.write("Y.xcdatamodeld/.xccurrentversion", "junk")
        #expect(try folder.result(["model", "check", "Y.xcdatamodeld"]).exitCode != 0)
        try folder.run("model", "check", "Y.xcdatamodeld", "--version", "two")
    }

    @Test func wholeNumbersBeyondAnIntAreComparedExactly() throws {
        try folder.make("a")
        try folder.run("insert", "a", "E", "name=x", "rating=9223372036854775808")
        for (condition, count) in [
            ("== 9223372036854775808", 1), ("<= 9223372036854775808", 1), ("IN {9223372036854775808}", 1),
            ("> 9223372036854775807", 1), ("== 9223372036854775809", 0), ("> 9223372036854775808", 0),
            ("< 9223372036854775809", 1), ("== 9223372036854775808.0", 1),
        ] {
            #expect(try folder.run("count", "a", "E", "--where", "rating \(condition)") == "\(count)\n", "\(condition)")
        }
    }

    @Test func aLostLargeValueIsNoDamagedView() throws {
        try folder.make("a")
        try folder.shell("head -c 60000 /dev/urandom > big")
        try folder.run("insert", "a", "E", "data=@big")
        try folder.shell("rm -r a/blobs")
        let result = try folder.result(["doctor", "a"])
        #expect(result.exitCode == 1)
        #expect(result.output.contains("the views are sound") && result.output.contains("large values are lost"))
        #expect(!result.output.contains("rebuild"), "\(result.output)")
    }

    @Test func aWorkerEndsWithWhoStartedIt() throws {
        try folder.make("a")
        try folder.write("in.ndjson", (0..<20_000).map { "{\"name\":\"n\($0)\"}\n" }.joined())
        try folder.run("import", "a", "E", "in.ndjson")
        let output = try folder.shell(
            "\"$strata\" doctor a --into b & p=$!; sleep 0.3; child=$(pgrep -P $p); kill -9 $p; wait $p 2>/dev/null; "
                + "for i in $(seq 100); do kill -0 $child 2>/dev/null || break; sleep 0.1; done; "
                + "test -n \"$child\" && echo had; kill -0 $child 2>/dev/null || echo ended; ls -d b 2>/dev/null; true")
        #expect(output.hasSuffix("had\nended\n"), "\(output)")
    }
}
