/** Ends a request before its answer does: an `AbortSignal`, or a cheaper equivalent. */
export interface StopSignal {
  readonly aborted: boolean
  /** The reason of the abort. */
  readonly reason: unknown
  addEventListener: (type: 'abort', listener: StopListener, options?: { once: boolean }) => void
  removeEventListener: (type: 'abort', listener: StopListener) => void
}

export interface StopListener {
  handleEvent: () => void
}
