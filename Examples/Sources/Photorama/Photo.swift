import Foundation
import Strata

/// A photo that was interesting on some day. Its picture stays where it is; the store knows the address.
@Entity final class Photo: ManagedObject {
    @Attribute(.unique) var photoID: String
    @Attribute(.indexed) var title: String
    @Attribute(.indexed) var dateTaken: Date?
    @Attribute(.transformable(by: RemoteURLTransformer.name)) var remoteURL: URL?
}

/// Keeps an address as bytes; nothing but a `URL` ever comes back out of the store.
final class RemoteURLTransformer: CodableValueTransformer<URL>, @unchecked Sendable {
    static let name = "RemoteURLTransformer"

    static func register() {
        ValueTransformer.setValueTransformer(RemoteURLTransformer(), forName: name)
    }
}
