package import Testing

// `Scripts/tests --tag NAME` runs the tests that have a tag, or whose suite has it.
extension Tag {
    /// Depends on threads, locks or wake-ups in a way in which one processor, or ThreadSanitizer, may find a fault that two
    /// processors do not show.
    @Tag package static var threads: Self

    /// May behave differently in an optimized build: lifetimes, code without locks, code that only a release build has.
    @Tag package static var release: Self

    /// Takes more than five seconds at its full size, which `OPERATIONS_STRESS=1` sets. A comment states the reason.
    @Tag package static var slow: Self

    /// Tests conditions of ordinary machines: one processor, few descriptors, few threads, little space, a user other than root.
    @Tag package static var ordinaryConditions: Self
}
