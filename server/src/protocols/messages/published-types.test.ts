import { describe, expect, test } from 'bun:test'
import { messages } from '.'
import { ApiError } from '../../errors'
import { expectInDocs, toTable } from '../../../testing/wire/docs-table'
import { sharedCredential } from '../../../testing/providers/shared-credential'
import { toSharedOriginal } from '../../shared-credentials/original'
import type { JsonObject } from '../../wire/json-body'
import { PublishedTypes } from '../../../testing/wire/published-types'

/**
 * What Anthropic's newest SDK can send, read from its types, the beta ones too: a new version that knows more
 * fails here until it is decided what becomes of it.
 */
const sdk = new PublishedTypes('@anthropic-ai/sdk', 'resources/messages/messages.d.ts')
const beta = new PublishedTypes('@anthropic-ai/sdk', 'resources/beta/messages/messages.d.ts')

const merged = (...lists: readonly (readonly string[])[]) => [...new Set(lists.flat())].toSorted()

const base = { model: 'a/b', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] }
const look = { name: 'look', input_schema: { type: 'object' } }
const read = (fields: JsonObject) => messages(new Headers()).read({ ...base, ...fields })

interface Field {
  value: unknown
  beside?: JsonObject
  /** Why it has no effect, where the client gets no error for it. */
  why?: string
}

const header = 'the SDK sends it as a header; it chooses what belongs to a credential'

/** Each field, as it is sent. */
const fields: Record<string, Field> = {
  betas: {
    value: ['a-2025-01-01'],
    why: 'the SDK sends it as a header, `anthropic-beta`, which goes on to Anthropic as far as its values are known',
  },
  billing_policy: { value: { type: 'billing_policy', bill_to: 'user_profile' } },
  cache_control: { value: { type: 'ephemeral' } },
  compaction: { value: { type: 'summarize' } },
  container: { value: 'container_1' },
  context_management: { value: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
  diagnostics: { value: { previous_message_id: 'msg_1' } },
  fallback_credit_token: { value: 'token' },
  fallbacks: { value: [{ model: 'claude-haiku-4-5' }] },
  inference_geo: { value: 'us' },
  max_tokens: { value: 200 },
  mcp_servers: { value: [{ type: 'url', url: 'https://a.example', name: 'a' }] },
  messages: { value: [{ role: 'user', content: 'Bye' }] },
  metadata: { value: { user_id: 'a' } },
  model: { value: 'a/c' },
  output_config: { value: { effort: 'low' } },
  output_format: { value: { type: 'json_schema', schema: { type: 'object' } } },
  service_tier: {
    value: 'standard_only',
    why: 'ordinary tiers are what other models have; another value is named',
  },
  speed: { value: 'fast' },
  stop_sequences: { value: ['END'] },
  stream: { value: true },
  system: { value: 'Be brief.' },
  thinking: { value: { type: 'adaptive' } },
  thread: { value: { type: 'create' } },
  tool_choice: { value: { type: 'any' }, beside: { tools: [look] } },
  tools: { value: [look] },
  user_profile_id: { value: 'a', why: header },
  workspace_id: { value: 'a', why: header },
}

/** Fields that are headers in the SDK: they are none of a body. */
const headers = new Set(['betas', 'user_profile_id', 'workspace_id'])

type Fate = 'translated' | 'refused' | 'named' | 'silent' | 'a header'

/** What becomes of a field for a model of another provider. */
function fateOf(name: string, { value, beside = {} }: Field): Fate {
  if (headers.has(name)) return 'a header'
  const { chat, refusal, omitted = [] } = read({ ...beside, [name]: value })
  if (refusal) {
    expect(refusal.param).toBe(name)
    return 'refused'
  }
  if (omitted.includes(name)) return 'named'
  return Bun.deepEquals(chat, read(beside).chat) ? 'silent' : 'translated'
}

const pricing = { cacheWrite: 1, cacheWriteLong: 1 }

/** What becomes of it on its way to Anthropic on a connection whose use is charged by our price. */
function fateByPrice(name: string, { value, beside = {} }: Field): string {
  if (headers.has(name)) return 'a header'
  const { original } = read({ ...beside, [name]: value })
  if (!original) throw new Error('It can be passed on.')
  const omitted: string[] = []
  try {
    const omit = (field: string) => omitted.push(field)
    const toPriced = (asked: JsonObject) => original.paid(asked, { pricing, omit })
    const use = { credential: sharedCredential('anthropic'), reasoning: true, toPriced, omit }
    const { body: sent } = toSharedOriginal(original, use)
    if (omitted.includes(name)) return 'named'
    return Bun.deepEquals(sent[name], value) ? 'yes' : 'silent'
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown
    expect(thrown.param?.split('.')[0]).toBe(name)
    return 'refused'
  }
}

describe('every published field of a message is translated, refused by name, or named as left out', () => {
  test('the list contains all fields and no others', () => {
    const publishedFields = merged(
      sdk.fieldsOf('MessageCreateParamsBase'),
      beta.fieldsOf('MessageCreateParamsBase'),
    )
    expect(publishedFields).toEqual(Object.keys(fields))
  })

  test.each(Object.entries(fields))('%s', (name, field) => {
    const isReasoned = ['silent', 'a header'].includes(fateOf(name, field))
    expect(isReasoned).toBe(field.why !== undefined)
    // A tier at the ordinary price is what there is anyway.
    if (name !== 'service_tier') expect(fateByPrice(name, field)).not.toBe('silent')
  })

  test('an unknown field is left out as well', () => {
    expect(read({ top_k: 5, newer: { a: 1 } }).omitted).toEqual(['top_k', 'newer'])
  })

  test.each([
    [{ service_tier: 'priority' }, 'service_tier'],
    [
      { output_config: { task_budget: { type: 'tokens', total: 1000 } } },
      'output_config.task_budget',
    ],
    [{ thinking: { type: 'between_tools' } }, 'thinking'],
  ])('%j is named', (request, field) => {
    expect(read(request).omitted).toEqual([field])
  })

  test('does not name fields that have their default value', () => {
    const usual = { service_tier: 'auto', speed: 'standard', fallbacks: [], top_k: null }
    expect(read({ ...usual, thinking: { type: 'disabled' } }).omitted).toEqual([])
  })
})

/** Each field of a tool, as it is sent. */
const toolFields: Record<string, unknown> = {
  allowed_callers: ['code_execution_20260120'],
  cache_control: { type: 'ephemeral' },
  defer_loading: true,
  description: 'Looks.',
  eager_input_streaming: true,
  input_examples: [{ a: 1 }],
  input_schema: { type: 'object', properties: { a: { type: 'string' } } },
  name: 'see',
  strict: true,
  type: 'custom',
}

describe('every published tool is translated, or named as left out', () => {
  test('its fields have no others beside them', () => {
    const publishedFields = merged(sdk.fieldsOf('Tool'), beta.fieldsOf('BetaTool'))
    expect(publishedFields).toEqual(Object.keys(toolFields))
  })

  test.each(Object.entries(toolFields))('%s', (name, value) => {
    const { chat, omitted = [] } = read({ tools: [{ ...look, [name]: value }] })
    const isSame = Bun.deepEquals(chat, read({ tools: [look] }).chat)
    expect(omitted).toEqual(isSame && name !== 'type' ? [`tools.0.${name}`] : [])
  })

  const hosted = merged(sdk.typesOf('ToolUnion'), beta.typesOf('BetaToolUnion')).filter(
    (type) => type !== 'custom',
  )
  test.each(hosted)('%s: named beside another, refused alone', (type) => {
    const tool = { type, name: 'theirs' }
    expect(read({ tools: [look, tool] }).omitted).toEqual(['tools.1.type'])
    expect(read({ tools: [tool] }).refusal?.param).toBe('tools')
  })
})

const user = (block: JsonObject) => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Look:' }, block] }],
})
const call = { type: 'tool_use', id: 'call_1', name: 'look', input: {} }

