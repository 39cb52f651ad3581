import { expect, test } from 'bun:test'
import { toChatMessages } from './conversation'
import { MessagesRequest } from './schema'

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (...content: object[]) => ({ role: 'assistant', content })
const text = (value: string) => ({ type: 'text', text: value })
const summary = (content: string | null) => ({
  type: 'compaction',
  content,
  encrypted_content: 'x',
})

const translate = (...messages: object[]) => {
  const request = MessagesRequest.parse({
    model: 'a/b',
    max_tokens: 1,
    system: 'Be brief.',
    messages,
  })
  const refused: string[] = []
  const chat = toChatMessages(request, ({ param }) => refused.push(param ?? ''))
  return { chat, refused }
}
const system = { role: 'system', content: 'Be brief.' }

test('finding C7: a summary of Claude’s stands for all before it', () => {
  const history = [
    user('old'),
    assistant(text('older'), { type: 'tool_use', id: 'a', name: 'look', input: {} }),
    user([{ type: 'tool_result', tool_use_id: 'a', content: 'seen' }]),
    assistant(text('before'), summary('We looked.'), text('after')),
    user('And now?'),
  ]
  expect(translate(...history)).toEqual({
    chat: [
      system,
      { role: 'user', content: 'We looked.' },
      { role: 'assistant', content: 'after' },
      { role: 'user', content: 'And now?' },
    ],
    refused: [],
  })
})

test('the last one counts, and stands alone without later messages', () => {
  const history = [assistant(summary('first')), user('x'), assistant(summary('second')), user('y')]
  expect(translate(...history).chat).toEqual([
    system,
    { role: 'user', content: 'second' },
    { role: 'user', content: 'y' },
  ])
})

test('a failed compaction summarizes nothing', () => {
  const history = [user('old'), assistant(text('said'), summary(null)), user('y')]
  expect(translate(...history).chat).toEqual([
    system,
    { role: 'user', content: 'old' },
    { role: 'assistant', content: 'said' },
    { role: 'user', content: 'y' },
  ])
})

test('rejects content that cannot be translated, with its path', () => {
  const image = { type: 'image', source: { type: 'file', file_id: 'f' } }
  const { refused } = translate(user([image]), assistant(text('a'), summary('s'), image), user('y'))
  expect(refused).toEqual(['messages.1.content.2.source.file_id'])
})
