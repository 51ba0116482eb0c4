import Foundation
import Strata

/// A photo of a feed; the store has the address of its picture, not the picture.
@Entity final class Photo: ManagedObject {
    @Attribute(.unique) var photoID: String
    @Attribute(.indexed) var title: String
    @Attribute(.indexed) var dateTaken: Date?
    @Attribute(.transformable(by: RemoteURLTransformer.name)) var remoteURL: URL?
}

/// Stores a `URL` as bytes, and reads no other type back.
final class RemoteURLTransformer: CodableValueTransformer<URL>, @unchecked Sendable {
    static let name = "RemoteURLTransformer"

    static func register() {
        ValueTransformer.setValueTransformer(RemoteURLTransformer(), forName: name)
    }
}
