/** What one burst of load is. */
export interface Plan {
  /** Loopback ports, one a process of the gateway; connections are dealt out in turn. */
  ports: number[]
  /** The whole request, head and body, as it goes on the wire. */
  request: string
  connections: number
  seconds: number
  /** How long streams that are open at the end may take to finish before they are cut. */
  patienceSeconds: number
  /** Every so many answers one is left in its middle; 0 for none. */
  leaveEvery: number
}

/** How long something took, in milliseconds. */
export interface Times {
  p50: number
  p99: number
}

export interface Outcome {
  /** Answers that came whole, with status 200. */
  finished: number
  /** Answers that were left in their middle. */
  left: number
  /** Answers that were cut because they had not finished in time. */
  cut: number
  /** Other statuses, and broken connections as `connection`. */
  failed: Record<string, number>
  /** The beginning of the first failed answer. */
  failure: string
  /** Events of streams that came, `[DONE]` among them; 0 for plain answers. */
  events: number
  /** Until the last answer that came. */
  seconds: number
  whole: Times
  firstByte: Times
}
