import { describe, expect, test } from 'bun:test'
import { dialect } from '../../../testing/protocols/responses-dialect'
import type { JsonObject } from '../../wire/json-body'
import { PublishedTypes } from '../../../testing/wire/published-types'

/**
 * What OpenAI's newest SDK can send, read from its types: a new version that knows more fails here until it is
 * decided what becomes of it.
 */
const sdk = new PublishedTypes('openai', 'resources/responses/responses.d.ts')

const read = (fields: JsonObject) =>
  dialect.read({ model: 'sandbox/echo', input: 'Hi.', ...fields })

const look = { type: 'function', name: 'look' }

/** What becomes of each tool for a model of another provider. */
const tools: Record<string, 'translated' | 'refused' | 'omitted'> = {
  apply_patch: 'translated',
  code_interpreter: 'refused',
  computer: 'refused',
  computer_use_preview: 'refused',
  custom: 'translated',
  file_search: 'refused',
  function: 'translated',
  image_generation: 'omitted',
  local_shell: 'translated',
  mcp: 'refused',
  namespace: 'translated',
  programmatic_tool_calling: 'refused',
  shell: 'translated',
  tool_search: 'translated',
  web_search: 'omitted',
  web_search_2025_08_26: 'omitted',
  web_search_preview: 'omitted',
  web_search_preview_2025_03_11: 'omitted',
}

describe('every published tool is translated, named as left out, or rejected by name', () => {
  test('the list contains all tools and no others', () => {
    expect(sdk.typesOf('Tool')).toEqual(Object.keys(tools))
  })

  test.each(Object.entries(tools))('%s: %s', (type, fate) => {
    const tool = { type, name: 'see', tools: [look], execution: 'client', description: 'a' }
    const { chat, refusal, omitted } = read({ tools: [look, tool] })
    const expected = {
      translated: [undefined, [], 2],
      refused: ['tools.1.type', [], 1],
      omitted: [undefined, ['tools.1.type'], 1],
    }[fate]
    const offered = Array.isArray(chat['tools']) ? chat['tools'].length : 0
    expect([refusal?.param, omitted, offered]).toEqual(expected)
  })
})

