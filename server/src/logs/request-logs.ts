import { RequestLog, type Arrival, type Caller, type LogPorts, type LogSink } from './request-log'

interface Options {
  sink: LogSink
  /** Whether the operator allows bodies to be kept. */
  allowsBodies: () => boolean
}

/** Begins the log of each request of this node. Source: api.md 11. */
export class RequestLogs {
  readonly #ports: LogPorts
  /** Requests that run, by account. */
  readonly #running = new Map<string, number>()

  constructor({ sink, allowsBodies }: Options) {
    this.#ports = {
      sink,
      allowsBodies,
      begun: (userId) => this.#begun(userId),
      over: (userId) => this.#over(userId),
    }
  }

  /** A request whose key and permission were accepted; it must be ended. */
  begin(arrival: Arrival, caller: Caller): RequestLog {
    return new RequestLog(this.#ports, arrival, caller)
  }

  #begun(userId: string): number {
    const running = (this.#running.get(userId) ?? 0) + 1
    this.#running.set(userId, running)
    return running
  }

  #over(userId: string): void {
    const left = (this.#running.get(userId) ?? 1) - 1
    if (left > 0) this.#running.set(userId, left)
    else this.#running.delete(userId)
  }
}
