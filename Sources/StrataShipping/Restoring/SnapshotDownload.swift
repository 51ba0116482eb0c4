import Crypto
import Foundation
import StrataModel
import StrataStore

/// Copies a snapshot from a target into a directory.
struct SnapshotDownload {
    let target: any ShippingTarget
    let manifest: SnapshotManifest
    var progress: ProgressHandler?

    /// - Throws: `corrupt` for a part that is damaged.
    func run(into folder: URL) throws {
        try Store.makeDirectory(folder, mode: 0o700)
        let path = folder.appending(component: "data.mdb").path(percentEncoded: false)
        try BlobFile.create(path) { write in
            var done = 0
            for part in manifest.parts {
                try write(try data(of: part))
                done += part.sizeInBytes
                progress?(
                    StoreProgress(
                        phase: "copying the snapshot", done: done, total: manifest.sizeInBytes, unit: .bytes))
            }
        }
    }

    private func data(of part: SnapshotManifest.Part) throws -> Data {
        guard let digest = Hexadecimal.bytes(part.sha256), let data = try target.read(manifest.name.part(digest)),
            SHA256.hash(data: data).elementsEqual(digest)
        else {
            throw StrataError(
                .corrupt, "A part of the snapshot of transaction \(manifest.transaction) is missing or damaged.",
                context: .init(path: target.label + "/" + manifest.name.folder))
        }
        return data
    }
}