const call = { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' }
const shell = { type: 'shell_call', call_id: 'c', action: { commands: [] } }
const localShell = { type: 'local_shell_call', id: 'l', call_id: 'c', action: { command: [] } }
const patch = { type: 'apply_patch_call', call_id: 'c', operation: { type: 'delete_file' } }
const custom = { type: 'custom_tool_call', call_id: 'c', name: 'look', input: '' }
const search = { type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: {} }

/** An input that has an item of each type, and what precedes it; undefined where it is refused by name. */
const items: Record<string, JsonObject[] | undefined> = {
  additional_tools: [{ role: 'developer', tools: [look] }],
  apply_patch_call: [patch],
  apply_patch_call_output: [patch, { call_id: 'c', status: 'completed' }],
  code_interpreter_call: undefined,
  compaction: undefined,
  compaction_trigger: undefined,
  computer_call: undefined,
  computer_call_output: undefined,
  configuration_update: [{ reasoning: { effort: 'low' } }],
  custom_tool_call: [custom],
  custom_tool_call_output: [custom, { call_id: 'c', output: 'a' }],
  file_search_call: undefined,
  function_call: [call],
  function_call_output: [call, { call_id: 'c', output: 'a' }],
  image_generation_call: undefined,
  item_reference: undefined,
  local_shell_call: [localShell],
  local_shell_call_output: [localShell, { id: 'l', output: 'a' }],
  mcp_approval_request: undefined,
  mcp_approval_response: undefined,
  mcp_call: undefined,
  mcp_list_tools: undefined,
  message: [{ role: 'user', content: 'a' }],
  program: undefined,
  program_output: undefined,
  reasoning: [{ summary: [] }],
  shell_call: [shell],
  shell_call_output: [shell, { call_id: 'c', output: [] }],
  tool_search_call: [search],
  tool_search_output: [search, { call_id: 'c', tools: [look] }],
  web_search_call: [{ id: 'w', status: 'completed', action: { type: 'search', query: 'a' } }],
}

describe('every published item is translated or rejected by name', () => {
  test('the list contains all items and no others', () => {
    expect(sdk.typesOf('ResponseInputItem')).toEqual(Object.keys(items))
  })

  test.each(Object.entries(items))('%s', (type, given) => {
    const input = [...(given ?? [{ id: 'a' }])].map((item) => ({ ...item }))
    Object.assign(input.at(-1) ?? {}, { type })
    const { refusal } = read({ input: [{ role: 'user', content: 'a' }, ...input] })
    expect(refusal === undefined).toBe(given !== undefined)
    if (refusal) expect(refusal.message).toContain(type === 'item_reference' ? 'input.1' : type)
  })
})

/** What becomes of each field, and of those without effect why there is none. */
const fields: Record<string, { chat: string } | { refused: unknown } | { none: string }> = {
  access_programs: { refused: { cyber: 'standard' } },
  background: { none: 'Tollgate answers in the background by itself, with any model' },
  context_management: { refused: [{ type: 'compaction' }] },
  // Those that are kept here are read before: see `stored-responses/response-turn.ts`.
  conversation: { refused: 'conv_1' },
  image: { none: 'how OpenAI compresses images' },
  include: { none: 'parts of items that no other model has; thoughts come back by it' },
  input: { chat: 'messages' },
  instructions: { chat: 'messages' },
  max_output_tokens: { chat: 'max_completion_tokens' },
  max_tool_calls: { none: 'the calls of tools that OpenAI runs' },
  metadata: { none: 'repeated in the answer' },
  model: { chat: 'model' },
  moderation: { refused: { model: 'a' } },
  parallel_tool_calls: { chat: 'parallel_tool_calls' },
  previous_response_id: { refused: 'resp_1' },
  prompt: { refused: { id: 'pmpt_1' } },
  prompt_cache_key: { chat: 'prompt_cache_key' },
  prompt_cache_options: { none: 'how OpenAI keeps prompts' },
  prompt_cache_retention: { chat: 'prompt_cache_retention' },
  reasoning: { chat: 'reasoning_effort' },
  safety_identifier: { chat: 'safety_identifier' },
  service_tier: { chat: 'service_tier' },
  store: { none: 'see docs/guides/responses.md' },
  stream: { chat: 'stream' },
  stream_options: { none: 'padding of events, of which there is none' },
  temperature: { chat: 'temperature' },
  text: { chat: 'verbosity' },
  tool_choice: { chat: 'tool_choice' },
  tools: { chat: 'tools' },
  top_logprobs: { refused: 3 },
  top_p: { chat: 'top_p' },
  truncation: { none: 'a prompt that is too long is refused' },
  user: { chat: 'user' },
}

const full: JsonObject = {
  instructions: 'a',
  max_output_tokens: 5,
  parallel_tool_calls: true,
  prompt_cache_key: 'a',
  prompt_cache_retention: '24h',
  reasoning: { effort: 'low' },
  safety_identifier: 'a',
  service_tier: 'auto',
  stream: true,
  temperature: 1,
  text: { verbosity: 'low' },
  tool_choice: 'auto',
  tools: [look],
  top_p: 1,
  user: 'a',
}

describe('every published field is translated, refused by name, or without effect for a reason', () => {
  test('the list contains all fields and no others', () => {
    expect(sdk.fieldsOf('ResponseCreateParamsBase')).toEqual(Object.keys(fields))
  })

  test.each(Object.entries(fields))('%s', (name, fate) => {
    if ('refused' in fate) {
      expect(read({ [name]: fate.refused }).refusal?.param).toBe(name)
    } else if ('chat' in fate) {
      expect(read(full).chat).toHaveProperty(fate.chat)
    }
  })
})
