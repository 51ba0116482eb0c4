import Foundation
import Strata

/// A chain of three, the first abstract.
@Entity(.abstract, .unique("firstName", "lastName")) class Person: ManagedObject {
    var firstName: String
    var lastName: String
    @Attribute(.length(...10), .pattern("[a-z]*"), .indexed(.caseInsensitive)) var nickname: String?
}

@Entity class Employee: Person {
    @Attribute(.range(0...)) var salary: Decimal = 1000
    var manager: Manager?
}

@Entity(.renamed(from: "Boss")) final class Manager: Employee {
    @Relationship(.ordered, .maxCount(12), deleteRule: .deny, inverse: \Employee.manager)
    var reports: ToMany<Employee>
    var title: String = "Manager"
}
