import type { RequestFeature } from './features'
import type { JsonObject } from '../../src/wire/json-body'

const user = (content: unknown): JsonObject => ({ role: 'user', content })
const tools = ['f', 'g'].map((name) => ({ type: 'function', function: { name } }))
const result = (id: string, content = `result-${id}`) => ({
  role: 'tool',
  tool_call_id: id,
  content,
})
const called = (id: string, text = '{"a":1}', beside: JsonObject = {}): JsonObject => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: text },
  ...beside,
})
const assistant = (calls: readonly JsonObject[], fields: JsonObject = {}): JsonObject => ({
  role: 'assistant',
  content: null,
  ...fields,
  tool_calls: calls,
})
/** A conversation with a turn of calls, which goes on. */
const after = (turn: JsonObject, ...results: JsonObject[]): JsonObject => ({
  tools,
  messages: [user('Hello'), turn, ...results, user('mark-end')],
})

const claude = { format: 'anthropic-claude-v1', index: 0 }
const own = 'b3duZGF0YQ'
/** A thought in the form of each dialect that signs: of Claude's, OpenAI's and Gemini's. */
const thinking = (ofClaude: readonly JsonObject[], data = own): JsonObject =>
  after(
    assistant(
      [called('one', '{"a":1}', { extra_content: { google: { thought_signature: data } } })],
      {
        reasoning_details: [
          ...ofClaude.map((detail) => ({ ...claude, ...detail })),
          { type: 'reasoning.encrypted', format: 'openai-responses-v1', data },
        ],
      },
    ),
    result('one'),
  )
const signed = /"bWFyaw"|b3duZGF0YQ/
const long = 'bWFy'.repeat(3000)

/** OpenAI's servers, and in different turns Google, tell calls apart by their place: these get the ids that they gave. */
const asTheyCame = /again[^]*result-1[^]*again[^]*result-2/

/** Oddities of histories, which providers and clients make. */
export const historyFeatures: readonly RequestFeature[] = [
  {
    name: 'a call whose arguments broke off',
    chat: after(assistant([called('one', '{"q": "unfin')]), result('one')),
    mark: /unfin[^]*result-one/,
  },
  {
    name: 'a call whose arguments are a list',
    chat: after(assistant([called('one', '["unfin"]')]), result('one')),
    mark: /unfin[^]*result-one/,
  },
  {
    name: 'a call without arguments',
    chat: after(assistant([called('one', '')]), result('one')),
    mark: /"f"[^]*result-one/,
  },
  {
    name: 'one id in two turns',
    chat: {
      tools,
      messages: [
        user('Hello'),
        assistant([called('again')]),
        result('again', 'result-1'),
        assistant([called('again')]),
        result('again', 'result-2'),
      ],
    },
    mark: /^(?!(?:[^]*"again"){3})[^]*result-1[^]*result-2/,
    marks: { 'OpenAI, relayed': asTheyCame, Google: asTheyCame },
  },
  {
    name: 'one id twice in a turn',
    chat: after(
      assistant([called('again'), called('again', '{"a":2}')]),
      result('again', 'result-1'),
      result('again', 'result-2'),
    ),
    mark: /^(?!(?:[^]*"again"){3})[^]*result-1[^]*result-2/,
    marks: { 'OpenAI, relayed': /again[^]*again[^]*result-1[^]*result-2/ },
  },
  {
    name: 'a signed thought without text',
    chat: thinking([{ type: 'reasoning.text', text: '', signature: 'bWFyaw' }]),
    mark: signed,
  },
  {
    name: 'an encrypted or redacted thought',
    chat: thinking([{ type: 'reasoning.encrypted', data: 'bWFyaw' }]),
    mark: signed,
  },
  {
    name: 'a signature of 12,000 characters',
    chat: thinking([{ type: 'reasoning.text', text: 'Hm.', signature: long }], long),
    mark: new RegExp(long),
  },
  {
    name: 'reasoning without a signature, in a turn with calls',
    chat: after(assistant([called('one')], { reasoning_content: 'mark-thought' }), result('one')),
    mark: /mark-thought/,
  },
  {
    name: 'reasoning among the parts of a text',
    chat: {
      messages: [
        user('Hello'),
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
            { type: 'text', text: 'mark-text' },
          ],
        },
        user('mark-end'),
      ],
    },
    mark: /mark-text[^]*mark-end/,
  },
  {
    name: '`reasoning` that is enabled, without an effort',
    chat: { reasoning: { enabled: true } },
    mark: /effort|thinking(?:Config|":\{)|budget|"reasoning":/i,
  },
  {
    name: 'sound as ogg',
    chat: {
      messages: [
        user([
          { type: 'text', text: 'Hear:' },
          { type: 'input_audio', input_audio: { data: 'T2dnUw==', format: 'ogg' } },
        ]),
      ],
    },
    mark: /T2dnUw==/,
  },
]
