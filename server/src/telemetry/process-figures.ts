import { monitorEventLoopDelay } from 'node:perf_hooks'

/** State of the process. */
export interface ProcessFigures {
  residentBytes: number
  heapBytes: number
  cpuSeconds: number
  /** Seconds since the epoch. */
  startedAt: number
  /** Seconds by which the event loop was late since the last reading: at most, by percentile. */
  loopDelay: readonly { percentile: string; seconds: number }[]
}

/** Often enough for delays that requests notice. */
const resolutionMs = 20
const percentiles = ['50', '99', '100'] as const

/** Watches the event loop until it is disposed of. */
export class ProcessWatch implements Disposable {
  readonly #delays = monitorEventLoopDelay({ resolution: resolutionMs })
  readonly #startedAt = Date.now() / 1000 - process.uptime()

  constructor() {
    this.#delays.enable()
  }

  read(): ProcessFigures {
    const { rss, heapUsed } = process.memoryUsage()
    const { user, system } = process.cpuUsage()
    const delays = this.#delays
    const loopDelay = percentiles.map((percentile) => {
      // A histogram of nothing has a minimum beyond all bounds.
      const nanoseconds = delays.count === 0 ? 0 : delays.percentile(Number(percentile))
      return { percentile, seconds: nanoseconds / 1e9 }
    })
    delays.reset()
    return {
      residentBytes: rss,
      heapBytes: heapUsed,
      cpuSeconds: (user + system) / 1e6,
      startedAt: this.#startedAt,
      loopDelay,
    }
  }

  [Symbol.dispose](): void {
    this.#delays.disable()
  }
}
