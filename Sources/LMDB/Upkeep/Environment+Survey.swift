#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB

extension Environment {
    private static let mostSurveys = 5

    /// Looks at every page of the newest commit, and of the one before, without mapping anything: whether each page is
    /// as it must be, whether the commit's trees and free lists part the file (`FilePartition`), and whether each page in
    /// use is the one that was written (`PageSums`).
    ///
    /// It holds a read transaction meanwhile.
    ///
    /// - Throws: what beginning to read throws; damage is in the result.
    /// - Complexity: O(n) in the pages, each of which is read once for each commit: 100 MB take about 0.1 s.
    package func surveyPages(_ scope: PageSurvey.Scope = .newestAndOneBefore) throws(LMDBError) -> PageSurvey {
        var survey = try surveyStructure(scope)
        let report = try comparePages()
        survey.hasSums = report.hasSums
        survey.problems += report.damages.map { PageSurvey.Problem(page: $0.page, sentence: $0.sentence) }
        return survey
    }

    private func surveyStructure(_ scope: PageSurvey.Scope) throws(LMDBError) -> PageSurvey {
        // A writer may be replacing one of the meta pages.
        for _ in 1..<Self.mostSurveys {
            let survey = try survey(scope)
            if survey.metaPagesAreWhole { return survey }
            usleep(1_000)
        }
        return try survey(scope)
    }

    private func survey(_ scope: PageSurvey.Scope) throws(LMDBError) -> PageSurvey {
        let transaction = try beginRead()
        defer { end(transaction) }
        let pageSize = Self.shape(of: try activeHandle("look at the pages")).pageSize
        guard let metas = MetaPageCheck(descriptor: descriptor, pageSize: pageSize) else {
            throw failure(.corrupted, "look at the pages", detail: "the file has no meta pages")
        }
        return PageSurvey(
            of: transaction.number, scope, metas, PageCopies(descriptor: descriptor, pageSize: pageSize))
    }
}
