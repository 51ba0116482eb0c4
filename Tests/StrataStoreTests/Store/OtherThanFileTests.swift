import Foundation
import StrataModel
@testable import StrataStore
import Testing

/// Something other than a plain file or directory in place of one of a store's: a typed error, at once, and nothing
/// outside the store is read or written.
@Suite struct OtherThanFileTests {
    private enum Thing: CaseIterable { case pipe, socket, directory, link, linkToNothing, device }

    private let outside = FileManager.default.temporaryDirectory.appending(
        component: "outside-\(UUID().uuidString)", directoryHint: .isDirectory)

    private func put(_ kind: Thing, at path: String, insteadOf original: String) throws {
        switch kind {
        case .pipe: try #require(mkfifo(path, 0o600) == 0)
        case .socket:
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            // A socket's path is short, so it is made elsewhere and moved.
            let name = "/tmp/\(UInt32.random(in: 0 ... .max)).s"
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(name.utf8)) }
            let size = socklen_t(MemoryLayout<sockaddr_un>.size)
            let result = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
            }
            try #require(result == 0 && rename(name, path) == 0)
        case .directory: try #require(mkdir(path, 0o700) == 0)
        case .link: try #require(symlink(original, path) == 0)
        case .linkToNothing: try #require(symlink(outside.path(percentEncoded: false) + "nothing", path) == 0)
        case .device: try #require(symlink("/dev/zero", path) == 0)
        }
    }

    private static let places = ["data.mdb", "lock.mdb", "writer.lock", "blobs.lock", "blobs", "FOLDER", "FILE"]

    @Test(.timeLimit(.minutes(2)), arguments: places) func itIsRefusedAtOnce(name: String) throws {
        for kind in Thing.allCases {
            let damaged = try DamagedStore()
            let path = damaged.directory.path(percentEncoded: false)
            let reference = damaged.blob
            let file = damaged.store.blobs.path(of: reference)
            damaged.store.close()
            let folder = (file as NSString).deletingLastPathComponent
            let place = name == "FOLDER" ? folder : name == "FILE" ? file : path + "/" + name
            let isFolder = ["blobs", "FOLDER"].contains(name)
            if kind == .directory, isFolder { continue }
            let moved = outside.path(percentEncoded: false).appending("moved")
            try? FileManager.default.removeItem(atPath: moved)
            try FileManager.default.createDirectory(at: outside, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: outside) }
            // Something of this name need not be there yet.
            _ = rename(place, moved)
            try put(kind, at: place, insteadOf: moved)
            let before = names(below: moved)
            let errors = try use(damaged.directory, reference)
            #expect(!errors.isEmpty, "\(name), \(kind)")
            #expect(errors.allSatisfy { $0 is StrataError }, "\(name), \(kind): \(errors)")
            #expect(names(below: moved) == before, "\(name), \(kind): something was written outside")
            unlink(place)
            rmdir(place)
        }
    }

    private func names(below path: String) -> [String] {
        FileManager.default.subpaths(atPath: path)?.sorted() ?? []
    }

    /// Opens the store and uses its large values in every way.
    private func use(_ directory: URL, _ reference: BlobReference) throws -> [any Error] {
        var errors: [any Error] = []
        func attempt(_ body: () throws -> Void) {
            do { try body() } catch { errors.append(error) }
        }
        for isReadOnly in [false, true] {
            attempt {
                var options = StoreOptions()
                options.isReadOnly = isReadOnly
                let store = try Store.open(.directory(directory), model: nil, options: options)
                defer { store.close() }
                attempt { _ = try store.blob(reference) }
                attempt {
                    guard !isReadOnly else { return }
                    let lease = try store.beginBlobLease()
                    defer { withExtendedLifetime(lease) {} }
                    _ = try store.stageBlob(Data(repeating: 9, count: 70_000))
                    // Beside the value that is there.
                    _ = try store.stageBlob(Data(repeating: 7, count: 100_000))
                }
                attempt { if !isReadOnly { _ = try store.sweepBlobs() } }
                attempt { _ = store.blobs.usage }
                let target = directory.deletingLastPathComponent().appending(
                    component: "backup-\(UUID().uuidString).strata", directoryHint: .isDirectory)
                defer { try? FileManager.default.removeItem(at: target) }
                attempt { try store.backup(to: target) }
            }
        }
        return errors
    }
}
