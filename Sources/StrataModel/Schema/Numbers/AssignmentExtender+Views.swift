// Gives numbers to declared views and full texts.

extension AssignmentExtender {
    /// A view keeps its number, and so its groups, while it means the same.
    mutating func assignViews() throws(StrataError) {
        for view in model.views {
            let meaning = ViewMeaning(view, model: model, assignment: result, knownEntities: filledEntities)
            if let previous, let number = previous.assignment.views[view.name],
                let old = previous.model.view(named: view.name),
                ViewMeaning(
                    old, model: previous.model, assignment: previous.assignment, knownEntities: filledEntities)
                    == meaning
            {
                result.views[view.name] = number
                result.zones[view.name] = previous.assignment.zones[view.name]
                continue
            }
            guard result.nextView < UInt32.max else { throw exhausted("view") }
            result.views[view.name] = ViewID(rawValue: result.nextView)
            result.nextView += 1
            for case .calendar(_, let zone)? in view.keys.map(\.function)
            where result.zones[view.name]?[zone] == nil {
                result.zones[view.name, default: [:]][zone] = ZoneRules(named: zone)
            }
        }
    }

    /// A full text keeps its number, and so its lists of words, while it is over the same properties of the same entities.
    mutating func assignTexts() throws(StrataError) {
        for entity in model.entities where !entity.fullText.isEmpty {
            let meaning = TextMeaning(entity, model: model, assignment: result)
            if let previous,
                let old = previous.model.entities.first(where: {
                    previous.assignment.entities[$0.name] == result.entities[entity.name]
                }), let number = previous.assignment.texts[old.name],
                TextMeaning(old, model: previous.model, assignment: previous.assignment) == meaning
            {
                result.texts[entity.name] = number
                continue
            }
            guard result.nextView < UInt32.max else { throw exhausted("view") }
            result.texts[entity.name] = ViewID(rawValue: result.nextView)
            result.nextView += 1
        }
    }
}
