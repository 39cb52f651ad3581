import { describe, expect, test } from 'bun:test'
import { Answer } from './answer'

const framed = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const events = ['data: {"a":1}\n\n', 'data: {"b":"é"}\n\n', 'data: [DONE]\n\n']
const head = (fields: string) => `HTTP/1.1 200 OK\r\n${fields}\r\n\r\n`
const streamed =
  head('Content-Type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked') +
  `${events.map(framed).join('')}0\r\n\r\n`
const plain = `${head('content-type: application/json\r\nContent-Length: 13')}{"text":"\\n"}`

/** Feeds the answer in two pieces, cut at `at`. */
function inTwo(text: string, at: number) {
  const bytes = Buffer.from(text)
  const answer = new Answer()
  const first = answer.take(bytes.subarray(0, at))
  const second = answer.take(bytes.subarray(at))
  return { answer, first, second }
}

describe('an answer', () => {
  test('ends exactly at its last byte, for every split', () => {
    for (const text of [streamed, plain]) {
      const cuts = Array.from({ length: Buffer.byteLength(text) - 1 }, (_, index) => index + 1)
      const wrong = cuts.filter((at) => {
        const { first, second } = inTwo(text, at)
        return first !== 'more' || second !== 'whole'
      })
      expect(wrong).toEqual([])
    }
  })

  test('counts all events, for every split', () => {
    const cuts = Array.from({ length: Buffer.byteLength(streamed) - 1 }, (_, index) => index + 1)
    const wrong = cuts.filter((at) => inTwo(streamed, at).answer.events !== events.length)
    expect(wrong).toEqual([])
  })

  test('with an error has its status and the beginning of its body', () => {
    const answer = new Answer()
    const text = 'HTTP/1.1 503 Busy\r\ncontent-length: 4\r\n\r\nlate'
    expect(answer.take(Buffer.from(text))).toBe('whole')
    expect(answer).toMatchObject({ status: 503, beginning: 'late' })
  })

  test('with an empty chunked body is complete', () => {
    const answer = new Answer()
    const text = `${head('transfer-encoding: chunked')}0\r\n\r\n`
    expect(answer.take(Buffer.from(text))).toBe('whole')
  })
})
