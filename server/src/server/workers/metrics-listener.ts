import type { Logger } from 'pino'
import { mergeMetrics } from './merge-metrics'
import type { Worker } from './worker'
import type { Config } from '../../platform/config/config'

interface Dependencies {
  config: Config
  log: Logger
}

/** Whether a worker answered, and is ready. */
const isReadyState = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'isReady' in value && value.isReady === true

/** Returns the launcher's own metrics: of each worker whether it listens, and how often it was restarted. */
function launcherMetrics({ isListening, restarts }: Worker): string {
  return `# HELP tollgate_worker_up Whether the worker listens
# TYPE tollgate_worker_up gauge
tollgate_worker_up ${isListening ? 1 : 0}

# HELP tollgate_worker_restarts_total Restarts of the worker after it ended or hung
# TYPE tollgate_worker_restarts_total counter
tollgate_worker_restarts_total ${restarts}
`
}

/** Serves the metrics and the readiness of all workers on one port, if one is set. Throws `StartError`. */
export async function listenForMetrics(
  workers: readonly Worker[],
  { config, log }: Dependencies,
  disposables: AsyncDisposableStack,
): Promise<void> {
  const { listener } = config.telemetry
  if (!listener) return
  const { listenInternally } = await import('../../telemetry/listener')
  const { contentType } = await import('../../telemetry/exposition')
  const write = async () => {
    const texts = new Map<number, string>()
    const ask = async (worker: Worker) => {
      const text = await worker.ask('metrics')
      texts.set(worker.index, launcherMetrics(worker) + (typeof text === 'string' ? text : ''))
    }
    await Promise.all(workers.map(ask))
    return mergeMetrics(new Map([...texts].toSorted(([a], [b]) => a - b)))
  }
  const onError = (err: unknown) => log.error({ err }, 'metrics could not be written')
  const readiness = () => readReadiness(workers)
  const exposition = { contentType, write }
  const server = listenInternally({ ...listener, exposition, readiness, onError })
  disposables.defer(() => server.stop(true))
  log.info({ host: listener.host, port: server.port }, 'metrics are served')
}

/**
 * Ready where each worker that listens is ready: the kernel assigns connections to all of those. One that restarts gets
 * none.
 */
async function readReadiness(workers: readonly Worker[]) {
  const listening = workers.filter(({ isListening }) => isListening)
  const states = await Promise.all(
    listening.map(async (worker) => {
      const state = await worker.ask('readiness')
      return [worker.index, isReadyState(state)] as const
    }),
  )
  const ready = new Map(states)
  const checks = workers.map(({ index }) => [`worker_${index}`, ready.get(index) === true] as const)
  const isReady = listening.length > 0 && states.every(([, one]) => one)
  return { isReady, checks: Object.fromEntries(checks) }
}
