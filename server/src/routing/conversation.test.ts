import { describe, expect, test } from 'bun:test'
import { CachedConversation, ConversationAffinity } from './conversation'
import type { JsonObject } from '../wire/json-body'

const system = { role: 'system', content: 'Be brief.' }
const user = (content: unknown) => ({ role: 'user', content })
const answer = { role: 'assistant', content: 'Yes.' }
const served = { modelId: 'fake/one', connectionId: 'conn_1' }
const first = { messages: [system, user('Hello')] }
const second = { messages: [system, user('Hello'), answer, user('And?')] }

function createFixture({ isAlone = true } = {}) {
  const clock = { ms: 0 }
  const affinity = new ConversationAffinity({ now: () => clock.ms, isAlone: () => isAlone })
  const of = (chat: JsonObject, accountId = 'user_1') =>
    new CachedConversation(affinity, accountId, chat)
  /** A request that had a choice, and was served. */
  const serve = (chat: JsonObject, by = served) => {
    const conversation = of(chat)
    const { preferredRoute } = conversation
    conversation.recordRoute(by)
    return preferredRoute
  }
  return { clock, of, serve }
}

describe('the next request of a conversation', () => {
  test('goes where the first went, which goes where it is sent', () => {
    const { serve } = createFixture()
    expect(serve(first)).toBeUndefined()
    // The same again continues nothing.
    expect(serve(first)).toBeUndefined()
    expect(serve(second)).toMatchObject(served)
  })

  test('continues it, or names it', () => {
    const { of } = createFixture()
    expect(of(first).isContinued).toBe(false)
    expect(of(second).isContinued).toBe(true)
    expect(of({ ...first, prompt_cache_key: 'session' }).isContinued).toBe(true)
  })

  test('goes where the last one went', () => {
    const { serve } = createFixture()
    serve(first)
    serve(second, { ...served, connectionId: 'conn_2' })
    expect(serve(second)).toMatchObject({ connectionId: 'conn_2' })
  })

  test.each<[string, JsonObject]>([
    ['instructions', { messages: [{ ...system, content: 'Be kind.' }, user('Hello'), answer] }],
    ['a first message', { messages: [system, user('Hi'), answer] }],
    ['a name', { ...second, prompt_cache_key: 'a' }],
  ])('is one with the same texts: another one has other %s', (_name, chat) => {
    const { serve } = createFixture()
    serve(first)
    expect(serve(chat)).toBeUndefined()
  })

  test('is known by its parts as well', () => {
    const { serve } = createFixture()
    const parts = [
      { type: 'image_url', image_url: { url: 'https://a.example' } },
      { type: 'text', text: 'He' },
      { type: 'text', text: 'llo' },
    ]
    serve({ messages: [system, user(parts)] })
    expect(serve(second)).toMatchObject(served)
  })

  test('is recognized by the name that its client sends, for any text', () => {
    const { serve } = createFixture()
    serve({ messages: [user('Hello')], prompt_cache_key: 'session' })
    const other = { messages: [user('Compacted.')], prompt_cache_key: 'session' }
    expect(serve(other)).toMatchObject(served)
  })

  test('is the same account’s', () => {
    const { of, serve } = createFixture()
    serve(first)
    expect(of(second, 'user_2').preferredRoute).toBeUndefined()
  })

  test('expires after an hour without one', () => {
    const { clock, serve } = createFixture()
    serve(first)
    clock.ms = 3_599_999
    expect(serve(second)).toMatchObject(served)
    clock.ms += 3_600_000
    expect(serve(second)).toBeUndefined()
  })

  test('is not stored without a choice', () => {
    const { of, serve } = createFixture()
    of(first).recordRoute(served)
    expect(serve(second)).toBeUndefined()
  })

  test.each<[string, JsonObject]>([
    ['no messages', {}],
    ['invalid messages', { messages: 'x', prompt_cache_key: 7 }],
    ['messages without texts', { messages: [null, { role: 'user' }, answer] }],
  ])('may have %s', (_name, chat) => {
    const { serve } = createFixture()
    expect(serve(chat)).toBeUndefined()
  })
})

describe('beside other processes', () => {
  const members = ['fake/one', 'fake/two', 'fake/three', 'fake/four']
  const orderOf = (conversation: CachedConversation) =>
    conversation.order(members, (id) => id).join(' ')

  test('a conversation has the same route on all of them, after a first request on any', () => {
    const { of, serve } = createFixture({ isAlone: false })
    serve(first)
    expect(of(second).isContinued).toBe(true)
    expect(of(second).preferredRoute).toBeUndefined()
    expect(orderOf(of(second))).toBe(orderOf(createFixture({ isAlone: false }).of(second)))
  })

  test('it stays where it failed over to', () => {
    const { serve } = createFixture({ isAlone: false })
    serve(second, { ...served, connectionId: 'conn_2' })
    expect(serve(second)).toMatchObject({ connectionId: 'conn_2' })
  })

  test('its order is the same at every turn, and another one of another conversation or account', () => {
    const { of } = createFixture()
    const longer = { messages: [...second.messages, answer, user('Why?')] }
    expect(orderOf(of(longer))).toBe(orderOf(of(second)))
    const named = (name: string) => of({ ...second, prompt_cache_key: name })
    const orders = Array.from({ length: 50 }, (_, at) => orderOf(named(`session ${at}`)))
    expect(new Set(orders).size).toBeGreaterThan(10)
    const accounts = Array.from({ length: 50 }, (_, at) => orderOf(of(second, `user_${at}`)))
    expect(new Set(accounts).size).toBeGreaterThan(10)
  })
})

test('as many conversations are remembered as there is room for', () => {
  const affinity = new ConversationAffinity()
  for (let number = 0; number <= 50_000; number++) affinity.remember(`key ${number}`, served, false)
  expect(affinity.find('key 0')).toBeUndefined()
  expect(affinity.find('key 50000')).toMatchObject(served)
})
