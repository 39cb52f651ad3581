import type { Logger } from 'pino'
import type { Storage } from './storage'
import type { Config } from '../platform/config/config'
import { BackgroundStore } from '../stored-responses/background-store'
import { StoredConversations } from '../stored-responses/conversations'
import { ResponseStore } from '../stored-responses/store'
import { BackgroundRuns } from '../v1/background'
import type { ResponsePorts } from '../v1/responses'

/** Creates the stores of `/v1/responses` and conversations; `disposables` waits for their pending writes. */
export function createResponsePorts(
  { config, storage, log }: { config: Config; storage: Storage; log: Logger },
  disposables: AsyncDisposableStack,
): ResponsePorts {
  const store = new ResponseStore(storage.database.query, (err) =>
    log.warn({ err }, 'a response could not be stored'),
  )
  const conversations = new StoredConversations(storage.database.query, (err) =>
    log.warn({ err }, 'a turn of a conversation could not be stored'),
  )
  const background = new BackgroundStore(storage.database.query)
  const runs = new BackgroundRuns({
    store: background,
    onError: (err) => log.warn({ err }, 'a background response could not be stored'),
  })
  return {
    store: disposables.use(store),
    conversations: disposables.use(conversations),
    background,
    // Closed before those two: the ends of its runs are stored in them.
    runs: disposables.use(runs),
    mode: config.storeResponses,
  }
}
