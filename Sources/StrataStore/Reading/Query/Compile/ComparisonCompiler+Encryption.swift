import StrataModel

// Refuses comparisons that an encrypted attribute does not allow.

extension ComparisonCompiler {
    /// Refuses a comparison that needs the decrypted values: anything but equality with constants.
    func checkEncrypted(
        _ path: ResolvedPath, _ operation: ComparisonPredicate.Operator, _ right: Side
    ) throws(StrataError) {
        let isEquality = operation == .equalTo || operation == .notEqualTo || operation == .in
        guard isEquality, comparison.folding.isEmpty, right.isConstant else {
            throw refusal(
                .invalidRequest, path,
                "\(path.text) is encrypted; it can only be compared with constants, by ==, != and IN, without [c] and [d]."
            )
        }
    }

    func check(
        _ constants: [AttributeValue], _ encryption: EncryptedComparison, _ path: ResolvedPath
    ) throws(StrataError) {
        for constant in constants where !constant.isNull {
            if !encryption.isInRow {
                throw refusal(
                    .invalidRequest, path,
                    "\(path.text) may be stored outside the row, so it can only be compared with nil.")
            }
            if encryption.hasSubject {
                throw refusal(
                    .invalidRequest, path,
                    "\(path.text) is encrypted under the key of a subject, so that equal values of two subjects differ; it "
                        + "can only be compared with nil.")
            }
            if encryption.lacksKey {
                throw refusal(
                    .encryptionKeyMissing, path,
                    "\(path.text) is encrypted, and the store was opened without a key; open it with its key to search."
                )
            }
            guard encryption.takes(constant) else {
                throw refusal(
                    .wrongType, path, "\(path.text) cannot be compared with \(constant.kindName).")
            }
        }
    }
}
