import type { ConversationStore, HistoryRow, MessageOutcome, NewMessageText } from './conversation'
import { toChat, toExchange, toMessageOutcome, readAs, toWireMessage } from './exchange'
import { sessionDependencyMissing, isSessionDependencyMissing } from './session-dependency-missing'
import { RecordedStream } from './recorded-stream'
import { markNonRetryable } from './mark-non-retryable'
import type { Run } from './message-runs'
import type { SessionMessage, NewMessage } from './schema'
import type { SessionRow } from './session-rows'
import { StepStream, type Steps, type OnToolResult } from './step-stream'
import { formatReachedLimit, notRun } from './tool-bounds'
import { callsIn, runToolCall, type RequestedCall, toToolMessage } from './tool-run'
import { filterAllowedTools, toChatTools, type GatewayTools, type ToolLimits } from './tools'
import { withTimeout } from '../platform/with-timeout'
import type { AnnouncedTool } from '../platform/db/gateway-schema'
import { storable } from '../platform/db/storable'
import { ApiError } from '../errors'
import type { Gateway } from '../gateway/gateway'
import type { InboundRequest, OpenStream, Reply, StreamReply, FullReply } from '../gateway/request'
import type { ChunkStream } from '../wire/chunk-stream'
import { isObject, type JsonObject } from '../wire/json-body'
import { addUsage } from '../wire/add-usage'
import { noUsage, toUsageBlock, type Usage } from '../wire/usage'

export interface ToolLoopPorts {
  gateway: Pick<Gateway, 'chat'>
  conversations: Pick<ConversationStore, 'add' | 'end'>
  tools: GatewayTools
  limits: ToolLimits
  /** Reports messages that could not be stored, once no client waits for an answer. */
  onLost: (requestId: string, error: unknown) => void
}

/** The part of a request that differs for each model call of a loop. */
type ToolCaller = Pick<InboundRequest, 'readBody' | 'signal' | 'onSettled'>

/** A message that holds its session's turn. */
export interface StartedMessage {
  run: Run
  session: SessionRow
  message: NewMessage
  history: () => Promise<readonly HistoryRow[]>
  /** Builds a model call: the first of the message, which has its request id, or a further one. */
  callOf: (caller: ToolCaller, which: 'first' | 'further') => InboundRequest
}

interface Settled {
  usage: Usage | undefined
  cost: bigint
}

const noOutcome: MessageOutcome = { messages: [], inputTokens: 0, outputTokens: 0, cost: 0n }
/** The timeout for reading a gateway's announced tools. */
const lookUpMs = 5000

/**
 * Runs one message: the model calls tools, the session's gateway runs them, the model receives the results, until it
 * calls none or a limit is reached. Each step is stored as it ends. The loop ends once, for the first reason.
 */
