import Operations
import Testing

@Suite struct SmokeStress {}
