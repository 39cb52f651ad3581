import type { Logger } from 'pino'
import type { Storage } from './storage'
import type { Config } from '../config'
import { ResponseStore } from '../stored-responses/store'
import type { ResponseKeeping } from '../v1/responses'

/** Opens what keeps answers of `/v1/responses`; `stack` waits for those on their way to the database. */
export function openResponses(
  { config, storage, log }: { config: Config; storage: Storage; log: Logger },
  stack: AsyncDisposableStack,
): ResponseKeeping {
  const store = new ResponseStore(storage.database.query, (err) =>
    log.warn({ err }, 'a response could not be kept'),
  )
  return { store: stack.use(store), mode: config.storeResponses }
}
