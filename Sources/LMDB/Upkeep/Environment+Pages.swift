// Checks every page in use against its sum.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension Environment {
    /// The result of a check of every page.
    package struct PageReport: Sendable, Equatable {
        /// A page that is not the one that was written.
        package struct Damage: Sendable, Equatable {
            /// The number of the page; its offset in the file is this times the size of a page.
            package let page: UInt64
            /// The damage, as a sentence.
            package let sentence: String
        }

        /// The number of pages that were read, and compared with their sums.
        package internal(set) var pageCount = 0
        /// Whether the pages have sums. Without them only the structure of the trees was checked.
        package internal(set) var hasSums = true
        /// The damaged pages, in the order of the file.
        package internal(set) var damages: [Damage] = []
        /// The number of entries of `pages.sums` that contradict themselves. Their pages were not judged.
        package internal(set) var damagedEntryCount = 0

        /// Whether nothing is wrong with any page.
        package var isSound: Bool { damages.isEmpty }
    }

    /// Reads every page in use once, with plain reads in the order of the file, and compares it with its sum.
    ///
    /// Readers and writers go on meanwhile, and no transaction is held. A store without sums, as one of an older version
    /// that was not written to since, has the structure of its trees looked at instead (`surveyPages`).
    /// - Parameters:
    ///   - pace: how many bytes to read in a second at most; nil for as many as the disk gives.
    ///   - goesOn: asked every few hundred pages.
    /// - Returns: nil where `goesOn` was false.
    /// - Throws: `closed`, `usedAfterFork`.
    /// - Complexity: a read of every page in use.
    package func checkPages(pace: Int? = nil, while goesOn: () -> Bool) throws(LMDBError) -> PageReport? {
        guard var report = try comparePages(pace: pace, while: goesOn) else { return nil }
        if !report.hasSums {
            let survey = try surveyPages()
            report.pageCount = survey.pageCount
            report.damages = survey.problems.map { PageReport.Damage(page: $0.page, sentence: $0.sentence) }
        }
        return report
    }

    /// The same to the end, as fast as the disk gives.
    package func checkPages() throws(LMDBError) -> PageReport { try checkPages(while: { true }) ?? PageReport() }

    /// Checks the pages as `checkPages` does; reads nothing where there are no sums.
    func comparePages(pace: Int? = nil, while goesOn: () -> Bool = { true }) throws(LMDBError) -> PageReport? {
        var report = PageReport()
        report.hasSums = sums.isUsed && sums.trusted != nil
        guard report.hasSums else { return report }
        let beginning = ContinuousClock.now
        var next: UInt64 = 2
        var wait = SealWait()
        while try comparePages(from: &next, into: &report, &wait) {
            guard goesOn() else { return nil }
            guard let pace, pace > 0 else { continue }
            let read = report.pageCount * sums.pageSize
            let due = beginning + .nanoseconds(Int64(Double(read) / Double(pace) * 1e9))
            while case let wait = ContinuousClock.now.duration(to: due), wait > .zero {
                // In short parts, so that it ends soon where it is not to go on.
                usleep(UInt32(clamping: Int64(min(wait, .milliseconds(100)) / .microseconds(1))))
                guard goesOn() else { return nil }
            }
        }
        return report
    }

    /// The number of pages that are read before others may close the environment.
    private static var pagesAtATime: UInt64 { 256 }

    /// - Returns: false behind the last page.
    private func comparePages(
        from next: inout UInt64, into report: inout PageReport, _ wait: inout SealWait
    ) throws(LMDBError) -> Bool {
        let first = next
        var (found, waited) = (report, wait)
        let last = try withHandle("check the pages") { _ throws(LMDBError) -> UInt64? in
            guard let seal = sums.trusted, first <= seal.lastPage else { return nil }
            let file = PageCopies(descriptor: descriptor, pageSize: sums.pageSize)
            let last = min(seal.lastPage, first + Self.pagesAtATime - 1)
            for number in first...last { sums.check(number, in: file, into: &found, &waited) }
            return last
        }
        (report, wait) = (found, waited)
        next = (last ?? 0) + 1
        return last != nil
    }
}

extension PageSums {
    /// Reads a page in use and compares it with its sum. A page that differs is not judged where a commit that is not
    /// sealed may have written it.
    fileprivate func check(
        _ number: UInt64, in file: PageCopies, into report: inout Environment.PageReport, _ wait: inout SealWait
    ) {
        for _ in 0..<Self.mostReadings {
            let entry = entry(number)
            guard entry.isInUse else { return }
            guard entry.isSound(number: number, salt: salt) else {
                report.damagedEntryCount += 1
                return
            }
            let bytes = file.page(number, slot: 0)
            if let bytes, Self.sum(of: bytes, number) == entry.sum {
                report.pageCount += 1
                return
            }
            // A commit may have freed the page, and the one after the next written on it.
            let (seal, newest) = (trusted?.commit, newestCommit)
            guard let seal, let newest, newest <= seal, self.entry(number) == entry else {
                guard wait.goesOn(seal: seal, newest: newest) else { return }
                continue
            }
            report.pageCount += 1
            let sentence = bytes == nil ? "the file ends before it" : PageDamage.otherPage
            report.damages.append(Environment.PageReport.Damage(page: number, sentence: sentence))
            return
        }
    }

    /// The number of times that a page is read until no commit has come in between.
    private static var mostReadings: Int { 1000 }
}
