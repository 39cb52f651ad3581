import type { Logger } from 'pino'
import type { Storage } from './storage'
import { RequestLogs } from '../logs/request-logs'
import { LogWriter } from '../logs/writer'
import type { LiveSettings } from '../settings/live-settings'

interface Parts {
  settings: LiveSettings
  storage: Storage
  log: Logger
}

/** Opens what begins the logs of requests, and who writes those that no attempt takes along. */
export function openLogs({ settings, storage, log }: Parts, stack: AsyncDisposableStack) {
  const writer = stack.use(
    new LogWriter({
      db: storage.database.query,
      onError: (err, waiting) =>
        log.warn({ err, waiting }, 'request logs could not be written yet'),
      onLost: (lost) => log.error(lost, 'there was no room for some request logs'),
    }),
  )
  const allowsBodies = () => settings.current.logBodies
  return { writer, logs: new RequestLogs({ sink: writer, allowsBodies }) }
}
