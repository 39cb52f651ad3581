/** A connection's answer to a request for its models; a failure has no models, and says why. */
export interface ModelListing {
  success: boolean
  message: string
  latencyMs: number
  models: string[]
}
