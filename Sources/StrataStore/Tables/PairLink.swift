import StrataModel

/// An entry of the table of links for one end of a many-to-many pair: owner and member.
struct PairLink {
    let link: PropertyID
    let owner: ObjectID
    let position: Int64?
    let member: ObjectID
}

extension LinkMap {
    /// The entries of one pair: one in each direction, a single one for an object linked with itself.
    func entries(of key: PairKey, _ positions: PairPositions) -> [PairLink] {
        guard let link = link(key.property), case .pairs(_, _, let isSymmetric, let inverse) = link.source else {
            return []
        }
        let forward = PairLink(
            link: key.property, owner: key.source, position: link.isOrdered ? positions.inSource : nil,
            member: key.target)
        guard let back = self.link(inverse), !isSymmetric || key.source != key.target else { return [forward] }
        return [
            forward,
            PairLink(
                link: back.id, owner: key.target, position: back.isOrdered ? positions.inTarget : nil,
                member: key.source),
        ]
    }
}
