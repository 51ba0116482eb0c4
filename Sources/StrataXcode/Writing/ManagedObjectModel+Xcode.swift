public import Foundation
public import StrataModel

extension ManagedObjectModel {
    /// The model as the `contents` file of an `.xcdatamodel`, as Xcode writes it.
    ///
    /// What Xcode has no words for travels in user info under keys that begin with `strata.`; reading the file gives an
    /// equal model.
    /// - Throws: `invalidModel` for a model with a value that cannot be written.
    public func xcodeContents() throws(StrataError) -> Data {
        Data(try ModelWriter.text(of: self).utf8)
    }
}
