import type { Adapter, AdapterTarget, UpstreamRequest } from '../../src/providers/adapter'
import { anthropic } from '../../src/providers/anthropic'
import { bedrock } from '../../src/providers/bedrock'
import { cohere } from '../../src/providers/cohere'
import { choiceOf, jsonOf, completeOf } from './chunks'
import { requestFeatures, type RequestFeature } from './features'
import { historyFeatures } from './history-features'
import { answerFeatures, type AnswerFeature } from './answer-features'
import { voices } from './voices'
import type { Voice } from './voiced-answer'
import { google } from '../../src/providers/google'
import { ChatStream } from '../../src/providers/openai/chat-stream'
import type { RelayRequest } from '../../src/providers/openai/relayed-stream'
import {
  findFieldsOmittedByRelay,
  readOutputLimit,
  toUpstreamChat,
} from '../../src/providers/openai/request'
import { RelayOptions } from '../../src/providers/provider'
import { responses } from '../../src/providers/responses'
import { TranslatedStream } from '../../src/providers/translated-stream'
import { ApiError } from '../../src/errors'
import { isObject, type JsonObject } from '../../src/wire/json-body'
import { toPlainChat } from '../../src/wire/plain-chat'
import { withThoughtFields } from '../../src/wire/thinking-parts'
import { noUsage } from '../../src/wire/usage'

/** The outcome of a feature in a dialect: it arrives, is refused with 400, or is left out. */
type Result = 'yes' | 'refused' | 'left out' | '–'

export interface ConformanceDialect {
  name: string
  /** Undefined for a dialect that is relayed. */
  adapter?: Adapter
  /** The options of its relay; those of OpenAI where absent. */
  options?: RelayOptions
  upstreamModel: string
  voice: Voice
}

export const tableDialects: readonly ConformanceDialect[] = [
  { name: 'OpenAI, relayed', upstreamModel: 'gpt-4.1', voice: voices.openai },
  { name: 'Responses', adapter: responses, upstreamModel: 'gpt-6-astra', voice: voices.responses },
  {
    name: 'Anthropic',
    adapter: anthropic,
    upstreamModel: 'claude-sonnet-4-6',
    voice: voices.anthropic,
  },
  { name: 'Google', adapter: google, upstreamModel: 'gemini-3.5-flash', voice: voices.google },
  {
    name: 'Bedrock',
    adapter: bedrock,
    upstreamModel: 'us.anthropic.claude-sonnet-4-6',
    voice: voices.bedrock,
  },
  {
    name: 'Cohere',
    adapter: cohere,
    upstreamModel: 'command-a-reasoning-08-2025',
    voice: voices.cohere,
  },
]

const options = RelayOptions.parse({})
const source = {
  provider: 'acme',
  secret: null,
  textField: 'messages',
  wasSent: () => true,
  contextLength: null,
  maxOutputTokens: null,
} as const
const relay = (): RelayRequest => ({
  identity: { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'a/b' },
  source,
  options,
  wantsUsage: true,
  legacyFunctions: false,
  newCallId: () => 'call_x',
  // Above the thoughts of all voices, below a count that one of them claims.
  hiddenTokens: () => 1000,
  estimate: ({ words }) => ({ ...noUsage, output: words, estimated: true }),
})

/** Returns a chat request as a dialect writes it, and the fields that it leaves out. */
export function writtenFor(
  { adapter, upstreamModel, options: own = options }: Omit<ConformanceDialect, 'voice'>,
  chat: JsonObject,
): Pick<UpstreamRequest, 'body' | 'omitted'> {
  if (!adapter) {
    const relayed = { upstreamModel, options: own, isReasoning: true }
    return { body: toUpstreamChat(chat, relayed), omitted: findFieldsOmittedByRelay(chat, relayed) }
  }
  const capabilities = { reasoning: true, tools: true, vision: true, jsonSchema: true }
  const limit = readOutputLimit(chat)?.limit ?? 1000
  const plain = toPlainChat(chat)
  // The data fetched for a provider that does not fetch: base64 of its name.
  const fetched = { mimeType: 'image/png', base64: btoa('mark.png') }
  const media = new Map(adapter.addresses?.(plain).map((url) => [url, fetched]))
  const target: AdapterTarget = { upstreamModel, maxTokens: limit, capabilities, media }
  return adapter.request(plain, target)
}

