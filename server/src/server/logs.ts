import type { Logger } from 'pino'
import type { Notices } from './notices'
import type { Storage } from './storage'
import type { Telemetry } from './telemetry'
import { usersOf } from '../request-logs/log-record'
import { RequestLogs } from '../request-logs/request-logs'
import { LogWriter } from '../request-logs/writer'
import type { LiveSettings } from '../platform/settings/live-settings'

interface Parts {
  notices: Notices
  settings: LiveSettings
  storage: Storage
  log: Logger
  telemetry: Pick<Telemetry, 'ended'>
}

/** Opens request logging, and the writer of logs that are not booked with an attempt. */
export function openLogs(
  { notices, settings, storage, log, telemetry }: Parts,
  stack: AsyncDisposableStack,
) {
  const writer = stack.use(
    new LogWriter({
      db: storage.database.query,
      onError: (err, waiting) =>
        log.warn({ err, waiting }, 'request logs could not be written yet'),
      onLost: (lost) => log.error(lost, 'there was no room for some request logs'),
      onWritten: (records) => notices.soon(usersOf(records)),
    }),
  )
  const allowsBodies = () => settings.current.logBodies
  return { writer, logs: new RequestLogs({ sink: writer, allowsBodies, onEnd: telemetry.ended }) }
}
