import type { Parameter } from './published-parameters'

const tools = [{ type: 'function', function: { name: 'look' } }]
const shell = { type: 'custom', custom: { name: 'sh' } }
const functions = [{ name: 'look', parameters: { type: 'object' } }]

/** Each field of `ChatCompletionCreateParams`, as it is sent. */
export const publishedFields: Readonly<Record<string, Parameter>> = {
  audio: {
    chat: { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
    without: { modalities: ['text', 'audio'] },
    refusedAs: 'modalities',
  },
  frequency_penalty: { chat: { frequency_penalty: 0.5 } },
  function_call: { chat: { functions, function_call: { name: 'look' } }, without: { functions } },
  functions: { chat: { functions } },
  logit_bias: { chat: { logit_bias: { '50256': -100 } } },
  logprobs: { chat: { logprobs: true } },
  max_completion_tokens: { chat: { max_completion_tokens: 4321 } },
  max_tokens: { chat: { max_tokens: 4321 } },
  messages: { chat: { messages: [{ role: 'user', content: 'Bye' }] } },
  metadata: { chat: { metadata: { team: 'a' } } },
  modalities: { chat: { modalities: ['text', 'audio'] } },
  model: { chat: { model: 'a/c' }, why: 'the name that the provider has for it is sent' },
  moderation: { chat: { moderation: { model: 'omni-moderation-latest' } } },
  n: { chat: { n: 2 } },
  parallel_tool_calls: { chat: { tools, parallel_tool_calls: false }, without: { tools } },
  prediction: { chat: { prediction: { type: 'content', content: 'Hello' } } },
  presence_penalty: { chat: { presence_penalty: 0.5 } },
  prompt_cache_key: {
    chat: { prompt_cache_key: 'a' },
    why: 'Tollgate routes by it, to the provider that has the prompt in its cache',
  },
  prompt_cache_options: { chat: { prompt_cache_options: { mode: 'explicit' } } },
  prompt_cache_retention: { chat: { prompt_cache_retention: '24h' } },
  reasoning_effort: { chat: { reasoning_effort: 'high' } },
  response_format: { chat: { response_format: { type: 'json_object' } } },
  safety_identifier: { chat: { safety_identifier: 'a' } },
  seed: { chat: { seed: 424_242 } },
  service_tier: { chat: { service_tier: 'flex' } },
  stop: { chat: { stop: ['END'] } },
  store: { chat: { store: true } },
  stream: {
    chat: { stream: true },
    why: 'Tollgate streams every answer, and collects it where the client wants it whole',
  },
  stream_options: {
    chat: { stream: true, stream_options: { include_usage: true } },
    without: { stream: true },
    why: 'Tollgate always requests usage, and passes it on where the client wants it; nothing is padded',
  },
  temperature: { chat: { temperature: 0.5 } },
  tool_choice: { chat: { tools, tool_choice: 'required' }, without: { tools } },
  tools: { chat: { tools } },
  top_logprobs: {
    chat: { logprobs: true, top_logprobs: 3 },
    without: { logprobs: true },
  },
  top_p: { chat: { top_p: 0.5 } },
  user: { chat: { user: 'a' } },
  verbosity: { chat: { verbosity: 'low' } },
  web_search_options: { chat: { web_search_options: {} } },
}

const messages = (...list: readonly object[]) => ({ messages: list })
const hello = { role: 'user', content: 'Hello' }
const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }
const called = { role: 'assistant', content: null, tool_calls: [call] }
const ran = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'call_1', type: 'custom', custom: { name: 'sh', input: 'ls' } }],
}
const result = { role: 'tool', tool_call_id: 'call_1', content: 'seen' }
const legacy = {
  role: 'assistant',
  content: null,
  function_call: { name: 'look', arguments: '{}' },
}
const legacyResult = { role: 'function', name: 'look', content: 'seen' }

const conversation = { messages: [{ role: 'assistant', content: 'Hm.' }, hello] }
const names = 'other dialects have no names of speakers'

/** A message of one part, beside a text; `own` is the part. */
const part = (own: object) =>
  messages({ role: 'user', content: [{ type: 'text', text: 'Look:' }, own] })
