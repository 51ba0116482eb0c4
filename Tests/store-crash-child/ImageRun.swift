import FaultShim
import Foundation
import StrataStore
import StrataTestSupport

/// Makes states that a power cut may leave during recorded work, and has each checked (Pillai et al., "All File Systems
/// Are Not Created Equal", OSDI 2014).
///
/// A cut comes before any of the recorded operations. What has been synced by then is there. Any of the other changes is
/// whole, lost, or torn at sectors or pages, in whatever order the disk took them. Names that were made, moved or removed
/// may be lost until their directory is synced.
///
/// Or, for `kills`, the process has ended before any of the operations, and the system goes on.
///
/// Prints a line for each state: its number, and what is wrong with it.
struct ImageRun {
    private let root: URL
    private let trace: Trace
    private let options: StoreOptions
    private let work: String
    private let seed: UInt64
    private let numbers: Range<Int>
    private let isOfKills: Bool

    init(_ arguments: [String], _ options: StoreOptions) throws {
        root = URL(filePath: arguments[2], directoryHint: .isDirectory)
        isOfKills = arguments[1] == "kills"
        self.options = options
        work = arguments[4]
        trace = try Trace(URL(filePath: arguments[5]))
        seed = UInt64(arguments[6]) ?? 0
        let first = Int(arguments[7]) ?? 0
        numbers = first..<first + (Int(arguments[8]) ?? 0)
    }

    func run() throws {
        if !isOfKills { try startSystemAgain(in: root) }
        let manners = isOfKills || options.durability == .disposable ? [.kill] : Trace.Manner.allCases
        for number in numbers {
            let place = root.appending(path: "image-\(number)", directoryHint: .isDirectory)
            defer { try? FileManager.default.removeItem(at: place) }
            var generator = SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(number))
            let (cut, image, manner) = trace.crash(manners, &generator)
            do {
                try image.writeAsRecorded(to: place)
                let end: ImageCheck.End = isOfKills ? .ofProcess : manner == .kill ? .orderly : .ofPower
                try ImageCheck(place, work, options, trace.said(before: cut), end).run()
                reportLine("\(number)")
            } catch {
                let place = "before operation \(cut) of \(trace.operations.count)"
                reportLine("\(number) wrong: cut \(place), \(manner): \(error)")
            }
        }
    }
}

/// Prints a line at once, so that the one who reads knows how far a process came that has died; the text's own lines
/// become one.
func reportLine(_ text: String) {
    FileHandle.standardOutput.write(Data((text.replacing("\n", with: " ") + "\n").utf8))
}

/// Programs that look are told of another start of the system, as after a power cut.
func startSystemAgain(in directory: URL) throws {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let start = directory.appending(component: "boot_id")
    try Data("another start of the system, and more".utf8).write(to: start)
    fault_redirect("/proc/sys/kernel/random/boot_id", start.path(percentEncoded: false))
}
