import { groundedAnswers } from '../../../testing/golden/google/grounding'
import { google } from '.'
import { target } from '../../../testing/providers/google-chat'
import { eventsOf, ours } from '../../../testing/providers/google-recordings'
import {
  describeAdapter,
  type AnswerRow,
  type ErrorRow,
  type RequestRow,
} from '../../../testing/conformance/conformance'
import { isObject, type JsonObject } from '../../wire/json-body'
import { packCallId } from '../../wire/packed-call-id'

const userTurn = (...parts: JsonObject[]) => ({ role: 'user', parts })
const called = (id: string) => ({
  role: 'model',
  parts: [{ functionCall: { id, name: 'f', args: { a: 1 } } }],
})
const answered = (id: string) =>
  userTurn({ functionResponse: { id, name: 'f', response: { name: 'f', content: 'x' } } })

const requests: RequestRow[] = [
  { title: 'text: plain', chat: {}, body: { contents: [userTurn({ text: 'Hello' })] } },
  {
    title: 'tools: functions, the older form, in the history too',
    chat: {
      functions: [{ name: 'f' }],
      function_call: { name: 'f' },
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
        { role: 'function', name: 'f', content: 'x' },
      ],
    },
    body: {
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
      contents: [userTurn({ text: 'a' }), called('call_1'), answered('call_1')],
    },
  },
  {
    title: 'tools: in the history, not in the request',
    chat: {
      messages: [
        { role: 'user', content: 'a' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c', content: 'x' },
      ],
      tool_choice: 'required',
    },
    body: { contents: [userTurn({ text: 'a' }), called('c'), answered('c')] },
  },
  {
    title: 'reasoning: effort in the form of OpenRouter',
    chat: { reasoning: { effort: 'high' } },
    target: { upstreamModel: 'gemini-2.5-flash' },
    body: {
      generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 24_576 } },
    },
  },
  {
    title: 'text: two choices',
    chat: { n: 2 },
    refused: { param: 'n', issue: 'unsupported_by_model' },
  },
  {
    title: 'media: sound as an answer',
    chat: { modalities: ['text', 'audio'], audio: { voice: 'Kore', format: 'wav' } },
    body: {
      generationConfig: {
        responseModalities: ['TEXT', 'AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
      },
    },
  },
  {
    title: 'media: images as an answer',
    chat: { modalities: ['image', 'text'] },
    body: { generationConfig: { responseModalities: ['IMAGE', 'TEXT'] } },
  },
  {
    title: 'media: sound in a format that is not made from PCM',
    chat: { modalities: ['text', 'audio'], audio: { voice: 'Kore', format: 'mp3' } },
    refused: { param: 'audio.format', issue: 'unsupported_by_model' },
  },
]

const toolCall = (id: string, [name, args]: [string, string], signature?: string) => ({
  id: signature ? packCallId(id, signature) : id,
  type: 'function',
  function: { name, arguments: args },
  ...(signature && { extra_content: { google: { thought_signature: signature } } }),
})
const modelEvent = (...parts: JsonObject[]) => ({
  candidates: [{ content: { role: 'model', parts } }],
})
const stopped = (usageMetadata?: JsonObject) => ({
  candidates: [{ finishReason: 'STOP' }],
  ...(usageMetadata && { usageMetadata }),
})
const failed = { code: 'provider_error', status: 502, retryable: false }

