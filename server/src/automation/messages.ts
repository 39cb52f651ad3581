import type { Context } from 'hono'
import type { ConversationStore, Outcome, Turn } from './conversation'
import { chatOf, outcomeOf, readAs } from './exchange'
import { KeptStream } from './kept-stream'
import type { Run, Runs } from './runs'
import type { Message, NewMessage } from './schema'
import { ApiError, type Quota } from '../errors'
import type { Gateway } from '../gateway'
import type { Call, OpenStream, StreamReply, WholeReply } from '../gateway/job'
import type { Env } from '../http/env'
import { callOf } from '../v1/model-call'
import { streamed, type ReplyPorts } from '../v1/reply'
import { isObject, type JsonObject } from '../wire/json-body'
import type { Usage } from '../wire/usage'

export interface MessagePorts {
  gateway: Pick<Gateway, 'chat'>
  conversations: ConversationStore
  runs: Runs
  /** Whether an account may call a connection, or use a gateway, by its id. */
  isUsable: (userId: string, id: string) => Promise<boolean>
  /** Told of what was said and could not be kept, once nobody waits for an answer any more. */
  onLost: (requestId: string, error: unknown) => void
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
 * Source: api.md 17.
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
  const talk = new Talk(ports.runs.begin(turn, c.req.raw.signal), message, ports)
  try {
    const connectionId = session.connection_id ?? undefined
    for (const [what, id] of [
      ['connection', connectionId],
      ['gateway', session.gateway_id],
    ] as const) {
      if (id && !(await ports.isUsable(userId, id))) throw gone(what)
    }
    const history = await ports.conversations.history(session)
    const chat = chatOf(session, history, message)
    const call = Object.assign(callOf(c), talk.callOf(chat), {
      connectionId,
      principal: c.var.principal,
      tell: (quota: Quota | undefined) => c.set('quota', quota),
    })
    const answer = await ports.gateway.chat(call)
    if (answer.kind === 'whole') return c.json(await talk.whole(answer), 201)
    if (answer.kind === 'stream') return await streamed(call, talk.stream(answer), { ports: reply })
    throw new Error('a message was answered with another one')
  } catch (thrown) {
    throw await talk.failed(thrown)
  }
}

class CalledGone extends ApiError<'resource_not_found'> {}

const gone = (what: 'connection' | 'gateway') =>
  new CalledGone('resource_not_found', {
    message: `The ${what} of this session is gone, so that the session has failed.`,
  })

/** What it calls is not there any more, nor will be. */
const isGone = (thrown: unknown) =>
  thrown instanceof CalledGone ||
  (thrown instanceof ApiError && /^(model_not_found|invalid_model)$/.test(thrown.code))

const nothing: Outcome = { messages: [], inputTokens: 0, outputTokens: 0, cost: 0n }

/** One message, from its call to what is kept of it. It ends once, in whatever way it does first. */
class Talk {
  readonly #run: Run
  readonly #message: NewMessage
  readonly #ports: MessagePorts
  readonly #settled = Promise.withResolvers<{ usage: Usage | undefined; cost: bigint }>()
  #chat: JsonObject = {}
  #ending: Promise<Message[] | undefined> | undefined

  constructor(run: Run, message: NewMessage, ports: MessagePorts) {
    this.#run = run
    this.#message = message
    this.#ports = ports
  }

  /** What is its own of a call. */
  callOf(chat: JsonObject): Pick<Call, 'readBody' | 'signal' | 'settled'> {
    this.#chat = chat
    return {
      readBody: async (limitBytes) => readAs(chat, limitBytes),
      signal: this.#run.signal,
      settled: (usage, cost) => this.#settled.resolve({ usage, cost }),
    }
  }

  async whole({ body }: WholeReply) {
    const answer: JsonObject = { ...body }
    const [userMessage, assistantMessage] = (await this.#keep(answer)) ?? []
    // Deleted, when all was over but this.
    if (!userMessage || !assistantMessage) throw new ApiError('resource_not_found')
    const usage = isObject(answer['usage']) ? answer['usage'] : {}
    return { userMessage, assistantMessage, toolMessages: [], usage }
  }

  stream(reply: StreamReply): StreamReply {
    const opening = reply.opening.then(
      (opened): OpenStream => ({ ...opened, stream: this.#kept(opened) }),
      async (thrown: unknown) => {
        throw await this.failed(thrown)
      },
    )
    // Whoever waits for it sees what it rejects with.
    opening.catch(() => undefined)
    return { ...reply, opening }
  }

  /** Ends it without an answer. Resolves with what is told of it. */
  async failed(thrown: unknown): Promise<unknown> {
    await this.#end({ ...nothing, hasFailed: isGone(thrown) }).catch(this.#lost)
    return this.#run.told(thrown)
  }

  #kept({ stream }: OpenStream): KeptStream {
    return new KeptStream(stream, this.#run, async (answer) => {
      await this.#keep(answer).catch((error: unknown) => {
        this.#lost(error)
        throw error
      })
    })
  }

  /** What was used is known once the call is settled, however it ended. */
  async #keep(answer: JsonObject): Promise<Message[] | undefined> {
    const { usage, cost } = await this.#settled.promise
    const [chat, message] = [this.#chat, this.#message]
    return this.#end(outcomeOf({ chat, message, answer, usage, cost }))
  }

  #end(outcome: Outcome): Promise<Message[] | undefined> {
    this.#ending ??= this.#ports.conversations
      .end(this.#run.turn, outcome)
      .finally(() => this.#run.done())
    return this.#ending
  }

  readonly #lost = (error: unknown): undefined => {
    this.#ports.onLost(this.#run.turn.runId, error)
    return undefined
  }
}
