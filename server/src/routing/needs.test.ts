import { expect, test } from 'bun:test'
import { findRequestNeeds } from './needs'

const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
const audio = { type: 'input_audio', input_audio: { data: '', format: 'wav' } }
const text = { role: 'user', content: 'Hello' }
const tool = { type: 'function', function: { name: 'look' } }

const cases: [string, Record<string, unknown>, string[]][] = [
  ['nothing but text', { messages: [text] }, []],
  ['empty lists', { messages: [text], tools: [], functions: [] }, []],
  ['no list', { messages: 'text', tools: 'none' }, []],
  ['tools', { messages: [text], tools: [tool] }, ['tools tools']],
  ['functions of old', { messages: [text], functions: [{ name: 'look' }] }, ['tools functions']],
  [
    'an image in the second message',
    { messages: [text, { role: 'user', content: [{ type: 'text', text: '' }, image] }] },
    ['vision messages.1.content'],
  ],
  [
    'sound in and out is one need',
    { messages: [{ role: 'user', content: [audio] }], modalities: ['text', 'audio'] },
    ['audio messages.0.content'],
  ],
  ['sound out', { messages: [text], modalities: ['text', 'audio'] }, ['audio modalities']],
  [
    'a schema',
    { messages: [text], response_format: { type: 'json_schema' } },
    ['json_schema response_format'],
  ],
  ['JSON', { response_format: { type: 'json_object' } }, ['json_mode response_format']],
  ['plain text as format', { response_format: { type: 'text' } }, []],
  [
    'a part named like a member of every object',
    { messages: [{ content: [{ type: 'constructor' }] }] },
    [],
  ],
]

test.each(cases)('%s', (_what, body, expected) => {
  expect(findRequestNeeds(body).map(({ capability, param }) => `${capability} ${param}`)).toEqual(
    expected,
  )
})
