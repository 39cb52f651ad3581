import type { Context } from 'hono'
import type { ConversationStore, SessionTurn } from './conversation'
import { sessionDependencyMissing } from './session-dependency-missing'
import type { Runs } from './message-runs'
import { logRefusal, type SessionLogs } from './refusal-log'
import type { NewMessage } from './schema'
import type { SessionRow } from './session-rows'
import { ToolLoop, type StartedMessage, type ToolLoopPorts } from './tool-loop'
import { newId } from '../platform/db/id'
import type { RateLimitQuota } from '../errors'
import type { Env } from '../http/env'
import { callOf } from '../v1/model-call'
import { respondWithStream, type ReplyPorts } from '../v1/reply'

export interface MessagePorts extends ToolLoopPorts {
  conversations: ConversationStore
  runs: Runs
  logs: SessionLogs
  /** Whether an account may call a connection or use a gateway, by its id. */
  isUsable: (userId: string, id: string) => Promise<boolean>
}

/** A request to send a message to a session. */
export interface Sending {
  c: Context<Env>
  sessionId: string
  message: NewMessage
}

/**
 * Sends a message to a session and answers with the model's reply: whole, or as a stream. Rejects as a chat does from
 * its third check on, and with `wrong_state` where the session does not accept a message now. Source: contract 8.2.
 */
export async function send(
  sending: Sending,
  ports: MessagePorts,
  reply: ReplyPorts,
): Promise<Response> {
  const { c, sessionId, message } = sending
  const refusal = c.env.overload.refusal()
  if (refusal) throw refusal
  const { userId } = c.var.principal
  const turn: SessionTurn = { runId: c.get('requestId'), sessionId, userId }
  const { logs } = ports
  const session = await logRefusal({ c, logs, modelId: undefined }, () =>
    ports.conversations.take(turn),
  )
  const run = ports.runs.begin(turn, c.req.raw.signal)
  const checkDependencies = async () => {
    const { connection_id: connectionId, gateway_id: gatewayId } = session
    for (const [dependency, id] of [
      ['connection', connectionId],
      ['gateway', gatewayId],
    ] as const) {
      if (id !== null && !(await ports.isUsable(userId, id)))
        throw sessionDependencyMissing(dependency)
    }
  }
  const history = async () => {
    await logRefusal({ c, logs, modelId: session.model_id }, checkDependencies)
    return ports.conversations.history(session)
  }
  const toolLoop = new ToolLoop(
    { run, session, message, history, callOf: callsFor(c, session) },
    ports,
  )
  try {
    const answer = await toolLoop.begin()
    if (answer.kind === 'full') return c.json(await toolLoop.runToEnd(answer), 201)
    const incoming = { request: c.req.raw, requestId: turn.runId }
    return await respondWithStream(incoming, toolLoop.stream(answer), { ports: reply })
  } catch (thrown) {
    throw await toolLoop.failed(thrown)
  }
}

/** Each model call is a request of its own, with a log of its own. */
const callsFor =
  (
    c: Context<Env>,
    { connection_id }: Pick<SessionRow, 'connection_id'>,
  ): StartedMessage['callOf'] =>
  (caller, which) =>
    Object.assign(callOf(c), caller, {
      requestId: which === 'first' ? c.get('requestId') : newId('req'),
      connectionId: connection_id ?? undefined,
      principal: c.var.principal,
      reportQuota: (quota: RateLimitQuota | undefined) => c.set('quota', quota),
    })
