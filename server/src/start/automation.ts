import type { Logger } from 'pino'
import type { RoutingLookUps } from './routing'
import type { Storage } from './storage'
import { createConversationStore } from '../automation/conversation'
import type { Automation } from '../automation/routes'
import { Runs } from '../automation/runs'
import { isUsableConnection, usableGateway } from '../automation/session-rows'
import { createSessionStore } from '../automation/sessions'
import { createTemplateStore } from '../automation/templates'
import { isId } from '../db/id'

/** How long a node that says nothing is believed to run a message. */
const turnSeconds = 30
const renewMs = 10_000
const closeMs = 5000

interface Parts {
  storage: Storage
  log: Logger
}

/** The messages of sessions that run here. */
export function openRuns({ storage, log }: Parts, stack: AsyncDisposableStack) {
  const conversations = createConversationStore(storage.database.query, turnSeconds)
  const runs = stack.use(
    new Runs({
      renew: (turns) => conversations.renew(turns),
      everyMs: renewMs,
      closeMs,
      onError: (err) => log.warn({ err }, 'the turns of sessions could not be renewed'),
    }),
  )
  return { conversations, runs }
}

/** What the automation endpoints work with. */
export function openAutomation(
  { storage, log }: Parts,
  { lookUps, talks }: { lookUps: RoutingLookUps; talks: ReturnType<typeof openRuns> },
): Automation {
  const db = storage.database.query
  return {
    ...talks,
    sessions: createSessionStore({ db, checkChat: lookUps.checkChat }),
    templates: createTemplateStore(db),
    isUsable: async (userId, id) =>
      isId('gw', id)
        ? (await usableGateway(db, userId, id)) !== undefined
        : isUsableConnection(db, userId, id),
    onLost: (requestId, err) =>
      log.error({ requestId, err }, 'what was said in a session could not be kept'),
  }
}
