import * as fc from '../../testing/property'
import { describe, expect, test } from 'bun:test'
import { CollectedChat } from './collected-chat'
import { CustomCallChunks, withCustomCalls } from './custom-calls'
import { customInputIn, customToolsOf, toCustomArguments, withFunctionTools } from './custom-tools'
import { isObject, type JsonObject } from './json-body'

const grammar = { syntax: 'lark', definition: 'start: /.+/' }
const exec = {
  type: 'custom',
  custom: { name: 'exec', description: 'Runs code.', format: { type: 'grammar', grammar } },
}
const shell = { type: 'custom', custom: { name: 'sh' }, cache_control: { type: 'ephemeral' } }
const look = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } }
const parameters = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

describe('finding C7: a request with custom tools, for a model that knows functions only', () => {
  test('offers functions of one text in their place, with the grammar in words', () => {
    const chat = { tools: [exec, look, shell], tool_choice: 'auto', messages: [] }
    expect(withFunctionTools(chat)).toEqual({
      ...chat,
      tools: [
        {
          type: 'function',
          function: {
            name: 'exec',
            description: 'Runs code.\n\nThe input follows this lark grammar:\nstart: /.+/',
            parameters,
          },
        },
        look,
        {
          type: 'function',
          function: { name: 'sh', parameters },
          cache_control: { type: 'ephemeral' },
        },
      ],
    })
    expect([...(customToolsOf(chat)?.keys() ?? [])]).toEqual(['exec', 'sh'])
  })

  test('chooses them, alone and among others', () => {
    const chosen = { type: 'custom', custom: { name: 'exec' } }
    const asFunction = { type: 'function', function: { name: 'exec' } }
    expect(withFunctionTools({ tools: [exec], tool_choice: chosen })).toMatchObject({
      tool_choice: asFunction,
    })
    const named = { type: 'function', function: { name: 'look' } }
    const allowed = { mode: 'required', tools: [chosen, named] }
    const choice = { type: 'allowed_tools', allowed_tools: allowed }
    expect(withFunctionTools({ tools: [exec, look], tool_choice: choice })).toMatchObject({
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [asFunction, named] },
      },
    })
  })

  test('has calls of them, also if they are not offered again', () => {
    const call = { id: 'a', type: 'custom', custom: { name: 'exec', input: 'print("é")\n' } }
    const other = { id: 'b', type: 'function', function: { name: 'look', arguments: '{}' } }
    const history = [
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: null, tool_calls: [call, other] },
      { role: 'tool', tool_call_id: 'a', content: 'é' },
    ]
    const asFunction = {
      id: 'a',
      type: 'function',
      function: { name: 'exec', arguments: '{"input":"print(\\"é\\")\\n"}' },
    }
    expect(withFunctionTools({ messages: history })['messages']).toEqual([
      history[0],
      { role: 'assistant', content: null, tool_calls: [asFunction, other] },
      history[2],
    ])
  })

  test('is the same object without any', () => {
    const chat = { tools: [look], tool_choice: 'auto', messages: [{ role: 'user', content: '' }] }
    expect(withFunctionTools(chat)).toBe(chat)
    expect(customToolsOf(chat)).toBeUndefined()
  })

  test('is rejected where a function has the name of one, as a call could mean either', () => {
    const twin = { type: 'function', function: { name: 'exec' } }
    expect(() => withFunctionTools({ tools: [twin, exec] })).toThrow('tools.1.custom.name')
  })
})

const anyText = fc.string({ unit: 'grapheme', maxLength: 60 })

test('a text comes back from the arguments of a function as it was put in', () => {
  fc.assert(
    fc.property(anyText, (text) => expect(customInputIn(toCustomArguments(text))).toBe(text)),
  )
})

test('returns the text so far of truncated arguments', () => {
  const args = toCustomArguments('one\n"two"')
  expect(customInputIn(args.slice(0, -4))).toBe('one\n"two')
  expect(customInputIn('no JSON at all')).toBe('no JSON at all')
  expect(customInputIn('{"other":1}')).toBe('{"other":1}')
})

interface Called {
  isCustom: boolean
  text: string
}

const anyCalls = fc.array(fc.record({ isCustom: fc.boolean(), text: anyText }), {
  minLength: 1,
  maxLength: 4,
})
const nameOf = ({ isCustom }: Called) => (isCustom ? 'exec' : 'look')
const names = new Set(['exec'])

/** The chunks of an answer with these calls, one character of arguments a chunk, in turns. */
function chunksOf(calls: readonly Called[], index: number): JsonObject[] {
  const chunk = (delta: JsonObject, finish_reason: string | null = null) => ({
    id: 'x',
    object: 'chat.completion.chunk',
    choices: [{ index, delta, logprobs: null, finish_reason }],
  })
  const openings = calls.map((call, at) => {
    const called = { name: nameOf(call), arguments: '' }
    return chunk({ tool_calls: [{ index: at, id: `c${at}`, type: 'function', function: called }] })
  })
  const texts = calls.map(({ text }) => toCustomArguments(text))
  const maxTextLength = Math.max(...texts.map(({ length }) => length))
  const pieces = Array.from({ length: maxTextLength }, (_none, at) =>
    texts.flatMap((text, call) => {
      const piece = text[at]
      if (piece === undefined) return []
      return [chunk({ tool_calls: [{ index: call, function: { arguments: piece } }] })]
    }),
  ).flat()
  const textChunk = chunk({ role: 'assistant', content: 'I call "tool_calls".' })
  return [textChunk, ...openings, ...pieces, chunk({}, 'tool_calls')]
}

function messageOf(chunks: readonly JsonObject[]): unknown {
  const collected = new CollectedChat()
  for (const chunk of chunks) collected.add(chunk)
  return collected.complete()
}

test('calls of a stream match the whole answer’s, for any order', () => {
  const property = fc.property(anyCalls, anyCalls, (first, second) => {
    const allChunks = [chunksOf(first, 0), chunksOf(second, 1)].flat()
    const reader = new CustomCallChunks(names)
    const rewritten = allChunks
      .flatMap((chunk) => reader.next(JSON.stringify(chunk)))
      .map((text): JsonObject => JSON.parse(text))
    const whole = messageOf(allChunks)
    if (!isObject(whole)) throw new Error('no answer')
    expect(messageOf(rewritten)).toEqual(withCustomCalls(whole, names))
    const calls = [first, second].map((choice) =>
      choice.map((call) =>
        call.isCustom
          ? { type: 'custom', custom: { name: 'exec', input: call.text } }
          : { type: 'function', function: { name: 'look' } },
      ),
    )
    expect(messageOf(rewritten)).toMatchObject({
      choices: calls.map((tool_calls) => ({ message: { tool_calls } })),
    })
  })
  fc.assert(property, { numRuns: 200 })
})

test('chunks without calls pass as they are', () => {
  const reader = new CustomCallChunks(names)
  const text = '{"choices":[{"index":0,"delta":{"content":"\\"tool_calls\\""}}]}'
  expect(reader.next(text)).toEqual([text])
})
