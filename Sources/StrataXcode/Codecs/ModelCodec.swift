/// Makes the attributes of a `<model>` element.
enum ModelCodec {
    /// The attributes of a model that Xcode has not written yet: the values of Xcode's own template.
    static func attributes(_ versionIdentifier: String?) -> [Attribute] {
        [
            Attribute("type", "com.apple.IDECoreDataModeler.DataModel"), Attribute("documentVersion", "1.0"),
            Attribute("lastSavedToolsVersion", "1"), Attribute("systemVersion", "11A491"),
            Attribute("minimumToolsVersion", "Automatic"), Attribute("sourceLanguage", "Swift"),
            Attribute("userDefinedModelVersionIdentifier", versionIdentifier ?? ""),
        ]
    }
}