export class ToolLoop implements Steps {
  readonly #begun: StartedMessage
  readonly #ports: ToolLoopPorts
  readonly #startedAtMs = performance.now()
  readonly #storedMessages: SessionMessage[] = []
  /** As of the last step: its owner may change it meanwhile. */
  #session: SessionRow
  #chat: JsonObject & { messages: JsonObject[] } = { messages: [] }
  #availableTools: readonly AnnouncedTool[] = []
  #settled = Promise.withResolvers<Settled>()
  /** Tool calls of the model without a result so far. */
  #pendingCalls: readonly RequestedCall[] = []
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
    return this.#requestAnswer('first')
  }

  /** Returns the answer to a message that does not stream. */
  async runToEnd(first: FullReply) {
    let body: JsonObject = { ...first.body }
    for (;;) {
      await this.storeAnswer(body)
      if (!this.isOver) await this.runTools(() => undefined)
      if (this.isOver) break
      const reply = await this.#requestNext()
      if (reply.kind !== 'full') throw new Error('a message was answered with a stream')
      body = { ...reply.body }
    }
    await this.#ending
    const usageBlock = isObject(body['usage']) ? body['usage'] : {}
    return toExchange(
      this.#storedMessages,
      this.#spent.rounds === 0 ? usageBlock : toUsageBlock(this.#usage),
    )
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
  async streamNext(): Promise<ChunkStream> {
    const reply = await this.#requestNext()
    if (reply.kind !== 'stream') throw new Error('a stream was answered whole')
    const { stream } = await reply.opening
    return this.#record(stream)
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
  async storeAnswer(answer: JsonObject, isComplete = true): Promise<void> {
    const { usage, cost } = await this.#settled.promise
    this.#spent.cost += cost
    if (usage) this.#usage = addUsage(this.#usage, usage)
    const message = this.#storedMessages.length === 0 ? this.#begun.message : undefined
    const uncounted = this.#uncounted
    const outcome = toMessageOutcome({ chat: this.#chat, message, uncounted, answer, usage, cost })
    this.#uncounted = []
    const lastMessage = outcome.messages.at(-1)
    const calls = lastMessage?.toolCalls ?? []
    const canContinue = this.#session.gateway_id !== null && !this.#begun.run.signal.aborted
    const shouldContinue = isComplete && canContinue
    if (!lastMessage || calls.length === 0 || !shouldContinue) return this.#end(outcome)
    await this.#add(outcome)
    this.#chat.messages.push(toWireMessage(lastMessage))
    this.#pendingCalls = callsIn(calls)
  }

  /**
   * Runs the model's tool calls one after the other, and sends each result once it is stored. At a limit the rest is
   * not run, and the message is over. Rejects where the gateway is lost, and where the message must not continue.
   */
  async runTools(onResult: OnToolResult): Promise<void> {
    const { run } = this.#begun
    const { limits } = this.#ports
    run.endIn(this.#limitMs() - (performance.now() - this.#startedAtMs))
    const ofAll = formatReachedLimit(this.#spent, limits, 'rounds')
    if (ofAll) return this.#stop(ofAll, this.#pendingCalls, onResult)
    this.#spent.rounds += 1
    for (const [index, call] of this.#pendingCalls.entries()) {
      const ofCalls = formatReachedLimit(this.#spent, limits, 'calls')
      if (ofCalls) return this.#stop(ofCalls, this.#pendingCalls.slice(index), onResult)
      await this.#runTool(call, onResult)
    }
  }

  /** Ends the message without a further answer. Resolves with the error to report. */
  async failed(thrown: unknown, as: 'streamed' | 'plain' = 'plain'): Promise<unknown> {
    const { run } = this.#begun
    await this.#end({ ...noOutcome, hasFailed: isSessionDependencyMissing(thrown) }).catch(
      this.#lost,
    )
    const callerError = run.callerError(thrown, as)
    return this.#spent.rounds > 0 ? markNonRetryable(callerError) : callerError
  }

  /** Ends the message as its reader left between two answers of the model. */
  onClientDisconnect(): void {
    this.#begun.run.onClientDisconnect()
  }

  #limitMs(): number {
    const { limits } = this.#ports
    return this.#begun.message.stream ? limits.streamMs : limits.plainMs
  }

  async #requestNext(): Promise<Reply> {
    this.#begun.run.haltSignal.throwIfAborted()
    return this.#requestAnswer('further')
  }

  async #requestAnswer(which: 'first' | 'further'): Promise<Reply> {
    const { run, callOf } = this.#begun
    this.#availableTools = await this.#announcement()
    const tools = toChatTools(filterAllowedTools(this.#availableTools, this.#session))
    const chat = { ...this.#chat, ...(tools.length > 0 && { tools }) }
    this.#settled = Promise.withResolvers<Settled>()
    const { resolve } = this.#settled
    const caller: ToolCaller = {
      readBody: async (limitBytes) => readAs(chat, limitBytes),
      signal: run.signal,
      onSettled: (usage, cost) => resolve({ usage, cost }),
    }
    const reply = await this.#ports.gateway.chat(callOf(caller, which))
    if (reply.kind === 'recorded') throw new Error('a message was answered with another one')
    return reply
  }

  async #announcement(): Promise<readonly AnnouncedTool[]> {
    const { gateway_id, user_id } = this.#session
    if (gateway_id === null) return []
    const looking = this.#ports.tools.of(gateway_id, user_id).catch((thrown: unknown) => {
      const isUnknown = thrown instanceof ApiError && thrown.code === 'resource_not_found'
      throw isUnknown ? sessionDependencyMissing('gateway') : thrown
    })
    const availableTools = await withTimeout(looking, lookUpMs)
    if (availableTools) return availableTools
    const message = 'The gateway of this session is not online.'
    throw new ApiError('gateway_unavailable', { message, retryAfterSeconds: 5 })
  }

  #stepsOf({ stream }: OpenStream, { identity }: StreamReply): ChunkStream {
    const stored = this.#record(stream)
    return this.#session.gateway_id === null ? stored : new StepStream(this, identity, stored)
  }

  #record(stream: ChunkStream): RecordedStream {
    return new RecordedStream(stream, this.#begun.run, async (answer, isComplete) => {
      await this.storeAnswer(answer, isComplete).catch((error: unknown) => {
        this.#lost(error)
        throw error
      })
    })
  }

  async #runTool(call: RequestedCall, onResult: OnToolResult): Promise<void> {
    const { run } = this.#begun
    const { tools, limits } = this.#ports
    run.haltSignal.throwIfAborted()
    const allowed = filterAllowedTools(this.#availableTools, this.#session)
    const gatewayId = this.#session.gateway_id ?? ''
    this.#spent.calls += 1
    const content = await runToolCall(call, {
      tools,
      gatewayId,
      allowed,
      limits,
      signal: run.haltSignal,
    })
    const result = toToolMessage(call, storable(content))
    const [stored] = await this.#add({ ...noOutcome, messages: [result] })
    if (stored) this.#uncounted.push({ id: stored.id, content: stored.content ?? '' })
    this.#chat.messages.push(toWireMessage(result))
    onResult({ tool_call_id: call.id, content: result.content })
  }

  /** Ends the message at a limit: its tool calls are not run, and Tollgate adds the closing text. */
  async #stop(reason: string, calls: readonly RequestedCall[], onResult: OnToolResult) {
    const results = calls.map((call) => toToolMessage(call, notRun))
    const last: NewMessageText = { role: 'assistant', content: reason, tokens: 0 }
    await this.#end({ ...noOutcome, messages: [...results, last] })
    for (const { id } of calls) onResult({ tool_call_id: id, content: notRun })
    this.closing = reason
  }

  /** Stores a step and reads the session's new state. */
  async #add(outcome: MessageOutcome): Promise<SessionMessage[]> {
    const { run } = this.#begun
    const added = await this.#ports.conversations.add(run.turn, outcome)
    if (!added) run.cancel()
    else if (added.session.status !== 'active') run.halt()
    if (added) this.#session = added.session
    this.#storedMessages.push(...(added?.messages ?? []))
    return added?.messages ?? []
  }

  #end(outcome: MessageOutcome): Promise<void> {
    const { run } = this.#begun
    this.#ending ??= this.#ports.conversations
      .end(run.turn, outcome)
      .then((messages = []) => void this.#storedMessages.push(...messages))
      .finally(() => run.finish())
    return this.#ending
  }

  readonly #lost = (error: unknown): undefined => {
    this.#ports.onLost(this.#begun.run.turn.runId, error)
    return undefined
  }
}