const answers: AnswerRow[] = [
  ...groundedAnswers,
  {
    title: 'text: thoughts, emoji, signature',
    events: eventsOf(ours, 'thought-and-text'),
    message: {
      content: 'Eine Birne 🍐, bitte schön.',
      reasoning_content: '**Picking a fruit**\n\nShort names first.',
      extra_content: { google: { thought_signature: 'c2lnbmF0dXJlLW9mLXRleHQ=' } },
    },
    usage: { input: 12, output: 9, reasoning: 40 },
  },
  {
    title: 'tools: two parallel calls and one without arguments, after a text',
    events: eventsOf(ours, 'parallel-calls'),
    message: {
      content: 'Let me look.',
      tool_calls: [
        toolCall(
          'call_ba9caa4d7b8cbab4bde365cc4b',
          ['weather', '{"city":"Oslo","days":2}'],
          'ab+/cd==',
        ),
        toolCall('fc-2', ['weather', '{"city":"Łódź"}']),
        toolCall('call_1', ['now', '{}']),
      ],
    },
    finish: 'tool_calls',
    usage: { input: 80, output: 31, reasoning: 15 },
  },
  {
    title: 'shape: cut by its limit',
    events: eventsOf(ours, 'length'),
    message: { content: 'Once upon a time' },
    finish: 'length',
    usage: { input: 7, output: 4 },
  },
  {
    title: 'shape: content filter on the prompt',
    events: eventsOf(ours, 'blocked-prompt'),
    finish: 'content_filter',
    usage: { input: 9 },
  },
  {
    title: 'shape: content filter on the answer',
    events: eventsOf(ours, 'blocked-answer'),
    message: { content: 'First, ' },
    finish: 'content_filter',
    usage: { input: 9, output: 2 },
  },
  {
    title: 'media: an image as an answer',
    events: eventsOf(ours, 'image'),
    message: {
      content: 'Here it is:',
      images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }],
    },
    usage: { input: 6, output: 4, imageOutput: 1290 },
  },
  {
    title: 'usage: missing, so estimated',
    events: [modelEvent({ text: 'one two' }), stopped()],
    message: { content: 'one two' },
    usage: { input: 7, output: 2, estimated: true },
  },
  {
    title: 'usage: only at the end, after the finish',
    events: [
      modelEvent({ text: 'one two' }),
      stopped(),
      { usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 } },
    ],
    message: { content: 'one two' },
    usage: { input: 3, output: 4 },
  },
  {
    title: 'inside a 200: an error as first event',
    events: [{ error: { code: 503, message: 'Overloaded.', status: 'UNAVAILABLE' } }],
    error: { code: 'provider_error', status: 503, retryable: true },
  },
  {
    title: 'inside a 200: an error in an array, after text',
    events: [
      modelEvent({ text: 'a' }),
      JSON.stringify([{ error: { code: 500, message: 'No.', status: 'INTERNAL' } }]),
    ],
    error: { code: 'provider_error', status: 502 },
  },
  {
    title: 'inside a 200: a failure in a finish reason',
    events: eventsOf(ours, 'malformed-call'),
    error: failed,
  },
  { title: 'inside a 200: end without finish', events: [modelEvent({ text: 'a' })], error: failed },
  {
    title: 'framing: malformed JSON in one event',
    events: [modelEvent({ text: 'a' }), '{"candidates":['],
    error: failed,
  },
]

const refusal = (code: number, status: string, message = 'No.') => ({
  title: `errors: ${code} ${status} ${message}`,
  status: code,
  body: { error: { code, message, status } },
})
const busy = { code: 'provider_error', status: 503, retryable: true } as const
const terminal = { code: 'provider_error', status: 502, retryable: false } as const

const errors: ErrorRow[] = [
  {
    ...refusal(400, 'INVALID_ARGUMENT'),
    error: { code: 'invalid_request', status: 400, param: null, message: 'No.' },
  },
  {
    ...refusal(400, 'INVALID_ARGUMENT', 'API key not valid. sk-conformance-0123456789'),
    error: terminal,
  },
  { ...refusal(400, 'FAILED_PRECONDITION'), error: terminal },
  { ...refusal(401, 'UNAUTHENTICATED'), error: terminal },
  { ...refusal(403, 'PERMISSION_DENIED'), error: terminal },
  { ...refusal(404, 'NOT_FOUND'), error: terminal },
  { ...refusal(409, 'ABORTED'), error: terminal },
  {
    ...refusal(429, 'RESOURCE_EXHAUSTED'),
    retryAfter: '7',
    error: { ...busy, retryAfterSeconds: 7 },
  },
  { ...refusal(500, 'INTERNAL'), error: { ...terminal, retryable: true } },
  { ...refusal(503, 'UNAVAILABLE'), error: busy },
  { ...refusal(504, 'DEADLINE_EXCEEDED'), error: { ...terminal, retryable: true } },
  {
    title: 'errors: 502 HTML',
    status: 502,
    body: '<html><title>502</title></html>',
    error: { ...terminal, retryable: true },
  },
  {
    title: 'errors: an empty body',
    status: 500,
    body: '',
    error: { ...terminal, retryable: true },
  },
]

/** Signatures are long, and stand twice in an answer: taken from the events they came with. */
const signatureIn = (events: readonly JsonObject[]) =>
  /"thoughtSignature":"([^"]+)"/.exec(JSON.stringify(events))?.[1] ?? ''
const textIn = (events: readonly JsonObject[]) =>
  events
    .flatMap(({ candidates }) => (Array.isArray(candidates) ? candidates.filter(isObject) : []))
    .flatMap(({ content }) =>
      isObject(content) && Array.isArray(content['parts']) ? content['parts'] : [],
    )
    .map((part: unknown) =>
      isObject(part) && typeof part['text'] === 'string' ? part['text'] : '',
    )
    .join('')
const signedText = (events: readonly JsonObject[]) => ({
  content: textIn(events),
  extra_content: { google: { thought_signature: signatureIn(events) } },
})

describeAdapter('google', {
  adapter: google,
  target: target('gemini-2.0-flash'),
  requests,
  answers,
  errors,
  recordings: [
    {
      file: 'google-text.chunks.txt',
      message: signedText,
      usage: { input: 9, output: 23, reasoning: 185 },
    },
    {
      file: 'google-reasoning.chunks.txt',
      message: signedText,
      usage: { input: 9, output: 29, reasoning: 256 },
    },
  ],
})
