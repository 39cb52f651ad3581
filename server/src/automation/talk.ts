import type { ConversationStore, HistoryRow, Outcome, Said } from './conversation'
import { chatOf, exchangeOf, outcomeOf, readAs, saidToWire } from './exchange'
import { gone, isGone } from './gone'
import { KeptStream } from './kept-stream'
import { notAgain } from './not-again'
import type { Run } from './runs'
import type { Message, NewMessage } from './schema'
import type { SessionRow } from './session-rows'
import { StepStream, type Steps, type Tell } from './step-stream'
import { boundReached, notRun } from './tool-bounds'
import { callsIn, resultOf, type AskedCall, toToolMessage } from './tool-run'
import { allowedOf, offered, type ToolDefinition, type ToolLimits, type Tools } from './tools'
import { within } from '../within'
import { storable } from '../db/storable'
import { ApiError } from '../errors'
import type { Gateway } from '../gateway'
import type { Call, OpenStream, Reply, StreamReply, WholeReply } from '../gateway/job'
import type { ChunkStream } from '../wire/chunk-stream'
import { isObject, type JsonObject } from '../wire/json-body'
import { addUsage, noUsage, toUsageBlock, type Usage } from '../wire/usage'

export interface TalkPorts {
  gateway: Pick<Gateway, 'chat'>
  conversations: Pick<ConversationStore, 'add' | 'end'>
  tools: Tools
  limits: ToolLimits
  /** Told of what was said and could not be kept, once nobody waits for an answer any more. */
  onLost: (requestId: string, error: unknown) => void
}

/** What is a talk's own of each call of the model. */
type Asking = Pick<Call, 'readBody' | 'signal' | 'settled'>

/** A message that has its turn. */
export interface Begun {
  run: Run
  session: SessionRow
  message: NewMessage
  history: () => Promise<readonly HistoryRow[]>
  /** A call of the model: the first of the message, which has its request id, or a further one. */
  callOf: (asking: Asking, which: 'first' | 'further') => Call
}

interface Settled {
  usage: Usage | undefined
  cost: bigint
}

const nothing: Outcome = { messages: [], inputTokens: 0, outputTokens: 0, cost: 0n }
/** How long it may take to learn what a gateway announces. */
const lookUpMs = 5000

/**
 * One message, from its first call of the model to its end: the model asks for tools, the session's
 * gateway runs them, the model gets the results, until it asks for none or a limit is reached. Each
 * step is kept as it ends. It ends once, in whatever way it does first.
 */
export class Talk implements Steps {
  readonly #begun: Begun
  readonly #ports: TalkPorts
  readonly #startedAtMs = performance.now()
  readonly #kept: Message[] = []
  /** As of the last step: its owner may change it meanwhile. */
  #session: SessionRow
  #chat: JsonObject & { messages: JsonObject[] } = { messages: [] }
  #announced: readonly ToolDefinition[] = []
  #settled = Promise.withResolvers<Settled>()
  /** What the model has asked for and has not got yet. */
  #asked: readonly AskedCall[] = []
  /** Kept results of which it is not known how many tokens they are. */
  #uncounted: { id: string; content: string }[] = []
  #spent = { rounds: 0, calls: 0, cost: 0n }
  #usage: Usage = noUsage
  #ending: Promise<void> | undefined

  constructor(begun: Begun, ports: TalkPorts) {
    this.#begun = begun
    this.#ports = ports
    this.#session = begun.session
  }

  /** Calls the model for the first time. Rejects as a chat does, and where the gateway is not there. */
  async begin(): Promise<Reply> {
    const { session, message, history } = this.#begun
    this.#chat = chatOf(session, await history(), message)
    return this.#ask('first')
  }

