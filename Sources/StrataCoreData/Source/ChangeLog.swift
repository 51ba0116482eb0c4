import Foundation
import StrataModel

/// The part of the log of changes beside a file (`-wal`) that SQLite leaves out without an error.
///
/// SQLite reads the log up to the last commit before the first frame whose checksum is wrong. The format is that of
/// <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>.
struct ChangeLog {
    private static let headerSize = 32
    private static let frameHeaderSize = 24

    /// nil if everything is read.
    private(set) var loss: String?

    /// - Parameter path: of the store, beside which the log lies.
    init(besideFileAt path: String) {
        let listed = Self.listedFrames(path + "-shm")
        guard let log = FileHandle(forReadingAtPath: path + "-wal") else {
            // The list says which frames were in the file already.
            if let listed, listed.last > listed.inFile { loss = "is missing with \(Self.frames(listed.last))" }
            return
        }
        do {
            loss = try Self.loss(log, listed)
        } catch {
            loss = "cannot be read to its end"
        }
    }

    private static func frames(_ count: Int) -> String { count == 1 ? "1 frame" : "\(count) frames" }

    // MARK: The list of frames

    /// The state of the log according to the file `-shm`.
    private struct Listed {
        let last: Int
        /// The number of frames that are in the file too.
        let inFile: Int
        let salts: [UInt8]
    }

    /// nil if there is none, or it is of no use.
    private static func listedFrames(_ path: String) -> Listed? {
        guard let bytes = FileHandle(forReadingAtPath: path)?.readData(ofLength: 100), bytes.count == 100 else {
            return nil
        }
        let list = Array(bytes)
        func number(_ at: Int) -> Int { (0..<4).reduce(0) { $0 | Int(list[at + $1]) << (8 * $1) } }
        // Two copies are equal unless a writer was at work.
        guard list[0..<48] == list[48..<96], list[12] == 1, number(0) == 3_007_000 else { return nil }
        return Listed(last: number(16), inFile: number(96), salts: Array(list[32..<40]))
    }

    // MARK: The log

    private static func loss(_ log: FileHandle, _ listed: Listed?) throws -> String? {
        let size = Int(try log.seekToEnd())
        guard size > 0 else {
            guard let listed, listed.last > listed.inFile else { return nil }
            return "is empty, and had \(frames(listed.last))"
        }
        try log.seek(toOffset: 0)
        let header = Array(try log.read(upToCount: headerSize) ?? Data())
        guard header.count == headerSize else { return "is cut short in its header, and all of it is lost" }
        guard header.allSatisfy({ $0 == 0 }) == false else { return "has no header, and all of it is lost" }
        func number(_ at: Int) -> UInt32 { word(header, at, isBigEndian: true) }
        let isBigEndian = number(0) & 1 == 1
        var sum = Checksum(isBigEndian: isBigEndian)
        sum.add(header[0..<24])
        let pageSize = Int(number(8))
        guard number(0) & ~1 == 0x377F_0682, number(4) == 3_007_000, pageSize >= 512, pageSize <= 65_536,
            pageSize.nonzeroBitCount == 1, sum.first == number(24), sum.second == number(28)
        else {
            let all = max(0, size - headerSize) / (frameHeaderSize + 4096)
            return "has a damaged header, and all of it is lost (about \(frames(all)))"
        }
        let salts = header[16..<24]
        let frameSize = frameHeaderSize + pageSize
        /// Frames of this round of the log, sound ones before the first that is not, and those of whole commits.
        var (all, sound, committed) = (0, 0, 0)
        var isSound = true
        var isCut = false
        while let data = try log.read(upToCount: frameSize), !data.isEmpty {
            let frame = Array(data)
            if frame.count >= 16, frame[8..<16] != salts {
                isSound = false
                if isEarlier(word(frame, 8, isBigEndian: true), than: number(16)) { continue }
            } else if frame.count < 16, !isSound {
                continue
            }
            all += 1
            guard frame.count == frameSize else {
                isCut = true
                break
            }
            guard isSound else { continue }
            sum.add(frame[0..<8])
            sum.add(frame[frameHeaderSize...])
            isSound =
                sum.first == word(frame, 16, isBigEndian: true) && sum.second == word(frame, 20, isBigEndian: true)
                && word(frame, 0, isBigEndian: true) != 0
            guard isSound else { continue }
            sound += 1
            if word(frame, 4, isBigEndian: true) != 0 { committed = sound }
        }
        let isDamaged = all > sound && !isCut
        if let listed, listed.salts == Array(salts) { all = max(all, listed.last) }
        guard all > committed else { return nil }
        let reason =
            if isDamaged {
                "has a wrong checksum"
            } else if isCut || all > sound {
                "is cut short"
            } else {
                "ends in a transaction that was not completed"
            }
        return "\(reason): \(frames(all - committed)) of \(all) cannot be read"
    }

    /// Whether frames with this salt may be left of an earlier round: each round's salt is one more than the last.
    private static func isEarlier(_ salt: UInt32, than current: UInt32) -> Bool {
        (1..<1 << 20).contains(current &- salt)
    }

    fileprivate static func word(_ bytes: [UInt8], _ at: Int, isBigEndian: Bool) -> UInt32 {
        let (a, b, c, d) = (
            UInt32(bytes[at]), UInt32(bytes[at + 1]), UInt32(bytes[at + 2]), UInt32(bytes[at + 3])
        )
        return isBigEndian ? a << 24 | b << 16 | c << 8 | d : d << 24 | c << 16 | b << 8 | a
    }
}

/// The running checksum of the log.
private struct Checksum {
    let isBigEndian: Bool
    private(set) var first: UInt32 = 0
    private(set) var second: UInt32 = 0

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        var (one, two) = (first, second)
        bytes.withUnsafeBytes { buffer in
            for at in stride(from: 0, to: buffer.count - 7, by: 8) {
                let a = buffer.loadUnaligned(fromByteOffset: at, as: UInt32.self)
                let b = buffer.loadUnaligned(fromByteOffset: at + 4, as: UInt32.self)
                one &+= (isBigEndian ? UInt32(bigEndian: a) : UInt32(littleEndian: a)) &+ two
                two &+= (isBigEndian ? UInt32(bigEndian: b) : UInt32(littleEndian: b)) &+ one
            }
        }
        (first, second) = (one, two)
    }
}
