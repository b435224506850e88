import KeyValueObserving
import TestSupport
import Testing

/// Properties whose values are objects.
@Suite(.tags(.release)) struct WeakPropertyTests {
    @Test func `an object that only a weak property refers to is released although the property is observed`() {
        func isReleased<Object: Owner>(_ owner: Object, _ path: KeyPath<Object, Pet?>) -> Bool {
            var pet: Pet? = Pet(1)
            let life = Weak(pet!)
            owner.setFavorite(pet)
            let token = owner.observe(path, options: [.initial, .old, .new]) { _, _ in }
            owner.count += 1
            owner.setFavorite(pet)
            pet = nil
            let isReleased = life.isGone
            token.invalidate()
            return isReleased
        }
        #expect(isReleased(Owner(), \.favorite))
        #expect(isReleased(Owner(), \.itself.favorite))
        // The subclass overrides the property, and the observation compares values.
        #expect(isReleased(CatOwner(), \.favorite))
    }

    @Test func `an observer of a path receives the old object if only the property referred to it`() {
        let (owner, log) = (Owner(), Journal<[Int?]>())
        let token = owner.observe(\.itself.pet, options: [.old, .new]) {
            log.append([$1.oldValue?.number, $1.newValue?.number])
        }
        owner.pet = Pet(1)
        owner.pet = Pet(2)
        #expect(log.entries == [[0, 1], [1, 2]])
        token.invalidate()
    }

    @Test func `an observer of a path receives the old object if the object before it is replaced`() {
        let (first, second, log) = (Owner(), Owner(), Journal<[Int?]>())
        let token = first.observe(\.friend.pet, options: [.old, .new]) {
            log.append([$1.oldValue?.number, $1.newValue?.number])
        }
        second.pet = Pet(2)
        first.friend = second
        second.pet = Pet(3)
        #expect(log.entries == [[0, 2], [2, 3]])
        token.invalidate()
    }

    @Test
    func `an override that makes equal objects notifies of each announcement, and not if another property changes`() {
        let (owner, log) = (CatOwner(), Journal<Int>())
        let token = owner.observe(\.fresh, options: .new) { log.append($1.newValue!.number) }
        owner.announceFresh()
        #expect(log.entries == [0])
        owner.count = 1
        owner.announceFresh()
        #expect(log.entries == [0, 1])
        token.invalidate()
    }
}

private final class Pet: Equatable {
    let number: Int
    init(_ number: Int) { self.number = number }
    static func == (a: Pet, b: Pet) -> Bool { a.number == b.number }
}

private class Owner: KeyValueObservable, @unchecked Sendable {
    // Sendable: each test uses its objects on one thread.
    let keyValueRegistrar = KeyValueRegistrar()
    @KeyValueObserved var count = 0
    @KeyValueObserved var pet = Pet(0)
    private weak var favoritePet: Pet?
    private var storedFriend: Owner?

    init() {}

    var itself: Owner { self }
    var favorite: Pet? { favoritePet }
    var fresh: Pet { Pet(count) }

    final var friend: Owner {
        get {
            if storedFriend == nil { storedFriend = Owner() }
            return storedFriend!
        }
        set {
            willChangeValue(forKey: "friend")
            storedFriend = newValue
            didChangeValue(forKey: "friend")
        }
    }

    final func setFavorite(_ pet: Pet?) {
        willChangeValue(forKey: "favorite")
        favoritePet = pet
        didChangeValue(forKey: "favorite")
    }

    final func announceFresh() {
        willChangeValue(forKey: "fresh")
        didChangeValue(forKey: "fresh")
    }
}

extension KeyValueObservable where Self: Owner {
    fileprivate static var keyValueKeys: [KeyValueKey] {
        [
            KeyValueKey("count", \Self.count), KeyValueKey("pet", \Self.pet), KeyValueKey("friend", \Self.friend),
            KeyValueKey("itself", \Self.itself), KeyValueKey("fresh", \Self.fresh),
            KeyValueKey("favorite", \Self.favorite, affectedBy: ["count"]),
        ]
    }
}

private final class CatOwner: Owner, @unchecked Sendable {
    // Sendable: the class has no stored properties.
    override var favorite: Pet? { super.favorite }
    override var fresh: Pet { super.fresh }
}
