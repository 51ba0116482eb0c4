#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Makes the sums of a copied data file, so that later damage to one of its pages is found.
///
/// Each page of an exact copy is compared with the sum of the page that it was copied from.
struct CopySeal {
    private let directory: EnvironmentDirectory
    /// The sums under the name that they have until the copy is whole.
    private let temporary: String

    init(in directory: EnvironmentDirectory) {
        self.directory = directory
        temporary = ".copy-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    }

    /// - Parameters:
    ///   - copy: the copy's data file.
    ///   - original: the sums that the copy's pages must have; nil where its pages have other numbers.
    func make(
        _ copy: Int32, _ header: DataFileHeader, original: PageSums?
    ) throws(LMDBError) {
        var status = stat()
        guard fstat(copy, &status) == 0 else { throw SystemError.current("look at the copy", directory.path) }
        let sums = PageSums(isUsed: true, isWritable: true, file: FileIdentity(status).number)
        sums.reserve(map: nil, mapSize: (Int(header.lastPage) + 1) * header.pageSize, pageSize: header.pageSize)
        let opened = try directory.openFile(temporary, O_RDWR | O_CREAT | O_EXCL)
        do throws(PageSums.SystemFailure) {
            try PageSums.initialize(opened, pageSize: header.pageSize)
            guard try sums.attach(opened) else { throw PageSums.SystemFailure(number: EIO) }
        } catch {
            throw failure(error.number)
        }
        // Not synced: sums that a power cut takes are made again.
        try fill(sums, copy, header, original)
    }

    private func fill(
        _ sums: PageSums, _ copy: Int32, _ header: DataFileHeader, _ original: PageSums?
    ) throws(LMDBError) {
        let (file, heads) = (
            PageCopies(descriptor: copy, pageSize: header.pageSize),
            PageCopies(descriptor: copy, pageSize: header.pageSize)
        )
        guard let head = heads.page(header.transaction & 1, slot: 0) else { throw failure(EIO) }
        var wait = SealWait()
        let problem: PageSums.SystemFailure?
        do throws(PageDamage) {
            problem = try WholeSeal.seal(head, in: file, sums, isRelaxed: false) { number, sum in
                original?.mayBe(sum, of: number, &wait) ?? true
            }
        } catch {
            throw LMDBError(
                .corrupted, operation: "copy the store", path: directory.path,
                detail: "page \(error.page): \(error.sentence)")
        }
        if let problem { throw failure(problem.number) }
    }

    /// Gives the sums their name, in place of sums that an earlier file left there.
    func publish() throws(LMDBError) {
        guard renameat(directory.descriptor, temporary, directory.descriptor, PageSums.name) == 0 else {
            throw failure(errno)
        }
    }

    /// Removes the file, under either name.
    func remove() {
        directory.remove(temporary)
        directory.remove(PageSums.name)
    }

    private func failure(_ number: Int32) -> LMDBError {
        SystemError.lmdb(number, "write the sums of the copy", directory.path(of: PageSums.name))
    }
}

extension PageSums {
    /// Whether a page that a transaction keeps has a sum, as far as is known.
    fileprivate func mayBe(_ sum: UInt32, of number: UInt64, _ wait: inout SealWait) -> Bool {
        for _ in 0..<Self.mostWaits {
            let entry = entry(number)
            if entry.sum == sum || !entry.isSound(number: number, salt: salt) { return true }
            guard let seal = trusted, let newest = newestCommit else { return true }
            // The page may be of a commit that is not sealed yet.
            if newest <= seal.commit, self.entry(number) == entry { return false }
            guard wait.goesOn(seal: seal.commit, newest: newest) else { return true }
        }
        return true
    }

    private static var mostWaits: Int { 1000 }
}
