import Foundation
import Locking
import StrataModel
import Testing

@testable import StrataInspector
@testable import StrataStore

/// What Studio reads before it is asked: the timeline, and the parts of the past once that was shown.
@Suite struct StudioPreparingTests {
    private let visit: StudioVisit

    init() throws { visit = try StudioVisit() }

    private var parts: PastParts { visit.studio.stores[0].store.snapshots.lag.parts }

    @Test(.timeLimit(.minutes(1))) func theTimelineBeginsIt() async throws {
        _ = try visit.page("model")
        #expect(parts.count == 0)
        _ = try visit.page("timeline")
        while parts.count == 0 { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test(.timeLimit(.minutes(1))) func theTimelineIsReadBeforeItIsShown() async throws {
        let source = visit.studio.stores[0]
        #expect(source.pulse.withLock { $0.microseconds.isEmpty })
        visit.studio.prepare()
        let newest = try source.store.lastTransaction(upTo: source.store.head())
        while source.pulse.withLock({ $0.microseconds.count }) < newest.rawValue {
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
