import KeyValueObserving
import Observation

final class Thermometer: KeyValueObservable {
    let keyValueRegistrar = KeyValueRegistrar()
    @KeyValueObserved var celsius = 20.0
}

nonisolated(unsafe) let thermometer = Thermometer()
