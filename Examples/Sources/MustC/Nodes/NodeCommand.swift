import ArgumentParser
import Foundation
import Strata

/// `MustC node`: a process with a store of its own and a list on the screen, as each machine of a service has them.
///
/// Does what it is ordered to, and reports when its list shows what others have saved. Ends when its input does.
struct NodeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "node", abstract: "Is one of the nodes of 'three-nodes'.", shouldDisplay: false)

    @OptionGroup var place: MovieStore

    @Option(help: "What the node is called in the log.")
    var name: String

    @MainActor func run() async throws {
        let container = try place.open()
        defer { container.close() }
        let context = container.viewContext
        context.automaticallyMergesChangesFromParent = true
        context.transactionAuthor = name
        let list = try ReportingList(context)
        report(.ready(event: context.eventNumber.rawValue, time: NodeReport.now))
        for await order in Self.orders() {
            do {
                switch order {
                case .change(let change): try carryOut(change, container)
                case .tell: report(.all(movies: list.lines, transaction: try container.token().transaction.rawValue))
                }
            } catch {
                report(.failed("\(error)"))
            }
        }
    }

    /// The lines of the standard input, which a thread of its own waits for.
    private static func orders() -> AsyncStream<NodeOrder> {
        let (orders, continuation) = AsyncStream.makeStream(of: NodeOrder.self)
        Thread.detachNewThread {
            while let line = readLine() {
                do {
                    continuation.yield(try JSONDecoder().decode(NodeOrder.self, from: Data(line.utf8)))
                } catch {
                    report(.failed("\(error)"))
                }
            }
            continuation.finish()
        }
        return orders
    }

    @MainActor private func carryOut(_ change: MovieChange, _ container: PersistentContainer) throws {
        let context = container.viewContext
        let begin: UInt64
        switch change {
        case .plant(let fixtures):
            let seed = try FamilySeed(directory: URL(filePath: fixtures, directoryHint: .isDirectory))
            begin = NodeReport.now
            try seed.plant(in: context)
        case .add(let title, let member):
            let movie = Movie(context: context)
            movie.title = title
            movie.familyMember = try context.member(member)
            begin = NodeReport.now
            try context.persist {}
        case .give(let title, let member):
            try context.movie(title).familyMember = context.member(member)
            begin = NodeReport.now
            try context.persist {}
        case .delete(let title):
            context.delete(try context.movie(title))
            begin = NodeReport.now
            try context.persist {}
        }
        let end = NodeReport.now
        report(
            .saved(
                transaction: try container.token().transaction.rawValue, event: context.eventNumber.rawValue,
                begin: begin, end: end))
    }
}

/// Prints a report. A process that cannot has lost its reader, and has nothing left to do.
private func report(_ report: NodeReport) {
    do { try FileHandle.standardOutput.write(contentsOf: report.line()) } catch { exit(1) }
}

/// A list of the movies by title, which reports when it has changed.
@MainActor private final class ReportingList: @MainActor FetchedResultsControllerDelegate {
    private let controller: FetchedResultsController<Movie>
    private let context: ManagedObjectContext

    init(_ context: ManagedObjectContext) throws {
        self.context = context
        controller = FetchedResultsController(
            fetchRequest: try FetchRequest<Movie>().sorted(by: \.title), context: context)
        try controller.performFetch()
        controller.delegate = self
    }

    var lines: [String] {
        controller.fetchedObjects?.map { "\($0.title) (\($0.familyMember?.name ?? "nobody"))" } ?? []
    }

    func controllerDidChangeContent(_ controller: FetchedResultsController<Movie>) {
        report(.shows(event: context.eventNumber.rawValue, time: NodeReport.now))
    }
}
