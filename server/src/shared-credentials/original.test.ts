import { describe, expect, test } from 'bun:test'
import { toSharedOriginal } from './original'
import { sharedCredential } from '../../testing/providers/shared-credential'
import { ApiError } from '../errors'
import type { JsonObject } from '../wire/json-body'

type Format = 'messages' | 'responses'

interface SharedRequest {
  body: JsonObject
  headers?: Record<string, string>
  allow?: Parameters<typeof sharedCredential>[1]
}

/** A request in its own format, as it goes to its provider on an organization's credential. */
function shared(format: Format, { body, headers = {}, allow }: SharedRequest) {
  const omitted: string[] = []
  const credential = sharedCredential(format === 'messages' ? 'anthropic' : 'openai', allow)
  const use = { credential, reasoning: false, omit: (field: string) => omitted.push(field) }
  return { ...toSharedOriginal({ format, body, headers }, use), omitted }
}

function refusalOf(format: Format, body: JsonObject): unknown {
  try {
    return shared(format, { body })
  } catch (thrown) {
    if (thrown instanceof ApiError) return [thrown.param, thrown.details?.['issue']]
    throw thrown
  }
}

const said = (block: JsonObject) => ({ messages: [{ role: 'user', content: [block] }] })
const at = 'messages.0.content.0'

describe('finding S27: a message on a credential that accounts share', () => {
  test('goes on as it is, where all of it is known', () => {
    const body = {
      model: 'a/b',
      max_tokens: 10,
      top_k: 5,
      system: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral', scope: 'global' } }],
      tools: [
        { name: 'look', input_schema: {} },
        { type: 'bash_20250124', name: 'bash' },
      ],
      ...said({ type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } }),
    }
    const { body: sent, omitted } = shared('messages', { body })
    expect(sent).toBe(body)
    expect(omitted).toEqual([])
  })

  const result = (content: unknown) => said({ type: 'tool_result', tool_use_id: 'a', content })
  const stored = { type: 'document', source: { type: 'file', file_id: 'file_1' } }
  test.each<[string, JsonObject]>([
    ['thread', { thread: { type: 'create' } }],
    ['container', { container: 'container_1' }],
    ['container', { container: { skills: [{ skill_id: 'skill_1' }] } }],
    ['billing_policy', { billing_policy: { bill_to: 'user_profile' } }],
    ['fallbacks', { fallbacks: [{ model: 'b' }] }],
    [`${at}.source.file_id`, said(stored)],
    [`${at}.source.file_id`, said({ type: 'image', source: { type: 'file', file_id: 'file_1' } })],
    [`${at}.file_id`, said({ type: 'container_upload', file_id: 'file_1' })],
    [`${at}.content.0.source.file_id`, result([stored])],
    [
      `${at}.source.content.0.source.file_id`,
      said({ type: 'document', source: { type: 'content', content: [stored] } }),
    ],
    [
      `${at}.content.content.0.file_id`,
      said({
        type: 'code_execution_tool_result',
        content: { content: [{ type: 'code_execution_output', file_id: 'file_1' }] },
      }),
    ],
    [`${at}.source.url`, said({ type: 'image', source: { type: 'url', url: 'gs://b/o.png' } })],
    [`${at}.source.type`, said({ type: 'image', source: { type: 'made_up', id: 'a' } })],
    [`${at}.type`, said({ type: 'made_up' })],
    ['tools.0.type', { tools: [{ type: 'made_up_20261001', name: 'a' }] }],
  ])('%s is rejected by name', (param, body) => {
    expect(refusalOf('messages', body)).toEqual([param, 'not_allowed'])
  })

  test('fields that only tune are left out and named', () => {
    const body = { diagnostics: { previous_message_id: 'msg_1' }, made_up: 1 }
    expect(shared('messages', { body })).toMatchObject({
      body: {},
      omitted: ['diagnostics', 'made_up'],
    })
  })

  test('the owner of the connection allows more', () => {
    const body = { made_up: 1, ...said({ type: 'made_up_block' }) }
    const allow = { fields: ['made_up'], blocks: ['made_up_block'] }
    expect(shared('messages', { body, allow })).toMatchObject({ body, omitted: [] })
  })
})

describe('finding S23: a request for a Response on a credential that accounts share', () => {
  test.each<[string, JsonObject]>([
    ['multi_agent', { multi_agent: { enabled: true } }],
    ['input.0.type', { input: [{ type: 'multi_agent_call', call_id: 'a' }] }],
    ['tools.0.type', { tools: [{ type: 'made_up' }] }],
    ['tools.0.tunnel_id', { tools: [{ type: 'mcp', tunnel_id: 't' }] }],
    [
      'input.0.content.0.image_url',
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'gs://b/o' }] }] },
    ],
  ])('%s is rejected by name', (param, body) => {
    expect(refusalOf('responses', body)).toEqual([param, 'not_allowed'])
  })
})

describe('finding S29: the headers of a caller', () => {
  test.each<[Format, Record<string, string>]>([
    ['responses', { 'openai-beta': 'responses=experimental' }],
    ['responses', { 'x-openai-internal-codex-responses-lite': 'true' }],
    ['messages', { 'anthropic-version': '2023-06-01' }],
    [
      'messages',
      {
        'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14, effort-2025-11-24',
      },
    ],
  ])('%s: %p is known, and passes', (format, headers) => {
    expect(shared(format, { body: {}, headers })).toMatchObject({ headers, omitted: [] })
  })

  test('betas that are not known are left out and named', () => {
    const beta = 'claude-code-20250219,files-api-2025-04-14,made-up-2026-10-01'
    expect(shared('messages', { body: {}, headers: { 'anthropic-beta': beta } })).toMatchObject({
      headers: { 'anthropic-beta': 'claude-code-20250219' },
      omitted: ['anthropic-beta.files-api-2025-04-14', 'anthropic-beta.made-up-2026-10-01'],
    })
    const agents = { 'openai-beta': 'responses_multi_agent=v1' }
    const { headers, omitted } = shared('responses', { body: {}, headers: agents })
    expect(headers).toEqual({})
    expect(omitted).toEqual(['openai-beta.responses_multi_agent=v1'])
    const version = { 'anthropic-version': '1999-01-01' }
    expect(shared('messages', { body: {}, headers: version }).headers).toEqual({})
  })

  test('the owner of the connection allows more', () => {
    const headers = { 'anthropic-beta': 'made-up-2026-10-01' }
    const allow = { betas: ['made-up-2026-10-01'] }
    expect(shared('messages', { body: {}, headers, allow })).toMatchObject({ headers, omitted: [] })
  })
})
