import { expect, test } from 'bun:test'
import { createPartsReader } from './parts'
import { sampleSource } from '../../../testing/providers/samples'

const textOf = (contentBlockIndex: number, delta: object) => ({
  contentBlockDelta: { contentBlockIndex, delta },
})

test('finding Q18: citations of a block belong to its text, page or document', () => {
  const cited = {
    title: 'Numbers',
    source: 'numbers.txt',
    sourceContent: [{ text: 'uno' }],
    location: { documentChar: { documentIndex: 1, start: 4, end: 7 } },
  }
  const page = { title: 'A', location: { web: { url: 'https://a.example/', domain: 'a' } } }
  const searched = { source: 'https://b.example/', sourceContent: [{ text: 'b' }] }
  const events = [
    textOf(0, { text: 'One. ' }),
    { contentBlockStop: { contentBlockIndex: 0 } },
    textOf(1, { text: 'Two' }),
    textOf(1, { citation: cited }),
    textOf(1, { citation: page }),
    textOf(1, { citation: searched }),
    textOf(1, { text: '.' }),
    { contentBlockStop: { contentBlockIndex: 1 } },
  ]
  const read = createPartsReader(sampleSource)
  const parts = events.flatMap((event) => read(JSON.stringify(event)))
  const place = { start_index: 5, end_index: 9 }
  expect(parts.filter(({ type }) => type === 'annotation')).toEqual([
    {
      type: 'annotation',
      annotation: {
        type: 'file_citation',
        file_citation: {
          filename: 'Numbers',
          index: 1,
          ...place,
          quote: 'uno',
          location: { type: 'char_location', start: 4, end: 7 },
        },
      },
    },
    {
      type: 'annotation',
      annotation: {
        type: 'url_citation',
        url_citation: { url: 'https://a.example/', title: 'A', ...place },
      },
    },
    {
      type: 'annotation',
      annotation: {
        type: 'url_citation',
        url_citation: { url: 'https://b.example/', title: '', ...place, content: 'b' },
      },
    },
  ])
})
