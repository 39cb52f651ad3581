import { test } from 'bun:test'
import * as fc from '../../../testing/property'
import { dialect } from '../../../testing/protocols/responses-dialect'
import { EventOrder } from '../../../testing/protocols/responses-event-order'
import {
  anyChunks,
  baseRequest,
  parseEvents,
  identity,
  streamEvents,
} from '../../../testing/protocols/responses-events'
import { ApiError } from '../../errors'
import { isObject, type JsonObject } from '../../wire/json-body'

const outputOf = (response: JsonObject): JsonObject[] =>
  Array.isArray(response['output']) ? response['output'].filter(isObject) : []

const wordsIn = (source: JsonObject, name: string) => {
  const sourceText = source[name]
  return typeof sourceText === 'string' ? sourceText : ''
}

/** All that was said in a list of chunks, by where it belongs. */
function contentOf(chunks: readonly JsonObject[]) {
  const content = { text: '', refusal: '', thought: '', calls: new Map<number, string>() }
  for (const { choices } of chunks) {
    const [choice] = Array.isArray(choices) ? choices.filter(isObject) : []
    const delta = isObject(choice?.['delta']) ? choice['delta'] : {}
    content.text += wordsIn(delta, 'content')
    content.refusal += wordsIn(delta, 'refusal')
    content.thought += wordsIn(delta, 'reasoning_content')
    const [call] = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : []
    if (!call) continue
    const before = content.calls.get(call.index)
    if (call.id) content.calls.set(call.index, before ?? '')
    else if (before !== undefined) content.calls.set(call.index, before + call.function.arguments)
  }
  return content
}

const textIn = (items: readonly JsonObject[], list: string, field: string) =>
  items
    .flatMap((item) => (Array.isArray(item[list]) ? item[list].filter(isObject) : []))
    .map((part) => wordsIn(part, field))
    .join('')

const isOf = (type: string) => (item: JsonObject) => item['type'] === type

test('any sequence of chunks gives events in order and all of the text', () => {
  const property = fc.property(anyChunks, (chunks) => {
    const output = outputOf(EventOrder.read(streamEvents(chunks)))
    const content = contentOf(chunks)
    const messages = output.filter(isOf('message'))
    const actual = {
      text: textIn(messages, 'content', 'text'),
      refusal: textIn(messages, 'content', 'refusal'),
      thought: textIn(output.filter(isOf('reasoning')), 'summary', 'text'),
      calls: output.filter(({ call_id: id }) => id !== undefined).length,
    }
    const { calls, ...texts } = content
    if (!Bun.deepEquals(actual, { ...texts, calls: calls.size })) {
      throw new Error(`${JSON.stringify(actual)} of ${JSON.stringify(texts)}`)
    }
    const args = output.filter(isOf('function_call')).map((item) => wordsIn(item, 'arguments'))
    if (!args.every((text) => [...calls.values()].includes(text))) throw new Error('lost arguments')
  })
  fc.assert(property, { numRuns: 2000 })
})

test('a failure after any sequence of chunks leaves the events in order', () => {
  const property = fc.property(anyChunks, fc.nat(30), (chunks, at) => {
    const writer = dialect.read(baseRequest).writer(identity, 9)
    // The finish is written at the end, which never comes.
    const frames = chunks.slice(0, at).map((chunk) => writer.write(JSON.stringify(chunk)))
    const last = writer.fail(new ApiError('request_timeout'), 'req_1')
    if (EventOrder.read(parseEvents(frames.join('') + last))['status'] !== 'failed') {
      throw new Error('not failed')
    }
  })
  fc.assert(property, { numRuns: 500 })
})
