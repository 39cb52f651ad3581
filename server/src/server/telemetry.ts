import type { Logger } from 'pino'
import { limitStoreState, redisState } from './system'
import type { Storage } from './storage'
import { readBuild } from './build'
import type { ApiKeyCache } from '../auth/api-key-cache'
import type { AccountCatalogs } from '../catalog/account-catalog'
import type { AccountNames } from '../catalog/account-names'
import type { Catalog } from '../catalog/catalog'
import type { Config } from '../platform/config/config'
import type { UsageDrainPool } from '../gateway/usage-drain-pool'
import type { Readiness } from '../http/service'
import type { RequestObserver } from '../http/finish-response'
import type { LogValues } from '../request-logs/log-record'
import type { RequestLogs } from '../request-logs/request-logs'
import type { Counters } from '../limits/counters'
import type { Resilience } from '../routing/resilience'
import { AnswerCounts } from '../telemetry/answer-counts'
import { AuditCounts } from '../telemetry/audit-counts'
import type { BreakerFigures, MetricsSnapshot, MoneyFigures } from '../telemetry/metrics-snapshot'
import { UsageCounts } from '../telemetry/model-counts'
import { ProcessWatch } from '../telemetry/process-figures'
import type { Tracing } from '../telemetry/tracing'

/** Counters and traces, which are updated as requests end. */
export interface Telemetry {
  usage: UsageCounts
  audits: AuditCounts
  witness: RequestObserver
  /** Undefined if traces are not collected. */
  tracing: Tracing | undefined
  /** Called when a request of a known caller has ended. */
  onRequestEnd: (values: LogValues, durationMs: number) => void
  /**
   * Serves the metrics if a port is set for them; those of a worker its launcher serves. Resolves with a function
   * that returns their text, or undefined where no port is set. Throws `StartError`.
   */
  listen: (
    sources: ListenerSources,
    disposables: AsyncDisposableStack,
  ) => Promise<() => Promise<string | undefined>>
}

interface Dependencies {
  config: Config
  catalog: Catalog
  log: Logger
}

interface ListenerSources {
  figures: () => MetricsSnapshot
  readiness: Readiness
}

/** Creates tracing, whose libraries are loaded only if traces are collected. */
async function createTracing(
  { config, log }: Pick<Dependencies, 'config' | 'log'>,
  disposables: AsyncDisposableStack,
): Promise<Tracing | undefined> {
  const { tracing } = config.telemetry
  if (!tracing) return undefined
  const { OpenTelemetry } = await import('../telemetry/tracing')
  const onError = (why: string) => log.warn({ why }, 'traces could not be sent')
  return disposables.use(
    new OpenTelemetry({ config: tracing, version: readBuild().version, onError }),
  )
}

/** Creates counters and tracing; `disposables` sends the remaining traces. */
export async function createTelemetry(
  { config, catalog, log }: Dependencies,
  disposables: AsyncDisposableStack,
): Promise<Telemetry> {
  const { logsRequests, listener } = config.telemetry
  const answers = new AnswerCounts()
  const usage = new UsageCounts((modelId) => catalog.snapshot.models.has(modelId))
  const audits = new AuditCounts()
  return {
    usage,
    audits,
    witness: { log, logsRequests, counts: answers },
    tracing: await createTracing({ config, log }, disposables),
    onRequestEnd: (values, durationMs) => {
      usage.countRequest(values, durationMs)
      if (logsRequests && log.isLevelEnabled('info')) log.info(toLogLine(values, durationMs))
    },
    listen: async ({ figures, readiness }, opening) => {
      if (!listener) return async () => undefined
      // Only a server with a metrics listener loads the code that writes them.
      const { createExposition } = await import('../telemetry/exposition')
      const { listenInternally } = await import('../telemetry/listener')
      const watch = opening.use(new ProcessWatch())
      const build = readBuild()
      const exposition = createExposition(() => ({
        ...build,
        answers,
        usage,
        audits,
        figures: figures(),
        process: watch.read(),
      }))
      if (config.worker !== undefined) return exposition.write
      const onError = (err: unknown) => log.error({ err }, 'metrics could not be written')
      const server = listenInternally({ ...listener, exposition, readiness, onError })
      opening.defer(() => server.stop(true))
      log.info({ host: listener.host, port: server.port }, 'metrics are served')
      return exposition.write
    },
  }
}

/** Returns the log line of an ended request; it contains no text from its caller. */
export function toLogLine(values: LogValues, durationMs: number) {
  const { provider } = values
  return {
    requestId: values.id,
    method: 'POST',
    path: values.endpoint,
    status: values.statusCode,
    ms: Math.round(durationMs * 10) / 10,
    userId: values.userId,
    ...(values.error && { code: values.error.code }),
    ...(provider !== null && {
      model: values.model,
      provider,
      inputTokens: values.inputTokens,
      outputTokens: values.outputTokens,
    }),
  }
}

/** The sources of the metrics. */
interface Read {
  money: { figures: () => MoneyFigures }
  resilience: Pick<Resilience, 'listFailing' | 'accountCount'>
  apiKeys: ApiKeyCache
  accounts: AccountCatalogs
  names: AccountNames
  logs: RequestLogs
  drains: UsageDrainPool
  counters: Counters
  storage: Storage
  olderLogs: { figures: () => NonNullable<MetricsSnapshot['logExport']> } | undefined
  remoteRelay: { figures: () => NonNullable<MetricsSnapshot['relayed']> } | undefined
}

/** Reads the state of the process, except what only its server knows. */
export function readMetricsSnapshot(
  read: Read,
): Omit<MetricsSnapshot, 'streams' | 'isStopping' | 'load' | 'droppedLogLines' | 'auditDelivery'> {
  const failing = read.resilience.listFailing()
  return {
    money: read.money.figures(),
    breakers: breakersOf(failing),
    running: read.logs.running,
    drains: read.drains.size,
    database: read.storage.database.connections,
    caches: {
      keys: read.apiKeys.size,
      accounts: read.accounts.size,
      names: read.names.size,
      breakers: read.resilience.accountCount,
    },
    redis: redisState(read.counters),
    limitStore: limitStoreState(read.counters),
    relayed: read.remoteRelay?.figures(),
    logExport: read.olderLogs?.figures(),
  }
}

function breakersOf(failing: ReturnType<Resilience['listFailing']>): BreakerFigures[] {
  const byProvider = Map.groupBy(failing, ({ candidate }) => candidate.provider.key)
  return [...byProvider].map(([provider, all]) => {
    const open = all.filter(({ isOpen }) => isOpen).length
    const accounts = all.reduce((sum, { openAccounts }) => sum + openAccounts, 0)
    return { provider, open, troubled: all.length - open, accounts }
  })
}
