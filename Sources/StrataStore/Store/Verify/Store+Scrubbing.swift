import Foundation
import LMDB
import Locking
import Logging
import StrataModel

/// The result of a check of every page in use.
package struct ScrubReport: Sendable {
    /// The number of pages that were read.
    package let pageCount: Int
    /// Whether they were compared with their sums; without those only the structure of the trees was looked at.
    package let hasSums: Bool
    /// The problems, each with its page.
    package let problems: [VerificationProblem]
    /// The time that it took.
    package let duration: Duration
}

extension StoreFile {
    /// Reads every page in use once and compares it with its sum, while everything else goes on.
    ///
    /// - Throws: `storeClosed`; `CancellationError` where `goesOn` is false.
    fileprivate func scrub(pace: Int?, while goesOn: () -> Bool) throws -> ScrubReport {
        let clock = ContinuousClock()
        let start = clock.now
        do {
            guard let report = try environment.checkPages(pace: pace, while: goesOn) else {
                throw CancellationError()
            }
            let problems = report.damages.map {
                VerificationProblem(kind: .page, location: "page \($0.page)", message: $0.sentence)
            }
            if let first = problems.first { tell(first, count: problems.count) }
            return ScrubReport(
                pageCount: report.pageCount, hasSums: report.hasSums, problems: problems, duration: clock.now - start)
        } catch {
            throw publicError(error, during: "a look at its pages")
        }
    }

    private func tell(_ first: VerificationProblem, count: Int) {
        StoreLogger.shared.error("\(count) damaged pages in \(path), the first: \(first)")
        let damage = StrataError(
            .corrupt, "The store's file is damaged (\(first)).", context: .init(path: path))
        damageHandler.withLock { $0 }?(damage)
    }
}

extension Store {
    /// Reads every page in use once and compares it with its sum, while everything else goes on.
    ///
    /// Damage is logged, and answered as any other that is met (`StoreOptions.damageHandler`, `mendsViews`).
    ///
    /// - Parameters:
    ///   - pace: how many bytes to read in a second at most; nil for as many as the disk gives.
    ///   - goesOn: asked every few hundred pages.
    /// - Throws: `storeClosed`; `CancellationError` where `goesOn` is false.
    package func scrub(pace: Int? = nil, while goesOn: () -> Bool = { true }) throws -> ScrubReport {
        try checkOpen()
        return try file.scrub(pace: pace, while: goesOn)
    }
}

extension RepeatedWork {
    /// Looks at all pages of a store again and again.
    ///
    /// - Throws: `BackgroundThread.Unavailable`.
    static func scrubbing(
        _ file: StoreFile, _ scrubbing: StoreScrubbing
    ) throws(BackgroundThread.Unavailable) -> RepeatedWork {
        try RepeatedWork("strata.scrub", interval: scrubbing.interval) { goesOn in
            do {
                let report = try file.scrub(pace: scrubbing.bytesPerSecond, while: goesOn)
                StoreLogger.shared.debug(
                    "looked at \(CountText.of(report.pageCount, "page")) of \(file.path) in \(report.duration)")
            } catch is CancellationError {
                return .end
            } catch let error as StrataError where error.code == .storeClosed {
                return .end
            } catch {
                StoreLogger.shared.warning("the pages of \(file.path) could not be looked at: \(error)")
            }
            return .again
        }
    }
}
