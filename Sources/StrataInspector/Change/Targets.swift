import ArgumentParser
import StrataGraph
import StrataModel
import StrataStore

/// Finds the objects that a command changes: named one by one, or found by a condition.
struct TargetArguments: ParsableArguments {
    @OptionGroup var condition: ConditionArguments
    @Flag(help: "All objects of the entity.") var all = false

    init() {}

    /// - Parameter words: objects, or one entity together with `--where` or `--all`.
    func objects(_ words: [String], _ store: Store, _ context: ManagedObjectContext) throws -> [ManagedObject] {
        guard condition.text != nil || all else {
            guard !words.isEmpty else { throw UsageError("Name at least one object.") }
            return try words.map { word in
                guard word.contains("/") else {
                    throw UsageError("'\(word)' names no object. An entity needs --where FORMAT, or --all.")
                }
                return try object(word, store, context)
            }
        }
        guard words.count == 1 else { throw UsageError("--where and --all go with the name of one entity.") }
        let entity = try EntityName.find(words[0], in: store)
        var request = FetchRequest<ManagedObject>(entityName: entity.name)
        request.predicate = try ObjectComparison.checked(condition.predicate(in: store), entity, store.schema)
        return try context.fetch(request)
    }

    func object(_ word: String, _ store: Store, _ context: ManagedObjectContext) throws -> ManagedObject {
        let id = try ObjectReference.parse(word, in: store)
        do {
            return try context.existingObject(with: id)
        } catch let error as StrataError where error.code == .referentialIntegrity {
            throw StrataError(.referentialIntegrity, "There is no \(word) in the store.")
        }
    }
}
