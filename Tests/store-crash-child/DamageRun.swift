import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport

/// Damages a store in one way after another, reads each whole as an app does, saves on top, and holds what is read against
/// what the undamaged store holds: it may be right or end in a typed error, and a save may not make it worse.
///
/// Prints a line for each store: its number and what came of it, or what is wrong.
struct DamageRun {
    private let root: URL
    private let options: StoreOptions
    private let sound: Image
    /// The store some saves before, for pages that are older than they should be.
    private let earlier: Image
    private let seed: UInt64
    private let numbers: Range<Int>

    enum Kind: CaseIterable {
        case flippedBit, zeros, noise, olderPage, otherPage, cut
    }

    init(_ arguments: [String], _ options: StoreOptions) throws {
        root = URL(filePath: arguments[2], directoryHint: .isDirectory)
        self.options = options
        let trace = try Trace(URL(filePath: arguments[5]))
        sound = trace.image(before: trace.operations.count) { _ in .whole }
        earlier = trace.image(before: (trace.start + trace.operations.count) / 2) { _ in .whole }
        seed = UInt64(arguments[6]) ?? 0
        let first = Int(arguments[7]) ?? 0
        numbers = first..<first + (Int(arguments[8]) ?? 0)
    }

    func run() throws {
        let whole = root.appending(path: "sound", directoryHint: .isDirectory)
        // A process before this one may have been ended by a damaged store.
        if FileManager.default.fileExists(atPath: whole.path(percentEncoded: false)) {
            try FileManager.default.removeItem(at: whole)
        }
        try sound.write(to: whole)
        let right = try AppView(Recording.store(in: whole)).whole()
        for number in numbers {
            let place = root.appending(path: "damaged-\(number)", directoryHint: .isDirectory)
            defer { try? FileManager.default.removeItem(at: place) }
            var generator = SeededGenerator(seed: seed &* 1_000_033 &+ UInt64(number))
            let kind = Kind.allCases.randomElement(using: &generator) ?? .flippedBit
            do {
                try damaged(kind, &generator).write(to: place)
                reportLine("\(number) \(kind) \(try outcome(Recording.store(in: place), right))")
            } catch {
                reportLine("\(number) wrong: \(kind): \(error)")
            }
        }
    }

    private func damaged(_ kind: Kind, _ generator: inout SeededGenerator) -> Image {
        var image = sound
        let name = "main.strata/data.mdb"
        guard var bytes = image.files[name].flatMap(\.self), let old = earlier.files[name].flatMap(\.self) else {
            return image
        }
        let size = 4096
        let page = Int.random(in: 0..<bytes.count / size, using: &generator) * size
        func replace(_ content: [UInt8]) { bytes.replaceSubrange(page..<page + content.count, with: content) }
        switch kind {
        case .flippedBit:
            let bit = Int.random(in: 0..<bytes.count * 8, using: &generator)
            bytes[bit / 8] ^= 1 << (bit % 8)
        case .zeros: replace([UInt8](repeating: 0, count: size))
        case .noise: replace((0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) })
        case .olderPage: replace(Array(old[min(page, old.count - size)..<min(page, old.count - size) + size]))
        case .otherPage:
            let other = Int.random(in: 0..<bytes.count / size, using: &generator) * size
            replace(Array(bytes[other..<other + size]))
        case .cut: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &generator))
        }
        image.files[name] = bytes
        return image
    }

    /// - Returns: a word for what came of it.
    /// - Throws: what is wrong.
    private func outcome(_ directory: URL, _ right: [String]) throws -> String {
        do {
            let view = try AppView(directory)
            defer { view.close() }
            guard try view.whole() == right else { throw ImageCheck.Finding(description: "read wrong values") }
            // What a verification says before the saves, an app would have to heed.
            let isSound = try view.isSound()
            try view.save()
            guard try view.whole() == right else {
                throw ImageCheck.Finding(description: "wrong values after saves that succeeded")
            }
            guard try view.isSound() || !isSound else {
                throw ImageCheck.Finding(description: "sound before the saves, and not after")
            }
            return isSound ? "right" : "found by verify"
        } catch let error as StrataError {
            return "refused: \(error.code)"
        }
    }
}
