public import StrataModel

extension ValueExpression where Value == String {
    /// The same text, case or diacritics aside as the options say.
    public func isEqual(to text: String, _ options: StringFolding = []) -> ValueExpression<Bool> {
        condition(.equalTo, constant(text), options)
    }

    public func isEqual(to other: ValueExpression, _ options: StringFolding = []) -> ValueExpression<Bool> {
        condition(.equalTo, other, options)
    }

    /// The text stands somewhere in it.
    public func contains(_ text: String, _ options: StringFolding = []) -> ValueExpression<Bool> {
        condition(.contains, constant(text), options)
    }

    public func contains(_ other: ValueExpression, _ options: StringFolding = []) -> ValueExpression<Bool> {
        condition(.contains, other, options)
    }

    public func begins(with text: String, _ options: StringFolding = []) -> ValueExpression<Bool> {
        condition(.beginsWith, constant(text), options)
    }

    public func begins(with other: ValueExpression, _ options: StringFolding = []) -> ValueExpression<Bool> {
        condition(.beginsWith, other, options)
    }

    public func ends(with text: String, _ options: StringFolding = []) -> ValueExpression<Bool> {
        condition(.endsWith, constant(text), options)
    }

    public func ends(with other: ValueExpression, _ options: StringFolding = []) -> ValueExpression<Bool> {
        condition(.endsWith, other, options)
    }

    /// `?` stands for one character, `*` for any number, a backslash takes the meaning from the next sign.
    public func like(_ pattern: String, _ options: StringFolding = []) -> ValueExpression<Bool> {
        condition(.like, constant(pattern), options)
    }

    /// The whole text matches a regular expression; see `PatternMatcher` for its syntax.
    public func matches(_ pattern: String, _ options: StringFolding = []) -> ValueExpression<Bool> {
        condition(.matches, constant(pattern), options)
    }

    /// One of the texts, case or diacritics aside as the options say.
    public func isIn(_ texts: some Sequence<String>, _ options: StringFolding) -> ValueExpression<Bool> {
        condition(.in, .aggregate(texts.map(constant)), options)
    }

    public func lowercased() -> ValueExpression {
        ValueExpression(.function(.lowercase, [expression]), mayBeNil: mayBeNil)
    }

    public func uppercased() -> ValueExpression {
        ValueExpression(.function(.uppercase, [expression]), mayBeNil: mayBeNil)
    }

    /// The number of characters.
    public var count: ValueExpression<Int> {
        ValueExpression<Int>(.function(.length, [expression]), mayBeNil: mayBeNil)
    }

    /// Whether the text has no characters; a missing one is not empty.
    public var isEmpty: ValueExpression<Bool> { self == "" }
}
