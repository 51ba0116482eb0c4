import Foundation
import StrataModel
import StrataXcode

/// The model of an `.xcdatamodeld` that takes the place of the one in a file.
enum GivenModel {
    static func content(of url: URL, version: String?) throws(StrataError) -> ModelContent {
        let model = try XcodeModelBundle(contentsOf: url).model(version: version)
        var content = ModelContent()
        content.entities = model.entities
        content.notes = model.diagnostics.map(\.description)
        // Requests and configurations are those of the checked model, if it is valid.
        if let checked = try? model.managedObjectModel() { content.supplement = ModelSupplement(checked) }
        return content
    }
}
