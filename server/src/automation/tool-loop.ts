import type { ConversationStore, HistoryRow, MessageOutcome, NewMessageText } from './conversation'
import { toChat, toExchange, toMessageOutcome, readAs, saidToWire } from './exchange'
import { sessionDependencyMissing, isSessionDependencyMissing } from './session-dependency-missing'
import { KeptStream } from './recorded-stream'
import { markNonRetryable } from './mark-non-retryable'
import type { Run } from './message-runs'
import type { SessionMessage, NewMessage } from './schema'
import type { SessionRow } from './session-rows'
import { StepStream, type Steps, type Tell } from './step-stream'
import { boundReached, notRun } from './tool-bounds'
import { callsIn, runToolCall, type AskedCall, toToolMessage } from './tool-run'
import type { GatewayTools, ToolDefinition, ToolLimits } from './tools'
import { filterAllowedTools, toChatTools } from './tools'
import { withTimeout } from '../platform/with-timeout'
import { storable } from '../platform/db/storable'
import { ApiError } from '../errors'
import type { Gateway } from '../gateway/gateway'
import type { InboundRequest, OpenStream, Reply, StreamReply, WholeReply } from '../gateway/request'
import type { ChunkStream } from '../wire/chunk-stream'
import { isObject, type JsonObject } from '../wire/json-body'
import { addUsage, noUsage, toUsageBlock, type Usage } from '../wire/usage'

export interface ToolLoopPorts {
  gateway: Pick<Gateway, 'chat'>
  conversations: Pick<ConversationStore, 'add' | 'end'>
  tools: GatewayTools
  limits: ToolLimits
  /** Reports messages that could not be stored, once no client waits for an answer. */
  onLost: (requestId: string, error: unknown) => void
}

/** The part of a request that differs for each model call of a loop. */
type Asking = Pick<InboundRequest, 'readBody' | 'signal' | 'settled'>

/** A message that holds its session's turn. */
export interface StartedMessage {
  run: Run
  session: SessionRow
  message: NewMessage
  history: () => Promise<readonly HistoryRow[]>
  /** Builds a model call: the first of the message, which has its request id, or a further one. */
  callOf: (asking: Asking, which: 'first' | 'further') => InboundRequest
}

interface Settled {
  usage: Usage | undefined
  cost: bigint
}

const nothing: MessageOutcome = { messages: [], inputTokens: 0, outputTokens: 0, cost: 0n }
/** The timeout for reading a gateway's announced tools. */
const lookUpMs = 5000

/**
 * Runs one message from its first model call to its end: the model calls tools, the session's gateway runs them, the
 * model receives the results, until it calls none or a limit is reached. Each step is stored as it ends. The loop ends
 * once, for the first reason that occurs.
 */
export class ToolLoop implements Steps {
  readonly #begun: StartedMessage
  readonly #ports: ToolLoopPorts
  readonly #startedAtMs = performance.now()
  readonly #kept: SessionMessage[] = []
  /** As of the last step: its owner may change it meanwhile. */
  #session: SessionRow
  #chat: JsonObject & { messages: JsonObject[] } = { messages: [] }
  #announced: readonly ToolDefinition[] = []
  #settled = Promise.withResolvers<Settled>()
  /** Tool calls of the model without a result so far. */
  #asked: readonly AskedCall[] = []
  /** Stored results whose token counts are unknown. */
  #uncounted: { id: string; content: string }[] = []
  #spent = { rounds: 0, calls: 0, cost: 0n }
  #usage: Usage = noUsage
  #ending: Promise<void> | undefined

  constructor(begun: StartedMessage, ports: ToolLoopPorts) {
    this.#begun = begun
    this.#ports = ports
    this.#session = begun.session
  }

  /** Calls the model for the first time. Rejects as a chat does, and where the gateway is not online. */
  async begin(): Promise<Reply> {
    const { session, message, history } = this.#begun
    this.#chat = toChat(session, await history(), message)
    return this.#ask('first')
  }

  /** Returns the answer to a message that does not stream. */
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
    return toExchange(this.#kept, this.#spent.rounds === 0 ? own : toUsageBlock(this.#usage))
  }

