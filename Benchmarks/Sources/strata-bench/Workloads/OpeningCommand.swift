import ArgumentParser
import Foundation
import StrataGraph
import StrataModel

/// The time to open a store that has had several models.
struct OpeningWorkload {
    struct Result: Codable {
        /// How many models the store has had.
        let models: Int
        /// Nanoseconds to open and close it, at the median of 15.
        let time: Double
    }

    let entities: Int

    func run(models counts: [Int], in directory: URL) throws -> [Result] {
        let url = directory.appending(component: "models.strata")
        func open(_ model: ManagedObjectModel) throws {
            let container = PersistentContainer(name: "models", model: model, at: .url(url))
            try container.loadPersistentStores()
            container.close()
        }
        var results: [Result] = []
        for version in 1...max(1, counts.max() ?? 1) {
            let model = try model(version)
            try open(model)
            guard counts.contains(version) else { continue }
            results.append(Result(models: version, time: try median(15) { _ in try nanoseconds { try open(model) } }))
        }
        return results
    }

    /// Each entity has ten attributes and two to-ones; each version adds an attribute to the first entity.
    private func model(_ version: Int) throws -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: (0..<entities).map { number in
                let count = number == 0 ? 10 + version : 10
                let attributes = (0..<count).map { index -> PropertyDescription in
                    let type: AttributeType = [.string, .integer64, .double, .date][index % 4]
                    return .attribute(AttributeDescription(name: "value\(index)", type: type, isOptional: true))
                }
                func link(_ name: String, to other: Int, _ inverse: String) -> PropertyDescription {
                    .relationship(
                        RelationshipDescription(
                            name: name, destinationEntityName: "Entity\(other % entities)", inverseName: inverse))
                }
                return EntityDescription(
                    name: "Entity\(number)",
                    properties: attributes + [
                        link("next", to: number + 1, "previous"), link("previous", to: number + entities - 1, "next"),
                    ],
                    indexes: [FetchIndexDescription(name: "first", elements: [FetchIndexElement("value0")])])
            })
    }
}

/// `strata-bench opening [--entities 40] [--models 1,5,20]`
struct OpeningCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "opening", abstract: "Times the opening of a store that has had several models.")

    @Option(help: "How many entities each model has.") var entities = 40
    @Option(help: "After how many models, with commas between them.") var models = "1,5,20"
    @OptionGroup var folder: WorkingFolder

    func run() throws {
        let counts = models.split(separator: ",").compactMap { Int($0) }.filter { $0 > 0 }
        guard entities > 0, !counts.isEmpty else { throw ValidationError("There are no models to be made.") }
        try folder.run {
            try OpeningWorkload(entities: entities).run(models: counts, in: $0)
        } print: { results in
            print("\nOpening a store of \(entities) entities\n")
            for result in results { print("\(result.models) models: \(Quantity.time(result.time))") }
        }
    }
}
