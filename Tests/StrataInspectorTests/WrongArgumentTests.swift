import Foundation
import Testing

/// What the tool says of arguments that cannot be: a line in words, without the names of the library or of Foundation.
@Suite struct WrongArgumentTests {
    private let store: FilmStore
    private let folder: URL

    init() throws {
        store = try FilmStore()
        folder = FileManager.default.temporaryDirectory.appending(path: "wrong-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("text".utf8).write(to: folder.appending(path: "text"))
    }

    private static let foreign = [
        "NSCocoa", "Domain=", "could not be completed", "couldn’t be", "UserInfo", "PersistentStore", "StoreOptions",
        "StoreEncryption", "StrataError", "Optional(", ".partial-", "//", "..", "(key:", "ManagedObject",
    ]

    /// S stands for a store, T for a file that is none, D for a directory and N for a path that is not there.
    private static let commands = [
        "import --check N", "import --check D", "import --check T", "import T --into T/x", "import S Film N",
        "import S Film T --form json", "import S Film D --form json", "import S Nobody T --form json",
        "import --verify T S", "export S Film D", "export S Nobody", "export S --form coredata D", "export N Film",
        "backup S T/x", "backup S T", "create T/x --model T", "create N --model N", "model check T", "model show N",
        "model export S T/x.xcdatamodel", "migrate S --model N", "generate N --out D", "ship S T", "standby N D/x",
        "history trim S --before 2999-01-01", "history trim S --before nothing", "history trim S --before t99",
        "history trim S --entity Film --before 2999-01-01", "query S Film --where year=='x'",
        "query S Film --sort nothing", "query S Film --columns nothing", "query S Film --at t99", "query T Film",
        "count S Nobody", "show S Film/p99", "insert S Film year=x", "insert S Film nothing=1",
        "update S Film/p99 year=1",
        "delete S Film/p99", "link S Film/p5 title Film/p6", "tag S t1", "revert S t99", "diff S t1 t99",
        "blame S Film/p99", "verify N", "rebuild T", "doctor N", "compact N", "erase S Film/p99",
        "keys list S --key-file D", "keys destroy S Film/p5 --subject-keys T", "views show S Nothing",
        "views create S V --of Nobody --column c=count",
        "views create S V --of Film --key x=genres.label --column c=count",
        "views create S V --of Film --key year --column c=count --order nothing", "stats N", "top N", "upgrade T",
        "insert S Film title=x year=2000 studio=Genre/p3", "update S Film/p5 studio=Genre/p3",
        "link S Film/p5 studio Genre/p3", "query S Film --group-by ,",
    ]

    @Test(arguments: commands) func theMessageIsInWords(command: String) throws {
        let names = [
            "S": store.path, "T": folder.appending(path: "text").path, "D": folder.path,
            "N": folder.appending(path: "nothing").path,
        ]
        let arguments = command.split(separator: " ").map { word -> String in
            let (start, rest) = (String(word.prefix(1)), String(word.dropFirst()))
            guard rest.isEmpty || rest.hasPrefix("/"), let path = names[start] else { return String(word) }
            return path + rest
        }
        let result = try Tool.run(arguments)
        #expect(result.exitCode == 1 || result.exitCode == 2, "\(result)")
        #expect(result.error.hasPrefix("strata: ") || result.error.hasPrefix("Error: "), "\(result)")
        let sentence = result.error.split(separator: "\n").first.map(String.init) ?? ""
        for word in Self.foreign { #expect(!sentence.contains(word), "\(word) in: \(sentence)") }
        #expect(try Tool.run("verify", store.path).exitCode == 0)
    }
}
