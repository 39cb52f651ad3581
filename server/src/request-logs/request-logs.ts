import type { Arrival, LoggedCaller } from './arrival'
import type { LogValues } from './log-record'
import { RequestLog, type LogPorts, type LogSink } from './request-log'

interface Options {
  sink: LogSink
  /** Whether the operator allows bodies to be stored. */
  allowsBodies: () => boolean
  /** Called once for each request that has ended, with its duration in milliseconds. */
  onEnd?: (values: LogValues, durationMs: number) => void
}

/** Begins the log of each request of this node. Source: contract 6.9. */
export class RequestLogs {
  readonly #ports: LogPorts
  /** The number of running requests by account. */
  readonly #running = new Map<string, number>()

  constructor({ sink, allowsBodies, onEnd }: Options) {
    this.#ports = {
      sink,
      allowsBodies,
      onBegin: (userId) => this.#begun(userId),
      onEnd: (values, durationMs) => {
        this.#over(values.userId)
        onEnd?.(values, durationMs)
      },
      onDrop: (userId) => this.#over(userId),
    }
  }

  /** Begins the log of a request whose key and permission were accepted; it must be ended. */
  begin(arrival: Arrival, caller: LoggedCaller): RequestLog {
    return new RequestLog(this.#ports, arrival, caller)
  }

  /** The number of running requests. */
  get running(): number {
    return [...this.#running.values()].reduce((sum, running) => sum + running, 0)
  }

  #begun(userId: string): number {
    const running = (this.#running.get(userId) ?? 0) + 1
    this.#running.set(userId, running)
    return running
  }

  #over(userId: string): void {
    const remaining = (this.#running.get(userId) ?? 1) - 1
    if (remaining > 0) this.#running.set(userId, remaining)
    else this.#running.delete(userId)
  }
}
