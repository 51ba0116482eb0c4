import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

/// Objects whose attributes are encrypted: values of every type, searches, links and merges.
@Suite(.verifiesStores) struct EncryptedAttributeTests {
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        ValueTransformer.setValueTransformer(ColorTransformer(), forName: "Color")
        container = try makePatients()
        context = container.newBackgroundContext()
    }

    // MARK: Values

    private func filled() -> Secrets {
        let secrets = Secrets(context: context)
        secrets.label = "clear"
        secrets.text = "Grüße 🎬 long enough to be on the heap"
        secrets.textOrNil = ""
        secrets.flag = true
        secrets.small = .min
        secrets.medium = .max
        secrets.large = -42
        secrets.single = 1.5
        secrets.double = -.pi
        secrets.doubleOrNil = .infinity
        secrets.money = Decimal(string: "12345678901234567890.12345")!
        secrets.date = Date(timeIntervalSinceReferenceDate: 0.25)
        secrets.id = UUID(uuidString: "12345678-1234-1234-1234-123456789ABC")
        secrets.url = URL(string: "https://example.com/a?b=c#d")
        secrets.data = Data([0, 1, 255])
        secrets.photo = Data(repeating: 7, count: 100_000)
        secrets.other = secrets.objectID
        secrets.mood = .wild
        secrets.place = Place(street: "Main", coordinates: [1.5, -2], floor: nil)
        secrets.color = Color(red: 1, green: 0.5, blue: 0)
        return secrets
    }

    private func expectFilled(_ secrets: Secrets) {
        #expect(secrets.text == "Grüße 🎬 long enough to be on the heap" && secrets.textOrNil == "")
        #expect(secrets.flag && secrets.small == .min && secrets.medium == .max && secrets.large == -42)
        #expect(secrets.single == 1.5 && secrets.double == -.pi && secrets.doubleOrNil == .infinity)
        #expect(secrets.money == Decimal(string: "12345678901234567890.12345")!)
        #expect(secrets.date == Date(timeIntervalSinceReferenceDate: 0.25))
        #expect(secrets.id == UUID(uuidString: "12345678-1234-1234-1234-123456789ABC"))
        #expect(secrets.url == URL(string: "https://example.com/a?b=c#d"))
        #expect(secrets.data == Data([0, 1, 255]) && secrets.photo == Data(repeating: 7, count: 100_000))
        #expect(secrets.other == secrets.objectID && secrets.mood == .wild)
        #expect(secrets.place == Place(street: "Main", coordinates: [1.5, -2], floor: nil))
        #expect(secrets.color == Color(red: 1, green: 0.5, blue: 0))
    }

    @Test func everyTypeComesBackInMemoryAndFromTheStore() throws {
        let secrets = filled()
        expectFilled(secrets)
        try context.save()
        expectFilled(secrets)
        let other = container.newBackgroundContext()
        let stored = try other.existingObject(with: secrets.objectID, as: Secrets.self)
        expectFilled(stored)
        for (key, value) in secrets.committedValuesOrEmpty { #expect(stored.committedValuesOrEmpty[key] == value) }
        #expect(try stored.value(forKey: "small") as? Int16 == .min)
        #expect(try stored.value(forKey: "photo") as? Data == Data(repeating: 7, count: 100_000))
        let frozen = try stored.frozen()
        #expect(frozen.text == secrets.text && frozen.photo == secrets.photo && frozen.double == -.pi)
        #expect(try frozen.value(forKey: "money") == .decimal(secrets.money))
    }

    @Test func whatHasNoValueReadsAsZeroAndNil() throws {
        let secrets = Secrets(context: context)
        #expect(secrets.text.isEmpty && secrets.textOrNil == nil && !secrets.flag && secrets.double == 0)
        #expect(secrets.money == 0 && secrets.small == 0 && secrets.date == nil && secrets.color == nil)
        let codes = thrownError { try context.save() }
        #expect(codes?.code == .validationMultipleErrors)
        context.delete(secrets)
    }

    @Test func aRowHoldsNoValueAndTheSameValueHasTheSameBytes() throws {
        let one = context.addPatient("Ann", ssn: "1", diagnosis: "measles")
        let two = context.addPatient("Bob", ssn: "2", diagnosis: "measles")
        try context.save()
        func stored(_ id: ObjectID) throws -> EncryptedValue? {
            try container.store.read(at: container.head()) { snapshot in
                let entity = try #require(snapshot.schema.entity(id.entityID))
                let slot = try #require(entity.property(named: "diagnosis")?.slot)
                guard case .encrypted(let value)? = try snapshot.row(id)?.reader.value(slot) else { return nil }
                return value
            }
        }
        let first = try #require(try stored(one.objectID)), second = try #require(try stored(two.objectID))
        #expect(first != second && first.blind != nil && first.blind == second.blind)
        one.diagnosis = "mumps"
        try context.save()
        #expect(try #require(try stored(one.objectID)).blind != second.blind)
        one.diagnosis = "measles"
        try context.save()
        #expect(try stored(one.objectID) == first)
    }

    // MARK: Searching

    @Test func equalityAndInFindByIndexByScanAndAmongUnsavedChanges() throws {
        let doctor = Doctor(context: context)
        doctor.name = "Dr. No"
        doctor.license = "MD-7"
        for number in 0..<50 {
            let patient = context.addPatient(
                "P\(number)", ssn: "\(number)", diagnosis: number % 5 == 0 ? "flu" : "cold")
            patient.doctor = number < 3 ? doctor : nil
            patient.weight = Double(number)
        }
        func names(_ format: String) throws -> [String] {
            try context.fetch(FetchRequest<Patient>(where: FetchPredicate(format: format))).map(\.name).sorted()
        }
        for _ in 0..<2 {
            #expect(try names("ssn == '7'") == ["P7"])
            #expect(try names("ssn IN {'1', '2', '77'}") == ["P1", "P2"])
            #expect(try names("diagnosis == 'flu'").count == 10 && names("diagnosis != 'flu'").count == 40)
            #expect(try names("weight == 3") == ["P3"] && names("weight IN {4.0, 5}") == ["P4", "P5"])
            #expect(try names("diagnosis == nil").isEmpty && names("diagnosis != nil").count == 50)
            #expect(try names("doctor.license == 'MD-7'") == ["P0", "P1", "P2"])
            #expect(try names("'7' == ssn AND diagnosis == 'cold'") == ["P7"])
            #expect(try names("NOT ssn IN {'1'}").count == 49)
            let doctors = try context.fetch(
                FetchRequest<Doctor>(where: FetchPredicate(format: "ANY patients.ssn == '2'")))
            #expect(doctors.map(\.license) == ["MD-7"])
            try context.save()
        }
        let plan = try context.explain(FetchRequest<Patient>(where: FetchPredicate(format: "ssn == '7'")))
        #expect("\(plan)".contains("ssn"), "\(plan)")
    }

    @Test(arguments: [
        "ssn < '7'", "ssn BEGINSWITH '7'", "ssn CONTAINS '7'", "ssn LIKE '7*'", "ssn ==[c] 'a'", "ssn == diagnosis",
        "weight BETWEEN {1, 2}", "ssn.length == 2", "SUBQUERY(doctor.patients, $p, $p.ssn == '1').@count > 0",
    ])
    func whatOnlyValuesCouldAnswerIsRefused(_ format: String) throws {
        let error = thrownError {
            _ = try context.fetch(FetchRequest<Patient>(where: FetchPredicate(format: format)))
        }
        #expect(
            [.invalidRequest, .wrongType, .unknownKey].contains(error?.code), "\(format): \(String(describing: error))")
    }

    @Test func sortingAndGroupingAreRefused() throws {
        var request = FetchRequest<Patient>()
        request.sortDescriptors = [SortDescription("ssn")]
        #expect(thrownError { _ = try context.fetch(request) }?.message.contains("encrypted") == true)
        let error = thrownError {
            let groups = try RowsFetchRequest(
                of: Patient.self,
                columns: [OutputColumn("ssn"), OutputColumn("n", .function(.count, [.evaluatedObject]))],
                groupBy: ["ssn"])
            _ = try context.fetchRows(groups)
        }
        #expect(error?.message.contains("neither sorted nor grouped") == true, "\(String(describing: error))")
    }

    @Test func refusalsSayThatTheAttributeIsEncrypted() throws {
        for format in [
            "SUBQUERY(doctor.patients, $p, $p.ssn == '1').@count > 0", "ssn matchesText: 'a'", "lowercase(ssn) == 'a'",
        ] {
            let error = thrownError {
                _ = try context.fetch(FetchRequest<Patient>(where: FetchPredicate(format: format)))
            }
            #expect(error?.message.contains("ssn is encrypted") == true, "\(format): \(String(describing: error))")
        }
    }

    @Test func rowsOfValuesAreDecrypted() throws {
        context.addPatient("Ann", ssn: "1", diagnosis: "flu")
        try context.save()
        let rows = try context.fetchRows(
            RowsFetchRequest(of: Patient.self, columns: ["name", "ssn", "diagnosis"].map { OutputColumn($0) }))
        #expect(rows.count == 1 && Array(rows[0]) == ["Ann", "1", "flu"])
    }

    // MARK: Uniqueness and batches

    @Test func uniquenessHoldsForValues() throws {
        context.addPatient("Ann", ssn: "1")
        try context.save()
        context.addPatient("Bob", ssn: "1")
        #expect(thrownError { try context.save() }?.code == .constraintMerge)
        context.rollback()
        context.mergePolicy = .mergeByPropertyObjectTrump
        context.addPatient("Eve", ssn: "1", diagnosis: "mumps")
        try context.save()
        let all = try context.fetch(FetchRequest<Patient>())
        #expect(all.map(\.name) == ["Eve"] && all.first?.diagnosis == "mumps")
    }

    @Test func batchesEncryptAndMerge() throws {
        var rows = [
            ["name": "Ann", "ssn": "1", "diagnosis": "flu"], ["name": "Bob", "ssn": "2", "diagnosis": "cold"],
        ]
        func insert(_ policy: UniquenessPolicy = .reject) throws {
            _ = try context.execute(
                BatchInsertRequest<ManagedObject>(entityName: "Patient", objects: rows, onClash: policy))
        }
        try insert()
        rows = [["name": "Ann B", "ssn": "1", "diagnosis": "mumps"], ["name": "Eve", "ssn": "3", "diagnosis": "flu"]]
        #expect(thrownError { try insert() }?.code == .constraintMerge)
        try insert(.merge)
        let reader = container.newBackgroundContext()
        func diagnoses() throws -> [String: String?] {
            reader.refreshAllObjects()
            return Dictionary(
                uniqueKeysWithValues: try reader.fetch(FetchRequest<Patient>()).map { ($0.name, $0.diagnosis) })
        }
        #expect(try diagnoses() == ["Ann B": "mumps", "Bob": "cold", "Eve": "flu"])
        let update = BatchUpdateRequest<Patient>(
            where: try FetchPredicate(format: "diagnosis == 'flu'"),
            setting: ["diagnosis": .constant("well"), "weight": .constant(70)])
        _ = try context.execute(update)
        #expect(try diagnoses() == ["Ann B": "mumps", "Bob": "cold", "Eve": "well"])
        #expect(try reader.count(for: FetchRequest<Patient>(where: FetchPredicate(format: "weight == 70"))) == 1)
    }

    // MARK: Merging, undo, the past

    @Test func mergesCompareValues() throws {
        let mine = context.addPatient("Ann", ssn: "1", diagnosis: "flu")
        try context.save()
        let other = container.newBackgroundContext()
        let theirs = try other.existingObject(with: mine.objectID, as: Patient.self)
        theirs.diagnosis = "cold"
        try other.save()
        mine.ssn = "2"
        try context.save()
        #expect(mine.diagnosis == "cold" && mine.ssn == "2")
        theirs.diagnosis = "mumps"
        try other.save()
        mine.diagnosis = "measles"
        let conflict = thrownError { try context.save() }?.context.conflicts.first?.properties.first
        #expect(conflict?.base == "cold" && conflict?.theirs == "mumps" && conflict?.mine == "measles")
        context.mergePolicy = .mergeByPropertyObjectTrump
        try context.save()
        #expect(mine.diagnosis == "measles")
        let record = try container.events(through: container.head()).last?.transaction.conflicts.first
        #expect(record?.conflict.properties.map(\.name) == ["diagnosis"])
        #expect(record?.conflict.properties.first?.mine == .null, "Records of conflicts are not encrypted.")
    }

    @Test func undoChildrenAndThePastShowValues() throws {
        let patient = context.addPatient("Ann", ssn: "1", diagnosis: "flu")
        try context.save()
        let before = try container.head()
        context.undoManager = ObjectUndoManager()
        patient.diagnosis = "cold"
        try context.undo()
        #expect(patient.diagnosis == "flu")
        let child = try context.newChildContext()
        try child.existingObject(with: patient.objectID, as: Patient.self).diagnosis = "mumps"
        try child.save()
        #expect(patient.diagnosis == "mumps" && patient.changedValues["diagnosis"] == "mumps")
        #expect(try patient.committedValues(forKeys: ["diagnosis"]) == ["diagnosis": "flu"])
        try context.save()
        let past = try container.context(asOf: .event(before))
        #expect(try past.existingObject(with: patient.objectID, as: Patient.self).diagnosis == "flu")
        #expect(try past.count(for: FetchRequest<Patient>(where: FetchPredicate(format: "diagnosis == 'flu'"))) == 1)
        let change = try container.changes(from: .event(before), to: .now).first
        #expect(change?["diagnosis"]?.before == "flu" && change?["diagnosis"]?.after == "mumps")
        let event = try container.history(of: patient.objectID).first
        #expect(event?.changes.first?.after == "mumps")
    }

    @Test func descriptionsDoNotShowValues() {
        let patient = context.addPatient("Ann", ssn: "123-45", diagnosis: "flu")
        #expect(!"\(patient)".contains("123-45") && "\(patient)".contains("(encrypted)"))
        context.delete(patient)
    }
}

extension ManagedObject {
    fileprivate var committedValuesOrEmpty: [String: AttributeValue] {
        (try? committedValues(forKeys: nil)) ?? [:]
    }
}
