import type { Added, HistoryRow, MessageOutcome } from '../../src/automation/conversation'
import { Run } from '../../src/automation/message-runs'
import { NewMessage, type SessionMessage } from '../../src/automation/schema'
import type { SessionRow } from '../../src/automation/session-rows'
import { ToolLoop, type StartedMessage, type ToolLoopPorts } from '../../src/automation/tool-loop'
import type { ToolLimits, GatewayTools } from '../../src/automation/tools'
import type { InboundRequest, Reply } from '../../src/gateway/request'
import type { ChunkStream } from '../../src/wire/chunk-stream'
import { isObject, type JsonObject } from '../../src/wire/json-body'
import { noUsage } from '../../src/wire/usage'

/** A tool call: its name, and the model's arguments. */
export type ScriptedCall = readonly [name: string, text: string]
/** A model's scripted answer: text, or tool calls; or the error that the call of the model rejects with. */
export type ScriptedAnswer = string | readonly ScriptedCall[] | Error

const at = new Date(0)
export const usage = { ...noUsage, input: 10, output: 2 }
/** The cost of each model call, in nano-dollars. */
export const cost = 7n

const aSession: SessionRow = {
  id: 'sess_1',
  user_id: 'user_1',
  name: null,
  session_type: 'automation',
  status: 'active',
  gateway_id: 'gw_1',
  model_id: 'fake/one',
  connection_id: null,
  template_id: null,
  system_prompt: null,
  enabled_tools: null,
  disabled_tools: [],
  message_count: 0,
  input_tokens: 0n,
  output_tokens: 0n,
  cost: 0n,
  summary: null,
  running_id: 'req_1',
  running_until: at,
  last_activity_at: null,
  completed_at: null,
  created_at: at,
  updated_at: at,
}

export const roomy: ToolLimits = {
  rounds: 25,
  calls: 100,
  cost: 1000n,
  callMs: 60_000,
  resultBytes: 65_536,
  plainMs: 60_000,
  streamMs: 60_000,
}

const toolCalls = (calls: readonly ScriptedCall[]) =>
  calls.map(([name, text], index) => ({
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: text },
  }))

/** All chunks of a script, one a read. */
class Scripted implements ChunkStream {
  readonly #chunks: JsonObject[]
  readonly #onEnd: () => void

  constructor(chunks: JsonObject[], onEnd: () => void) {
    this.#chunks = chunks
    this.#onEnd = onEnd
  }

  get isEnded(): boolean {
    return this.#chunks.length === 0
  }

  async read(): Promise<string[] | undefined> {
    const chunk = this.#chunks.shift()
    if (this.isEnded) this.#onEnd()
    return chunk && [JSON.stringify(chunk)]
  }

  cancel(): void {
    this.#onEnd()
  }
}

function deltasOf(answer: string | readonly ScriptedCall[]): JsonObject[] {
  const head = { role: 'assistant', content: '' }
  if (typeof answer === 'string') return [head, { content: answer }]
  const calls = toolCalls(answer).flatMap(
    ({ function: { name, arguments: text }, ...call }, index) => [
      { tool_calls: [{ index, ...call, function: { name, arguments: '' } }] },
      { tool_calls: [{ index, function: { arguments: text } }] },
    ],
  )
  return [head, ...calls]
}

const identity = (number: number) => ({
  id: `chatcmpl-${number}`,
  object: 'chat.completion.chunk' as const,
  created: number,
  model: 'fake/one',
})

interface ReplyOptions {
  number: number
  answer: string | readonly ScriptedCall[]
  call: InboundRequest
}

function streamed({ number, answer, call }: ReplyOptions): Reply {
  const finish = typeof answer === 'string' ? 'stop' : 'tool_calls'
  const choices = [
    ...deltasOf(answer).map((delta) => ({ index: 0, delta, finish_reason: null })),
    { index: 0, delta: {}, finish_reason: finish },
  ]
  const chunks = choices.map((choice) => ({ ...identity(number), choices: [choice] }))
  const settle = () => call.onSettled?.(usage, cost)
  const stream = new Scripted(chunks, settle)
  // As a provider's stream does when its client has disconnected.
  if (call.signal.aborted) settle()
  else call.signal.addEventListener('abort', settle, { once: true })
  const opened = {
    stream,
    provider: 'fake',
    usage: () => usage,
    usageAfter: () => undefined,
    detach: () => ({ rest: undefined, isFree: false, [Symbol.dispose]: () => undefined }),
  }
  return { kind: 'stream', identity: identity(number), opening: Promise.resolve(opened) }
}

function completeAnswer({ answer, call }: ReplyOptions): Reply {
  const message =
    typeof answer === 'string'
      ? { content: answer }
      : { content: null, tool_calls: toolCalls(answer) }
  const finish_reason = typeof answer === 'string' ? 'stop' : 'tool_calls'
  call.onSettled?.(usage, cost)
  return { kind: 'full', body: { choices: [{ message, finish_reason }] }, usage, provider: 'fake' }
}

