import type { Logger } from 'pino'
import type { Config } from '../platform/config/config'
import { BodyBudget } from '../http/body-budget'
import { Overload } from '../http/overload'
import type { EventLoopShares } from '../limits/event-loop-shares'
import type { MetricsSnapshot } from '../telemetry/metrics-snapshot'

interface Dependencies {
  config: Config
  log: Logger
  /** The number of streams open to callers. */
  streams: () => number
  loopShares: EventLoopShares
}

/** Creates load shedding, which protects this process from overload. */
export function createLoadShedding(
  { config, log, streams, loopShares }: Dependencies,
  disposables: AsyncDisposableStack,
) {
  const bodies = disposables.use(
    new BodyBudget({
      bytes: config.largeBodiesBytes,
      loop: loopShares,
      collect: () => Bun.gc(true),
    }),
  )
  const { maxRunning, maxLoopDelayMs } = config
  const overload = new Overload({
    maxRunning,
    maxLoopDelayMs,
    streams,
    onChange: ({ isShedding, refused }) => {
      if (isShedding) log.warn({ refused }, 'overloaded: new requests are rejected')
      else log.info({ refused }, 'no longer overloaded: all requests are accepted')
    },
  })
  disposables.use(overload.start())
  const figures = (): Pick<MetricsSnapshot, 'streams' | 'load'> => ({
    streams: streams(),
    load: { shed: { ...overload.rejections, bodies: bodies.rejections }, bodyBytes: bodies.bytes },
  })
  return { bodies, overload, loopShares, figures }
}
