public import StrataModel

// Comparisons and functions of text in typed queries.

extension ValueExpression where Value == String {
    /// Whether the value is equal to a text, ignoring case or diacritics as the options say.
    public func isEqual(to text: String, _ options: StringFolding = []) -> ValueExpression<Bool> {
        condition(.equalTo, constant(text), options)
    }

    /// Whether the value is equal to another text; false if either is nil.
    public func isEqual(to other: ValueExpression, _ options: StringFolding = []) -> ValueExpression<Bool> {
        condition(.equalTo, other, options)
    }

    /// Whether the value contains a text.
    public func contains(_ text: String, _ options: StringFolding = []) -> ValueExpression<Bool> {
        condition(.contains, constant(text), options)
    }

    /// Whether the value contains another text; false if either is nil.
    public func contains(_ other: ValueExpression, _ options: StringFolding = []) -> ValueExpression<Bool> {
        condition(.contains, other, options)
    }

    /// Whether the value begins with a text.
    public func begins(with text: String, _ options: StringFolding = []) -> ValueExpression<Bool> {
        condition(.beginsWith, constant(text), options)
    }

    /// Whether the value begins with another text; false if either is nil.
    public func begins(with other: ValueExpression, _ options: StringFolding = []) -> ValueExpression<Bool> {
        condition(.beginsWith, other, options)
    }

    /// Whether the value ends with a text.
    public func ends(with text: String, _ options: StringFolding = []) -> ValueExpression<Bool> {
        condition(.endsWith, constant(text), options)
    }

    /// Whether the value ends with another text; false if either is nil.
    public func ends(with other: ValueExpression, _ options: StringFolding = []) -> ValueExpression<Bool> {
        condition(.endsWith, other, options)
    }

    /// Whether the value matches a wildcard pattern: `?` matches one character, `*` any number; a backslash escapes
    /// either.
    public func like(_ pattern: String, _ options: StringFolding = []) -> ValueExpression<Bool> {
        condition(.like, constant(pattern), options)
    }

    /// Whether the whole text matches a regular expression.
    public func matches(_ pattern: String, _ options: StringFolding = []) -> ValueExpression<Bool> {
        condition(.matches, constant(pattern), options)
    }

    /// Whether the value is one of the texts, ignoring case or diacritics as the options say.
    public func isIn(_ texts: some Sequence<String>, _ options: StringFolding) -> ValueExpression<Bool> {
        condition(.in, .aggregate(texts.map(constant)), options)
    }

    /// The text in lower case.
    public func lowercased() -> ValueExpression {
        ValueExpression(.function(.lowercase, [expression]), mayBeNil: mayBeNil)
    }

    /// The text in upper case.
    public func uppercased() -> ValueExpression {
        ValueExpression(.function(.uppercase, [expression]), mayBeNil: mayBeNil)
    }

    /// The number of characters.
    public var count: ValueExpression<Int> {
        ValueExpression<Int>(.function(.length, [expression]), mayBeNil: mayBeNil)
    }

    /// Whether the text has no characters; false for nil.
    public var isEmpty: ValueExpression<Bool> { self == "" }
}
