import Foundation
import StrataModel
import Testing

/// `localizedDescription`: sentences for the users of an app.
struct LocalizedErrorTests {
    private struct Own: LocalizedError { let errorDescription: String? = "A film needs a star." }
    private struct Bare: Error {}

    private func error(
        _ code: StrataError.Code, _ message: String = "Page 17 of /var/x/data.mdb, Movie/p5.", _ key: String? = nil,
        details: [StrataError] = [], cause: (any Error)? = nil
    ) -> StrataError {
        StrataError(
            code, message,
            context: .init(
                entityName: "Movie", objectID: ObjectID(rawValue: 5), key: key, eventNumber: EventNumber(rawValue: 17),
                path: "/var/x"),
            details: details, cause: cause)
    }

    @Test(arguments: [
        StrataError.Code.referentialIntegrity, .merge, .constraintMerge, .persistentStoreSave,
        .persistentStoreSaveConflicts, .persistentStoreOperation, .persistentStoreOpen, .persistentStoreTimeout,
        .persistentStoreIncompatibleVersionHash, .migration, .corrupt, .invalidModel, .invalidModelFile, .otherContext,
        .readOnly, .modelChanged, .modelDowngrade, .inDoubt, .saveTooLarge, .noSpace, .historyDropped, .futureEvent,
        .missingBlob, .transformation, .budgetExceeded, .storeClosed,
    ])
    func technicalErrorsHaveASentenceWithoutCodesIdsAndPaths(code: StrataError.Code) {
        let error = error(code)
        let text = (error as any Error).localizedDescription
        #expect(text.hasSuffix(".") && !text.contains("/") && !text.contains { $0.isNumber } && text.count < 80)
        #expect(error.description.contains("\(code.rawValue)") && error.description.contains("/var/x"))
    }

    @Test func rulesSpeakOfNames() {
        let title = error(.validationMissingMandatoryProperty, "title is required.", "title")
        let rating = error(.validationNumberTooLarge, "rating is too large.", "rating")
        #expect((title as any Error).localizedDescription == "title is required.")
        let both = error(.validationMultipleErrors, "2 validation errors.", details: [title, rating, rating])
        #expect((both as any Error).localizedDescription == "title is required.\nrating is too large.")
        let clash = error(.constraintMerge, "title must be unique, and Movie/p7 has the same.", "title,year")
        #expect((clash as any Error).localizedDescription == "Another Movie has the same title, year.")
    }

    @Test func anErrorOfTheAppSpeaksForItself() {
        let own = error(.managedObjectValidation, "A film needs a star.: stars is not valid.", "stars", cause: Own())
        #expect((own as any Error).localizedDescription == "A film needs a star.")
        let bare = error(.managedObjectValidation, "Bare(): stars is not valid.", "stars", cause: Bare())
        #expect((bare as any Error).localizedDescription == "stars is not valid.")
    }
}
