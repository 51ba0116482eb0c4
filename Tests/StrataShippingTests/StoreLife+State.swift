import Foundation
import StrataGraph
import StrataModel

// The state of a store as texts.

extension StoreLife {
    static func state(_ context: ManagedObjectContext) throws -> State {
        var state: State = [:]
        for entity in ["Film", "Director", "Tag"] {
            for object in try context.fetch(FetchRequest<ManagedObject>(entityName: entity)) {
                state[object.objectID] = try values(object, entity)
            }
        }
        return state
    }

    private static func values(_ object: ManagedObject, _ entity: String) throws -> [String: String] {
        var values = ["title": try object.value(forKey: "title") as? String ?? ""]
        guard entity == "Film" else { return values }
        let year = object.entity.attributesByName["year"] == nil ? "made" : "year"
        values["year"] = try object.value(forKey: year).map { text("\($0)") }
        values["secret"] = try object.value(forKey: "secret") as? String
        values["poster"] = (try object.value(forKey: "poster") as? Data).map { "\($0.count) bytes of \($0[0])" }
        values["director"] = (try object.value(forKey: "director") as? ManagedObject).map { "\($0.objectID)" }
        let tags = try object.value(forKey: "tags")
        let members = (tags as? [ManagedObject]) ?? Array((tags as? Set<ManagedObject>) ?? [])
        if !members.isEmpty { values["tags"] = members.map(\.objectID).sorted().map { "\($0)" }.joined(separator: " ") }
        return values
    }

    static func text(_ number: String) -> String { Double(number).map { "\(Int($0))" } ?? number }

    static func text(_ value: AttributeValue) -> String? {
        switch value {
        case .null: nil
        case .string(let text): Self.text(text)
        case .integer(let number): "\(number)"
        case .double(let number): "\(Int(number))"
        default: "\(value)"
        }
    }
}
