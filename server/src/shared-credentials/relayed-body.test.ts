import { describe, expect, test } from 'bun:test'
import { toSharedBody } from './relayed-body'
import { sharedCredential } from '../../testing/providers/shared-credential'
import { ApiError } from '../errors'
import type { JsonObject } from '../wire/json-body'

const openai = sharedCredential('openai')
const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: [{ type: 'text', text: 'Hi.' }] },
]
const base = { model: 'a/b', messages }

const shared = (fields: JsonObject, key = 'openai') =>
  toSharedBody({ ...base, ...fields }, 'chat', sharedCredential(key))

function refusalOf(fields: JsonObject): unknown {
  try {
    return shared(fields)
  } catch (thrown) {
    if (thrown instanceof ApiError) return [thrown.param, thrown.details?.['issue']]
    throw thrown
  }
}

const user = (part: JsonObject) => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Look:' }, part] }],
})
const file = (fields: JsonObject) => user({ type: 'file', file: fields })
const image = (url: string) => user({ type: 'image_url', image_url: { url } })

test('a request of known fields goes on as it is', () => {
  const assistant = { role: 'assistant', content: null, tool_calls: [], reasoning_content: 'Hm.' }
  const tuned = { temperature: 1, top_k: 5, seed: 3, messages: [...messages, assistant] }
  expect(shared(tuned)).toBeUndefined()
  expect(shared(image('https://a.example/cat.png'))).toBeUndefined()
  expect(shared(image('data:image/png;base64,AAAA'))).toBeUndefined()
  expect(shared(file({ file_data: 'data:application/pdf;base64,AA', filename: 'a' }))).toBe(
    undefined,
  )
  expect(toSharedBody({ model: 'a', prompt: 'b', echo: true }, 'completion', openai)).toBe(
    undefined,
  )
  expect(toSharedBody({ model: 'a', input: ['b'], input_type: 'c' }, 'embedding', openai)).toBe(
    undefined,
  )
})

describe('finding S20: references to the provider’s account are rejected by name', () => {
  const uploaded = 'https://generativelanguage.googleapis.com/v1beta/files/x'
  test.each<[string, JsonObject]>([
    ['messages.0.content.1.file.file_id', file({ file_id: 'gs://operator/x.pdf' })],
    ['messages.0.content.1.file.file_id', file({ file_id: uploaded })],
    ['messages.0.content.1.file.file_id', file({ file_id: 'file-1' })],
    ['messages.0.content.1.file.file_data', file({ file_data: 'gs://operator/x.pdf' })],
    ['messages.0.content.1.file.file_data', file({ file_data: 'file:///etc/passwd' })],
    ['messages.0.content.1.file.file_url', file({ file_url: 's3://operator/x.pdf' })],
    ['messages.0.content.1.image_url.url', image(uploaded)],
    ['messages.0.content.1.image_url.url', image(uploaded.replace('https', 'HTTPS'))],
    ['messages.0.content.1.image_url.url', image(uploaded.replace('.com/', '.com:443/'))],
    ['messages.0.content.1.image_url.url', image('gs://operator/x.png')],
    ['messages.0.audio.id', { messages: [{ role: 'assistant', audio: { id: 'audio_1' } }] }],
    [
      'prompt_cache_options.comparison_response_id',
      {
        prompt_cache_options: { comparison_response_id: 'resp_1' },
      },
    ],
    ['audio.voice', { audio: { voice: { id: 'voice_1' } } }],
    ['data_sources', { data_sources: [{ type: 'azure_search' }] }],
    ['cached_content', { cached_content: 'projects/p/cachedContents/c' }],
    ['preset', { preset: 'theirs' }],
    ['session_params', { session_params: { id: 's' } }],
  ])('%s', (param, fields) => {
    expect(refusalOf(fields)).toEqual([param, 'not_allowed'])
  })

  test('a public film is not such a reference', () => {
    const film = 'https://www.youtube.com/watch?v=abc'
    expect(shared(file({ file_id: film }))).toBeUndefined()
    expect(shared(image(film))).toBeUndefined()
  })

  test('the image of an embedding is rejected too', () => {
    const input = [{ content: [{ type: 'image_url', image_url: { url: uploaded } }] }]
    expect(() => toSharedBody({ model: 'a', input }, 'embedding', openai)).toThrow(
      'input.0.content.0.image_url',
    )
    expect(() =>
      toSharedBody({ model: 'a', input: [{ image: uploaded }] }, 'embedding', openai),
    ).toThrow('input.0.image')
  })
})

describe('finding S24: fields that are not listed', () => {
  test.each(['deferred', 'prompt_embeds', 'guided_regex', 'chat_template'])(
    '%s is rejected by name, as the answer would be another without it',
    (name) => {
      expect(refusalOf({ [name]: 'x' })).toEqual([name, 'not_allowed'])
      expect(shared({ [name]: null })?.omitted).toEqual([])
    },
  )

  test('others are left out and named', () => {
    const unknown = {
      store: true,
      metadata: { a: 'b' },
      kv_transfer_params: {},
      bootstrap_host: 'a',
      rid: 'r',
      priority: 1,
      cache_salt: 's',
      api_base: 'https://a.example',
      api_key: 'k',
      safe: 1,
    }
    expect(shared(unknown)).toEqual({ body: base, omitted: Object.keys(unknown) })
  })

  test('fields inside of messages are left out too', () => {
    const part = {
      type: 'image_url',
      image_url: { url: 'https://a.example/b', uuid: 'u' },
      uuid: 'u',
    }
    const { body, omitted } =
      shared({ messages: [{ role: 'user', content: [part], rid: 1 }] }) ?? {}
    const kept = { type: 'image_url', image_url: { url: 'https://a.example/b' } }
    expect(body?.['messages']).toEqual([{ role: 'user', content: [kept] }])
    expect(omitted).toEqual([
      'messages.0.rid',
      'messages.0.content.0.uuid',
      'messages.0.content.0.image_url.uuid',
    ])
  })

  test('thinking is switched in a template, which is not rewritten', () => {
    const template = { enable_thinking: false, chat_template: 'x' }
    expect(shared({ chat_template_kwargs: template })).toEqual({
      body: { ...base, chat_template_kwargs: { enable_thinking: false } },
      omitted: ['chat_template_kwargs.chat_template'],
    })
  })

  test('a provider’s own fields pass at that provider', () => {
    expect(shared({ enable_search: true }, 'dashscope')).toBeUndefined()
    expect(shared({ enable_search: true }, 'groq')?.omitted).toEqual(['enable_search'])
  })

  test('names are as many as a header has', () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`field_${at}`, 1]))
    expect(shared(many)?.omitted).toHaveLength(20)
  })
})

test('finding S24: the owner of a connection allows more', () => {
  const credential = sharedCredential('custom', { fields: ['guided_json', 'rid'] })
  const asking = { ...base, guided_json: {}, rid: 'a', top_k: 5 }
  expect(toSharedBody(asking, 'chat', credential)).toBeUndefined()
  expect(toSharedBody({ ...asking, priority: 1 }, 'chat', credential)?.omitted).toEqual([
    'priority',
  ])
})
