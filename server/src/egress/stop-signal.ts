/** What ends a request before its answer has: an `AbortSignal`, or what does the same and costs less. */
export interface Stop {
  readonly aborted: boolean
  /** Of what has been ended. */
  readonly reason: unknown
  addEventListener: (type: 'abort', listener: StopListener, options?: { once: boolean }) => void
  removeEventListener: (type: 'abort', listener: StopListener) => void
}

export interface StopListener {
  handleEvent: () => void
}
