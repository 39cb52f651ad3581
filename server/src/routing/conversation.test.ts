import { describe, expect, test } from 'bun:test'
import { Conversation, ConversationAffinity } from './conversation'
import type { JsonObject } from '../wire/json-body'

const system = { role: 'system', content: 'Be brief.' }
const user = (content: unknown) => ({ role: 'user', content })
const answer = { role: 'assistant', content: 'Yes.' }
const served = { modelId: 'fake/one', connectionId: 'conn_1' }
const first = { messages: [system, user('Hello')] }
const second = { messages: [system, user('Hello'), answer, user('And?')] }

function staged() {
  const clock = { ms: 0 }
  const affinity = new ConversationAffinity({ now: () => clock.ms })
  const of = (chat: JsonObject, accountId = 'user_1') => new Conversation(affinity, accountId, chat)
  /** A request that had a choice, and was served. */
  const serve = (chat: JsonObject, by = served) => {
    const conversation = of(chat)
    const { preferred } = conversation
    conversation.served(by)
    return preferred
  }
  return { clock, of, serve }
}

describe('the next request of a conversation', () => {
  test('goes where the first went, which goes where it is sent', () => {
    const { serve } = staged()
    expect(serve(first)).toBeUndefined()
    // The same again continues nothing.
    expect(serve(first)).toBeUndefined()
    expect(serve(second)).toMatchObject(served)
  })

  test('goes where the last one went', () => {
    const { serve } = staged()
    serve(first)
    serve(second, { ...served, connectionId: 'conn_2' })
    expect(serve(second)).toMatchObject({ connectionId: 'conn_2' })
  })

  test.each<[string, JsonObject]>([
    ['instructions', { messages: [{ ...system, content: 'Be kind.' }, user('Hello'), answer] }],
    ['a first message', { messages: [system, user('Hi'), answer] }],
    ['a name', { ...second, prompt_cache_key: 'a' }],
  ])('is one with the same texts: another one has other %s', (_name, chat) => {
    const { serve } = staged()
    serve(first)
    expect(serve(chat)).toBeUndefined()
  })

  test('is known by its parts as well', () => {
    const { serve } = staged()
    const parts = [
      { type: 'image_url', image_url: { url: 'https://a.example' } },
      { type: 'text', text: 'He' },
      { type: 'text', text: 'llo' },
    ]
    serve({ messages: [system, user(parts)] })
    expect(serve(second)).toMatchObject(served)
  })

  test('is known by the name that its client gives it, whatever it says', () => {
    const { serve } = staged()
    serve({ messages: [user('Hello')], prompt_cache_key: 'session' })
    const other = { messages: [user('Compacted.')], prompt_cache_key: 'session' }
    expect(serve(other)).toMatchObject(served)
  })

  test('is the same account’s', () => {
    const { of, serve } = staged()
    serve(first)
    expect(of(second, 'user_2').preferred).toBeUndefined()
  })

  test('is forgotten after an hour without one', () => {
    const { clock, serve } = staged()
    serve(first)
    clock.ms = 3_599_999
    expect(serve(second)).toMatchObject(served)
    clock.ms += 3_600_000
    expect(serve(second)).toBeUndefined()
  })

  test('is not remembered where there was no choice', () => {
    const { of, serve } = staged()
    of(first).served(served)
    expect(serve(second)).toBeUndefined()
  })

  test.each<[string, JsonObject]>([
    ['no messages', {}],
    ['messages that are none', { messages: 'x', prompt_cache_key: 7 }],
    ['messages without texts', { messages: [null, { role: 'user' }, answer] }],
  ])('may have %s', (_name, chat) => {
    const { serve } = staged()
    expect(serve(chat)).toBeUndefined()
  })
})

test('as many conversations are remembered as there is room for', () => {
  const affinity = new ConversationAffinity()
  for (let number = 0; number <= 50_000; number++) affinity.remember(`key ${number}`, served)
  expect(affinity.find('key 0')).toBeUndefined()
  expect(affinity.find('key 50000')).toMatchObject(served)
})
