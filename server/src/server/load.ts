import type { Logger } from 'pino'
import type { Config } from '../platform/config/config'
import { BodyBudget } from '../http/body-budget'
import { Overload } from '../http/overload'
import type { OwnerBudget } from '../limits/owner-budget'
import type { MetricsSnapshot } from '../telemetry/metrics-snapshot'

interface Parts {
  config: Config
  log: Logger
  /** The number of streams open to callers. */
  streams: () => number
  budget: OwnerBudget
}

/** Opens load shedding, which protects this process from overload. */
export function openLoad({ config, log, streams, budget }: Parts, stack: AsyncDisposableStack) {
  const bodies = stack.use(
    new BodyBudget({
      bytes: config.largeBodiesBytes,
      loop: budget,
      collect: () => Bun.gc(true),
    }),
  )
  const { mostRunning, mostLoopDelayMs } = config
  const overload = new Overload({
    mostRunning,
    mostLoopDelayMs,
    streams,
    onChange: ({ isShedding, refused }) => {
      if (isShedding) log.warn({ refused }, 'there is too much to do: new requests are refused')
      else log.info({ refused }, 'nothing is refused any more for having too much to do')
    },
  })
  stack.use(overload.start())
  const figures = (): Pick<MetricsSnapshot, 'streams' | 'load'> => ({
    streams: streams(),
    load: { shed: { ...overload.refused, bodies: bodies.refused }, bodyBytes: bodies.bytes },
  })
  return { bodies, overload, budget, figures }
}
