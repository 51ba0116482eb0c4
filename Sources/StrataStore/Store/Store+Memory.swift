import Foundation
import LMDB

extension Store {
    /// Gives mapped pages of the file back to the system if this process has more than `limit` bytes of files in its
    /// memory; for work that goes through a whole store once. Only on Linux, where such pages count as the process's.
    package func trimMappedPages(above limit: Int = 64 << 20) throws {
        guard let resident = Self.residentFileBytes, resident > limit else { return }
        try file.read { transaction, _, _ in transaction.releaseMappedPages() }
    }

    /// The bytes of files in the process's memory; nil if the system does not say.
    private static var residentFileBytes: Int? {
        // The third number is that of resident pages of files and shared memory.
        guard let bytes = FileManager.default.contents(atPath: "/proc/self/statm") else { return nil }
        let words = bytes.split(separator: UInt8(ascii: " "))
        guard words.count > 2, let pages = Int(String(decoding: words[2], as: UTF8.self)) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
