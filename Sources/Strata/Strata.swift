// `import Strata` gives the macros of this module, the object graph, the types of models and predicates, and Foundation, whose
// types attributes have: `Date`, `Data`, `Decimal`, `URL`, `UUID`.

@_exported public import Foundation
@_exported public import StrataGraph
@_exported public import StrataModel