const sent = (dialect: ConformanceDialect, chat: JsonObject): JsonObject =>
  writtenFor(dialect, chat).body

/** Returns the outcome of a feature on its way to the provider. Throws any error that is no refusal. */
export function requestResult(dialect: ConformanceDialect, feature: RequestFeature): Result {
  const { chat, mark: ofAll, marks = {} } = feature
  const mark = marks[dialect.name] ?? ofAll
  const plain = { model: 'a/b', messages: [{ role: 'user', content: 'Hello' }] }
  const without = JSON.stringify(sent(dialect, plain))
  try {
    const written = JSON.stringify(sent(dialect, withThoughtFields({ ...plain, ...chat })))
    const isThere = mark.test(written) && (written !== without || 'tool_choice' in chat)
    return isThere ? 'yes' : 'left out'
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.code === 'invalid_request') return 'refused'
    throw thrown
  }
}

/** Returns the answer that a caller receives, in the order in which its events arrive. */
function receivedAnswer(
  { adapter, voice }: ConformanceDialect,
  { answer, isUnmarked }: AnswerFeature,
) {
  const request = relay()
  const stream = adapter
    ? new TranslatedStream(adapter.reader(source), request)
    : new ChatStream(request)
  const events = voice(answer).filter(({ type }) => !isUnmarked || type !== 'message_stop')
  const chunks = events.flatMap((event) => stream.next(JSON.stringify(event)))
  chunks.push(...stream.end(!isUnmarked))
  const deltas = chunks.map(jsonOf).filter((chunk) => choiceOf(chunk)['delta'])
  return { choice: completeOf(deltas, request), usage: stream.usage() }
}

/** Returns whether the caller receives the provider's content. */
export function answerResult(dialect: ConformanceDialect, feature: AnswerFeature): Result {
  let got: ReturnType<typeof receivedAnswer>
  try {
    got = receivedAnswer(dialect, feature)
  } catch (thrown) {
    if (feature.fails && thrown instanceof ApiError) return 'yes'
    throw thrown
  }
  if (feature.fails) return '–'
  const { message, finish_reason: finish } = got.choice
  const agrees =
    holds(message, feature.message ?? {}) &&
    holds(got.usage, feature.usage ?? {}) &&
    (feature.finish === undefined || feature.finish === finish)
  return agrees ? 'yes' : '–'
}

/** Whether all of `expected` is in `value`. */
function holds(value: unknown, expected: unknown): boolean {
  if (Array.isArray(expected)) {
    return Array.isArray(value) && expected.every((item, at) => holds(value[at], item))
  }
  if (!isObject(expected)) return Object.is(value, expected)
  return (
    isObject(value) && Object.entries(expected).every(([name, item]) => holds(value[name], item))
  )
}

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

/** The table of docs/operate/providers.md, made by testing every feature in every dialect. */
export function conformanceTable(): string {
  const names = tableDialects.map(({ name }) => name)
  const ofRequests = [...requestFeatures, ...historyFeatures].map((feature) => [
    feature.name,
    ...tableDialects.map((dialect) => requestResult(dialect, feature)),
  ])
  const answered = answerFeatures.map((feature) => [
    feature.name,
    ...tableDialects.map((dialect) => answerResult(dialect, feature)),
  ])
  const table = (title: string, rows: readonly (readonly string[])[]) =>
    [row([title, ...names]), row([title, ...names].map(() => '---')), ...rows.map(row)].join('\n')
  return `${table('A request’s', ofRequests)}\n\n${table('An answer’s', answered)}`
}
