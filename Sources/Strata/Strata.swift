@_exported public import StrataGraph
@_exported public import StrataModel
