import { expect, test } from 'bun:test'
import { toMessage } from './answer'
import { readMessage } from '../../../testing/protocols/messages-events'
import { toChunks, streamOf } from '../../../testing/protocols/messages-stream'
import type { SaidPart } from '../../wire/chat-chunks'
import { CollectedChat } from '../../wire/collected-chat'
import { isObject } from '../../wire/json-body'

const cited = (url: string, content?: string): SaidPart => ({
  type: 'annotation',
  annotation: {
    type: 'url_citation',
    url_citation: { url, title: 'A', start_index: 0, end_index: 2, ...(content && { content }) },
  },
})
const parts: SaidPart[] = [
  { type: 'text', text: 'Hi' },
  cited('https://a.example/', 'hi there'),
  cited('https://b.example/'),
  { type: 'annotation', annotation: { type: 'file_citation', file_citation: { file_id: 'f' } } },
  { type: 'annotation', annotation: { type: 'url_citation', url_citation: 'none' } },
  { type: 'finish', reason: 'stop' },
]
const citations = [
  ['https://a.example/', 'hi there'],
  ['https://b.example/', ''],
].map(([url, cited_text]) => ({
  type: 'web_search_result_location',
  url,
  title: 'A',
  cited_text,
  encrypted_index: '',
}))

test('finding P10: pages that a model cites are citations of the text, streamed', () => {
  const { content, problems } = readMessage(streamOf(toChunks(parts)))
  expect(problems).toEqual([])
  expect(content).toEqual([{ type: 'text', text: 'Hi', citations }])
})

test('finding P10: and in a whole answer', () => {
  const collected = new CollectedChat()
  for (const text of toChunks(parts)) {
    const chunk: unknown = JSON.parse(text)
    if (isObject(chunk)) collected.add(chunk)
  }
  expect(toMessage(collected.whole(), { thinking: false })).toMatchObject({
    content: [{ type: 'text', text: 'Hi', citations }],
  })
})

test('what cites a text that others stand behind has no place', () => {
  const call: SaidPart = { type: 'call', index: 0, id: 'a', name: 'look' }
  const late = [{ type: 'text', text: 'Hi' } as const, call, cited('https://a.example/')]
  const { content, problems } = readMessage(streamOf(toChunks(late)))
  expect(problems).toEqual([])
  expect(content).toMatchObject([{ type: 'text', text: 'Hi' }, { type: 'tool_use' }])
  expect(content[0]).not.toHaveProperty('citations')
})
