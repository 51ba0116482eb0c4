public import Foundation
public import StrataModel

extension ManagedObjectModel {
    /// The model as the `contents` file of an `.xcdatamodel`, in Xcode's format.
    ///
    /// Features that Xcode does not have are written in user info, under keys that begin with `strata.`. Reading the
    /// file gives an equal model.
    /// - Throws: `invalidModel` if the model has a value that cannot be written.
    public func xcodeContents() throws(StrataError) -> Data {
        Data(try ModelWriter.text(of: self).utf8)
    }
}
