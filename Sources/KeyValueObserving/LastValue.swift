/// The last value of a property, for the observations that need it after the next change.
///
/// An object is referred to weakly. Otherwise the observation would keep the object of a weak property alive.
struct LastValue {
    private let value: Any?
    private weak let object: AnyObject?

    /// Keeps a value that was read from a property.
    ///
    /// - Parameter readAgain: Reads the property. A getter may make an object at each read, and no other reference to this
    ///   object exists then. Such an object has to be kept.
    init(_ value: Any?, readAgain: () -> Any?) {
        let object = Self.object(in: value)
        let isKeptElsewhere = object != nil && Self.object(in: readAgain()) === object
        self.value = isKeptElsewhere ? nil : value
        self.object = isKeptElsewhere ? object : nil
    }

    /// The value; nil if it was an object that is deallocated.
    var known: Any? { value ?? object }

    private static func object(in value: Any?) -> AnyObject? {
        guard let value = value.flatMap(KeyValueKey.present), type(of: value) is AnyClass else { return nil }
        return value as AnyObject
    }
}