  stream(reply: StreamReply): StreamReply {
    const opening = reply.opening.then(
      (opened): OpenStream => ({ ...opened, stream: this.#stepsOf(opened, reply) }),
      async (thrown: unknown) => {
        throw await this.failed(thrown)
      },
    )
    // The caller that awaits it handles the rejection.
    opening.catch(() => undefined)
    return { ...reply, opening }
  }

  /** Starts the stream of the model call that follows the tool results. */
  async streamAgain(): Promise<ChunkStream> {
    const reply = await this.#askAgain()
    if (reply.kind !== 'stream') throw new Error('a stream was answered whole')
    const { stream } = await reply.opening
    return this.#keptOf(stream)
  }

  /** Whether the message is over, apart from what is still being stored. */
  get isOver(): boolean {
    return this.#ending !== undefined
  }

  /** The text at the end that the model did not write. */
  closing: string | undefined

  /**
   * Stores the model's answer, or as much of it as arrived: a broken answer runs no tools. Usage is known once the
   * call is settled.
   */
  async keep(answer: JsonObject, isWhole = true): Promise<void> {
    const { usage, cost } = await this.#settled.promise
    this.#spent.cost += cost
    if (usage) this.#usage = addUsage(this.#usage, usage)
    const message = this.#kept.length === 0 ? this.#begun.message : undefined
    const uncounted = this.#uncounted
    const outcome = toMessageOutcome({ chat: this.#chat, message, uncounted, answer, usage, cost })
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
   * Runs the model's tool calls one after the other, and sends each result once it is stored. At a limit the rest is
   * not run, and the message is over. Rejects where the gateway is lost, and where the message must not continue.
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

  /** Ends the message without a further answer. Resolves with the error to report. */
  async failed(thrown: unknown, as: 'streamed' | 'plain' = 'plain'): Promise<unknown> {
    const { run } = this.#begun
    await this.#end({ ...nothing, hasFailed: isSessionDependencyMissing(thrown) }).catch(this.#lost)
    const told = run.told(thrown, as)
    return this.#spent.rounds > 0 ? markNonRetryable(told) : told
  }

  /** Ends the message as its reader left between two answers of the model. */
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
    const tools = toChatTools(filterAllowedTools(this.#announced, this.#session))
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
      throw isUnknown ? sessionDependencyMissing('gateway') : thrown
    })
    const announced = await withTimeout(looking, lookUpMs)
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
    const allowed = filterAllowedTools(this.#announced, this.#session)
    const gatewayId = this.#session.gateway_id ?? ''
    this.#spent.calls += 1
    const content = await runToolCall(call, {
      tools,
      gatewayId,
      allowed,
      limits,
      signal: run.goesOn,
    })
    const result = toToolMessage(call, storable(content))
    const [kept] = await this.#add({ ...nothing, messages: [result] })
    if (kept) this.#uncounted.push({ id: kept.id, content: kept.content ?? '' })
    this.#chat.messages.push(saidToWire(result))
    tell({ tool_call_id: call.id, content: result.content })
  }

  /** Ends the message at a limit: its tool calls are not run, and Tollgate adds the closing text. */
  async #stop(words: string, calls: readonly AskedCall[], tell: Tell): Promise<void> {
    const results = calls.map((call) => toToolMessage(call, notRun))
    const last: NewMessageText = { role: 'assistant', content: words, tokens: 0 }
    await this.#end({ ...nothing, messages: [...results, last] })
    for (const { id } of calls) tell({ tool_call_id: id, content: notRun })
    this.closing = words
  }

  /** Stores a step and reads the session's new state. */
  async #add(outcome: MessageOutcome): Promise<SessionMessage[]> {
    const { run } = this.#begun
    const added = await this.#ports.conversations.add(run.turn, outcome)
    if (!added) run.cancel()
    else if (added.session.status !== 'active') run.halt()
    if (added) this.#session = added.session
    this.#kept.push(...(added?.messages ?? []))
    return added?.messages ?? []
  }

  #end(outcome: MessageOutcome): Promise<void> {
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
