import ArgumentParser
import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// `strata keys list`: lists the keys under which values are encrypted.
struct KeysListCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the keys under which values are encrypted.",
        discussion: """
            Counts the values of today that are under each key, for which it reads every object with encrypted \
            attributes. No key is needed. With --key-file it says which of the files has which key. A key that is \
            needed opens the store; values of the past may be under other keys. With --subject-keys it counts the keys of \
            subjects in the directory.

            --json prints {"keys": [{"id", "values", "needed", "file"}], "subjects": {"keys", "destroyed"}}; "file" is \
            null for a key that no file has, and "subjects" without --subject-keys.

            Examples:
                strata keys list Clinic.strata
                strata keys list Clinic.strata --key-file clinic.key --json
            """)

    @OptionGroup var store: StoreArguments
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        var files: [String: String] = [:]
        for path in KeyFiles.paths(store.keyFile) { files[try Store.encryptionKeyID(of: KeyFiles.read(path))] = path }
        // Opened without keys: which of them are the store's is what is asked.
        let progress = ProgressLine()
        defer { progress.finish() }
        let (needed, values) = try StoreArguments(path: store.path).readingWithoutKeys { store in
            (try store.encryptionKeyIDs(), try store.encryptedValueCounts(progress: progress.handler))
        }
        progress.finish()
        let subjects = try KeyFiles.subjectKeys(self.store.subjectKeys)?.counts()
        let ids = Set(needed).union(values.keys).union(files.keys).sorted()
        if json {
            return try JSONText.print([
                "keys": ids.map { id -> JSONObject in
                    [
                        "id": id, "values": values[id] ?? 0, "needed": needed.contains(id),
                        "file": JSONObject.orNull(files[id]),
                    ]
                },
                "subjects": JSONObject.orNull(
                    subjects.map { ["keys": $0.keys, "destroyed": $0.destroyed] as JSONObject }),
            ])
        }
        if ids.isEmpty { return Output.shared.line("the store has never encrypted anything") }
        var columns = Columns([.left, .right, .left, .left])
        for id in ids {
            // An app that was not given the new key before a rotation saves under the former one.
            let note = values[id] == nil ? "nothing in this store is under it" : "its values need it: rotate again"
            columns.add(
                id, ValueText.count(values[id] ?? 0, "value"), needed.contains(id) ? "needed" : note, files[id] ?? "")
        }
        columns.flush()
        guard let subjects else { return }
        Output.shared.line("\(ValueText.count(subjects.keys, "subject")) with a key, \(subjects.destroyed) destroyed")
    }
}
