import * as fc from '../../testing/property'
import { describe, expect, test } from 'bun:test'
import { toConverse } from './bedrock/request'
import { ChatStream } from './openai/chat-stream'
import type { RelayRequest } from './openai/relayed-stream'
import { relayChat } from './openai/whole-answer'
import { RelayOptions } from './provider'
import { sampleSource, sampleTarget } from '../../testing/providers/samples'
import { withAcceptedToolNames } from './tool-names'
import { TranslatedStream } from './translated-stream'
import { isObject, type JsonObject } from '../wire/json-body'
import { toPlainChat } from '../wire/plain-chat'
import { noUsage } from '../wire/usage'

const long = `mcp__a_server_with_a_long_name__${'look_up_'.repeat(8)}`
const tool = (name: string) => ({ type: 'function', function: { name, parameters: {} } })
const namesIn = (chat: JsonObject): unknown[] =>
  (Array.isArray(chat['tools']) ? chat['tools'].filter(isObject) : []).map((one) =>
    isObject(one['function']) ? one['function']['name'] : undefined,
  )
const usual = /^[a-zA-Z0-9_-]{1,64}$/

describe('finding C4: names of tools that a provider refuses', () => {
  const chat = {
    model: 'a/b',
    tools: [tool('look'), tool(long), tool('files.read'), tool('1st/tool')],
    tool_choice: { type: 'function', function: { name: long } },
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'files.read', arguments: '{}' } },
          { id: 'b', type: 'function', function: { name: 'gone.since', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: '1' },
      { role: 'tool', tool_call_id: 'b', content: '2' },
    ],
  }

  test('are replaced at every place, and the others stay', () => {
    const { chat: named, callerNames } = withAcceptedToolNames(chat)
    const [look, ...rest] = namesIn(named)
    expect(look).toBe('look')
    for (const name of rest) expect(name).toMatch(usual)
    expect([...(callerNames?.values() ?? [])].toSorted()).toEqual(
      [long, 'files.read', '1st/tool', 'gone.since'].toSorted(),
    )
    expect(named['tool_choice']).toEqual({ type: 'function', function: { name: rest[0] } })
    const text = JSON.stringify(named)
    for (const name of callerNames?.values() ?? []) expect(text).not.toContain(`"${name}"`)
    // The request itself is the caller's, and goes to others as it is.
    expect(chat.tools[1]).toEqual(tool(long))
  })

  test('are the same in the next request, so that histories and caches hold', () => {
    const next = { ...chat, tools: [tool('files.read')], tool_choice: 'auto' }
    const [name] = namesIn(withAcceptedToolNames(next).chat)
    expect(namesIn(withAcceptedToolNames(chat).chat)).toContain(name)
  })

  test('cost a request without them nothing', () => {
    const plain = { ...chat, tools: [tool('look')], tool_choice: 'auto', messages: [] }
    expect(withAcceptedToolNames(plain)).toEqual({ chat: plain, callerNames: undefined })
    expect(withAcceptedToolNames(plain).chat).toBe(plain)
  })

  test('in the older form of functions too', () => {
    const { chat: named } = withAcceptedToolNames({
      model: 'a/b',
      functions: [{ name: 'files.read', parameters: {} }],
      function_call: { name: 'files.read' },
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: null,
          function_call: { name: 'files.read', arguments: '{}' },
        },
        { role: 'function', name: 'files.read', content: '1' },
      ],
    })
    expect(JSON.stringify(named)).not.toContain('files.read')
    expect(namesIn(named)).toHaveLength(1)
  })

  test('some allowed: these names too', () => {
    const allowed_tools = { mode: 'auto', tools: [tool(long)] }
    const { chat: named } = withAcceptedToolNames({
      ...chat,
      tool_choice: { type: 'allowed_tools', allowed_tools },
    })
    expect(JSON.stringify(named['tool_choice'])).not.toContain(long)
  })

  test('never collide, not even with an existing name', () => {
    const name = fc.string({
      unit: fc.constantFrom('a', 'b', '.', '-', '_', '1'),
      minLength: 1,
      maxLength: 90,
    })
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 12 }), (names) => {
        const first = withAcceptedToolNames({ tools: names.map(tool) })
        // A client that knows how names are made may send them too.
        const takenNames = [...new Set([...names, ...(first.callerNames?.keys() ?? [])])]
        for (const all of [names, takenNames]) {
          const { chat: named, callerNames } = withAcceptedToolNames({ tools: all.map(tool) })
          const renamed = namesIn(named)
          expect(new Set(renamed).size).toBe(all.length)
          for (const one of renamed) expect(one).toMatch(usual)
          expect(renamed.map((one) => callerNames?.get(String(one)) ?? one)).toEqual(all)
        }
      }),
    )
  })

  test('finding P8: Bedrock receives no name that it rejects', () => {
    const { chat: named } = withAcceptedToolNames(chat)
    const { body } = toConverse(toPlainChat(named), sampleTarget('us.amazon.nova-pro-v1:0'))
    const names = [...JSON.stringify(body).matchAll(/"name":"([^"]*)"/g)].map(([, name]) => name)
    expect(names.length).toBeGreaterThan(5)
    for (const name of names) expect(name).toMatch(usual)
  })
})

describe('finding C4: calls come back under the names of the caller', () => {
  const { callerNames } = withAcceptedToolNames({ tools: [tool(long)] })
  const [theirs = ''] = callerNames?.keys() ?? []
  const request: RelayRequest = {
    identity: { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'a/b' },
    source: sampleSource,
    options: RelayOptions.parse({}),
    wantsUsage: false,
    legacyFunctions: false,
    newCallId: () => 'call_1',
    callerNames,
    hiddenTokens: () => Infinity,
    estimate: () => noUsage,
  }
  const called = { name: theirs, arguments: '{}' }
  const calls = [{ index: 0, id: 'a', type: 'function', function: called }]
  const delta = JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: calls } }] })

  test('streamed, relayed', () => {
    const text = new ChatStream(request).next(delta).join('')
    expect(text).toContain(`"name":"${long}"`)
    expect(text).not.toContain(theirs)
  })

  test('streamed, in the older form', () => {
    const text = new ChatStream({ ...request, legacyFunctions: true }).next(delta).join('')
    expect(text).toContain(`"function_call":{"name":"${long}"`)
  })

  test('streamed, translated', () => {
    const stream = new TranslatedStream(
      () => [{ type: 'call', index: 0, id: 'a', name: theirs }],
      request,
    )
    expect(stream.next('').join('')).toContain(`"name":"${long}"`)
  })

  test('whole', () => {
    const whole = {
      choices: [{ message: { content: null, tool_calls: calls }, finish_reason: 'stop' }],
    }
    const { body } = relayChat(whole, request)
    expect(JSON.stringify(body)).toContain(`"name":"${long}"`)
    expect(JSON.stringify(body)).not.toContain(theirs)
  })
})
