import { describe, expect, test } from 'bun:test'
import { withBreakpoints } from './prompt-caching'

const user = (content: string) => ({ role: 'user', content })
const system = { role: 'system', content: 'Be brief.' }
const answer = { role: 'assistant', content: 'Yes.' }
const tool = (name: string) => ({ type: 'function', function: { name } })
const short = { cache_control: { type: 'ephemeral' } }
const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const byTollgate = { lifetime: '5m', setsOwnBreakpoints: false } as const
const callerOnly = { lifetime: undefined, setsOwnBreakpoints: false } as const

describe('breakpoints that Tollgate sets', () => {
  test('stand behind tools, instructions, and the last two turns of the user', () => {
    const chat = {
      tools: [tool('a'), tool('b')],
      messages: [system, user('1'), answer, user('2'), answer, user('3'), user('4')],
    }
    expect(withBreakpoints(chat, byTollgate)).toEqual({
      tools: [tool('a'), { ...tool('b'), ...short }],
      messages: [
        { ...system, ...short },
        user('1'),
        answer,
        { ...user('2'), ...short },
        answer,
        user('3'),
        { ...user('4'), ...short },
      ],
    })
  })

  test('behind the results of tools, which are turns of the user', () => {
    const result = { role: 'tool', tool_call_id: 'c', content: 'found' }
    const { messages } = withBreakpoints({ messages: [user('1'), answer, result] }, byTollgate)
    expect(messages).toEqual([{ ...user('1'), ...short }, answer, { ...result, ...short }])
  })

  test('are as many as there are places for', () => {
    expect(withBreakpoints({ messages: [user('1')] }, byTollgate)).toEqual({
      messages: [{ ...user('1'), ...short }],
    })
    expect(withBreakpoints({ messages: [system] }, byTollgate)).toEqual({
      messages: [{ ...system, ...short }],
    })
  })

  test('may be of an hour', () => {
    const chat = { messages: [user('1')] }
    expect(withBreakpoints(chat, { ...byTollgate, lifetime: '1h' })).toEqual({
      messages: [{ ...user('1'), ...hour }],
    })
  })

  test.each([
    ['a message', { messages: [{ ...user('1'), ...short }, answer, user('2')] }],
    ['a part', { messages: [{ role: 'user', content: [{ type: 'text', text: 'a', ...short }] }] }],
    ['a call', { messages: [user('1'), { ...answer, tool_calls: [{ id: 'c', ...short }] }] }],
    ['a tool', { messages: [user('1')], tools: [{ ...tool('a'), ...short }] }],
  ])('are left to a client that sets its own, on %s', (_name, chat) => {
    expect(withBreakpoints(chat, byTollgate)).toBe(chat)
  })

  test('are absent unless requested', () => {
    const chat = { messages: [system, user('1')] }
    expect(withBreakpoints(chat, callerOnly)).toBe(chat)
  })
})

describe('a breakpoint of a whole request', () => {
  const chat = { messages: [system, user('1')], ...hour }

  test('stands behind its last message', () => {
    expect(withBreakpoints(chat, callerOnly)).toEqual({
      messages: [system, { ...user('1'), ...hour }],
    })
  })

  test('is left to a provider that places it', () => {
    expect(withBreakpoints(chat, { ...byTollgate, setsOwnBreakpoints: true })).toBe(chat)
  })

  test('yields to an existing breakpoint', () => {
    const messages = [system, { ...user('1'), ...short }]
    expect(withBreakpoints({ messages, ...hour }, callerOnly)).toEqual({ messages })
  })
})
