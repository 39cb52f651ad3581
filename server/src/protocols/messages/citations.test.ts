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
const page = 'https://a.example/'
const parts: OutputPart[] = [
  { type: 'text', text: 'Hi' },
  cited(page, 'hi there'),
  cited('https://b.example/'),
  { type: 'annotation', annotation: { type: 'file_citation', file_citation: { file_id: 'f' } } },
  { type: 'annotation', annotation: { type: 'url_citation', url_citation: 'none' } },
  { type: 'finish', reason: 'stop' },
]
const citations = [
  [page, 'hi there'],
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

test('finding P10: returns them in a whole answer too', () => {
  const collected = new CollectedChat()
  for (const text of toChunks(parts)) {
    const chunk: unknown = JSON.parse(text)
    if (isObject(chunk)) collected.add(chunk)
  }
  expect(toMessage(collected.complete(), { thinking: false, stopSequences: [] })).toMatchObject({
    content: [{ type: 'text', text: 'Hi', citations }],
  })
})

test('a citation of a text before other texts has no position', () => {
  const call: OutputPart = { type: 'call', index: 0, id: 'a', name: 'look' }
  const begun: OutputPart[] = [{ type: 'text', text: 'Hi' }, call]
  const late = [...begun, { type: 'arguments', index: 0, text: '{"a":1}' } as const, cited(page)]
  const { content, problems } = readMessage(streamOf(toChunks(late)))
  expect(problems).toEqual([])
  expect(content).toMatchObject([{ type: 'text', text: 'Hi' }, { type: 'tool_use' }])
  expect(content[0]).not.toHaveProperty('citations')
})

const citesFile = (fields: object): OutputPart => ({
  type: 'annotation',
  annotation: {
    type: 'file_citation',
    file_citation: { filename: 'Numbers', index: 1, start_index: 0, end_index: 2, ...fields },
  },
})

test('finding Q18: a document is cited by the place that its provider names', () => {
  const location = { type: 'char_location', start: 4, end: 7 }
  const { content, problems } = readMessage(
    streamOf(
      toChunks([
        { type: 'text', text: 'Hi' },
        citesFile({ quote: 'uno', location }),
        citesFile({ location: { type: 'char_location', start: 4 } }),
        { type: 'finish', reason: 'stop' },
      ]),
    ),
  )
  expect(problems).toEqual([])
  const citation = {
    type: 'char_location',
    cited_text: 'uno',
    document_index: 1,
    document_title: 'Numbers',
    file_id: null,
    start_char_index: 4,
    end_char_index: 7,
  }
  expect(content).toEqual([{ type: 'text', text: 'Hi', citations: [citation] }])
})