/** Blocks that become something; all others run at Anthropic. */
const blocks: Record<string, JsonObject> = {
  document: user({ type: 'document', source: { type: 'text', data: 'A page.' } }),
  image: user({ type: 'image', source: { type: 'url', url: 'https://a.example/a.png' } }),
  redacted_thinking: {
    messages: [
      ...base.messages,
      { role: 'assistant', content: [{ type: 'redacted_thinking', data: 'x' }, call] },
    ],
  },
  search_result: user({
    type: 'search_result',
    source: 'https://a.example',
    title: 'A',
    content: [{ type: 'text', text: 'found' }],
  }),
  text: user({ type: 'text', text: 'it' }),
  thinking: {
    messages: [
      ...base.messages,
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.', signature: 's' }, call] },
    ],
  },
  tool_result: {
    messages: [
      ...base.messages,
      { role: 'assistant', content: [call] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'seen' }] },
    ],
  },
  tool_use: { messages: [...base.messages, { role: 'assistant', content: [call] }] },
}

describe('every published block of user messages is translated, or rejected by name', () => {
  const published = merged(sdk.typesOf('ContentBlockParam'), beta.typesOf('BetaContentBlockParam'))

  test('the list contains all translated ones', () => {
    expect(published).toEqual(expect.arrayContaining(Object.keys(blocks)))
  })

  test.each(published)('%s', (type) => {
    const example = blocks[type]
    if (example) {
      expect(read(example).refusal).toBeUndefined()
      expect(JSON.stringify(read(example).chat)).not.toBe(JSON.stringify(read({}).chat))
    } else if (type !== 'compaction') {
      expect(read(user({ type })).refusal?.param).toBe('messages.0.content.1')
    }
  })
})

test.each(['browser_state', 'tool_addition', 'newer'])(
  '%s is rejected in a result, and in instructions',
  (type) => {
    const result = { type: 'tool_result', tool_use_id: 'call_1', content: [{ type }] }
    expect(read(user(result)).refusal?.param).toBe('messages.0.content.1.content.0')
    const system = { role: 'system', content: [{ type }] }
    const outcome = read({ messages: [...base.messages, system] })
    expect(outcome.refusal?.param).toBe('messages.1.content.0')
  },
)

test('a name of a tool that was found is not refused: other models have all from the beginning', () => {
  const content = [{ type: 'tool_reference', tool_name: 'look' }]
  const result = { type: 'tool_result', tool_use_id: 'call_1', content }
  expect(read({ ...user(result), tools: [look] }).refusal).toBeUndefined()
})

const cell = (word: string) => (word === 'silent' ? '–' : word)

test('the table of messages in docs/guides/parameters.md matches the code; WRITE_DOCS=1 writes it', async () => {
  const rows = Object.entries(fields).map(([name, field]) => {
    const fate = fateOf(name, field)
    const byPrice = fateByPrice(name, field)
    return [`\`${name}\``, cell(byPrice), cell(fate), field.why ?? '']
  })
  const head = ['Field', 'Anthropic, at our price', 'other models', 'Why nothing arrives']
  const write = process.env['WRITE_DOCS'] === '1'
  const place = { page: 'guides/parameters.md', name: 'The table of messages', write }
  await expectInDocs(place, toTable(head, rows))
})
