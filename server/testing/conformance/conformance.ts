import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Adapter, AdapterTarget } from '../../src/providers/adapter'
import { choiceOf, expectGoodChunks, identity, jsonOf, completeOf } from './chunks'
import { RelayOptions } from '../../src/providers/provider'
import { TranslatedStream } from '../../src/providers/translated-stream'
import type { ErrorSource } from '../../src/providers/upstream-error'
import { ApiError } from '../../src/errors'
import { isObject, type JsonObject } from '../../src/wire/json-body'
import { toPlainChat } from '../../src/wire/plain-chat'
import { SseReader, frame } from '../../src/wire/sse'
import type { TextSize } from '../../src/wire/text-size'
import { noUsage, type Usage } from '../../src/wire/usage'

/** A caller's request, and the body that the provider receives. */
export interface RequestRow {
  title: string
  /** Beside `model`, and `messages` where they do not matter. */
  chat: JsonObject
  target?: Partial<AdapterTarget>
  /** The differences from the body of the plainest request; null for a field that it lacks. */
  body?: JsonObject
  refused?: { param: string; issue: string }
}

/** The events of a provider, and the answer that the caller receives. */
export interface AnswerRow {
  title: string
  events: readonly (JsonObject | string)[]
  /** All of it, but for `role`; fields that are null may be left out. May be made of the events. */
  message?: JsonObject | ((events: readonly JsonObject[]) => JsonObject)
  finish?: string
  /** The buckets above zero. */
  usage?: Partial<Usage>
  /** The error in place of an answer. */
  error?: { code: string; status: number; retryable?: boolean }
}

/** A provider's error, and the one that the caller receives. */
export interface ErrorRow {
  title: string
  status: number
  body: unknown
  retryAfter?: string
  error: Partial<ApiError>
}

interface EventCutter {
  push(bytes: Uint8Array): string[]
  end(): string[]
}

/** One dialect, for the test of the rows of contract 12.13. */
export interface Conformance {
  adapter: Adapter
  target: AdapterTarget
  requests: readonly RequestRow[]
  answers: readonly AnswerRow[]
  errors: readonly ErrorRow[]
  /** Names of recordings below `../shared/fixtures/upstream`, which are read where they are. */
  recordings: readonly (Omit<AnswerRow, 'title' | 'events'> & { file: string })[]
  /** Encodes and cuts the events; server-sent events where absent. */
  framed?: (events: readonly string[]) => Uint8Array
  cutter?: () => EventCutter
}

const recordingsFolder = join(import.meta.dir, '../../../../shared/fixtures/upstream')
if (!existsSync(recordingsFolder)) console.log('The folder of recordings is absent.')

/** The events of a recording in lines; undefined where the folder is absent. */
const recorded = (file: string): string[] | undefined =>
  existsSync(recordingsFolder)
    ? readFileSync(join(recordingsFolder, file), 'utf8')
        .split('\n')
        .filter((line) => line.trim() !== '')
    : undefined

const secret = 'sk-conformance-0123456789'
const source: ErrorSource = {
  provider: 'acme',
  secret,
  textField: 'messages',
  wasSent: (field) => ['messages', 'temperature', 'max_tokens', 'tools'].includes(field),
  contextLength: 200_000,
  maxOutputTokens: 64_000,
}
const hello = [{ role: 'user', content: 'Hello' }]

const requestOf = () => {
  let calls = 0
  return {
    identity,
    source,
    options: RelayOptions.parse({}),
    wantsUsage: true,
    legacyFunctions: false,
    newCallId: () => `call_${(calls += 1)}`,
    hiddenTokens: () => Infinity,
    estimate: ({ words }: TextSize) => ({ ...noUsage, input: 7, output: words, estimated: true }),
  }
}

/** The outcome of one stream. */
interface Outcome {
  chunks: string[]
  error: unknown
  usage: Usage
}

/** Reads bytes as `UpstreamStream` does, in the pieces in which they arrive. */
function read(pieces: readonly Uint8Array[], { adapter, ...conformance }: Conformance): Outcome {
  const cutter = conformance.cutter?.() ?? new SseReader()
  const stream = new TranslatedStream(adapter.reader(source), requestOf())
  const chunks: string[] = []
  const take = (events: readonly string[]) => {
    for (const data of events) if (!stream.isOver) chunks.push(...stream.next(data))
  }
  let error: unknown
  try {
    for (const piece of pieces) take(cutter.push(piece))
    take(cutter.end())
    chunks.push(...stream.end())
  } catch (thrown) {
    error = thrown
  }
  return { chunks, error, usage: stream.usage() }
}

const sse = (events: readonly string[]) => Buffer.from(events.map(frame).join(''))
const withoutNulls = (fields: unknown): JsonObject =>
  Object.fromEntries(
    Object.entries(isObject(fields) ? fields : {}).filter(([, value]) => value !== null),
  )

/** Two pieces at every byte would take minutes for a long stream; then at every seventh. */
const shortStream = 6000

