import type { Context } from 'hono'
import type { ConversationStore, Turn } from './conversation'
import { gone } from './gone'
import type { Runs } from './runs'
import type { NewMessage } from './schema'
import type { SessionRow } from './session-rows'
import { Talk, type Begun, type TalkPorts } from './talk'
import { newId } from '../db/id'
import type { Quota } from '../errors'
import type { Env } from '../http/env'
import { callOf } from '../v1/model-call'
import { streamed, type ReplyPorts } from '../v1/reply'

export interface MessagePorts extends TalkPorts {
  conversations: ConversationStore
  runs: Runs
  /** Whether an account may call a connection, or use a gateway, by its id. */
  isUsable: (userId: string, id: string) => Promise<boolean>
}

/** What a request to say something brings. */
export interface Sending {
  c: Context<Env>
  sessionId: string
  message: NewMessage
}

/**
 * Says something in a session, and answers with what the model says: whole, or as a stream. Rejects as a
 * chat does from its third check on, and with `wrong_state` where it is not the session's turn.
 * Source: contract 8.2.
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
  const turn: Turn = { runId: c.get('requestId'), sessionId, userId }
  const session = await ports.conversations.take(turn)
  const run = ports.runs.begin(turn, c.req.raw.signal)
  const history = async () => {
    const { connection_id: connectionId, gateway_id: gatewayId } = session
    for (const [what, id] of [
      ['connection', connectionId],
      ['gateway', gatewayId],
    ] as const) {
      if (id !== null && !(await ports.isUsable(userId, id))) throw gone(what)
    }
    return ports.conversations.history(session)
  }
  const talk = new Talk({ run, session, message, history, callOf: callsFor(c, session) }, ports)
  try {
    const answer = await talk.begin()
    if (answer.kind === 'whole') return c.json(await talk.whole(answer), 201)
    const asked = { request: c.req.raw, requestId: turn.runId }
    return await streamed(asked, talk.stream(answer), { ports: reply })
  } catch (thrown) {
    throw await talk.failed(thrown)
  }
}

/** Each call of the model is a request of its own, with a log of its own. */
const callsFor =
  (c: Context<Env>, { connection_id }: Pick<SessionRow, 'connection_id'>): Begun['callOf'] =>
  (asking, which) =>
    Object.assign(callOf(c), asking, {
      requestId: which === 'first' ? c.get('requestId') : newId('req'),
      connectionId: connection_id ?? undefined,
      principal: c.var.principal,
      tell: (quota: Quota | undefined) => c.set('quota', quota),
    })
