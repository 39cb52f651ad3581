import * as fc from '../property'
import { dialect } from './responses-dialect'
import { isObject, type JsonObject } from '../../src/wire/json-body'
import { SseReader } from '../../src/wire/sse'

export const identity = {
  id: 'chatcmpl-01m7zbr7rr3rrzfbtxk7716g95',
  object: 'chat.completion.chunk' as const,
  created: 1_795_275_104,
  model: 'sandbox/echo',
}

/** A request with everything that an answer depends on. */
export const baseRequest: JsonObject = {
  model: 'sandbox/echo',
  input: 'Hello!',
  stream: true,
  include: ['reasoning.encrypted_content'],
  tools: [
    { type: 'function', name: 'look', parameters: { type: 'object' } },
    { type: 'custom', name: 'write' },
  ],
}

export const chunkOf = (delta: JsonObject, finish: string | null = null): JsonObject => ({
  ...identity,
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
})

export const opening = (index: number, name: string) =>
  chunkOf({ tool_calls: [{ index, id: `call_${index}`, function: { name, arguments: '' } }] })

export const piece = (index: number, text: string) =>
  chunkOf({ tool_calls: [{ index, function: { arguments: text } }] })

export const usageChunk = {
  ...identity,
  choices: [],
  usage: {
    prompt_tokens: 9,
    completion_tokens: 7,
    total_tokens: 16,
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 2 },
  },
}

/** The events in a text of frames; the name of each is its type. */
export function parseEvents(text: string): JsonObject[] {
  for (const [, name, type] of text.matchAll(/^event: (.*)\ndata: \{"type":"([^"]*)"/gm)) {
    if (name !== type) throw new Error(`an event ${name} of type ${type}`)
  }
  const reader = new SseReader()
  const data = [...reader.push(new TextEncoder().encode(text)), ...reader.end()]
  return data.map((it): unknown => JSON.parse(it)).filter(isObject)
}

/** The events that chunks become; with an error in place of the end, if there is one. */
export function streamEvents(chunks: readonly JsonObject[], request = baseRequest): JsonObject[] {
  const writer = dialect.read(request).writer(identity, 9)
  const frames = chunks.map((chunk) => writer.write(JSON.stringify(chunk)))
  return parseEvents(frames.join('') + writer.end())
}

const texts = fc.string({ maxLength: 8, unit: 'grapheme' })
const index = fc.nat(3)

/** All sequences of chunks that a stream can hold, in any order. */
export const anyChunks = fc
  .tuple(
    fc.array(
      fc.oneof(
        texts.map((content) => chunkOf({ content })),
        texts.map((reasoning_content) => chunkOf({ reasoning_content })),
        texts.map((refusal) => chunkOf({ refusal })),
        fc.constant(chunkOf({ role: 'assistant', content: '' })),
        fc.constant(chunkOf({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] })),
        fc.tuple(index, fc.constantFrom('look', 'write')).map(([at, name]) => opening(at, name)),
        fc.tuple(index, texts).map(([at, text]) => piece(at, text)),
      ),
      { maxLength: 30 },
    ),
    fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter'),
    fc.boolean(),
  )
  .map(([parts, finish, isCounted]) => [
    ...parts,
    chunkOf({}, finish),
    ...(isCounted ? [usageChunk] : []),
  ])
