import { RequestLog, type Arrival, type Caller, type LogSink } from './request-log'

interface Options {
  sink: LogSink
  /** Whether the operator allows bodies to be kept. */
  allowsBodies: () => boolean
}

/** Begins the log of each request of this node. Source: api.md 11. */
export class RequestLogs {
  readonly #options: Options
  /** Requests that run, by account. */
  readonly #running = new Map<string, number>()

  constructor(options: Options) {
    this.#options = options
  }

  /** A request whose key and permission were accepted; it must be ended. */
  begin(arrival: Arrival, caller: Caller & { logBodies: boolean }): RequestLog {
    const { sink, allowsBodies } = this.#options
    const { userId, logBodies } = caller
    const concurrent = (this.#running.get(userId) ?? 0) + 1
    this.#running.set(userId, concurrent)
    return new RequestLog({
      arrival,
      caller,
      concurrent,
      keepsBodies: logBodies && allowsBodies(),
      sink,
      onOver: () => this.#over(userId),
    })
  }

  #over(userId: string): void {
    const left = (this.#running.get(userId) ?? 1) - 1
    if (left > 0) this.#running.set(userId, left)
    else this.#running.delete(userId)
  }
}
