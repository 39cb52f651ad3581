import type { Logger } from 'pino'
import type { RoutingLookUps } from './routing'
import type { Storage } from './storage'
import { openTools } from './tools'
import { createConversationStore } from '../automation/conversation'
import type { Automation } from '../automation/routes'
import { Runs } from '../automation/message-runs'
import { isUsableConnection, findUsableGateway } from '../automation/session-rows'
import { createSessionStore } from '../automation/sessions'
import { createTemplateStore } from '../automation/templates'
import type { ToolLimits } from '../automation/tools'
import type { Config, Timers } from '../platform/config/config'
import { isId } from '../platform/db/id'

/** The time after which the node of a running message counts as dead without a renewal. */
const turnSeconds = 30
const renewMs = 10_000
const closeMs = 5000

/** Source: contract 8.2. */
const rounds = 25
const calls = 100
const callMs = 60_000
const resultBytes = 64 * 1024

interface Parts {
  storage: Storage
  log: Logger
}

/** Creates the runs of session messages on this node. */
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

/** Returns the limits of the tool loop, read from the current settings each time. */
const limitsOf = ({ config, timers }: { config: Config; timers: Timers }): ToolLimits => ({
  rounds,
  calls,
  cost: config.messageCostLimit,
  callMs,
  resultBytes,
  get plainMs() {
    return timers.requestMs
  },
  get streamMs() {
    return timers.streamMs
  },
})

interface Opened {
  lookUps: RoutingLookUps
  /** The gateways whose tools can be called. */
  ways: Parameters<typeof openTools>[1]
  talks: ReturnType<typeof openRuns>
}

/** Opens the dependencies of the automation endpoints. */
export function openAutomation(
  { storage, log, ...parts }: Parts & { config: Config; timers: Timers },
  { lookUps, ways, talks }: Opened,
): Automation {
  const db = storage.database.query
  return {
    ...talks,
    tools: openTools({ database: storage.database }, ways),
    limits: limitsOf(parts),
    sessions: createSessionStore({ db, checkChat: lookUps.checkChat }),
    templates: createTemplateStore(db),
    isUsable: async (userId, id) =>
      isId('gw', id)
        ? (await findUsableGateway(db, userId, id)) !== undefined
        : isUsableConnection(db, userId, id),
    onLost: (requestId, err) =>
      log.error({ requestId, err }, 'what was said in a session could not be kept'),
  }
}
