import { describe, expect, test } from 'bun:test'
import { dialect } from '../../../testing/protocols/responses-dialect'
import { packThoughts } from './thoughts'
import { sharedCredential } from '../../../testing/providers/shared-credential'
import { ApiError } from '../../errors'
import { toSharedOriginal } from '../../shared-credentials/original'
import type { JsonObject } from '../../wire/json-body'

const model = 'openai/gpt-6-astra'

const originalOf = (request: JsonObject) => {
  const { original } = dialect.read({ model, input: 'Hi.', ...request })
  if (!original) throw new Error('no original')
  return original
}

/** As it goes to OpenAI on the platform's key, and what is missing. */
function onPlatform(request: JsonObject, reasoning = true, pricing: JsonObject = {}) {
  const original = originalOf(request)
  const omitted: string[] = []
  const omit = (field: string) => omitted.push(field)
  const toPriced = (asked: JsonObject) => original.paid(asked, { pricing, omit })
  const use = { credential: sharedCredential('openai'), reasoning, toPriced, omit }
  return { body: toSharedOriginal(original, use).body, omitted }
}

function refusedOnPlatform(request: JsonObject, pricing: JsonObject = {}): unknown {
  try {
    onPlatform(request, true, pricing)
  } catch (thrown) {
    if (thrown instanceof ApiError) return [thrown.param, thrown.details?.['issue']]
    throw thrown
  }
  return undefined
}

const look = { type: 'function', name: 'look', parameters: { type: 'object' } }
const mcp = { type: 'namespace', name: 'mcp__demo', description: 'b', tools: [look] }

const everything = {
  model,
  input: [
    { type: 'additional_tools', role: 'developer', id: 'at_1', tools: [mcp] },
    { type: 'message', id: 'msg_1', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
    { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '{}' },
    { type: 'function_call_output', id: 'fco_1', call_id: 'call_1', output: 'wet' },
  ],
  tools: [look, mcp, { type: 'shell' }, { type: 'apply_patch' }, { type: 'tool_search' }],
  reasoning: { mode: 'standard', context: 'all_turns', effort: 'ultra', summary: 'auto' },
  truncation: 'auto',
  top_logprobs: 3,
  max_tool_calls: 4,
  prompt_cache_options: { mode: 'explicit' },
  metadata: { a: 'b' },
  client_metadata: { x: 'y' },
  store: false,
}

test('finding C5: every field, item and tool reaches OpenAI as it came', () => {
  expect(originalOf(everything).body).toEqual(everything)
  expect(onPlatform(everything)).toEqual({ body: everything, omitted: [] })
})

describe('on the platform’s key', () => {
  test('nothing is stored, and thoughts come back instead', () => {
    expect(onPlatform({}).body).toMatchObject({ store: false })
    expect(onPlatform({}).body['include']).toEqual(['reasoning.encrypted_content'])
    expect(onPlatform({}, false).body).not.toHaveProperty('include')
    expect(onPlatform({ store: false }).body).not.toHaveProperty('include')
  })

  const rows: [string, JsonObject, string][] = [
    ['an answer of another', { previous_response_id: 'resp_1' }, 'previous_response_id'],
    ['a conversation of another', { conversation: 'conv_1' }, 'conversation'],
    ['a prompt', { prompt: { id: 'pmpt_1' } }, 'prompt'],
    ['settings under a name', { preset: 'mine' }, 'preset'],
    ['an item of another', { input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input.0'],
    ['an item of another, without its type', { input: [{ id: 'msg_1' }] }, 'input.0'],
    [
      'an image of another',
      { input: [{ type: 'image_generation_call', id: 'ig_1' }] },
      'input.0.id',
    ],
    [
      'a file',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] },
      'input.0.content.0.file_id',
    ],
    [
      'a file in a result',
      {
        input: [
          {
            type: 'function_call_output',
            call_id: 'c',
            output: [{ type: 'input_image', file_id: 'f' }],
          },
        ],
      },
      'input.0.output.0.file_id',
    ],
    [
      'a screenshot',
      { input: [{ type: 'computer_call_output', call_id: 'c', output: { file_id: 'f' } }] },
      'input.0.output.file_id',
    ],
    [
      'a store of vectors',
      { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
      'tools.0.vector_store_ids',
    ],
    [
      'a container',
      { tools: [{ type: 'code_interpreter', container: 'cntr_1' }] },
      'tools.0.container',
    ],
    [
      'a store of vectors within a namespace',
      { tools: [{ ...mcp, tools: [look, { type: 'file_search', vector_store_ids: ['vs_1'] }] }] },
      'tools.0.tools.1.vector_store_ids',
    ],
    [
      'one within a namespace that an item adds',
      {
        input: [
          {
            type: 'additional_tools',
            tools: [{ ...mcp, tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }],
          },
        ],
      },
      'input.0.tools.0.tools.0.vector_store_ids',
    ],
    [
      'the container of a call',
      {
        input: [
          {
            type: 'shell_call',
            call_id: 'c',
            environment: { type: 'container_reference', container_id: 'c' },
          },
        ],
      },
      'input.0.environment.container_id',
    ],
    [
      'a container of a shell',
      {
        tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'c' } }],
      },
      'tools.0.environment.container_id',
    ],
    [
      'a comparison with the cache of another',
      { prompt_cache_options: { comparison_response_id: 'resp_1' } },
      'prompt_cache_options.comparison_response_id',
    ],
  ]
  test.each(rows)('no account reads %s', (_what, request, param) => {
    expect(refusedOnPlatform(request)).toEqual([param, 'not_allowed'])
  })

  test('thoughts without their text are not looked up', () => {
    const thought = { type: 'reasoning', id: 'rs_1', summary: [] }
    const { body } = onPlatform({ input: [thought, { role: 'user', content: 'Hi.' }] })
    expect(body['input']).toEqual([{ role: 'user', content: 'Hi.' }])
  })

  test.each([
    ['tools.1.type', { tools: [look, { type: 'file_search' }] }],
    ['tools.0.type', { tools: [{ type: 'web_search' }] }],
    ['tools.1.type', { tools: [look, { type: 'web_search' }], tool_choice: 'required' }],
    ['tools.1.type', { tools: [look, { type: 'made_up_next_year' }] }],
    ['tools.1.type', { tools: [look, { type: 'mcp', server_label: 'a' }] }],
    ['tools.1.type', { tools: [look, { type: 'shell', environment: { type: 'container_auto' } }] }],
    [
      'input.0.tools.0.type',
      { input: [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'mcp' }] }] },
    ],
    ['tools.1.type', { tools: [look, { ...mcp, tools: [look, { type: 'web_search' }] }] }],
    [
      'input.0.tools.0.type',
      { input: [{ type: 'additional_tools', tools: [{ ...mcp, tools: [{ type: 'mcp' }] }] }] },
    ],
    ['plugins', { plugins: [{ id: 'web' }] }],
    ['models', { models: ['openai/gpt-6-astra'] }],
    ['route', { route: 'fallback' }],
    ['provider', { provider: { order: ['a'] } }],
    ['access_programs', { access_programs: ['a'] }],
  ])('%s without a price is rejected by name', (param, request) => {
    expect(refusedOnPlatform(request)).toEqual([param, 'unsupported_by_model'])
  })

  test('drops tools that clients send by default beside other tools, and names them', () => {
    const tools = [look, { type: 'web_search', external_web_access: false }]
    const { body, omitted } = onPlatform({ tools, service_tier: 'priority' })
    expect(body['tools']).toEqual([look])
    expect(body).not.toHaveProperty('service_tier')
    expect(omitted).toEqual(['tools.1.type', 'service_tier'])
  })
})

