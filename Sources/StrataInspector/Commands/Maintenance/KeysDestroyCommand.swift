import ArgumentParser
import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// `strata keys destroy`: destroys the keys of subjects that attributes name.
struct KeysDestroyCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "destroy",
        abstract: "Destroys the keys of subjects, which makes the values under them unreadable for ever.",
        discussion: """
            A subject is an object, such as Person/p7, or the value that an attribute names: a text, or a whole number or \
            a UUID with --type. What is encrypted under its key reads as nil from then on, in this store, in its history \
            and in every copy. Nothing else changes: 'strata erase' also removes the object, and destroys its key itself. \
            It cannot be undone. --key-file and --subject-keys are needed.

            --json prints {"subjects": [{"subject", "id"}]}.

            Examples:
                strata keys destroy Clinic.strata 4711 --type integer \\
                    --key-file clinic.key --subject-keys clinic-keys
            """)

    /// The type of a subject's name.
    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case text, integer, uuid
    }

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("Objects, or values of attributes.", valueName: "subject"))
    var subjects: [String]
    @Option(help: ArgumentHelp("What a subject is that is no object: text, integer or uuid.", valueName: "type"))
    var type = Kind.text
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        guard let keys = try KeyFiles.subjectKeys(store.subjectKeys) else {
            throw UsageError("Name the directory with the keys of subjects with --subject-keys.")
        }
        let ids = try store.writing { store in
            let container = try PersistentContainer(over: store)
            let values = try subjects.map { try value($0, store) }
            let ids = try values.map { try container.subject(of: $0) }
            // A subject without a key may be misspelled.
            for (word, id) in zip(subjects, ids) where try keys.key(of: id) == nil {
                throw StrataError(.referentialIntegrity, "There is no key of \(word); nothing was destroyed.")
            }
            for value in values { try container.destroySubjectKey(of: value) }
            return ids
        }
        if json {
            return try JSONText.print([
                "subjects": zip(subjects, ids).map { ["subject": $0, "id": $1.description] as JSONObject }
            ])
        }
        Output.shared.line("destroyed \(ValueText.count(ids.count, "key")) of subjects")
    }

    private func value(_ word: String, _ store: Store) throws -> AttributeValue {
        switch type {
        case .text where word.contains("/"): return .objectID(try ObjectReference.parse(word, in: store))
        case .text: return .string(word)
        case .integer:
            guard let number = Int64(word) else { throw UsageError("'\(word)' is no whole number.") }
            return .integer(number)
        case .uuid:
            guard let id = UUID(uuidString: word) else { throw UsageError("'\(word)' is no UUID.") }
            return .uuid(id)
        }
    }
}
