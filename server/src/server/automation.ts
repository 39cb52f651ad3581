import type { Logger } from 'pino'
import type { RoutingLookUps } from './routing'
import type { Storage } from './storage'
import { createTools } from './tools'
import { createConversationStore } from '../automation/conversation'
import type { Automation } from '../automation/routes'
import { Runs } from '../automation/message-runs'
import { isUsableConnection, findUsableGateway } from '../automation/session-rows'
import type { SessionLogs } from '../automation/refusal-log'
import { createSessionStore } from '../automation/sessions'
import { createTemplateStore } from '../automation/templates'
import type { ToolLimits } from '../automation/tools'
import type { Config, Timers } from '../platform/config/config'
import { isId } from '../platform/db/id'

/** The time after which the node of a running message counts as dead without a renewal. */
const leaseSeconds = 30
const renewMs = 10_000
const closeMs = 5000

/** Source: contract 8.2. */
const rounds = 25
const calls = 100
const callMs = 60_000
const resultBytes = 64 * 1024

interface Dependencies {
  storage: Storage
  log: Logger
}

/** Creates the runs of session messages on this node. */
export function createMessageRuns(
  { storage, log }: Dependencies,
  disposables: AsyncDisposableStack,
) {
  const conversations = createConversationStore(storage.database.query, leaseSeconds)
  const runs = disposables.use(
    new Runs({
      renew: (leases) => conversations.renew(leases),
      everyMs: renewMs,
      closeMs,
      onError: (err) => log.warn({ err }, 'the leases of running messages could not be renewed'),
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

interface Services {
  lookUps: RoutingLookUps
  /** The gateways whose tools can be called. */
  gateways: Parameters<typeof createTools>[1]
  messages: ReturnType<typeof createMessageRuns>
  logs: SessionLogs
}

/** Creates the dependencies of the automation endpoints. */
export function createAutomation(
  { storage, log, ...dependencies }: Dependencies & { config: Config; timers: Timers },
  { lookUps, gateways, messages, logs }: Services,
): Automation {
  const db = storage.database.query
  return {
    ...messages,
    logs,
    tools: createTools({ database: storage.database }, gateways),
    limits: limitsOf(dependencies),
    sessions: createSessionStore({ db, checkChat: lookUps.checkChat }),
    templates: createTemplateStore(db),
    isUsable: async (userId, id) =>
      isId('gw', id)
        ? (await findUsableGateway(db, userId, id)) !== undefined
        : isUsableConnection(db, userId, id),
    onLost: (requestId, err) =>
      log.error({ requestId, err }, 'a message of a session could not be stored'),
  }
}
