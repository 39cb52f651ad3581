import type { RequestRow } from '../../conformance/conformance'

const user = (content: unknown) => ({ role: 'user', content })
const text = (content: string) => ({ type: 'text', text: content })
const toMessage = (role: string, ...content: object[]) => ({ role, content })
const hello = toMessage('user', text('Hello'))

export const textRequests: readonly RequestRow[] = [
  {
    title: 'text: system and developer, leading and later, are one head',
    chat: {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: [text('Be kind.'), text(' ')] },
        user('Hello'),
        { role: 'system', content: 'Be quick.' },
      ],
    },
    body: {
      system: [text('Be brief.'), text('Be kind.'), text('Be quick.')],
      messages: [hello],
    },
  },
  {
    title: 'text: neighbours of one role are merged, blank texts are left out',
    chat: {
      messages: [
        user('One'),
        user([text('Two'), text('')]),
        { role: 'assistant', content: ' \n' },
        user('Three'),
        { role: 'assistant', content: [text('Four'), { type: 'refusal', refusal: 'No.' }] },
        { role: 'assistant', content: null, refusal: 'Never.' },
        user('Five'),
      ],
    },
    body: {
      messages: [
        toMessage('user', text('One'), text('Two'), text('Three')),
        toMessage('assistant', text('Four'), text('No.'), text('Never.')),
        toMessage('user', text('Five')),
      ],
    },
  },
  {
    title: 'text: an answer to be continued ends without white space',
    chat: { messages: [user('Hello'), { role: 'assistant', content: 'I say: \n' }] },
    body: { messages: [hello, toMessage('assistant', text('I say:'))] },
  },
  {
    title: 'text: instructions alone are what the user says',
    chat: { messages: [{ role: 'system', content: 'Hello' }] },
    body: { messages: [hello] },
  },
  {
    title: 'text: an answer cannot begin',
    chat: { messages: [{ role: 'assistant', content: 'Hi' }, user('Hello')] },
    body: {
      messages: [toMessage('user', text('Go on.')), toMessage('assistant', text('Hi')), hello],
    },
  },
  {
    title: 'text: several choices',
    chat: { n: 2 },
    refused: { param: 'n', issue: 'unsupported_by_model' },
  },
  { title: 'text: one choice, asked for', chat: { n: 1 } },
  {
    title: 'text: what only tunes is dropped',
    chat: {
      seed: 1,
      logprobs: true,
      logit_bias: { 1: 2 },
      presence_penalty: 1,
      service_tier: 'auto',
    },
  },
  {
    title: 'text: values beyond the range are clamped',
    chat: { temperature: 1.7, top_p: 0.5 },
    body: { temperature: 1 },
  },
  { title: 'text: top_p alone', chat: { top_p: 0.5 }, body: { top_p: 0.5 } },
  {
    title: 'text: models that refuse sampling settings get none',
    chat: { temperature: 0 },
    target: { upstreamModel: 'claude-opus-4-7' },
    body: { model: 'claude-opus-4-7' },
  },
  {
    title: 'text: stop strings that are blank are dropped',
    chat: { stop: ['END', '\n', ' '] },
    body: { stop_sequences: ['END'] },
  },
  {
    title:
      'text: the four last breakpoints of the cache; an hour behind five minutes is refused there',
    chat: {
      messages: [
        { role: 'system', content: [{ ...text('0'), cache_control: { type: 'ephemeral' } }] },
        user(['1', '2', '3'].map((n) => ({ ...text(n), cache_control: { type: 'ephemeral' } }))),
        user([{ ...text('4'), cache_control: { type: 'ephemeral', ttl: '1h' } }]),
      ],
    },
    body: {
      system: [text('0')],
      messages: [
        toMessage(
          'user',
          ...['1', '2', '3', '4'].map((n) => ({
            ...text(n),
            cache_control: { type: 'ephemeral' },
          })),
        ),
      ],
    },
  },
  {
    title: 'text: breakpoints of an hour',
    chat: {
      messages: [
        {
          role: 'system',
          content: [{ ...text('0'), cache_control: { type: 'ephemeral', ttl: '1h' } }],
        },
        { ...user('1'), cache_control: { type: 'ephemeral', ttl: '1h' } },
        user([{ ...text('2'), prompt_cache_breakpoint: { mode: 'explicit' } }, text(' ')]),
        user([text('3'), { ...text(' '), cache_control: { type: 'ephemeral' } }]),
      ],
    },
    body: {
      system: [{ ...text('0'), cache_control: { type: 'ephemeral', ttl: '1h' } }],
      messages: [
        toMessage(
          'user',
          { ...text('1'), cache_control: { type: 'ephemeral', ttl: '1h' } },
          { ...text('2'), cache_control: { type: 'ephemeral' } },
          { ...text('3'), cache_control: { type: 'ephemeral' } },
        ),
      ],
    },
  },
  {
    title: 'text: the limit that is paid for',
    chat: { max_tokens: 90 },
    target: { maxTokens: 77 },
    body: { max_tokens: 77 },
  },
  {
    title: 'text: without a limit the most of the family',
    chat: {},
    target: { maxTokens: undefined },
    body: { max_tokens: 64_000 },
  },
]
