/// The result of comparing the two meta pages of a data file with the newest seal.
enum HeadState: Equatable {
    /// The newest commit is the sealed one.
    case sealed
    /// The newest commit follows the sealed one: its process ended before it was sealed, or has not come to it yet.
    case oneAhead
    /// There is no seal, or one of an older state of the file: a program that does not know `pages.sums` has written.
    case unsealed

    /// The problem with the meta pages, and the remedy, as a sentence.
    struct Damage: Error {
        let sentence: String
    }

    /// - Parameters:
    ///   - pages: the two meta pages, at least `MetaPage.size` bytes of each.
    ///   - newest: the newest seal.
    ///   - before: the seal before it, if it is still there.
    ///   - mayBeOlder: whether the data file may legitimately be at an older commit, because commits were not synced
    ///     and the system has been restarted since.
    static func of(
        _ pages: (UnsafeRawBufferPointer, UnsafeRawBufferPointer), newest: Seal?, before: Seal?, mayBeOlder: Bool
    ) throws(Damage) -> HeadState {
        guard let newest else { return .unsealed }
        let (first, second) = (MetaPage(pages.0), MetaPage(pages.1))
        let isFirst = first.transaction >= second.transaction
        let commit = isFirst ? first.transaction : second.transaction
        let digest = HeadDigest(isFirst ? pages.0 : pages.1)
        if commit < newest.commit {
            if mayBeOlder { return .unsealed }
            throw Damage(
                sentence: "its newest commit is \(commit), but \(newest.commit) was made: the disk has lost writes, "
                    + "or data.mdb was put in place without its pages.sums, which must be removed then")
        }
        if commit == newest.commit {
            if digest == newest.head { return .sealed }
            throw Damage(
                sentence: "its head at commit \(commit) is damaged; if data.mdb was put in place without its "
                    + "pages.sums, remove that file")
        }
        let other = isFirst ? second.transaction : first.transaction
        if digest.content == newest.head.content, !mayRepeat(newest, commit, other) {
            throw Damage(sentence: "the head of commit \(newest.commit) has another number")
        }
        let sealed = HeadDigest(newest.commit & 1 == 0 ? pages.0 : pages.1)
        guard sealed == newest.head else { return .unsealed }
        // The head of the sealed commit is still there, so at most one commit can have followed.
        guard commit == newest.commit + 1 else {
            throw Damage(sentence: "its head says commit \(commit), but \(newest.commit) is the newest")
        }
        // An older head whose number is damaged is not a newer one.
        if let before, before.commit + 1 == newest.commit, before.head.content == digest.content {
            throw Damage(sentence: "the head of commit \(before.commit) has another number")
        }
        return .oneAhead
    }

    /// Whether a commit can have its trees on the same pages as the sealed one. A page that a commit frees is written
    /// on by the second commit after it at the earliest, and the other head is then that of the commit before.
    private static func mayRepeat(_ sealed: Seal, _ commit: UInt64, _ other: UInt64) -> Bool {
        commit >= sealed.commit + 3 && other + 1 == commit
    }
}
