import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from '../property'
import type { AdapterTarget } from '../../src/providers/adapter'
import type { ErrorSource } from '../../src/providers/upstream-error'
import type { ChatRequest } from '../../src/wire/chat-request'
import { isObject, type JsonObject } from '../../src/wire/json-body'
import type { Part } from '../../src/wire/answer-part'
import { toPlainChat } from '../../src/wire/plain-chat'
import type { Usage } from '../../src/wire/usage'

/** Recorded answers of providers, which the project reads where they are and does not hold. */
const recordings = join(import.meta.dir, '../../../../shared/fixtures/upstream')
export const hasRecordings = existsSync(recordings)

/** The events of a recording, a line each. */
export const recordedLines = (name: string): string[] => linesOf(join(recordings, name))

/** A recorded whole answer. */
export const recordedAnswer = (name: string): unknown =>
  JSON.parse(readFileSync(join(recordings, name), 'utf8'))

export const linesOf = (path: string): string[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')

export const sampleSource: ErrorSource = {
  provider: 'acme',
  secret: 'sk-live-0123456789abcdef',
  textField: 'messages',
  wasSent: (field) => ['messages', 'temperature', 'max_tokens', 'tools'].includes(field),
  contextLength: 8192,
  maxOutputTokens: 4096,
}

export const sampleTarget = (
  upstreamModel: string,
  fields: Partial<AdapterTarget> = {},
): AdapterTarget => ({
  upstreamModel,
  maxTokens: 1000,
  capabilities: { reasoning: true, tools: true, vision: true, jsonSchema: true },
  ...fields,
})

/** Returns a checked request, as an adapter gets it: a user's `hi` unless the fields replace it. */
export const sampleChat = (fields: JsonObject = {}): ChatRequest =>
  toPlainChat({ model: 'acme/one', messages: [{ role: 'user', content: 'hi' }], ...fields })

export const sampleTool = (name: string, fields: JsonObject = {}): JsonObject => ({
  type: 'function',
  function: {
    name,
    parameters: { type: 'object', properties: { q: { type: 'string' } } },
    ...fields,
  },
})

/** The whole content of an answer. */
export interface SampleAnswer {
  text: string
  reasoning: string
  refusal: string
  calls: { id: string | undefined; name: string; arguments: string }[]
  details: JsonObject[]
  finish: string | undefined
  usage: Usage | undefined
}

/** The parts of an answer together. Throws when they are in an order that `Part` forbids. */
export function joinParts(parts: readonly Part[]): SampleAnswer {
  const sample: SampleAnswer = {
    text: '',
    reasoning: '',
    refusal: '',
    calls: [],
    details: [],
    finish: undefined,
    usage: undefined,
  }
  for (const part of parts) {
    if (sample.finish !== undefined && part.type !== 'usage' && part.type !== 'end') {
      throw new Error(`"${part.type}" came after the finish.`)
    }
    add(sample, part)
  }
  return sample
}

function add(sample: SampleAnswer, part: Part): void {
  if (part.type === 'text' || part.type === 'reasoning' || part.type === 'refusal') {
    // An empty thought shows that thoughts began.
    if (part.text === '' && part.type !== 'reasoning') {
      throw new Error(`An empty ${part.type} was said.`)
    }
    sample[part.type] += part.text
  } else if (part.type === 'call') {
    addCall(sample, part)
  } else if (part.type === 'arguments') {
    const call = sample.calls[part.index]
    if (!call) throw new Error('Arguments came without their call.')
    call.arguments += part.text
  } else if (part.type === 'extra') {
    const details = part.fields['reasoning_details']
    sample.details.push(...(Array.isArray(details) ? details.filter(isObject) : []))
  } else if (part.type === 'usage') sample.usage = part.usage
  else if (part.type === 'finish') sample.finish = part.reason
}

function addCall({ calls }: SampleAnswer, { index, id, name }: Part & { type: 'call' }): void {
  const begun = calls[index]
  if (begun && begun.name === '') {
    begun.name = name
    begun.id ??= id
    return
  }
  if (index !== calls.length) throw new Error('A call has an index out of order.')
  calls.push({ id, name, arguments: '' })
}

const texts = fc.string({ unit: 'grapheme', maxLength: 12 })
const callId = fc.oneof(
  fc.constantFrom('call_1', 'functions.Bash:0', 'a'.repeat(90), 'x__thought__c2lnbmF0dXJl'),
  fc.uuid(),
)
const call = fc.record({
  id: callId,
  type: fc.constant('function'),
  function: fc.record({
    name: fc.constantFrom('look', 'book'),
    arguments: fc.constantFrom('', '{}', 'null', '{"q":"x"}', '{"a":{"b":[1]}}'),
  }),
})
const assistant = fc.record({
  role: fc.constant('assistant'),
  content: fc.oneof(texts, fc.constant(null)),
  tool_calls: fc.uniqueArray(call, { minLength: 1, maxLength: 3, selector: ({ id }) => id }),
})
const plainMessage = fc.record({
  role: fc.constantFrom('user', 'system', 'developer', 'assistant'),
  content: fc.oneof(
    texts,
    fc.array(fc.record({ type: fc.constant('text'), text: texts }), { minLength: 1, maxLength: 3 }),
  ),
})
/** A turn with calls and their results, in any order. */
const round = fc.tuple(assistant, fc.array(fc.nat()), texts).map(([turn, order, text]) => {
  const results = turn.tool_calls.map(({ id }, index) => ({
    key: order[index] ?? index,
    message: { role: 'tool', tool_call_id: id, content: text },
  }))
  const sorted = results.toSorted((a, b) => a.key - b.key).map(({ message }) => message)
  return [turn, ...sorted]
})

/** Messages of any conversation that a client could hold, with answers of any provider. */
export const anyHistory: fc.Arbitrary<JsonObject[]> = fc
  .array(
    fc.oneof(
      plainMessage.map((message) => [message]),
      round,
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((turns) => [...turns.flat(), { role: 'user', content: 'and now?' }])
