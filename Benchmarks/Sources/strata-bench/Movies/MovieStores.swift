import Foundation
import StrataGraph

/// The stores of all peers, in one folder, with the same movies.
final class MovieStores {
    let directory: URL
    let movies: Movies
    /// The peers that are filled beside Strata.
    let peers: Set<Peer>
    let strata: StrataMovies
    private(set) var lmdb: BareLMDB?
    private(set) var sqlite: SQLiteMovies?
    private var others: [any MovieStore] = []
    /// Numbers for movies and owners that workloads add, the same for every peer.
    private var nextMovie: Int
    private var nextOwner: Int
    /// The bytes of the values that the stores are filled with, and of those that workloads have added.
    private lazy var filledValueBytes = (0..<movies.count).reduce(
        (0..<movies.owners).reduce(0) { $0 + MovieRow.ownerValueBytes($1) }
    ) { $0 + movies[$1].valueBytes }
    private var addedValueBytes = 0

    /// - Parameter durability: of Strata's store.
    init(
        _ movies: Movies, _ peers: Set<Peer>, in directory: URL, durability: PersistentStoreDurability = .full
    ) throws {
        self.directory = directory
        self.movies = movies
        self.peers = peers
        nextMovie = movies.count
        nextOwner = movies.owners
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        strata = try StrataMovies(
            at: directory.appending(path: "movies.strata", directoryHint: .isDirectory), durability: durability)
        if peers.contains(.lmdb) { lmdb = try BareLMDB(path: path("lmdb")) }
        if peers.contains(.sqlite) { sqlite = try SQLiteMovies(path: path("movies.sqlite")) }
        if peers.contains(.grdb) { others.append(try GRDBMovies(path: path("grdb.sqlite"))) }
        if peers.contains(.tightGRDB) { others.append(try TightGRDBMovies(path: path("tight.sqlite"))) }
    }

    func path(_ name: String) -> String { directory.appending(path: name).path(percentEncoded: false) }

    /// The bytes of the values of all movies and owners that are in the stores between two workloads.
    ///
    /// - Complexity: O(n) in the movies the first time, since it makes each row.
    var valueBytes: Int { filledValueBytes + addedValueBytes }

    /// Strata first.
    var all: [any MovieStore] {
        var all: [any MovieStore] = [strata]
        if let lmdb { all.append(lmdb) }
        if let sqlite { all.append(sqlite) }
        return all + others
    }

    /// More movies, of random owners or of one.
    func newMovies(_ count: Int, owner: Int? = nil) -> [MovieRow] {
        let rows = (nextMovie..<nextMovie + count).map { MovieRow($0, owners: movies.owners, owner: owner) }
        nextMovie += count
        addedValueBytes += rows.reduce(0) { $0 + $1.valueBytes }
        return rows
    }

    func newOwner() throws -> Int {
        defer { nextOwner += 1 }
        for store in all { try store.insertOwners(nextOwner..<nextOwner + 1) }
        addedValueBytes += MovieRow.ownerValueBytes(nextOwner)
        return nextOwner
    }

    /// Subtracts the values of an owner and their movies, which were added and are deleted now.
    func noteDeleted(_ owner: Int, _ rows: [MovieRow]) {
        addedValueBytes -= rows.reduce(MovieRow.ownerValueBytes(owner)) { $0 + $1.valueBytes }
    }

    /// - Throws: if the stores do not hold the same.
    func compare(_ moment: String, with others: [any MovieStore] = []) throws {
        try Bench.compare(try (all + others).map { ($0.peer, try $0.summary()) }, "The movies \(moment)")
    }

    /// Every peer's code for a round.
    func contenders(
        _ run: @escaping (any MovieStore, Int) throws -> Int
    ) -> [Contender] {
        all.map { store in
            Contender(peer: store.peer, prepare: { _ in try store.beginRound() }, run: { try run(store, $0) })
        }
    }

    /// Closes every store; Strata's can be reopened.
    func close() {
        strata.close()
        lmdb = nil
        sqlite = nil
        others = []
    }

    func remove() throws {
        close()
        try FileManager.default.removeItem(at: directory)
    }
}
