import { expect, test } from 'bun:test'
import { toUpstreamChat } from './request'
import { RelayOptions } from '../provider'
import { providers } from '../registry'
import { responses } from '../responses'
import { sampleChat, sampleTarget } from '../../../testing/providers/samples'
import type { JsonObject } from '../../wire/json-body'

const options = RelayOptions.parse({})
const relay = (fields: JsonObject) =>
  toUpstreamChat({ model: 'a/b', messages: [], ...fields }, { upstreamModel: 'gpt-4.1', options })

const user = `user_${'0123456789abcdef'.repeat(4)}_account__session_${'0'.repeat(36)}`

test.each(['user', 'safety_identifier', 'prompt_cache_key'])(
  'finding C4: a %s of more than 64 characters is bounded, the same each time',
  (name) => {
    const first = relay({ [name]: user })[name]
    expect(first).toMatch(/^[0-9a-f]{64}$/)
    expect(relay({ [name]: user })[name]).toBe(first)
    expect(relay({ [name]: `${user}1` })[name]).not.toBe(first)
    expect(relay({ [name]: 'u'.repeat(64) })[name]).toBe('u'.repeat(64))
    expect(relay({})).not.toHaveProperty(name)
    const { body } = responses.request(sampleChat({ [name]: user }), sampleTarget('gpt-6-astra'))
    expect(body[name]).toBe(first)
  },
)

const toolOf = (parameters: unknown) => ({ type: 'function', function: { name: 'f', parameters } })

test.each([
  ['without properties', { type: 'object' }, { type: 'object', properties: {} }],
  [
    'with further keywords',
    { type: 'object', $schema: 'x', additionalProperties: false },
    { type: 'object', $schema: 'x', additionalProperties: false, properties: {} },
  ],
  ['with null', { type: 'object', properties: null }, { type: 'object', properties: {} }],
])('finding C4: an object %s is one without any', (_what, parameters, expected) => {
  const other = toolOf({ type: 'object', properties: { a: {} } })
  expect(relay({ tools: [other, toolOf(parameters)] })['tools']).toEqual([other, toolOf(expected)])
})

test('tools that lack nothing are the same object', () => {
  const tools = [
    toolOf({ type: 'object', properties: {} }),
    toolOf(undefined),
    toolOf({ anyOf: [] }),
  ]
  expect(relay({ tools })['tools']).toBe(tools)
})

const file = (fileFields: JsonObject) => ({
  type: 'file',
  file: fileFields,
  cache_control: { type: 'ephemeral' },
})

test('finding P8: a PDF for Mistral is a document, with its data as the address', () => {
  const mistral = providers.find(({ key }) => key === 'mistral')
  if (!mistral) throw new Error('there is no Mistral')
  const file_data = 'data:application/pdf;base64,JVBERi0='
  const content = [
    { type: 'text', text: 'Read.' },
    file({ filename: 'a.pdf', file_data }),
    file({ file_data }),
    file({ file_id: 'f-1' }),
  ]
  const chat = { model: 'a/b', messages: [{ role: 'user', content }] }
  const { messages } = toUpstreamChat(chat, { upstreamModel: 'm', options: mistral.options })
  expect(messages).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Read.' },
        { type: 'document_url', document_url: file_data, document_name: 'a.pdf' },
        { type: 'document_url', document_url: file_data },
        { type: 'file', file_id: 'f-1' },
      ],
    },
  ])
  expect(JSON.stringify(relay({ messages: [{ role: 'user', content }] }))).toContain(
    '"type":"file"',
  )
})
