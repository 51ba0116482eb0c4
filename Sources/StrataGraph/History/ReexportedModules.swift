// `import StrataGraph` also gives the types of models, values, predicates and errors.

@_exported public import StrataModel
