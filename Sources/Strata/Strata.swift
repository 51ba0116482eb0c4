// `import Strata` gives the macros of this module, the object graph, and the types of models and predicates.

@_exported public import StrataGraph
@_exported public import StrataModel
