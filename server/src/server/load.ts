import type { Logger } from 'pino'
import type { Config } from '../platform/config/config'
import { BodyBudget } from '../http/body-budget'
import { FormTurns } from '../http/form-turns'
import { UploadCounts } from '../http/upload-counts'
import { UploadDirectory } from '../http/upload-directory'
import { Overload } from '../http/overload'
import type { Storage } from './storage'
import type { EventLoopShares } from '../limits/event-loop-shares'
import type { MetricsSnapshot } from '../telemetry/metrics-snapshot'

interface Dependencies {
  config: Config
  storage: Pick<Storage, 'dataDir'>
  log: Logger
  /** The number of streams open to callers. */
  streams: () => number
  loopShares: EventLoopShares
}

/** Creates load shedding, which protects this process from overload. */
export async function createLoadShedding(
  { config, storage, log, streams, loopShares }: Dependencies,
  disposables: AsyncDisposableStack,
) {
  const bodies = disposables.use(
    new BodyBudget({
      bytes: config.largeBodiesBytes,
      loop: loopShares,
      collect: () => Bun.gc(true),
    }),
  )
  const uploads = {
    directory: await UploadDirectory.open(storage.dataDir),
    // Space on disk is not freed before its request has ended, however long that takes.
    budget: disposables.use(
      new BodyBudget({ bytes: config.uploadsBytes, loop: loopShares, unsentMs: Infinity }),
    ),
    turns: new FormTurns(),
    counts: new UploadCounts(),
  }
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
    load: {
      shed: { ...overload.rejections, bodies: bodies.rejections + uploads.budget.rejections },
      bodyBytes: bodies.bytes,
      uploads: uploads.counts.figures(),
    },
  })
  return { bodies, uploads, overload, loopShares, figures }
}
