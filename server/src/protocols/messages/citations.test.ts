import { expect, test } from 'bun:test'
import { toMessage } from './answer'
import { readMessage } from '../../../testing/protocols/messages-events'
import { toChunks, streamOf } from '../../../testing/protocols/messages-stream'
import type { OutputPart } from '../../wire/chat-chunks'
import { CollectedChat } from '../../wire/collected-chat'
import { isObject } from '../../wire/json-body'

const cited = (url: string, content?: string): OutputPart => ({
  type: 'annotation',
  annotation: {
    type: 'url_citation',
    url_citation: { url, title: 'A', start_index: 0, end_index: 2, ...(content && { content }) },
  },
})
const parts: OutputPart[] = [
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
  expect(toMessage(collected.complete(), { thinking: false })).toMatchObject({
    content: [{ type: 'text', text: 'Hi', citations }],
  })
})

test('a citation of a text before other texts has no position', () => {
  const call: OutputPart = { type: 'call', index: 0, id: 'a', name: 'look' }
  const late = [{ type: 'text', text: 'Hi' } as const, call, cited('https://a.example/')]
  const { content, problems } = readMessage(streamOf(toChunks(late)))
  expect(problems).toEqual([])
  expect(content).toMatchObject([{ type: 'text', text: 'Hi' }, { type: 'tool_use' }])
  expect(content[0]).not.toHaveProperty('citations')
})
