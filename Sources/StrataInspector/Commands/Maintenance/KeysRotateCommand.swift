import ArgumentParser
import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// `strata keys rotate`: encrypts all values of today under a new key.
struct KeysRotateCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Encrypts all values of today under a new key.",
        discussion: """
            --key-file names the key that the store has, and --new-key-file the one that it gets. Values are encrypted \
            anew a step at a time, beside apps that use the store; give them the new key before, with the former one \
            behind it. A run that is interrupted can be repeated. At the end the store opens with the new key alone.

            The history keeps its values under the former key, until 'strata history trim' drops them; so do backups. \
            Searches compare blinds, which are made with a key of the store's own. That key stays: a person with the \
            former key and a copy of the store can still test which values equal a guess.

            --json prints {"key", "values", "needed": [id], "seconds"}: the id of the new key, how many values were \
            encrypted anew, and the keys that the store needs now.

            Examples:
                strata keys rotate Clinic.strata --key-file clinic.key \\
                    --new-key-file new.key
            """)

    @OptionGroup var store: StoreArguments
    @Option(
        help: ArgumentHelp("A file that holds the new key, 32 bytes or more.", valueName: "file"),
        completion: .file())
    var newKeyFile: String
    @Option(help: ArgumentHelp("The objects of one transaction.", valueName: "count")) var stepSize = 10_000
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard stepSize > 0 else { throw ValidationError("--step-size is less than 1.") }
    }

    func run() throws {
        let former = KeyFiles.paths(store.keyFile)
        guard !former.isEmpty else {
            throw UsageError("Name the key that the store has with --key-file.")
        }
        let id = try Store.encryptionKeyID(of: KeyFiles.read(newKeyFile))
        var arguments = store
        arguments.keyFile = [newKeyFile] + former
        let clock = ContinuousClock()
        let start = clock.now
        let (count, needed) = try arguments.writing { store in
            guard store.schema.hasEncryption else {
                throw StrataError(.invalidRequest, "The store's model has no encrypted attributes.")
            }
            let container = try PersistentContainer(over: store)
            return (try container.rotateEncryptionKey(stepSize: stepSize), try container.encryptionKeyIDs)
        }
        let duration = clock.now - start
        if json {
            return try JSONText.print([
                "key": id, "values": count, "needed": needed, "seconds": duration / .seconds(1),
            ])
        }
        Output.shared.line(
            "encrypted \(ValueText.count(count, "value")) under the key \(id) in \(ValueText.duration(duration))")
        if needed != [id] {
            Output.shared.line("still needed: \(needed.filter { $0 != id }.joined(separator: ", "))")
        }
    }
}
