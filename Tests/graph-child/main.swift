// Saves small notes into a store, one save each, and says after each that it is done: what tests of several processes
// run beside themselves.
//
//     graph-child STORE NAME COUNT

import Foundation
import StrataGraph
import StrataModel

let arguments = CommandLine.arguments
guard arguments.count == 4, let count = Int(arguments[3]) else {
    FileHandle.standardError.write(Data("usage: graph-child STORE NAME COUNT\n".utf8))
    exit(2)
}
let model = try ManagedObjectModel(entities: [
    EntityDescription(
        name: "Note",
        properties: [
            .attribute(AttributeDescription(name: "text", type: .string)),
            .attribute(AttributeDescription(name: "number", type: .integer64)),
        ])
])
let location = PersistentStoreLocation.url(URL(filePath: arguments[1], directoryHint: .isDirectory))
let container = PersistentContainer(name: "Notes", model: model, at: location)
try container.loadPersistentStores()
let context = container.newBackgroundContext()
context.name = arguments[2]
for number in 0..<count {
    let note = try context.insertNewObject(forEntityName: "Note")
    try note.setValue(arguments[2], forKey: "text")
    try note.setValue(number, forKey: "number")
    try context.save()
    FileHandle.standardOutput.write(Data("\(number)\n".utf8))
}
