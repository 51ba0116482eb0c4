import Foundation
public import StrataGraph
public import StrataModel

/// Accounts whose balances add up to the same sum for ever, with notes that point at them: what several contexts,
/// threads and processes work on at once.
public enum RaceWorld {
    public static let accountCount = 6
    public static let balance: Int64 = 100

    public static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Account",
                properties: [
                    .attribute(AttributeDescription(name: "number", type: .integer64)),
                    .attribute(AttributeDescription(name: "balance", type: .integer64)),
                    .attribute(AttributeDescription(name: "hits", type: .integer64, defaultValue: .integer(0))),
                    .attribute(AttributeDescription(name: "label", type: .string, isOptional: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "notes", destinationEntityName: "Note", inverseName: "account", isToMany: true)),
                ],
                indexes: [FetchIndexDescription(name: "byNumber", elements: [FetchIndexElement("number")])]),
            EntityDescription(
                name: "Note",
                properties: [
                    .attribute(AttributeDescription(name: "text", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "account", destinationEntityName: "Account", inverseName: "notes")),
                ]),
        ])
    }

    public static func container(
        at location: PersistentStoreLocation, log: PersistentStoreLog? = nil
    ) throws -> PersistentContainer {
        let container = PersistentContainer(
            name: "Race", model: try model(), at: location,
            options: .init(durability: log == nil ? .disposable : .full, log: log))
        try container.loadPersistentStores()
        return container
    }

    public static func fill(_ container: PersistentContainer) throws {
        let context = container.newBackgroundContext()
        for number in 0..<accountCount {
            let account = try context.insertNewObject(forEntityName: "Account")
            try account.setValue(Int64(number), forKey: "number")
            try account.setValue(balance, forKey: "balance")
        }
        try context.save()
    }

    /// Everything that a context shows.
    public static func state(_ context: ManagedObjectContext) throws -> RaceState {
        var state = RaceState()
        for account in try context.fetch(FetchRequest<ManagedObject>(entityName: "Account")) {
            let notes = try account.value(forKey: "notes") as? [ManagedObject] ?? []
            state.accounts["\(account.objectID)"] = RaceState.Account(
                balance: try account.value(forKey: "balance") as? Int64 ?? 0,
                hits: try account.value(forKey: "hits") as? Int64 ?? 0,
                label: try account.value(forKey: "label") as? String,
                notes: notes.map { "\($0.objectID)" }.sorted())
        }
        state.noteCount = try context.count(for: FetchRequest<ManagedObject>(entityName: "Note"))
        return state
    }
}

/// What somebody saw, or should have seen.
public struct RaceState: Codable, Hashable, Sendable {
    public struct Account: Codable, Hashable, Sendable {
        public var balance: Int64
        public var hits: Int64
        public var label: String?
        public var notes: [String]
    }

    public var accounts: [String: Account] = [:]
    public var noteCount = 0

    public var sum: Int64 { accounts.values.reduce(0) { $0 + $1.balance } }
    public var hits: Int64 { accounts.values.reduce(0) { $0 + $1.hits } }
}

/// What one worker did and saw.
public struct RaceReport: Codable, Sendable {
    public struct Sight: Codable, Sendable {
        public let eventNumber: UInt64
        public let state: RaceState
    }

    public var sights: [Sight] = []
    /// Transfers whose save returned.
    public var transfers = 0
    /// Saves that were refused because others were first.
    public var refusals = 0
    public var problems: [String] = []

    public init() {}
}
