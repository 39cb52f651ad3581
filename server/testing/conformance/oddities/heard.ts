import type { Expected, Oddity, Said } from './oddity'
import type { Dialect, Spoken } from './spoken'
import { choiceOf, completeOf, expectGoodChunks, jsonOf } from '../chunks'
import { createEventFrame, exceptionFrame } from '../../providers/bedrock-samples'
import { ApiError } from '../../../src/errors'
import type { Adapter } from '../../../src/providers/adapter'
import { anthropic } from '../../../src/providers/anthropic'
import { bedrock } from '../../../src/providers/bedrock'
import { cohere } from '../../../src/providers/cohere'
import { google } from '../../../src/providers/google'
import { ChatStream } from '../../../src/providers/openai/chat-stream'
import type { RelayedStream, RelayRequest } from '../../../src/providers/openai/relayed-stream'
import { relayChat } from '../../../src/providers/openai/whole-answer'
import { toWholeChunk } from '../../../src/providers/openai/whole-chunk'
import { RelayOptions } from '../../../src/providers/provider'
import { responses } from '../../../src/providers/responses'
import { truncatedAnswer } from '../../../src/providers/upstream-error'
import { TranslatedStream } from '../../../src/providers/translated-stream'
import { chooseCutter, cutterOf } from '../../../src/upstream/framing'
import { isObject, type JsonObject, toObjects, toText } from '../../../src/wire/json-body'
import { frame } from '../../../src/wire/sse'
import { noUsage, type Usage } from '../../../src/wire/usage'

const adapters: Record<Exclude<Dialect, 'openai'>, Adapter> = {
  responses,
  anthropic,
  google,
  bedrock,
  cohere,
}

const source = {
  provider: 'acme',
  secret: null,
  textField: 'messages',
  wasSent: () => true,
  contextLength: null,
  maxOutputTokens: null,
} as const

function relay(): RelayRequest {
  let calls = 0
  return {
    identity: { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'a/b' },
    source,
    options: RelayOptions.parse({}),
    wantsUsage: true,
    legacyFunctions: false,
    newCallId: () => `new_${(calls += 1)}`,
    hiddenTokens: () => 1000,
    estimate: ({ words }) => ({ ...noUsage, input: 7, output: words, estimated: true }),
  }
}

const toError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error('No error was thrown.')

/** The answer that the caller hears. */
interface Heard {
  choice: JsonObject
  /** The chunks of a stream, as they were sent. */
  sent?: readonly string[]
  usage: Usage | undefined
  error?: Error
  /** Whether there was output before the error. */
  hadOutput: boolean
}

const exception = (event: JsonObject) => isObject(event['exception']) && event['exception']

/** The bytes of a stream. */
function bytesOf(dialect: Dialect, events: Spoken, between: string): Buffer {
  if (dialect !== 'bedrock') {
    const texts = events.map((event) => (typeof event === 'string' ? event : JSON.stringify(event)))
    return Buffer.from(texts.map((text) => between + frame(text)).join(''))
  }
  const frames = events.filter(isObject).map((event) => {
    const thrown = exception(event)
    if (!thrown) return createEventFrame(JSON.stringify(event))
    return exceptionFrame(toText(thrown['type']), toText(thrown['message']))
  })
  return Buffer.concat(frames)
}

const labels = { sse: 'text/event-stream', aws: 'application/vnd.amazon.eventstream' } as const

/** Reads bytes as `UpstreamStream` does, which goes by the first of them and not by their label. */
function read(dialect: Dialect, bytes: Buffer, label: string | undefined): Heard {
  const adapter = dialect === 'openai' ? undefined : adapters[dialect]
  const request = relay()
  const stream: RelayedStream = adapter
    ? new TranslatedStream(adapter.reader(source), request)
    : new ChatStream(request)
  const framing = adapter?.framing ?? 'sse'
  const toEvents = adapter ? adapter.events : toWholeChunk
  const protocol = { framing, source, ...(toEvents && { toEvents }) }
  const requested = cutterOf({ framing })
  const chunks: string[] = []
  let isDone = false
  let hadOutput = false
  const take = (events: readonly string[]) => {
    for (const data of events) {
      if (isDone || stream.isOver) return
      if (data === '[DONE]') isDone = true
      else chunks.push(...stream.next(data))
      hadOutput ||= stream.hasOutput
    }
  }
  try {
    const type = label ?? labels[framing]
    const cutter = chooseCutter(bytes, { protocol, type, requested }) ?? requested
    take(cutter.push(bytes))
    take(cutter.end())
    // Else an answer whose connection stays open would wait for its end.
    const isKnown = isDone || stream.isOver === true || stream.isFinished === true
    if (stream.hasOutput && !isKnown) throw truncatedAnswer(source)
    chunks.push(...stream.end(isDone))
    const events = chunks.map(jsonOf)
    expectGoodChunks(events)
    const collected = events.filter((chunk) => choiceOf(chunk)['delta'])
    const choice = completeOf(collected, request)
    return { choice, sent: chunks, usage: stream.usage(), hadOutput }
  } catch (thrown) {
    return { choice: {}, usage: stream.usage(), error: toError(thrown), hadOutput }
  }
}

