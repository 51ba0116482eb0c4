import Foundation
import StrataModel
import StrataStore

extension Store {
    func sequence(at: Date) throws -> EventSequence { try head() }
    func sequence(of: TransactionSequence) throws -> EventSequence { try head() }
    func endOfTransaction(containing sequence: EventSequence) throws -> EventSequence { sequence }
}
