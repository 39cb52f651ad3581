/** The parameters of one burst of load. */
export interface Plan {
  /** Loopback ports, one a process of the gateway; connections are distributed in turn. */
  ports: number[]
  /** The whole request, head and body, as wire bytes. */
  request: string
  connections: number
  seconds: number
  /** The time for open streams to finish at the end before they are cut. */
  patienceSeconds: number
  /** One in this many answers is abandoned in its middle; 0 for none. */
  leaveEvery: number
}

/** Quantiles of a duration, in milliseconds. */
export interface Times {
  p50: number
  p99: number
}

export interface Outcome {
  /** Complete answers with status 200. */
  finished: number
  /** Answers that the client abandoned in their middle. */
  disconnected: number
  /** Answers that were cut at the time limit. */
  cut: number
  /** Failures by status, and lost connections as `connection`. */
  failed: Record<string, number>
  /** The beginning of the first failed answer. */
  failure: string
  /** Events of streams, `[DONE]` included; 0 for plain answers. */
  events: number
  /** Time until the last answer. */
  seconds: number
  complete: Times
  firstByte: Times
}
