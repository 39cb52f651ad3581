import type { Logger } from 'pino'
import type { Storage } from './storage'
import type { Config } from '../config'
import { ConversationStore } from '../stored-responses/conversations'
import { ResponseStore } from '../stored-responses/store'
import type { ResponseKeeping } from '../stored-responses/turn'

/** Opens what keeps answers of `/v1/responses` and conversations; `stack` waits for what is on its way to the database. */
export function openResponses(
  { config, storage, log }: { config: Config; storage: Storage; log: Logger },
  stack: AsyncDisposableStack,
): ResponseKeeping {
  const store = new ResponseStore(storage.database.query, (err) =>
    log.warn({ err }, 'a response could not be kept'),
  )
  const conversations = new ConversationStore(storage.database.query, (err) =>
    log.warn({ err }, 'a turn of a conversation could not be kept'),
  )
  return {
    store: stack.use(store),
    conversations: stack.use(conversations),
    mode: config.storeResponses,
  }
}
