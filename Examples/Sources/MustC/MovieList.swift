import Foundation
import Strata

/// Takes the place of a table on a screen: lists the movies by title, and prints what the controller reports.
@MainActor final class MovieList: @MainActor FetchedResultsControllerDelegate {
    private let controller: FetchedResultsController<Movie>

    init(_ context: ManagedObjectContext) throws {
        controller = FetchedResultsController(
            fetchRequest: try FetchRequest<Movie>().sorted(by: \.title), context: context)
        try controller.performFetch()
        controller.delegate = self
    }

    var titles: [String] { controller.fetchedObjects?.map(\.title) ?? [] }

    func controller(
        _ controller: FetchedResultsController<Movie>, didChange movie: Movie, at indexPath: IndexPath?,
        for type: FetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        let (old, new) = (Self.text(indexPath), Self.text(newIndexPath))
        print("   \(type): \(movie.title), old index path \(old), new index path \(new)")
    }

    private static func text(_ indexPath: IndexPath?) -> String {
        indexPath.map { "[\($0.section), \($0.row)]" } ?? "none"
    }
}
