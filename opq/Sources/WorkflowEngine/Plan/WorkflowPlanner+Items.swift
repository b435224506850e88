/// The items of families.
extension WorkflowPlanner {
    /// Returns the items of a family. Reports sources that cannot be read, and items that occur more than once.
    mutating func items(of family: FamilyDescription, _ description: OperationDescription) -> [Item] {
        var items: [Item] = []
        // Bytes are compared, because Swift takes strings with the same marks for equal: `é` has two file names.
        var seen: Set<[[UInt8]]> = []
        var repeated: [String] = []
        let found = family.isMatrix ? combinations(of: family) : paths(of: family, description)
        for item in found {
            let parts = item.parts.isEmpty ? [Array(item.path.utf8)] : item.parts.map { Array($0.value.utf8) }
            if seen.insert(parts).inserted { items.append(item) } else { repeated.append(item.path) }
        }
        if let first = repeated.first {
            let others = Set(repeated).count - 1
            diagnostics.report(
                "'\(first)'" + (others > 0 ? " and \(others) other items occur" : " occurs")
                    + " more than once, and each item counts once", at: family.position, severity: .warning)
        }
        if items.isEmpty, !family.isOptional, family.isMatrix, !family.axes.contains(where: \.values.isEmpty),
            !family.axes.isEmpty
        {
            diagnostics.report(
                "'exclude' leaves no combination of the matrix", at: family.position,
                remedy: "leave out fewer, or add optional: true")
        }
        return items
    }

    private func combinations(of family: FamilyDescription) -> [Item] {
        var combinations: [[Item.Part]] = family.axes.isEmpty ? [] : [[]]
        for axis in family.axes {
            combinations = combinations.flatMap { combination in
                axis.values.map { combination + [Item.Part(axis: axis.name.value, value: $0.value)] }
            }
        }
        combinations.removeAll { combination in
            family.exclusions.contains { exclusion in
                !exclusion.isEmpty
                    && exclusion.allSatisfy { axis, value in
                        combination.contains { $0.axis == axis.value && $0.value == value.value }
                    }
            }
        }
        // The axes of an addition are in the order of the matrix, so that equal combinations are equal items.
        let order = family.axisNames
        let additions = family.additions.map { addition in
            order.compactMap { name in
                addition.first { $0.axis.value == name }.map { Item.Part(axis: name, value: $0.value.value) }
            }
        }
        return (combinations + additions).map { Item(parts: $0) }
    }

    private mutating func paths(of family: FamilyDescription, _ description: OperationDescription) -> [Item] {
        // The sources cannot be read in a directory whose path contains the item.
        let values = variables
        let place = fixedDirectory(of: description)
        var paths: [String] = []
        for source in family.sources {
            let text = Located(
                Template(source.text.value, names: variableNames).text { values[$0] }, at: source.text.position)
            switch source {
            case .item:
                guard Glob.isPattern(text.value) else {
                    paths.append(text.value.hasGlobMark ? Glob.literal(text.value) : text.value)
                    continue
                }
                paths += matches(of: text, in: place, isOptional: family.isOptional)
            case .file: paths += matches(of: text, in: place, isOptional: family.isOptional)
            case .lines, .command:
                let found = isCommand(source) ? sources.output(text.value, place) : sources.lines(text.value, place)
                do throws(ItemSources.Failure) {
                    let lines = try found.get()
                    paths += lines
                    if lines.isEmpty, !family.isOptional {
                        diagnostics.report(
                            "'\(text.value)' has no line", at: text.position,
                            remedy: "add optional: true to permit that")
                    }
                } catch {
                    diagnostics.report(error.text, at: text.position)
                }
            }
        }
        return paths.map { Item(path: $0) }
    }

    private func isCommand(_ source: FamilyDescription.Source) -> Bool {
        if case .command = source { true } else { false }
    }

    private mutating func matches(of pattern: Located<String>, in directory: String, isOptional: Bool) -> [String] {
        let found = sources.matches(pattern.value, directory)
        for problem in found.problems {
            diagnostics.report(
                "'\(pattern.value)': \(problem)", at: pattern.position,
                remedy: "make it readable, or write a pattern that does not lead there")
        }
        if found.paths.isEmpty, found.problems.isEmpty, !isOptional {
            diagnostics.report(
                "'\(pattern.value)' matches nothing in \(directory)", at: pattern.position,
                remedy: "add optional: true to permit that")
        }
        return found.paths
    }
}