  /** What is answered to a message that is no stream. */
  async whole(first: WholeReply) {
    let body: JsonObject = { ...first.body }
    for (;;) {
      await this.keep(body)
      if (!this.isOver) await this.runTools(() => undefined)
      if (this.isOver) break
      const reply = await this.#askAgain()
      if (reply.kind !== 'whole') throw new Error('a message was answered with a stream')
      body = { ...reply.body }
    }
    await this.#ending
    const own = isObject(body['usage']) ? body['usage'] : {}
    return exchangeOf(this.#kept, this.#spent.rounds === 0 ? own : toUsageBlock(this.#usage))
  }

  stream(reply: StreamReply): StreamReply {
    const opening = reply.opening.then(
      (opened): OpenStream => ({ ...opened, stream: this.#stepsOf(opened, reply) }),
      async (thrown: unknown) => {
        throw await this.failed(thrown)
      },
    )
    // Whoever waits for it sees what it rejects with.
    opening.catch(() => undefined)
    return { ...reply, opening }
  }

  /** The same of the call that follows the results of tools. */
  async streamAgain(): Promise<ChunkStream> {
    const reply = await this.#askAgain()
    if (reply.kind !== 'stream') throw new Error('a stream was answered whole')
    const { stream } = await reply.opening
    return this.#keptOf(stream)
  }

  /** Nothing more is said, but what is about to be kept. */
  get isOver(): boolean {
    return this.#ending !== undefined
  }

  /** What was said at the end that is none of the model's words. */
  closing: string | undefined

  /**
   * Keeps what the model said, or as much of it as came: what broke runs no tools. What was used is known
   * once it is settled.
   */
  async keep(answer: JsonObject, isWhole = true): Promise<void> {
    const { usage, cost } = await this.#settled.promise
    this.#spent.cost += cost
    if (usage) this.#usage = addUsage(this.#usage, usage)
    const message = this.#kept.length === 0 ? this.#begun.message : undefined
    const uncounted = this.#uncounted
    const outcome = outcomeOf({ chat: this.#chat, message, uncounted, answer, usage, cost })
    this.#uncounted = []
    const said = outcome.messages.at(-1)
    const calls = said?.toolCalls ?? []
    const mayGoOn = this.#session.gateway_id !== null && !this.#begun.run.signal.aborted
    const goesOn = isWhole && mayGoOn
    if (!said || calls.length === 0 || !goesOn) return this.#end(outcome)
    await this.#add(outcome)
    this.#chat.messages.push(saidToWire(said))
    this.#asked = callsIn(calls)
  }

  /**
   * Runs what the model has asked for, one after the other, and tells each result once it is kept. At a
   * limit the rest is not run, and the message is over. Rejects where the gateway is lost, and where the
   * message is not to go on.
   */
  async runTools(tell: Tell): Promise<void> {
    const { run } = this.#begun
    const { limits } = this.#ports
    run.endIn(this.#limitMs() - (performance.now() - this.#startedAtMs))
    const ofAll = boundReached(this.#spent, limits, 'rounds')
    if (ofAll) return this.#stop(ofAll, this.#asked, tell)
    this.#spent.rounds += 1
    for (const [index, call] of this.#asked.entries()) {
      const ofCalls = boundReached(this.#spent, limits, 'calls')
      if (ofCalls) return this.#stop(ofCalls, this.#asked.slice(index), tell)
      await this.#runTool(call, tell)
    }
  }

  /** Ends it without an answer, or without a further one. Resolves with what is told of it. */
  async failed(thrown: unknown, as: 'streamed' | 'plain' = 'plain'): Promise<unknown> {
    const { run } = this.#begun
    await this.#end({ ...nothing, hasFailed: isGone(thrown) }).catch(this.#lost)
    const told = run.told(thrown, as)
    return this.#spent.rounds > 0 ? notAgain(told) : told
  }

  /** Its reader has gone while no answer of the model is on its way. */
  leave(): void {
    this.#begun.run.leave()
  }

  #limitMs(): number {
    const { limits } = this.#ports
    return this.#begun.message.stream ? limits.streamMs : limits.plainMs
  }

  async #askAgain(): Promise<Reply> {
    this.#begun.run.goesOn.throwIfAborted()
    return this.#ask('further')
  }

  async #ask(which: 'first' | 'further'): Promise<Reply> {
    const { run, callOf } = this.#begun
    this.#announced = await this.#announcement()
    const tools = offered(allowedOf(this.#announced, this.#session))
    const chat = { ...this.#chat, ...(tools.length > 0 && { tools }) }
    this.#settled = Promise.withResolvers<Settled>()
    const { resolve } = this.#settled
    const asking: Asking = {
      readBody: async (limitBytes) => readAs(chat, limitBytes),
      signal: run.signal,
      settled: (usage, cost) => resolve({ usage, cost }),
    }
    const reply = await this.#ports.gateway.chat(callOf(asking, which))
    if (reply.kind === 'kept') throw new Error('a message was answered with another one')
    return reply
  }

  async #announcement(): Promise<readonly ToolDefinition[]> {
    const { gateway_id, user_id } = this.#session
    if (gateway_id === null) return []
    const looking = this.#ports.tools.of(gateway_id, user_id).catch((thrown: unknown) => {
      const isUnknown = thrown instanceof ApiError && thrown.code === 'resource_not_found'
      throw isUnknown ? gone('gateway') : thrown
    })
    const announced = await within(looking, lookUpMs)
    if (announced) return announced
    const message = 'The gateway of this session is not online.'
    throw new ApiError('gateway_unavailable', { message, retryAfterSeconds: 5 })
  }

  #stepsOf({ stream }: OpenStream, { identity }: StreamReply): ChunkStream {
    const kept = this.#keptOf(stream)
    return this.#session.gateway_id === null ? kept : new StepStream(this, identity, kept)
  }

  #keptOf(stream: ChunkStream): KeptStream {
    return new KeptStream(stream, this.#begun.run, async (answer, isWhole) => {
      await this.keep(answer, isWhole).catch((error: unknown) => {
        this.#lost(error)
        throw error
      })
    })
  }

  async #runTool(call: AskedCall, tell: Tell): Promise<void> {
    const { run } = this.#begun
    const { tools, limits } = this.#ports
    run.goesOn.throwIfAborted()
    const allowed = allowedOf(this.#announced, this.#session)
    const gatewayId = this.#session.gateway_id ?? ''
    this.#spent.calls += 1
    const content = await resultOf(call, { tools, gatewayId, allowed, limits, signal: run.goesOn })
    const result = toToolMessage(call, storable(content))
    const [kept] = await this.#add({ ...nothing, messages: [result] })
    if (kept) this.#uncounted.push({ id: kept.id, content: kept.content ?? '' })
    this.#chat.messages.push(saidToWire(result))
    tell({ tool_call_id: call.id, content: result.content })
  }

  /** A limit is reached: what was asked for is not run, and the message ends with words of ours. */
  async #stop(words: string, calls: readonly AskedCall[], tell: Tell): Promise<void> {
    const results = calls.map((call) => toToolMessage(call, notRun))
    const last: Said = { role: 'assistant', content: words, tokens: 0 }
    await this.#end({ ...nothing, messages: [...results, last] })
    for (const { id } of calls) tell({ tool_call_id: id, content: notRun })
    this.closing = words
  }

  /** Keeps a step, and sees what has become of the session. */
  async #add(outcome: Outcome): Promise<Message[]> {
    const { run } = this.#begun
    const added = await this.#ports.conversations.add(run.turn, outcome)
    if (!added) run.cancel()
    else if (added.session.status !== 'active') run.halt()
    if (added) this.#session = added.session
    this.#kept.push(...(added?.messages ?? []))
    return added?.messages ?? []
  }

  #end(outcome: Outcome): Promise<void> {
    const { run } = this.#begun
    this.#ending ??= this.#ports.conversations
      .end(run.turn, outcome)
      .then((messages = []) => void this.#kept.push(...messages))
      .finally(() => run.done())
    return this.#ending
  }

  readonly #lost = (error: unknown): undefined => {
    this.#ports.onLost(this.#begun.run.turn.runId, error)
    return undefined
  }
}