function relayWhole(answer: JsonObject): Heard {
  try {
    const { body, usage } = relayChat(answer, relay())
    return { choice: choiceOf(body), usage, hadOutput: true }
  } catch (thrown) {
    return { choice: {}, usage: undefined, error: toError(thrown), hadOutput: false }
  }
}

/** Whether all of `expected` is in `value`. */
const holds = (value: unknown, expected: object): boolean =>
  Object.entries(expected).every(([name, each]) =>
    Object.is(
      isObject(value) || value instanceof Error ? Reflect.get(value, name) : undefined,
      each,
    ),
  )

function failureIn({ error, hadOutput }: Heard, fails: NonNullable<Expected['fails']>): string[] {
  const { isEarly = false, ...fields } = fails
  if (!(error instanceof ApiError)) return [`no error, but ${error?.message ?? 'an answer'}`]
  if (isEarly && hadOutput) return ['output before the error']
  if (holds(error, fields)) return []
  return [`the error ${error.code} ${error.status}, to be retried: ${error.retryable}`]
}

/** The names and arguments of calls, if their ids are unique. */
function callsIn(message: JsonObject): unknown {
  const calls = toObjects(message['tool_calls'])
  const ids = new Set(calls.map(({ id }) => toText(id)))
  if (ids.size < calls.length || ids.has('')) return `ids ${[...ids].join(', ')}`
  return calls.map(({ function: called }) =>
    isObject(called) ? [called['name'], called['arguments']] : [],
  )
}

/** Returns the differences of an answer from the expected one. */
function differencesIn({ choice, sent = [] }: Heard, expected: Expected): string[] {
  const { text = '', thought = '', calls = [], has, lacks } = expected
  const { message, finish_reason } = choice
  const own = isObject(message) ? message : {}
  const actual = {
    text: toText(own['content']),
    thought: toText(own['reasoning_content']),
    calls: callsIn(own),
    finish: finish_reason,
  }
  const finish = expected.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')
  const whole = JSON.stringify({ text, thought, calls, finish })
  const got = JSON.stringify(actual)
  const json = JSON.stringify(choice)
  return [
    ...(got === whole ? [] : [`${got.slice(0, 400)} instead of ${whole.slice(0, 400)}`]),
    ...(has && !has.test(json) ? [`${has} is not in the choice`] : []),
    ...(lacks?.test(json + sent.join('')) ? [`${lacks} is in the choice`] : []),
  ]
}

/** Returns what is not as it must be; nothing where all of it is. */
function problemsIn(heard: Heard, expected: Expected): string[] {
  const { fails, usage } = expected
  const miscounted =
    usage && !holds(heard.usage, usage) ? [`usage ${JSON.stringify(heard.usage)}`] : []
  if (fails) return [...failureIn(heard, fails), ...miscounted]
  if (heard.error) return [heard.error.message]
  return [...differencesIn(heard, expected), ...miscounted]
}

/** Returns what of an oddity is not heard as it must be, by the form of the answer. */
export function problemsOf(dialect: Dialect, said: Said, oddity: Oddity): string[] {
  const expected = said.expected ?? oddity.expected
  const { stream, whole, label, between = '' } = said
  const asStream = stream && read(dialect, bytesOf(dialect, stream, between), label)
  const json = whole && Buffer.from(JSON.stringify(whole))
  const asWhole = json && read(dialect, json, label)
  const relayed = whole && dialect === 'openai' ? relayWhole(whole) : undefined
  return Object.entries({ asStream, asWhole, relayed }).flatMap(([form, heard]) =>
    heard ? problemsIn(heard, expected).map((problem) => `${form}: ${problem}`) : [],
  )
}
