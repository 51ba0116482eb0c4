/// The content of a slot in a row: an attribute, a to-one relationship or a position.
package enum SlotStorage: Sendable, Hashable {
    case attribute(AttributeType)
    /// An encrypted attribute of any type.
    case encrypted
    /// A to-one relationship, as an object id; 0 for nil.
    case reference
    /// A position in an ordered relationship, as Int64.
    case position
}
