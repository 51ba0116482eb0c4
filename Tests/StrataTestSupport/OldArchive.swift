package import StrataXcode

/// Archives as `NSKeyedArchiver` writes them.
package typealias OldArchive = KeyedArchiveWriter

extension KeyedArchiveWriter {
    /// A stereotype with the values of its properties.
    package mutating func stereotype(_ values: [(String, Value)]) -> Value {
        let properties = values.map { ($0.0, object("XDUMLPropertyImp", [("_default", $0.1)])) }
        return object("XDUMLStereotypeImp", [("XDBucketForOwnedAttributesstorage", dictionary(properties))])
    }
}