interface LoopOptions {
  answers: readonly ScriptedAnswer[]
  message?: Partial<NewMessage>
  session?: Partial<SessionRow>
  history?: HistoryRow[]
  tools?: Partial<GatewayTools>
  limits?: Partial<ToolLimits>
  /** The session's state when the given step is stored, counted from 1; undefined where it was deleted. */
  sessionAt?: (step: number) => Partial<SessionRow> | undefined
}

/** Creates a tool loop with a scripted model, tools named `echo` and `fail`, and a store in memory. */
export function createTestLoop(options: LoopOptions) {
  const { answers, message = {}, limits, tools } = options
  const caller = new AbortController()
  let isDone = false
  const run = new Run(
    { runId: 'req_1', sessionId: 'sess_1', userId: 'user_1' },
    caller.signal,
    () => {
      isDone = true
    },
  )
  const session = { ...aSession, ...options.session }
  /** The bodies that the model received. */
  const requests: JsonObject[] = []
  /** The tools that ran. */
  const ran: string[] = []
  const store = inMemory(session, options.sessionAt ?? (() => ({})))
  const ports: ToolLoopPorts = {
    gateway: {
      chat: async (call) => {
        const { body } = await call.readBody(32 * 1024 * 1024, 'user_1')
        const answer = answers[requests.push(structuredClone(body)) - 1] ?? 'No more.'
        if (answer instanceof Error) throw answer
        const all = { number: requests.length, answer, call }
        return body['stream'] === true ? streamed(all) : completeAnswer(all)
      },
    },
    conversations: store,
    tools: {
      of: async () =>
        ['echo', 'fail'].map((name) => ({ name, description: '', parameters: { type: 'object' } })),
      call: async (_gatewayId, { name, arguments: args }) => {
        ran.push(name)
        return { content: JSON.stringify(args), isError: name === 'fail' }
      },
      ...tools,
    },
    limits: { ...roomy, ...limits },
    onLost: (_requestId, error) => {
      throw error
    },
  }
  const begun: StartedMessage = {
    run,
    session,
    message: NewMessage.parse({ content: 'Do it.', ...message }),
    history: async () => options.history ?? [],
    callOf: (caller) => ({ ...stub, ...caller }),
  }
  const talk = new ToolLoop(begun, ports)
  return { talk, run, caller, requests, ran, ...store, isDone: () => isDone }
}

const stub = {
  requestId: 'req_1',
  hops: 0,
  endpoint: '',
  userAgent: '',
  authorization: null,
  address: () => '',
  reportQuota: () => undefined,
}

function inMemory(
  session: SessionRow,
  sessionAt: (step: number) => Partial<SessionRow> | undefined,
) {
  const stored: SessionMessage[] = []
  const outcomes: MessageOutcome[] = []
  let steps = 0
  const keep = (outcome: MessageOutcome): SessionMessage[] => {
    outcomes.push(outcome)
    const messages = outcome.messages.map(
      ({ role, content, toolCalls = null, toolCallId = null, tokens }, index): SessionMessage => ({
        id: `msg_${stored.length + index}`,
        role,
        content,
        tool_calls: toolCalls,
        tool_call_id: toolCallId,
        tokens,
        createdAt: at.toISOString(),
      }),
    )
    stored.push(...messages)
    return messages
  }
  return {
    stored,
    outcomes,
    add: async (_lease: object, outcome: MessageOutcome): Promise<Added | undefined> => {
      steps += 1
      const changes = sessionAt(steps)
      return changes && { messages: keep(outcome), session: { ...session, ...changes } }
    },
    end: async (_lease: object, outcome: MessageOutcome) => keep(outcome),
  }
}

/** Runs a plain message to its end; returns its answer or its error. */
export async function runPlain({ talk }: ReturnType<typeof createTestLoop>) {
  try {
    const reply = await talk.begin()
    if (reply.kind !== 'full') throw new Error('no plain answer')
    return await talk.runToEnd(reply)
  } catch (thrown) {
    throw await talk.failed(thrown)
  }
}

/** Runs a streamed message; returns its chunks, and the error that ended it early. */
export async function runStreamed({ talk }: ReturnType<typeof createTestLoop>) {
  const chunks: JsonObject[] = []
  try {
    const reply = await talk.begin()
    if (reply.kind !== 'stream') throw new Error('no stream')
    const { stream } = await talk.stream(reply).opening
    for (
      let read = await stream.read();
      read;
      read = stream.isEnded ? undefined : await stream.read()
    ) {
      chunks.push(...read.map((text): JsonObject => JSON.parse(text)))
    }
    return { chunks, error: undefined, stream }
  } catch (error) {
    return { chunks, error, stream: undefined }
  }
}

/** Lists messages as `role: content`. */
export const textOf = (messages: readonly { role: string; content: string | null }[]) =>
  messages.map(({ role, content }) => `${role}: ${content}`)

/** Lists the messages that a model received. */
export const sentIn = (body: JsonObject | undefined) =>
  (Array.isArray(body?.['messages']) ? body['messages'].filter(isObject) : []).map(
    ({ role, content }) => `${String(role)}: ${String(content)}`,
  )
