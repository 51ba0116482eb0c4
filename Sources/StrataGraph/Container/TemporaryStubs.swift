import StrataModel
import StrataStore
import Foundation
extension View {
    func fetch(_ r: StoreRequest) throws -> [ObjectID] {
        var ids: [ObjectID] = []
        for e in schema.entity(r.entityID)!.concreteEntityIDs {
            try scan(e) { id, _ in
                ids.append(id); return true
            }
        }
        return ids
    }
    func count(_ r: StoreRequest) throws -> Int { try fetch(r).count }
}
extension Store {
    func changedObjects(after: EventSequence, through: EventSequence) throws -> [ObjectID] { [] }
    func sequence(at: Date) throws -> EventSequence { .zero }
    func sequence(of: TransactionSequence) throws -> EventSequence { .zero }
}
extension Store { func endOfTransaction(containing s: EventSequence) throws -> EventSequence { s } }
