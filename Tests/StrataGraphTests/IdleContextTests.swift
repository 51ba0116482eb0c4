import Foundation
import StrataGraph
import StrataModel
import Testing

/// A context that has read and does nothing holds no pages: what is written beside it takes the room of what it replaced.
@Suite(.timeLimit(.minutes(30)), .verifiesStores) struct IdleContextTests {
    /// The size of the store's file after 2,000 commits.
    private func fileSize(besideIdleContext hasIdle: Bool) throws -> Int {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "strata-idle-\(UUID().uuidString).strata", directoryHint: .isDirectory)
        let container = try makeContainer(at: .url(directory))
        defer {
            container.close()
            do { try FileManager.default.removeItem(at: directory) } catch { Issue.record(error) }
        }
        let writer = container.newBackgroundContext()
        let movies = (0..<500).map { number in
            let movie = Movie(context: writer)
            movie.title = "Movie \(number)"
            return movie
        }
        try writer.save()
        let idle = container.newBackgroundContext()
        let held = hasIdle ? try idle.fetch(FetchRequest<Movie>(format: "rating >= 0")) : []
        #expect(held.map(\.rating) == [Double](repeating: 0, count: hasIdle ? 500 : 0))
        for number in 0..<2000 {
            movies[number % 500].rating = Double(number / 500 + 1)
            try writer.save()
        }
        // It still shows what it read.
        #expect(held.allSatisfy { $0.rating == 0 })
        withExtendedLifetime(idle) {}
        let data = directory.appending(component: "data.mdb").path(percentEncoded: false)
        return try #require(try FileManager.default.attributesOfItem(atPath: data)[.size] as? Int)
    }

    @Test func anIdleContextDoesNotMakeTheFileGrow() throws {
        let alone = try fileSize(besideIdleContext: false)
        let beside = try fileSize(besideIdleContext: true)
        #expect(alone > 500_000)
        #expect(Double(beside) <= Double(alone) * 1.05, "\(beside) bytes beside \(alone)")
    }
}
