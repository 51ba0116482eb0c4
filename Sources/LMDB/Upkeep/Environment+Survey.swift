#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB

// Checks every page of the newest commit.

extension Environment {
    private static let mostSurveys = 5

    /// Checks every page of the newest commit without mapping anything: whether its structure is sound, whether each
    /// page of the file is in one tree or one free list (`FilePartition`), and whether each page in use has its sum
    /// (`PageSums`).
    ///
    /// It holds a read transaction meanwhile.
    ///
    /// - Throws: what beginning to read throws; damage is in the result.
    /// - Complexity: O(n) in the pages: 100 MB take about 0.1 s.
    package func surveyPages() throws(LMDBError) -> PageSurvey {
        var survey = try surveyStructure()
        let report = try comparePages() ?? PageReport()
        survey.hasSums = report.hasSums
        survey.problems += report.damages.map { PageSurvey.Problem(page: $0.page, sentence: $0.sentence) }
        return survey
    }

    /// The same without comparing pages with their sums: whether LMDB may write to the file.
    package func surveyStructure() throws(LMDBError) -> PageSurvey {
        // A writer may be replacing one of the meta pages.
        for _ in 1..<Self.mostSurveys {
            let survey = try survey()
            if survey.metaPagesAreWhole { return survey }
            usleep(1_000)
        }
        return try survey()
    }

    private func survey() throws(LMDBError) -> PageSurvey {
        let transaction = try beginRead()
        defer { end(transaction) }
        let pageSize = Self.shape(of: try activeHandle("look at the pages")).pageSize
        guard let metas = MetaPageCheck(descriptor: descriptor, pageSize: pageSize) else {
            throw failure(.corrupted, "look at the pages", detail: "the file has no meta pages")
        }
        return PageSurvey(
            of: transaction.number, metas, PageCopies(descriptor: descriptor, pageSize: pageSize))
    }
}
