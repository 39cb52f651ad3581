import { inNone, type Oddity } from './oddity'
import { text } from './scene'
import {
  chatEnd,
  chunk,
  cohereContent,
  cohereEnd,
  converseDelta,
  converseEnd,
  converseStop,
  googleEnd,
  googleEvent,
  messageBlock,
  messageEnd,
  messageStart,
} from './spoken'
import { event, itemsOf, responseEnd, responseOf, responseStart } from './spoken-response'
import { chatAnswer, messageAnswer } from './whole'
import type { JsonObject } from '../../../src/wire/json-body'

const hm = 'Hm.'
const [hmItem = {}] = itemsOf({ pieces: [text(hm)], finish: 'stop' })
const picture = 'iVBORw0KGgo='
const sound = 'UklGRg=='

const fileCitation = { type: 'file_citation', file_id: 'file_1', filename: 'a.pdf', index: 0 }
const pageCitation = {
  type: 'char_location',
  document_title: 'a.pdf',
  document_index: 0,
  cited_text: 'x',
  start_char_index: 0,
  end_char_index: 1,
}
const grounded = googleEvent([{ text: hm }], {
  finishReason: 'STOP',
  groundingMetadata: { groundingChunks: [{ retrievedContext: { title: 'a.pdf', text: 'x' } }] },
})
const drawn = (mimeType: string, data: string): JsonObject => ({ inlineData: { mimeType, data } })
const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } }

/** Oddities of pictures, sound and citations. */
export const mediaOddities: readonly Oddity[] = [
  {
    name: 'a picture that the model drew',
    findings: 'Q11',
    said: {
      ...inNone,
      openai: {
        stream: [chunk({ content: hm, images: [image] }), ...chatEnd('stop')],
        whole: chatAnswer({ content: hm, images: [image] }, 'stop'),
      },
      google: {
        stream: [googleEvent([{ text: hm }, drawn('image/png', picture)]), googleEnd('STOP')],
        whole: googleEnd('STOP', [{ text: hm }, drawn('image/png', picture)]),
      },
    },
    expected: { text: hm, has: /data:image\/png;base64,iVBORw0KGgo=/ },
  },
  {
    name: 'sound that the model speaks',
    findings: 'Q11',
    said: {
      ...inNone,
      openai: {
        stream: [chunk({ content: hm, audio: { id: 'a', data: sound } }), ...chatEnd('stop')],
        whole: chatAnswer({ content: hm, audio: { id: 'a', data: sound } }, 'stop'),
      },
      google: {
        stream: [
          googleEvent([{ text: hm }, drawn('audio/L16;rate=24000', sound)]),
          googleEnd('STOP'),
        ],
        whole: googleEnd('STOP', [{ text: hm }, drawn('audio/L16;rate=24000', sound)]),
      },
    },
    expected: { text: hm, has: /"audio":\{[^}]*UklGRg==/ },
  },
  {
    name: 'sound in pieces',
    findings: 'Q11',
    said: {
      ...inNone,
      openai: {
        stream: [
          chunk({ audio: { id: 'a', transcript: 'H' } }),
          chunk({ audio: { data: 'UklGRg==', transcript: 'm.' } }),
          chunk({ audio: { data: 'V0FWRQ==' } }),
          ...chatEnd('stop'),
        ],
      },
      google: {
        stream: [
          googleEvent([drawn('audio/L16', 'UklGRg==')]),
          googleEvent([drawn('audio/L16', 'V0FWRQ==')]),
          googleEnd('STOP'),
        ],
      },
    },
    expected: { has: /"audio":\{[^}]*"data":"UklGRldBVkU="/ },
  },
  {
    name: 'a citation of a document without an address',
    findings: 'Q18',
    said: {
      ...inNone,
      openai: {
        stream: [chunk({ content: hm, annotations: [{ ...fileCitation }] }), ...chatEnd('stop')],
        whole: chatAnswer({ content: hm, annotations: [fileCitation] }, 'stop'),
      },
      responses: {
        stream: [
          responseStart,
          event('output_text.delta', { output_index: 0, delta: hm }),
          event('output_text.annotation.added', { output_index: 0, annotation: fileCitation }),
          responseEnd([]),
        ],
        whole: responseOf([
          { ...hmItem, content: [{ type: 'output_text', text: hm, annotations: [fileCitation] }] },
        ]),
      },
      google: {
        stream: [grounded],
        whole: grounded,
      },
      anthropic: {
        stream: [
          messageStart,
          ...messageBlock(
            0,
            { type: 'text', text: '' },
            { type: 'citations_delta', citation: pageCitation },
            { type: 'text_delta', text: hm },
          ),
          ...messageEnd('end_turn'),
        ],
        whole: messageAnswer([{ type: 'text', text: hm, citations: [pageCitation] }], 'end_turn'),
      },
      bedrock: {
        stream: [
          converseDelta(0, { text: hm }),
          converseDelta(0, {
            citation: {
              title: 'a.pdf',
              location: { documentChar: { documentIndex: 0, start: 0, end: 1 } },
            },
          }),
          converseStop(0),
          ...converseEnd('end_turn'),
        ],
      },
      cohere: {
        stream: [
          cohereContent({ text: hm }),
          {
            type: 'citation-start',
            index: 0,
            delta: {
              message: {
                citations: {
                  start: 0,
                  end: 2,
                  sources: [{ type: 'document', id: '1', document: { title: 'a.pdf' } }],
                },
              },
            },
          },
          cohereEnd('COMPLETE'),
        ],
      },
    },
    expected: { text: hm, has: /"annotations":\[\{"type":"file_citation".*a\.pdf/ },
  },
]