describe('web search on the platform’s key, where a search has a price', () => {
  const pricing = { search: 10_000_000n }
  const search = { type: 'web_search', search_context_size: 'low', filters: null }
  const usesOf = (request: JsonObject) => originalOf(request).hosted?.(pricing)

  const requests: [string, JsonObject, number][] = [
    ['alone', { tools: [search] }, 5],
    ['with a bound', { tools: [look, search], max_tool_calls: 2 }, 2],
    ['with a bound of none', { tools: [look, search], max_tool_calls: 0 }, 5],
    ['if it has to be called', { tools: [look, search], tool_choice: { type: 'web_search' } }, 5],
    ['if a tool has to be called', { tools: [look, search], tool_choice: 'required' }, 5],
    ['as of a day', { tools: [{ type: 'web_search_2025_08_26' }] }, 5],
  ]
  test.each(requests)('%s it is passed on, bounded as it is held', (_how, request, uses) => {
    const { body, omitted } = onPlatform(request, true, pricing)
    expect(body).toMatchObject({ tools: request['tools'], max_tool_calls: uses })
    expect(omitted).toEqual([])
    expect(usesOf(request)).toEqual({ searches: uses, rounds: uses, maxContext: 128_000 })
  })

  test('tools that clients send by default are left out here too, and cost no hold', () => {
    const request = { tools: [look, search] }
    const { body, omitted } = onPlatform(request, true, pricing)
    expect(body['tools']).toEqual([look])
    expect(body).not.toHaveProperty('max_tool_calls')
    expect(omitted).toEqual(['tools.1.type'])
    expect(usesOf(request)).toBeUndefined()
  })

  test('a choice of no tool holds nothing, and leaves it out', () => {
    const request = { tools: [search], tool_choice: 'none', max_tool_calls: 3 }
    expect(onPlatform(request, true, pricing).omitted).toEqual(['tools.0.type'])
    expect(usesOf(request)).toBeUndefined()
  })

  test.each<[string, JsonObject]>([
    ['tools.0.type', { tools: [{ type: 'web_search_preview' }] }],
    ['tools.0.made_up', { tools: [{ type: 'web_search', made_up: 1 }] }],
    ['tools.1.type', { tools: [search, { type: 'file_search' }] }],
    [
      'tools.1.type',
      { tools: [search, { type: 'code_interpreter', container: { type: 'auto' } }] },
    ],
    ['tools.1.type', { tools: [search, { type: 'image_generation' }], tool_choice: 'required' }],
    ['input.0.tools.0.type', { input: [{ type: 'additional_tools', tools: [search] }] }],
  ])('%s has no price, and is rejected by name', (param, request) => {
    expect(refusedOnPlatform(request, pricing)).toEqual([param, 'unsupported_by_model'])
  })

  test('without a price nothing is held', () => {
    expect(originalOf({ tools: [search] }).hosted?.({})).toBeUndefined()
  })
})

test('thoughts go back to OpenAI as it sent them, and thoughts of others do not', () => {
  const ownReasoning = {
    type: 'reasoning.encrypted',
    format: 'openai-responses-v1',
    data: 'Z0FB',
    id: 'rs_9',
  }
  const signed = {
    type: 'reasoning.text',
    format: 'anthropic-claude-v1',
    text: 'a',
    signature: 'b',
  }
  const expected = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ text: 'a' }],
    encrypted_content: 'gAAA',
  }
  const input = [
    expected,
    { type: 'reasoning', id: 'rs_2', encrypted_content: packThoughts([ownReasoning, signed], '') },
    { role: 'user', content: 'Hi.' },
  ]
  expect(originalOf({ input }).body['input']).toEqual([
    expected,
    { type: 'reasoning', id: 'rs_9', summary: [], encrypted_content: 'Z0FB' },
    { role: 'user', content: 'Hi.' },
  ])
})
