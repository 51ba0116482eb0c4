// What `import StrataGraph` brings besides its own types: those of models, values, predicates and errors.

@_exported public import StrataModel
