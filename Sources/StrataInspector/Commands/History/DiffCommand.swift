import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// `strata diff`: shows what changed in every object between two moments.
struct DiffCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Shows what changed in every object between two moments.",
        discussion: """
            Steps between the two moments do not show: + is a new object, - a deleted one, ~ one with changed values, \
            before and after. With the later moment first, the difference is backwards. Without B, the second moment \
            is the newest state. \(Moment.help)

            --json prints {"from", "to", "objects": [{"object", "change": "inserted", "updated" or "deleted", \
            "properties": {property: {"before", "after"}}}], "links": [{"change": "linked", "unlinked" or "moved", \
            "relationship", "source", "target"}]}.

            Examples:
                strata diff BowTies.strata t12
                strata diff BowTies.strata 'before import' 2026-11-21T10:00:00Z
            """)

    @OptionGroup var store: StoreArguments
    @Argument(help: ArgumentHelp("The first moment.", valueName: "a")) var first: String
    @Argument(help: ArgumentHelp("The second moment.", valueName: "b")) var second: String?
    @Option(help: "Only objects of this entity or its subentities.", completion: .entityNames) var entity: String?
    @Option(help: "Only this object: BowTie/p12.") var object: String?
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        try store.reading { store in
            let start = try Moment.eventNumber(first, in: store)
            let end = try second.map { try Moment.eventNumber($0, in: store) } ?? store.head()
            var changes = try store.netChanges(
                from: min(start, end).advanced(by: 1), through: max(start, end))
            if end < start { changes = changes.inverted }
            changes = changes.decrypted(store.keyRing)
            try keepWanted(&changes, store)
            let ends = [max(start, end), min(start, end)].filter { $0 > .zero }
            let states = try ends.map { end in
                let moment = try StoreMoment("\(end)", in: store)
                return (moment.eventNumber, moment.schema)
            }
            let links = LinkNames(store, in: states, try store.recordedNames())
            let difference = StoreDifference(changes, links, hidden: try Self.positions(store))
            if json { return try JSONText.print(difference.json(start, end)) }
            difference.print()
        }
    }

    /// Hidden properties that hold positions in ordered relationships.
    private static func positions(_ store: Store) throws -> Set<PropertyID> {
        let properties = try store.schemas.flatMap(\.entities).flatMap(\.properties)
        return Set(properties.filter { $0.storage == .position }.map(\.id))
    }

    private func keepWanted(_ changes: inout NetChanges, _ store: Store) throws {
        if let entity {
            let wanted = try EntityName.numbersEver(of: entity, in: store)
            changes.objects = changes.objects.filter { wanted.contains($0.key.entityID) }
            changes.pairs = changes.pairs.filter {
                wanted.contains($0.key.source.entityID) || wanted.contains($0.key.target.entityID)
            }
        }
        if let object {
            let id = try ObjectReference.parse(object, in: store, past: true)
            changes.objects = changes.objects.filter { $0.key == id }
            changes.pairs = changes.pairs.filter { $0.key.source == id || $0.key.target == id }
        }
    }
}

/// The difference between two states, by object, in the order of ids.
struct StoreDifference {
    struct Object {
        enum Change: String {
            case inserted, updated, deleted
        }

        let name: String
        let change: Change
        /// Changed properties, or all of an inserted or deleted object, sorted by name and without hidden ones.
        let properties: [(name: String, values: NetChanges.Values)]
    }

    struct Link {
        let change: String
        let relationship: String
        let source: String
        let target: String
        /// The target with its name.
        let label: String
    }

    let objects: [Object]
    let links: [Link]
    private let linkNames: LinkNames
    private var names: RecordedNames { linkNames.names }

    init(_ changes: NetChanges, _ linkNames: LinkNames, hidden: Set<PropertyID>) {
        self.linkNames = linkNames
        let names = linkNames.names
        objects = changes.objects.sorted { $0.key < $1.key }.compactMap { id, object in
            let kind: Object.Change? =
                switch (object.existedBefore, object.existsAfter) {
                case (false, true): .inserted
                case (true, false): .deleted
                case (true, true): .updated
                case (false, false): nil
                }
            guard let kind else { return nil }
            let properties = object.values.filter { !$0.value.isNothing && !hidden.contains($0.key) }
                .map { (names.name(of: $0.key, in: id.entityID), $0.value) }.sorted { $0.0 < $1.0 }
            return Object(name: names.name(of: id), change: kind, properties: properties)
        }
        links = changes.pairs.map { key, positions in
            Link(
                change: positions.before == nil ? "linked" : positions.after == nil ? "unlinked" : "moved",
                relationship: names.name(of: key),
                source: names.name(of: key.source), target: names.name(of: key.target),
                label: linkNames.label(of: key.target))
        }.sorted { ($0.source, $0.relationship, $0.target) < ($1.source, $1.relationship, $1.target) }
    }

    private func text(_ value: AttributeValue) -> String { ValueText.of(value) { linkNames.label(of: $0) } }

    func print() {
        let style = Style.standard
        for object in objects {
            switch object.change {
            case .inserted: Output.shared.line(style("+ \(object.name)  \(list(object, \.after))", .green))
            case .deleted: Output.shared.line(style("- \(object.name)  \(list(object, \.before))", .red))
            case .updated:
                Output.shared.line(style("~ \(object.name)", .yellow))
                for (name, values) in object.properties {
                    Output.shared.line("    \(name): \(text(values.before)) -> \(text(values.after))")
                }
            }
        }
        for link in links {
            let (sign, colour): (String, Style.Colour) =
                link.change == "linked" ? ("+", .green) : link.change == "unlinked" ? ("-", .red) : ("~", .yellow)
            Output.shared.line(style("\(sign) \(link.source).\(link.relationship) - \(link.label)", colour))
        }
        Output.shared.line(style(summary, .dim))
    }

    private func list(_ object: Object, _ side: KeyPath<NetChanges.Values, AttributeValue>) -> String {
        object.properties.filter { !$0.values[keyPath: side].isNull }
            .map { "\($0.name): \(text($0.values[keyPath: side]))" }.joined(separator: ", ")
    }

    func json(_ start: EventNumber, _ end: EventNumber) -> JSONObject {
        func value(_ value: AttributeValue) -> JSONText.Value { JSONText.Value(value) { names.name(of: $0) } }
        func change(_ values: NetChanges.Values) -> JSONObject {
            ["before": value(values.before), "after": value(values.after)]
        }
        return [
            "from": start.rawValue, "to": end.rawValue,
            "objects": objects.map { object -> JSONObject in
                [
                    "object": object.name, "change": object.change.rawValue,
                    "properties": JSONObject(object.properties.map { ($0.name, change($0.values)) }),
                ]
            },
            "links": links.map { link -> JSONObject in
                [
                    "change": link.change, "relationship": link.relationship, "source": link.source,
                    "target": link.target,
                ]
            },
        ]
    }

    private var summary: String {
        if objects.isEmpty, links.isEmpty { return "no difference" }
        let counts = [("came", Object.Change.inserted), ("went", .deleted), ("changed", .updated)].compactMap {
            word, change in
            let count = objects.count { $0.change == change }
            return count > 0 ? "\(ValueText.count(count)) \(word)" : nil
        }
        return (counts + (links.isEmpty ? [] : [ValueText.count(links.count, "link")])).joined(separator: ", ")
    }
}