const breakpoint = { prompt_cache_breakpoint: { mode: 'explicit' } }
const marked = (own: object): Parameter => ({
  chat: part({ ...own, ...breakpoint }),
  without: part(own),
  refusedAs: 'messages',
  why: 'see [prompt-caching.md](../concepts/prompt-caching.md)',
})
const text = { type: 'text', text: 'it' }
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
const sound = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
const file = {
  type: 'file',
  file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${btoa('%PDF-1.4')}` },
}

/** Each field inside a request: the name of its type in the SDK -> its fields. */
export const publishedNestedFields: Readonly<Record<string, Readonly<Record<string, Parameter>>>> =
  {
    ChatCompletionDeveloperMessageParam: {
      content: { chat: messages({ role: 'developer', content: 'Be brief.' }, hello) },
      name: {
        chat: messages({ role: 'developer', content: 'Be brief.', name: 'ann' }, hello),
        without: messages({ role: 'developer', content: 'Be brief.' }, hello),
        why: names,
      },
    },
    ChatCompletionSystemMessageParam: {
      content: { chat: messages({ role: 'system', content: 'Be brief.' }, hello) },
      name: {
        chat: messages({ role: 'system', content: 'Be brief.', name: 'ann' }, hello),
        without: messages({ role: 'system', content: 'Be brief.' }, hello),
        why: names,
      },
    },
    ChatCompletionUserMessageParam: {
      content: { chat: messages({ role: 'user', content: 'Bye' }) },
      name: { chat: messages({ ...hello, name: 'ann' }), without: messages(hello), why: names },
    },
    ChatCompletionAssistantMessageParam: {
      audio: {
        chat: messages({ role: 'assistant', content: 'Hm.', audio: { id: 'audio_1' } }, hello),
        without: conversation,
        refusedAs: 'messages',
        why: 'names what OpenAI keeps; the text beside it is sent',
      },
      content: { chat: conversation },
      function_call: {
        chat: messages(hello, legacy, legacyResult, hello),
        without: messages(hello, hello),
      },
      name: {
        chat: messages({ role: 'assistant', content: 'Hm.', name: 'ann' }, hello),
        without: conversation,
        why: names,
      },
      refusal: {
        chat: messages({ role: 'assistant', content: null, refusal: 'No.' }, hello),
        without: messages(hello),
      },
      tool_calls: {
        chat: { tools, ...messages(hello, called, result) },
        without: { tools, ...messages(hello) },
      },
    },
    ChatCompletionToolMessageParam: {
      content: {
        chat: { tools, ...messages(hello, called, { ...result, content: 'lost' }) },
        without: { tools, ...messages(hello, called, result) },
      },
      tool_call_id: {
        chat: { tools, ...messages(hello, called, result) },
        without: { tools, ...messages(hello) },
      },
    },
    ChatCompletionFunctionMessageParam: {
      content: {
        chat: messages(hello, legacy, { ...legacyResult, content: 'lost' }, hello),
        without: messages(hello, legacy, legacyResult, hello),
      },
      name: {
        chat: messages(hello, legacy, { ...legacyResult, name: 'see' }, hello),
        without: messages(hello, legacy, legacyResult, hello),
        why: 'a result belongs to a call by its id',
      },
    },
    ChatCompletionContentPartText: {
      prompt_cache_breakpoint: marked(text),
      text: { chat: part(text) },
    },
    ChatCompletionContentPartImage: {
      image_url: { chat: part(image) },
      prompt_cache_breakpoint: marked(image),
    },
    ChatCompletionContentPartInputAudio: {
      input_audio: { chat: part(sound), refusedAs: 'messages' },
      prompt_cache_breakpoint: marked(sound),
    },
    ChatCompletionContentPartRefusal: {
      refusal: {
        chat: messages(
          { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
          hello,
        ),
        without: messages(hello),
      },
    },
    'ChatCompletionContentPart.File': {
      file: { chat: part(file), refusedAs: 'messages' },
      prompt_cache_breakpoint: marked(file),
    },
    ChatCompletionFunctionTool: { function: { chat: { tools } } },
    ChatCompletionCustomTool: {
      custom: { chat: { tools: [shell] } },
    },
    ChatCompletionMessageFunctionToolCall: {
      function: {
        chat: { tools, ...messages(hello, called, result) },
        without: { tools, ...messages(hello) },
      },
      id: {
        chat: { tools, ...messages(hello, called, result) },
        without: { tools, ...messages(hello) },
      },
    },
    ChatCompletionMessageCustomToolCall: {
      custom: {
        chat: { tools: [shell], ...messages(hello, ran, result) },
        without: { tools: [shell], ...messages(hello) },
      },
      id: {
        chat: { tools: [shell], ...messages(hello, ran, result) },
        without: { tools: [shell], ...messages(hello) },
      },
    },
    ChatCompletionAllowedToolChoice: {
      allowed_tools: {
        chat: {
          tools,
          tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools } },
        },
        without: { tools },
      },
    },
    ChatCompletionNamedToolChoice: {
      function: {
        chat: { tools, tool_choice: { type: 'function', function: { name: 'look' } } },
        without: { tools },
      },
    },
    ChatCompletionNamedToolChoiceCustom: {
      custom: {
        chat: { tools: [shell], tool_choice: { type: 'custom', custom: { name: 'sh' } } },
        without: { tools: [shell] },
      },
    },
  }
