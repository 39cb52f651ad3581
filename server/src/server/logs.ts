import type { Logger } from 'pino'
import { createLogStores } from './log-store'
import type { Notices } from './notices'
import type { Storage } from './storage'
import type { Telemetry } from './telemetry'
import type { Config } from '../platform/config/config'
import { usersOf } from '../request-logs/log-record'
import { RequestLogs } from '../request-logs/request-logs'
import { LogWriter } from '../request-logs/writer'
import type { LiveSettings } from '../platform/settings/live-settings'

interface Dependencies {
  config: Config
  notices: Notices
  settings: LiveSettings
  storage: Storage
  log: Logger
  telemetry: Pick<Telemetry, 'onRequestEnd'>
}

/** Creates request logging, the writer of logs that are not booked with an attempt, and the stores of logs. */
export async function createRequestLogs(
  dependencies: Dependencies,
  disposables: AsyncDisposableStack,
) {
  const { notices, settings, storage, log, telemetry } = dependencies
  const writer = disposables.use(
    new LogWriter({
      db: storage.database.query,
      onError: (err, waiting) =>
        log.warn({ err, waiting }, 'request logs could not be written yet'),
      onLost: (lost) => log.error(lost, 'some request logs were dropped, the buffer is full'),
      onWritten: (records) => notices.soon(usersOf(records)),
    }),
  )
  const allowsBodies = () => settings.current.logBodies
  return {
    ...(await createLogStores(dependencies, disposables)),
    writer,
    logs: new RequestLogs({ sink: writer, allowsBodies, onEnd: telemetry.onRequestEnd }),
  }
}
