import ArgumentParser
import StrataModel
import StrataStore

/// `strata count`: counts the objects of an entity, or those that meet a condition.
struct CountCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "count",
        abstract: "Counts the objects of an entity, or those that meet a condition.",
        discussion: """
            \(Moment.help)

            Prints the number alone. --json prints {"entity", "eventNumber", "count"}.

            Examples:
                strata count BowTies.strata BowTie
                strata count BowTies.strata BowTie --where 'rating > 4' \\
                    --at '2 hours ago'
            """)

    @OptionGroup var store: StoreArguments
    @OptionGroup var query: QueryArguments
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        try store.reading { store in
            let moment = try StoreMoment(query.at, in: store)
            let request = try query.request(moment, in: store)
            let total = try WatchedQuery.size(request, store, moment)
            let count = try WatchedQuery.run(store, moment, total: total) { try $0.count(request) }
            guard json else { return Output.shared.line("\(count)") }
            let entity = try moment.entity(named: query.entity).name
            try JSONText.print(
                ["entity": entity, "eventNumber": moment.eventNumber.rawValue, "count": count])
        }
    }
}
