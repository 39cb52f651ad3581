import type { Rig } from '../harness/server'
import type { RecordingProxy } from './recording-proxy'
import type { Result } from './fixture'

type Json = Record<string, unknown>

const messages = [{ role: 'user', content: 'Say something.' }]
const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const weather = { name: 'get_weather', description: 'The weather.', parameters, strict: true }
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const call = {
  id: 'call_1',
  type: 'function',
  function: { name: 'get_weather', arguments: '{"city":"Oslo"}' },
}

/** All fields of a chat request, with values within the bounds of the description. */
const describedRequest: Json = {
  temperature: 0.5,
  top_p: 0.9,
  n: 1,
  stop: ['a', 'b'],
  seed: 7,
  user: 'somebody',
  metadata: { a: 'b' },
  logit_bias: { '50256': -100 },
  logprobs: true,
  top_logprobs: 2,
  frequency_penalty: 0.1,
  presence_penalty: 0.1,
  max_completion_tokens: 100,
  parallel_tool_calls: true,
  store: false,
  service_tier: 'auto',
  verbosity: 'low',
  reasoning_effort: 'low',
  modalities: ['text'],
  prompt_cache_key: 'k',
  safety_identifier: 's',
}

const tools = [{ type: 'function', function: weather }]
const thread = [
  { role: 'developer', content: 'Be brief.' },
  { role: 'system', content: [{ type: 'text', text: 'Be kind.' }] },
  { role: 'user', name: 'ann', content: 'How is the weather?' },
  { role: 'assistant', content: null, tool_calls: [call] },
  { role: 'tool', tool_call_id: 'call_1', content: '18 degrees' },
]

const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } }
const schema = { name: 'weather', schema: parameters, strict: true }

/** Name, path and body of the requests; `model` is added. */
const requests: readonly (readonly [string, string, Json])[] = [
  ['chat', 'chat/completions', { messages }],
  ['chat, streamed', 'chat/completions', { messages, stream: true }],
  [
    'chat, all fields',
    'chat/completions',
    { messages, tools, tool_choice: 'auto', ...describedRequest },
  ],
  ['chat, tools', 'chat/completions', { messages: thread, tools }],
  [
    'chat, image',
    'chat/completions',
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'What?' }, image] }] },
  ],
  [
    'chat, JSON schema',
    'chat/completions',
    { messages, response_format: { type: 'json_schema', json_schema: schema } },
  ],
  ['legacy functions', 'chat/completions', { messages, functions: [{ name: 'f', parameters }] }],
  ['completions', 'completions', { prompt: ['Go', 'on'], max_tokens: 5, echo: false, stop: 'x' }],
  ['embeddings', 'embeddings', { input: ['a', 'b'], encoding_format: 'base64' }],
  ['embeddings of tokens', 'embeddings', { input: [[1, 2], [3]], dimensions: 4 }],
  [
    'messages',
    'messages',
    {
      max_tokens: 100,
      system: 'Be brief.',
      tools: [{ name: 'get_weather', input_schema: parameters }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      stop_sequences: ['x'],
      thinking: { type: 'enabled', budget_tokens: 1024 },
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'How is the weather?' }] },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Oslo' } },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '18 degrees' }],
        },
      ],
    },
  ],
  [
    'responses',
    'responses',
    {
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'How is the weather?' }] },
        { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: '18 degrees' },
      ],
      tools: [{ type: 'function', ...weather }],
      reasoning: { effort: 'low', summary: 'auto' },
      text: { verbosity: 'low' },
      store: false,
      max_output_tokens: 100,
    },
  ],
]

const isChat = (path: string) => /^(chat\/completions|messages|responses)$/.test(path)

/** Connects two providers at the proxy: one with the chat format, the other with the Responses format. */
async function connect({ gateway }: Rig, url: string): Promise<void> {
  const secret = 'sk-described'
  for (const [key, options] of Object.entries({
    described: {},
    'described-responses': { takesResponses: true },
  })) {
    await gateway.admin('POST', '/providers', {
      key,
      name: key,
      adapter: 'openai',
      base_url: url,
      options,
    })
    await gateway.admin('POST', '/connections', { name: key, provider: key, api_key: secret })
    for (const category of ['chat', 'embedding']) {
      const pricing = { input: 1, output: category === 'chat' ? 4 : 0 }
      const fields = { context_length: 8192, max_output_tokens: 4096, pricing, category }
      await gateway.admin('POST', '/models', {
        id: `${key}/${category}`,
        name: category,
        ...fields,
      })
    }
  }
}

/** Sends all requests, and reports whether the upstream requests match the description. */
export async function requestAll(rig: Rig, proxy: RecordingProxy): Promise<Result[]> {
  await connect(rig, proxy.url)
  const { key } = await rig.gateway.customer()
  const results: Result[] = []
  for (const provider of ['described', 'described-responses']) {
    for (const [name, path, body] of requests) {
      if (provider !== 'described' && path !== 'responses') continue
      const model = `${provider}/${isChat(path) || path === 'completions' ? 'chat' : 'embedding'}`
      const answer = await fetch(`${rig.gateway.url}/v1/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, ...body }),
      })
      const text = await answer.text()
      const verdicts = proxy.taken()
      const wrong = verdicts.filter(({ isValid }) => !isValid)
      // Its answers are generated: any status but an internal error is fine.
      const ok = verdicts.length > 0 && wrong.length === 0 && answer.status !== 500
      const problems = wrong.map((verdict) => `${verdict.path}: ${verdict.words}`).join('; ')
      const detail = ok ? '' : `${answer.status} ${problems || text.slice(0, 300)}`
      results.push({ case: provider === 'described' ? name : `${name}, passed on`, ok, detail })
    }
  }
  return results
}