function* cutsOf(bytes: Uint8Array): Generator<Uint8Array[]> {
  yield Array.from(bytes, (byte) => Uint8Array.of(byte))
  const step = bytes.length <= shortStream ? 1 : 7
  for (let at = 1; at < bytes.length; at += step) yield [bytes.subarray(0, at), bytes.subarray(at)]
}

function testAnswer(conformance: Conformance, row: AnswerRow): void {
  const events = row.events.map((event) =>
    typeof event === 'string' ? event : JSON.stringify(event),
  )
  const framed = conformance.framed ?? sse
  const bytes = framed(events)
  const outcome = read([bytes], conformance)

  test(`${row.title}: what the caller gets`, () => {
    if (row.error) {
      expect(outcome.error).toBeInstanceOf(ApiError)
      expect(outcome.error).toMatchObject(row.error)
    } else {
      if (outcome.error) throw outcome.error
      const chunks = outcome.chunks.map(jsonOf)
      expectGoodChunks(chunks)
      const { message, finish_reason: finish } = completeOf(chunks, requestOf())
      const expected =
        typeof row.message === 'function' ? row.message(events.map(jsonOf)) : row.message
      expect(withoutNulls(message)).toEqual(withoutNulls({ role: 'assistant', ...expected }))
      expect(finish).toBe(row.finish ?? 'stop')
    }
    const { servedTier: _tier, ...usage } = outcome.usage
    if (row.usage) expect(usage).toEqual({ ...noUsage, ...row.usage })
  })

  test(`${row.title}: however its bytes are cut`, () => {
    for (const pieces of cutsOf(bytes)) expect(read(pieces, conformance)).toEqual(outcome)
  })

  test(`${row.title}: cut short, it is no answer`, () => {
    for (let count = 0; count < events.length; count++) {
      const short = read([framed(events.slice(0, count))], conformance)
      const isFinished = short.chunks.some((text) => choiceOf(jsonOf(text))['finish_reason'])
      if (isFinished) continue
      expect(short.error).toBeInstanceOf(ApiError)
      expect(short.error).toMatchObject({ code: 'provider_error', status: 502, retryable: false })
      expect(outcome.chunks.slice(0, short.chunks.length)).toEqual(short.chunks)
      expect(short.usage.input).toBeGreaterThanOrEqual(0)
    }
  })

  if (conformance.framed) return
  const text = Buffer.from(bytes).toString()
  test.each([
    ['CRLF', text.replaceAll('\n', '\r\n')],
    ['comments', text.replaceAll('data:', ': ping\n\ndata:')],
    ['event names', text.replaceAll('data:', 'event: message\ndata:')],
    ['CR', text.replaceAll('\n', '\r')],
    ['blank lines', text.replaceAll('\n\n', '\n\n\n\n')],
    ['data in several lines', text.replaceAll('{"type":', '{\ndata: "type":')],
    ['no space', text.replaceAll('data: ', 'data:')],
    ['a byte order mark', `\uFEFF${text}`],
    ['no blank line at the end', text.trimEnd()],
  ])(`${row.title}: with %s`, (_what, written) => {
    expect(read([Buffer.from(written)], conformance)).toEqual(outcome)
  })
}

function testRequest({ adapter, target }: Conformance, row: RequestRow): void {
  const write = (chat: JsonObject, own?: Partial<AdapterTarget>) =>
    adapter.request(toPlainChat({ model: 'a/b', messages: hello, ...chat }), { ...target, ...own })
  test(row.title, () => {
    if (row.refused) {
      let refused: unknown
      try {
        write(row.chat, row.target)
      } catch (thrown) {
        refused = thrown
      }
      const { param, issue } = row.refused
      expect(refused).toBeInstanceOf(ApiError)
      expect(refused).toMatchObject({ code: 'invalid_request', param, details: { issue } })
      return
    }
    const expected = withoutNulls({ ...write({}).body, ...row.body })
    const { body } = write(row.chat, row.target)
    // As it is written on the wire, where nothing is undefined.
    expect(JSON.parse(JSON.stringify(body))).toEqual(expected)
  })
}

/** Holds an adapter against its golden rows and its recordings. */
export function describeAdapter(name: string, conformance: Conformance): void {
  describe(`${name}: requests`, () => {
    for (const row of conformance.requests) testRequest(conformance, row)
  })
  describe(`${name}: answers`, () => {
    for (const row of conformance.answers) testAnswer(conformance, row)
  })
  describe(`${name}: recordings`, () => {
    for (const { file, ...row } of conformance.recordings) {
      const events = recorded(file)
      if (events) testAnswer(conformance, { ...row, title: file, events })
      else test.skip(`${file}: the folder of recordings is absent`, () => undefined)
    }
  })
  describe(`${name}: errors`, () => {
    test.each(conformance.errors.map((row) => [row.title, row] as const))(
      '%s',
      (_what, { error, ...failed }) => {
        const thrown = conformance.adapter.toError(failed, source)
        expect(thrown).toMatchObject(error)
        expect(JSON.stringify([thrown.message, thrown.details])).not.toContain(secret)
      },
    )
  })
}
