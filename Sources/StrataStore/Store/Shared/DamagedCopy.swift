import Foundation
import LMDB
import Logging
import StrataModel

/// A store with a shared log that cannot be opened because its files are damaged, or because the log was cut after what
/// it has. The log has everything that was saved, so the files are moved aside, and the store is made again.
struct DamagedCopy {
    let directory: StoreDirectory
    let options: StoreOptions
    let connection: SharedLogConnection
    /// The end of the store, as far as that could be read.
    let end: SharedLogEnd?

    /// The beginning of the names of folders with damaged files.
    static let prefix = "damaged-"
    /// The same for files of a store that was away for too long.
    static let outdatedPrefix = "outdated-"

    /// Whether an error of opening says that files of this directory are damaged.
    static func isDamage(_ error: any Error, in directory: StoreDirectory) -> Bool {
        guard let error = error as? StrataError, error.context.path?.hasPrefix(directory.path) == true else {
            return error is StoreFormatError
        }
        if error.code == .corrupt { return true }
        guard error.code == .persistentStoreOpen, let cause = error.cause as? LMDBError else { return false }
        switch cause.code {
        case .missing, .empty, .foreign, .truncated, .invalid, .corrupted: return true
        default: return false
        }
    }

    /// Moves the files into a folder in the directory, if the log is theirs and no process uses them.
    ///
    /// - Returns: whether they were moved.
    /// - Throws: `divergedLog` if the log has lost transactions that the store has; `corrupt` if the log cannot be
    ///   asked.
    func setAside(_ damage: any Error, _ log: any SharedLog) throws -> Bool {
        guard let mark = SharedMark(in: directory.path) else { return false }
        let identity: SharedLogIdentity
        do {
            let contact = LogContact(connection)
            identity = try contact.ask { () throws(SharedLogFailure) in try log.open(founder: nil).identity }
            guard SharedMark(identity) == mark else { return false }
            if let end, end.transaction > .zero {
                try check(end, log, contact)
            }
        } catch let error as StrataError where error.code == .logUnavailable {
            throw StrataError(
                .corrupt,
                "The store is damaged (\(Self.reason(damage))). It is made anew from the shared log "
                    + "\(connection.name) as soon as that can be reached.", context: .init(path: directory.path),
                cause: damage)
        }
        let behind = damage as? StoreBehindLog
        guard let folder = try move(behind == nil ? Self.prefix : Self.outdatedPrefix) else { return false }
        let state = behind == nil ? "damaged (\(Self.reason(damage)))" : "behind what is left of its log"
        let report = StrataError(
            behind == nil ? .corrupt : .historyDropped,
            "The store was \(state) and is made anew from the shared log \(connection.name). Its files are in "
                + "\(folder); delete that folder when you no longer need it.",
            context: .init(path: directory.path), cause: behind?.error ?? damage)
        StoreLogger.shared.warning("\(report.message)")
        options.damageHandler?(report)
        return true
    }

    /// - Throws: `divergedLog` if the log has lost transactions that the store has. Cutting the log loses none.
    private func check(_ end: SharedLogEnd, _ log: any SharedLog, _ contact: LogContact) throws {
        do {
            let digest = try contact.ask { () throws(SharedLogFailure) in try log.digest(of: end.transaction) }
            guard digest == end.digest else { throw StrataError.diverged(at: end) }
        } catch let error as StrataError where error.code == .historyDropped {
            return
        }
    }

    /// The kind of damage, as a clause.
    private static func reason(_ damage: any Error) -> String {
        guard let damage = damage as? StrataError else { return "\(damage)" }
        guard let cause = damage.cause as? LMDBError else {
            return damage.message.hasSuffix(".") ? String(damage.message.dropLast()) : damage.message
        }
        return cause.detail.isEmpty ? cause.code.sentence : cause.detail
    }

    /// - Returns: the folder's path; nil while another process uses the files.
    private func move(_ prefix: String) throws -> String? {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let time = options.clock().formatted(style.timeSeparator(.omitted))
        let folder = prefix + time
        do {
            let isMoved = try Environment.setAside(
                at: directory.path, in: folder,
                ownership: options.acceptsSharedOwnership ? .unchecked : .privateOnly
            ) { name in
                name == SharedMark.name || name.hasPrefix(Self.prefix) || name.hasPrefix(Self.outdatedPrefix)
            }
            return isMoved ? directory.path + "/" + folder : nil
        } catch {
            throw StrataError(opening: error, path: directory.path)
        }
    }
}

extension Store {
    /// Reads the end of a damaged store; nil if not even that can be read.
    func readableEnd() -> SharedLogEnd? {
        do {
            return try file.environment.read { SharedLogEnd(try file.readHead($0)) }
        } catch {
            StoreLogger.shared.debug("the end of \(path) cannot be read: \(error)")
            return nil
        }
    }

    /// Notes beside the store which log it is a copy of.
    func writeMark() throws {
        guard case .directory = location, let identity = file.options.identity else { return }
        let mark = SharedMark(identity)
        guard SharedMark(in: path) != mark else { return }
        do {
            try mark.write(in: path)
        } catch {
            throw file.publicError(error, during: "joining a shared log")
        }
    }
}
