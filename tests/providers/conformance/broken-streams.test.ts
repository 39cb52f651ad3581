import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { failureOf, hello, jsonOf, createFixture, type Fixture } from './fixture'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const open = async (name: string) => {
  const model = await fixture.model(name)
  return fixture.client.chat.completions.create({ model, messages: hello, stream: true })
}

/** The error that a stream ends in, once it has begun. */
async function brokenAfter(name: string) {
  const stream = await open(name)
  let text = ''
  const reading = async () => {
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
  }
  const error = await failureOf(reading())
  return { text, error }
}

test('U07: an error in place of the first event is a status, with the text of the provider', async () => {
  const error = await failureOf(open('err-first'))
  expect(error.status).toBeOneOf([502, 503])
  expect(error.code).toBe('provider_error')
  expect(error.message).not.toContain('unreadable')
  expect(jsonOf(jsonOf(error.error)['details'])['provider']).toBe('fake')
})

test.each(['err-after-3', 'finish-error', 'native-finish-error'])(
  'U07: %s raises in the loop, after the received chunks and with the provider’s words',
  async (name) => {
    const { text, error } = await brokenAfter(name)
    expect(text).not.toBe('')
    expect(error.code).toBe('provider_error')
    expect(error.type).toBe('gateway_error')
    expect(error.message).not.toContain('unreadable')
  },
)

test.each(['end-after-3', 'eof-after-3'])(
  'U08: %s raises in the loop and is never taken for success',
  async (name) => {
    const stream = await open(name).catch((thrown: unknown) => thrown)
    const { error } = stream instanceof Error ? { error: stream } : await brokenAfter(name)
    expect(error).toMatchObject({ code: 'provider_error' })
    expect(error.message).toContain('ended early')
  },
)

test.each([
  ['no-done', 'ends'],
  ['no-done-no-usage', 'ends'],
  ['lost-done', 'is lost once all was said and counted'],
])('finding P10: %s, which %s without [DONE], is a whole answer', async (name) => {
  let text = ''
  let finish: string | null | undefined
  for await (const chunk of await open(name)) {
    text += chunk.choices[0]?.delta.content ?? ''
    finish = chunk.choices[0]?.finish_reason ?? finish
  }
  expect(text).toBe('All is well at the fake provider today, thank you.')
  expect(finish).toBe('stop')
})

test('finding Q7: no-finish, which ends in [DONE] without a reason, is a whole answer', async () => {
  let text = ''
  let finish: string | null | undefined
  for await (const chunk of await open('no-finish')) {
    text += chunk.choices[0]?.delta.content ?? ''
    finish = chunk.choices[0]?.finish_reason ?? finish
  }
  expect([text, finish]).toEqual(['All is well at the fake provider today, thank you.', 'stop'])
})

test('finding P10: lost-usage, which is lost before it was counted, raises', async () => {
  const { text, error } = await brokenAfter('lost-usage')
  expect(text).toBe('All is well at the fake provider today, thank you.')
  expect(error.code).toBeOneOf(['connection_failed', 'provider_error'])
})

test('U05: an unreadable event is an error, and its text stays here', async () => {
  const { error } = await brokenAfter('bad-json-3')
  expect(error.code).toBe('provider_error')
  expect(JSON.stringify(error)).not.toContain('secret-of-the-upstream')
})

test.each(['close-after-3', 'rst-after-3'])(
  'S07: %s raises in the loop as a lost connection',
  async (name) => {
    // A reset may overtake what was sent before it; then it is a status.
    const error = await failureOf(
      brokenAfter(name).then(({ error: thrown }) => Promise.reject(thrown)),
    )
    expect(error.code).toBeOneOf(['connection_failed', 'provider_error'])
  },
)

test.each(['done-open', 'done-twice', 'data-after-done'])(
  '%s ends at once, with its text and nothing after it',
  async (name) => {
    const stream = await open(name)
    let text = ''
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
    expect(text).toBe('All is well at the fake provider today, thank you.')
  },
)
