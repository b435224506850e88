import HTTPCore
public import OperationsNetworking

/// A handle to a request for an image. Equal requests share all work.
///
/// The transfer of an image pauses when all requests for the image are paused, for all sizes. A pause does not stop a lookup on
/// disk or a decoding.
public typealias ImageRequestHandle = RequestHandle<LoadedImage, ImageLoadError>

typealias ImagePromise = RequestPromise<LoadedImage, ImageLoadError>

/// One request of a pipeline.
struct ImageParticipant: RequestParticipant {
    let pipeline: ImagePipeline
    let waiter: ImageBoard.Waiter

    func apply(_ demand: TransferDemand) { pipeline.set(demand, of: waiter) }
    func cancel() { pipeline.cancel(waiter) }
    // The pipeline ends a request in the same step in which the image is available.
    func endIfFinished() {}
    func beginProgress() -> TransferProgress? { pipeline.beginProgress(of: waiter) }
    var transfer: HTTPOperation? { pipeline.transfer(of: waiter) }
}
