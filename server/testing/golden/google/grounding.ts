import type { AnswerRow } from '../../conformance/conformance'

const cited = (
  url: string,
  title: string,
  [start_index, end_index]: readonly [number, number],
) => ({
  type: 'url_citation',
  url_citation: { url, title, start_index, end_index },
})

/** Answers that cite the results of a search. */
export const groundedAnswers: readonly AnswerRow[] = [
  {
    title: 'finding P10: what a grounded answer cites, its segments counted in bytes',
    events: [
      { candidates: [{ content: { parts: [{ text: 'Grüße: ' }] } }] },
      {
        candidates: [
          {
            content: { parts: [{ text: 'it is 日本.' }] },
            finishReason: 'STOP',
            groundingMetadata: {
              webSearchQueries: ['x'],
              groundingChunks: [
                { web: { uri: 'https://a.example/', title: 'A' } },
                { web: { title: 'without an address' } },
                { retrievedContext: { uri: 'gs://b/c', title: 'B' } },
              ],
              groundingSupports: [
                {
                  segment: { startIndex: 9, endIndex: 21, text: 'it is 日本' },
                  groundingChunkIndices: [0, 1, 2, 7],
                },
              ],
            },
          },
        ],
        usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 4 },
      },
    ],
    message: {
      content: 'Grüße: it is 日本.',
      annotations: [cited('https://a.example/', 'A', [7, 15]), cited('gs://b/c', 'B', [7, 15])],
    },
    usage: { input: 7, output: 4 },
  },
  {
    title: 'finding P10: sources of an answer that names no segments stand for the whole',
    events: [
      {
        candidates: [
          {
            content: { parts: [{ text: 'Yes.' }] },
            finishReason: 'STOP',
            groundingMetadata: {
              groundingChunks: [{ web: { uri: 'https://a.example/', title: 'A' } }, 7],
              groundingSupports: 'none',
            },
          },
        ],
        usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 4 },
      },
    ],
    message: { content: 'Yes.', annotations: [cited('https://a.example/', 'A', [0, 4])] },
  },
]
