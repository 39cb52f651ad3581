import type { RequestRow } from '../../conformance/conformance'

const png = 'iVBORw0KGgo='
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const weather = {
  type: 'function',
  function: { name: 'weather', description: 'Tells.', parameters },
}
const time = { type: 'function', function: { name: 'time' } }
const theirWeather = { name: 'weather', description: 'Tells.', input_schema: parameters }
const theirTime = { name: 'time', input_schema: { properties: {}, type: 'object' } }

const user = (content: unknown) => ({ role: 'user', content })
const call = (id: string, args = '{}', name = 'weather') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})
const calling = (...calls: object[]) => ({ role: 'assistant', content: null, tool_calls: calls })
const result = (id: string, content: unknown) => ({ role: 'tool', tool_call_id: id, content })
const text = (content: string) => ({ type: 'text', text: content })
const use = (id: string, input: object = {}, name = 'weather') => ({
  type: 'tool_use',
  id,
  name,
  input,
})
const toolResult = (id: string, content: string) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: [text(content)],
})
const marked = { cache_control: { type: 'ephemeral' } }
const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const toMessage = (role: string, ...content: object[]) => ({ role, content })
const hello = toMessage('user', text('Hello'))

export const toolRequests: readonly RequestRow[] = [
  {
    title: 'tools: offered',
    chat: { tools: [weather, time] },
    body: { tools: [theirWeather, theirTime] },
  },
  {
    title:
      'finding P3: tools: breakpoints on tools, calls and results, which take them at their end',
    chat: {
      tools: [
        { ...weather, ...hour },
        { ...time, function: { ...time.function, ...marked } },
      ],
      messages: [
        user('Hello'),
        calling(call('c1'), { ...call('c2'), ...marked }),
        result('c1', [{ ...text('sunny'), ...marked }, text('warm')]),
        { ...result('c2', 'rainy'), ...marked },
      ],
    },
    body: {
      // The first is one too many.
      tools: [theirWeather, { ...theirTime, ...marked }],
      messages: [
        hello,
        toMessage('assistant', use('c1'), { ...use('c2'), ...marked }),
        toMessage(
          'user',
          { ...toolResult('c1', 'sunny'), content: [text('sunny'), text('warm')], ...marked },
          { ...toolResult('c2', 'rainy'), ...marked },
        ),
      ],
    },
  },
  ...(
    [
      ['none', { type: 'none' }],
      ['required', { type: 'any' }],
      [
        { type: 'function', function: { name: 'time' } },
        { type: 'tool', name: 'time' },
      ],
    ] as const
  ).map(([tool_choice, theirs]) => ({
    title: `tools: choice ${JSON.stringify(tool_choice)}`,
    chat: { tools: [time], tool_choice },
    body: { tools: [theirTime], tool_choice: theirs },
  })),
  {
    title: 'tools: choice auto',
    chat: { tools: [time], tool_choice: 'auto' },
    body: { tools: [theirTime] },
  },
  {
    title: 'tools: some allowed, one required',
    chat: {
      tools: [weather, time],
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [time] } },
    },
    body: { tools: [theirTime], tool_choice: { type: 'any' } },
  },
  {
    title: 'tools: one at a time',
    chat: { tools: [time], parallel_tool_calls: false },
    body: { tools: [theirTime], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  },
  {
    title: 'tools: a forced one where that is refused',
    chat: { tools: [time], tool_choice: 'required' },
    target: { upstreamModel: 'claude-opus-5-5' },
    body: { model: 'claude-opus-5-5', tools: [theirTime] },
  },
  {
    title: 'tools: a choice without tools',
    chat: { tool_choice: 'none', parallel_tool_calls: false },
  },
  {
    title: 'tools: results of a turn stand together, behind the calls, in their order',
    chat: {
      tools: [time],
      messages: [
        user('Hello'),
        { ...calling(call('a', '{"x":1}'), call('b', '')), content: 'Wait.' },
        user('Hurry.'),
        result('b', 'rain'),
        result('a', [text('sun')]),
        { role: 'assistant', content: 'Both.' },
        user('Thanks'),
      ],
    },
    body: {
      tools: [theirTime],
      messages: [
        hello,
        toMessage('assistant', text('Wait.'), use('a', { x: 1 }), use('b')),
        toMessage('user', toolResult('a', 'sun'), toolResult('b', 'rain'), text('Hurry.')),
        toMessage('assistant', text('Both.')),
        toMessage('user', text('Thanks')),
      ],
    },
  },
  {
    title: 'tools: one result a call, and none that is empty',
    chat: {
      tools: [time],
      messages: [user('Hello'), calling(call('a')), result('a', 'old'), result('a', '')],
    },
    body: {
      tools: [theirTime],
      messages: [
        hello,
        toMessage('assistant', use('a')),
        toMessage('user', { type: 'tool_result', tool_use_id: 'a' }),
      ],
    },
  },
  {
    title: 'tools: a result with an image',
    chat: {
      tools: [time],
      messages: [
        user('Hello'),
        calling(call('a')),
        result('a', [{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }]),
      ],
    },
    body: {
      tools: [theirTime],
      messages: [
        hello,
        toMessage('assistant', use('a')),
        toMessage('user', {
          type: 'tool_result',
          tool_use_id: 'a',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
          ],
        }),
      ],
    },
  },
  {
    title: 'tools: ids of other providers fit, the same for call and result',
    chat: {
      tools: [time],
      messages: [
        user('Hello'),
        calling(call('functions.time:0'), call('call_1__thought__c2ln')),
        result('functions.time:0', 'noon'),
        result('call_1__thought__c2ln', 'one'),
      ],
    },
    body: {
      tools: [theirTime],
      messages: [
        hello,
        toMessage('assistant', use('call_6ee62dca11e713bea9d551d4fd3c2df3'), use('call_1')),
        toMessage(
          'user',
          toolResult('call_6ee62dca11e713bea9d551d4fd3c2df3', 'noon'),
          toolResult('call_1', 'one'),
        ),
      ],
    },
  },
  {
    title: 'tools: in the history, not in the request',
    chat: { messages: [user('Hello'), calling(call('a')), result('a', 'sun')] },
    body: {
      messages: [
        hello,
        toMessage('assistant', use('a')),
        toMessage('user', toolResult('a', 'sun')),
      ],
      tools: [{ name: 'weather', input_schema: { properties: {}, type: 'object' } }],
      tool_choice: { type: 'none' },
    },
  },
  {
    title: 'tools: a result without a call',
    chat: { messages: [user('Hello'), result('a', 'sun')] },
    refused: { param: 'messages.1.tool_call_id', issue: 'unknown_value' },
  },
  {
    title: 'tools: the older form of functions',
    chat: {
      messages: [
        user('Hello'),
        { role: 'assistant', content: null, function_call: { name: 'time', arguments: '{}' } },
        { role: 'function', name: 'time', content: 'noon' },
      ],
      functions: [{ name: 'time' }],
      function_call: { name: 'time' },
    },
    body: {
      messages: [
        hello,
        toMessage('assistant', use('call_1', {}, 'time')),
        toMessage('user', toolResult('call_1', 'noon')),
      ],
      tools: [theirTime],
      tool_choice: { type: 'tool', name: 'time' },
    },
  },
]
