import { expect, test } from 'bun:test'
import { EventOrder } from '../../../testing/protocols/responses-event-order'
import { chunkOf, streamEvents, usageChunk } from '../../../testing/protocols/responses-events'

const cited = (url: string) => ({
  annotations: [
    { type: 'url_citation', url_citation: { url, title: 'A', start_index: 0, end_index: 5 } },
  ],
})

test('finding P10: returns the citations of a text as annotations of its part', () => {
  const events = streamEvents([
    chunkOf({ role: 'assistant', content: '' }),
    chunkOf({ content: 'Hello' }),
    chunkOf(cited('https://a.example/')),
    chunkOf(cited('https://b.example/')),
    chunkOf({ annotations: [{ type: 'unreadable' }, 7] }),
    chunkOf({}, 'stop'),
    usageChunk,
  ])
  const annotations = ['https://a.example/', 'https://b.example/'].map((url) => ({
    type: 'url_citation',
    url,
    title: 'A',
    start_index: 0,
    end_index: 5,
  }))
  expect(
    events.filter(({ type }) => type === 'response.output_text.annotation.added'),
  ).toMatchObject(
    annotations.map((annotation, annotation_index) => ({
      output_index: 0,
      content_index: 0,
      annotation_index,
      annotation,
    })),
  )
  expect(EventOrder.read(events)['output']).toMatchObject([
    { content: [{ text: 'Hello', annotations }] },
  ])
})
