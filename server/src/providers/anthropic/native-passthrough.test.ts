import { expect, test } from 'bun:test'
import { messagesPassthrough } from './native-passthrough'
import { RelayOptions } from '../provider'
import { noUsage } from '../../wire/usage'

const body = { model: 'anthropic/claude', max_tokens: 4000, messages: [] }
const written = (fields: object, maxTokens?: number) =>
  messagesPassthrough.request({ ...body, ...fields }, { upstreamModel: 'claude', maxTokens }).body

test('nothing is touched but the model, and the limit to what is paid for', () => {
  const fields = { metadata: { a: 1 }, stream: true, unheard_of: [] }
  expect(written(fields)).toEqual({ ...body, ...fields, model: 'claude' })
  expect(written(fields, 100)).toEqual({ ...body, ...fields, model: 'claude', max_tokens: 100 })
})

test.each([
  ['enough room', 4000, { type: 'enabled', budget_tokens: 2000 }],
  ['less room than the budget', 1800, { type: 'enabled', budget_tokens: 1024 }],
  ['half of what is left', 2000, { type: 'enabled', budget_tokens: 1024 }],
  ['no room to think', 1024, { type: 'disabled' }],
])('thinking fits below the limit: %s', (_name, maxTokens, thinking) => {
  const requested = { type: 'enabled', budget_tokens: 2000 }
  expect(written({ thinking: requested }, maxTokens)).toMatchObject({
    thinking,
    max_tokens: maxTokens,
  })
})

test('thinking without a budget stays as it is', () => {
  const thinking = { type: 'adaptive' }
  expect(written({ thinking }, 10)).toMatchObject({ thinking, max_tokens: 10 })
})

test('of an answer that counts nothing, the tokens are estimated', () => {
  const sizes: number[] = []
  const usage = {
    ...noUsage,
    input: 1,
    output: 1,
    estimated: true,
  }
  const content = [
    { type: 'text', text: 'Good day.' },
    { type: 'tool_use', id: 'a', name: 'look', input: { at: 'sky' } },
  ]
  const { usage: reported } = messagesPassthrough.complete(
    { content },
    {
      identity: { id: 'a', object: 'chat.completion', created: 1, model: 'm' },
      source: {
        provider: 'p',
        secret: null,
        textField: 'messages',
        wasSent: () => false,
        contextLength: null,
        maxOutputTokens: null,
      },
      options: RelayOptions.parse({}),
      wantsUsage: false,
      legacyFunctions: false,
      newCallId: () => 'x',
      hiddenTokens: () => Infinity,
      estimate: (size) => {
        sizes.push(size.bytes)
        return usage
      },
    },
  )
  expect(reported).toEqual(usage)
  expect(sizes).toEqual([Buffer.byteLength('Good day.look{"at":"sky"}')])
})
